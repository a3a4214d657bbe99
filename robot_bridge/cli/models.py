"""Models for the navigator, over ``spca.llm.providers``; every call is accounted for, recorded and replayable.

An embedded navigator is a part of this program, but it is treated like a model behind a server. It gets the same
requests, and its answers are recorded in the same files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from robot_bridge.cli.options import DEFAULT_MODEL, NO_MODEL, ModelOptions, RobotOptions
from robot_bridge.contracts import ModelReply
from robot_bridge.decisions import tools
from robot_bridge.decisions.navigators.reference_navigator import ReferenceNavigator
from robot_bridge.errors import BudgetSpent, ModelEnded, ModelFailure, SetupError
from robot_bridge.protocols import DecisionModel
from spca.common.environment import complete_environment
from spca.common.errors import BudgetReached
from spca.common.names import find_nearest
from spca.errors import ProviderConfigError, ProviderError
from spca.llm.calls.answers import describe_exhausted_reasoning
from spca.llm.calls.budget import Caps
from spca.llm.calls.desk import CallDesk
from spca.llm.calls.retry import RetryPolicy
from spca.llm.catalogue.catalogue import ADDED_PROVIDERS, PROVIDERS, Catalogue
from spca.llm.catalogue.model_ref import EMBEDDED as EMBEDDED_PREFIXES
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import SERVERS_VARIABLE, Server, find_address_fault, parse_servers
from spca.llm.providers.base import (
    Finish,
    Image,
    Listing,
    Message,
    Provider,
    Request,
    RequestOptions,
    Response,
    Tool,
    ToolCall,
)
from spca.llm.providers.failures import OTHER_MODEL

DEFAULT_MAX_COST: Final = 0.5
"""Cap on the cost, in USD, if the options give no cap."""
MAX_OUTPUT_TOKENS: Final = 4000
"""Limit on the tokens of an answer. A tool call with a few sentences takes about 200 tokens; the rest is for reasoning.
"""
LEVEL: Final = "exploration"

EMBEDDED: Final[Mapping[str, Callable[[int], DecisionModel]]] = {
    DEFAULT_MODEL: lambda _seed: ReferenceNavigator(),
}
"""Navigators that are part of the product, by name; each function makes a navigator from a seed."""
_SERVED_PREFIXES: Final = tuple(prefix for prefix in PROVIDERS if prefix not in EMBEDDED_PREFIXES)
"""Prefixes of the models that run behind a server and may navigate."""


class EmbeddedProvider:
    """Provider whose answers come from an embedded navigator, which sees only the request.

    Attributes:
        latency_s: how long the last answer took on the robot's clock, 0 unless the navigator states a latency. Real
            time does not count, so that a simulated run can be repeated exactly.
    """

    def __init__(self, navigator: DecisionModel) -> None:
        self._navigator = navigator
        self.latency_s = 0.0

    def complete(self, request: Request) -> Response:
        """Return the navigator's answer; see :class:`spca.llm.providers.base.Provider`."""
        texts = {message.role: message.text for message in request.messages}
        images: list[bytes] = []
        for message in request.messages:
            images += [image.data for image in message.images]
        image = images[0] if images else None
        timeout = request.limits.timeout_s
        if not request.tools:
            description = self._navigator.describe(texts["user"], image or b"", timeout)
            self.latency_s = description.latency_s or 0.0
            return Response(description.text)

        names = [tool.name for tool in request.tools]
        reply = self._navigator.ask(texts.get("system", ""), texts["user"], image, names, timeout)
        self.latency_s = reply.latency_s or 0.0
        calls = tuple(ToolCall(name, arguments) for name, arguments in reply.calls)
        finish = Finish.TOOL_CALL if calls else Finish.STOP
        return Response(reply.text, finish=finish, tool_calls=calls)


@dataclass(frozen=True, slots=True)
class NamedModel:
    """Model that is known to exist.

    Attributes:
        ref: the model's reference, such as "openai/gpt-6-luna@low".
        provider: sends requests to the model.
        effort: effort of the model's reasoning, None for the model's own choice.
        flag: command-line flag that chooses the model, for error messages.
    """

    ref: ModelRef
    provider: Provider
    effort: str | None = None
    flag: str = "--model"

    @property
    def latency_s(self) -> float | None:
        """How long the last answer took on the robot's clock; if None, the real time counts."""
        return getattr(self.provider, "latency_s", None)


class AccountedModel:
    """A :class:`~robot_bridge.protocols.DecisionModel` whose calls pass a :class:`~spca.llm.calls.desk.CallDesk`.

    A failed request is not repeated, because a robot needs an answer to what it sees now. The watchdog counts failures.

    Args:
        navigator: model that decides.
        observer: model that describes pictures; if None, the navigator describes them.
        desk: accounts for all calls.

    Attributes:
        ended: why the navigator cannot be asked any more, or "".
        unseeing: why the observer cannot be asked any more, or "".
        failure: why the last failed request failed, or "" if no request has failed.
    """

    def __init__(self, navigator: NamedModel, observer: NamedModel | None, desk: CallDesk) -> None:
        self.ended = ""
        self.unseeing = ""
        self.failure = ""
        self._navigator = navigator
        self._observer = observer or navigator
        self._desk = desk

    def ask(self, system: str, user: str, image: bytes | None, tools: Sequence[str], timeout_s: float) -> ModelReply:
        """See :class:`~robot_bridge.protocols.DecisionModel`."""
        pictures = (Image("image/jpeg", image, "low"),) if image else ()
        messages = (Message("system", system), Message("user", user, pictures))
        model = self._navigator
        definitions = tuple(map(_make_tool, tools))
        response = self._request(model, messages, definitions, timeout_s, "navigate")
        calls = tuple((call.name, call.arguments) for call in response.tool_calls)
        if not calls:
            self.failure = f"{model.ref}: the answer called no tool; take a model that calls tools with --model"
        return ModelReply(response.text, calls, model.latency_s)

    def describe(self, prompt: str, image: bytes, timeout_s: float) -> ModelReply:
        """See :class:`~robot_bridge.protocols.DecisionModel`."""
        if self.unseeing:
            raise ModelFailure(self.unseeing)
        messages = (Message("user", prompt, (Image("image/jpeg", image, "high"),)),)
        response = self._request(self._observer, messages, (), timeout_s, "observe")
        return ModelReply(response.text, (), self._observer.latency_s)

    def _request(
        self, model: NamedModel, messages: tuple[Message, ...], tools: tuple[Tool, ...], timeout_s: float, phase: str
    ) -> Response:
        """Send a request through the desk and return the response.

        If the request fails, set ``ended``, ``unseeing`` or ``failure`` before raising.

        Raises:
            BudgetSpent: the budget does not allow the request.
            ModelEnded: the navigator cannot be used at all.
            ModelFailure: the request failed, or the observer cannot be used at all.
        """
        limits = RequestOptions(MAX_OUTPUT_TOKENS, timeout_s=timeout_s, effort=model.effort)
        request = Request(model.ref.name, messages, tools=tools, limits=limits)
        try:
            response = self._desk.ask(model.provider, model.ref, request, phase=phase).answer.get()
        except BudgetReached as error:
            self.ended = str(error)
            raise BudgetSpent(self.ended) from error
        except ProviderConfigError as error:
            if model is not self._navigator:  # the navigator goes on without descriptions
                self.unseeing = _explain_error(error, model.flag)
                raise ModelFailure(self.unseeing) from error
            self.ended = _explain_error(error, model.flag)
            raise ModelEnded(self.ended) from error
        except ProviderError as error:
            self.failure = _explain_error(error, model.flag)
            raise ModelFailure(self.failure) from error
        if exhaustion := describe_exhausted_reasoning(response):
            self.failure = f"{model.ref}: {exhaustion}; take a model that reasons less with {model.flag}"
            raise ModelFailure(self.failure)
        return response


def _explain_error(error: Exception, flag: str) -> str:
    """Return the text of an error, adapted to this program.

    ``flag`` is named as the flag that chooses another model. The hint at ``--timeout`` is removed, because only other
    programs have this flag.
    """
    return str(error).replace(OTHER_MODEL, f"name another one with {flag}").replace(" (--timeout)", "")


def _make_tool(name: str) -> Tool:
    functions = (definition["function"] for definition in tools.TOOL_DEFINITIONS)
    definition = next(function for function in functions if function["name"] == name)
    return Tool(name, definition["description"], tools.PARAMETERS[definition["name"]])


@dataclass(frozen=True, slots=True)
class Crew:
    """Models of an exploration and the catalogue of models.

    If ``observer`` is None, the navigator describes pictures.
    """

    navigator: NamedModel
    observer: NamedModel | None
    catalogue: Catalogue


def resolve_models(settings: ModelOptions, robot: RobotOptions) -> Crew | None:
    """Return the models that the settings name, or None if the exploration is to use no model.

    This function sends no request that costs money and writes no file. Keys are taken from the environment, completed
    from ``.env`` in the working directory. A warning is printed for a model that will be shut down.

    Raises:
        SetupError: a model does not exist, was shut down, lacks a key, has an invalid address, or has a cost that
            cannot be capped.
        FileError: ``.env`` cannot be read.
        SettingsError: the table of models or a server cannot be used.
    """
    named_models = [name for name in (settings.model, settings.observe_model) if name]
    asked = [ModelRef.parse(name) for name in named_models if name not in EMBEDDED]
    _check_flags(settings, robot)
    if settings.model == NO_MODEL:
        return None
    if asked:
        complete_environment((Path.cwd(),), settings.servers)
    servers = parse_servers(settings.servers, os.environ.get(SERVERS_VARIABLE, "") if asked else "")
    servers["openai"] = Server(settings.base_url)
    catalogue = Catalogue.load(settings.model_table, servers)
    for ref in asked:
        if ref.prefix not in (*_SERVED_PREFIXES, *ADDED_PROVIDERS, *servers):
            raise _unknown_model_error(ref, catalogue)
    if any(ref.prefix == "openai" for ref in asked):
        _check_address(settings.base_url)
    navigator = _resolve_model(settings.model, "--model", settings, robot.seed, catalogue)
    observer = None
    if settings.observe_model:
        observer = _resolve_model(settings.observe_model, "--observe-model", settings, robot.seed, catalogue)
    if asked:
        _check_models(asked, catalogue, is_asked=not settings.no_preflight)
    return Crew(navigator, observer, catalogue)


def _resolve_model(name: str, flag: str, settings: ModelOptions, seed: int, catalogue: Catalogue) -> NamedModel:
    """Return the model called ``name`` after checking that its provider can be used and its cost can be capped."""
    ref = ModelRef.parse(name)
    if name in EMBEDDED:
        return NamedModel(ref, EmbeddedProvider(EMBEDDED[name](seed)), flag=flag)

    effort = ref.effort or catalogue.info(ref).least_effort
    try:
        provider = catalogue.provider(ref)
        if isinstance(provider, Listing):
            provider.load_sdk()  # in this thread, because requests are sent from another thread
    except ProviderConfigError as error:
        raise SetupError(_explain_error(error, flag)) from error

    is_priced = catalogue.price(ref) is not None
    needs_price = settings.max_cost is not None or settings.max_calls is None
    if needs_price and not is_priced:
        fix = "leave it out and give" if settings.max_cost is not None else "give"
        hint = catalogue.suggest(ref)
        raise SetupError(f"the price of {ref} is unknown{hint}, so its cost cannot be capped: {fix} --max-calls N")
    return NamedModel(ref, provider, effort, flag)


def _check_models(asked: Sequence[ModelRef], catalogue: Catalogue, *, is_asked: bool) -> None:
    """Print a warning about models that will be shut down.

    Args:
        asked: the models.
        catalogue: knows the models.
        is_asked: whether servers are asked for their lists of models.

    Raises:
        SetupError: a model does not exist or was shut down.
    """
    try:
        warning = catalogue.find_warning(asked, is_asked=is_asked)
    except ProviderConfigError as error:
        flags = ("--model", "--observe-model")[: len(asked)]
        raise SetupError(_explain_error(error, " or ".join(flags))) from error
    if warning:
        print(f"warning: {warning}", file=sys.stderr, flush=True)


def _check_flags(settings: ModelOptions, robot: RobotOptions) -> None:
    """Raise SetupError if options contradict each other."""
    asked = [ModelRef.parse(name) for name in (settings.model, settings.observe_model) if name]
    if settings.base_url and not any(ref.prefix == "openai" for ref in asked):
        raise SetupError(f"--base-url is for openai/... models, not for {settings.model}: leave it out or give --model")
    if settings.model == NO_MODEL and settings.observe_model:
        raise SetupError(f"--observe-model describes what a model looks at: --model {NO_MODEL} never looks")
    if not robot.is_simulated and (person := [ref for ref in asked if ref.prefix == "human"]):
        raise SetupError(f"{person[0]}: a person answers too late for a real robot: leave out --robot ros2")


def _unknown_model_error(ref: ModelRef, catalogue: Catalogue) -> SetupError:
    """Return the error for a model whose prefix is unknown; the message gives a similar name and all valid names."""
    model = str(ref)
    nearest = catalogue.find_nearest(ref, has_prefix=False) if model not in catalogue.table.names() else None
    similar = [str(nearest)] if nearest else []
    similar += find_nearest(model, (*EMBEDDED, NO_MODEL), 1)
    hint = f" (did you mean {similar[0]}?)" if similar else ""
    prefixes = dict.fromkeys((*_SERVED_PREFIXES, *ADDED_PROVIDERS, *catalogue.servers))
    known = [*EMBEDDED, NO_MODEL]
    known += [f"{prefix}/..." for prefix in prefixes]
    return SetupError(f"unknown model {model!r}{hint}: choose one of {', '.join(known)}")


def _check_address(given: str | None) -> None:
    name = "--base-url" if given else "OPENAI_BASE_URL"
    url = given or os.environ.get("OPENAI_BASE_URL", "").strip()
    if url and (fault := find_address_fault(name, url)):
        raise SetupError(fault)


def account_calls(
    crew: Crew | None, settings: ModelOptions, seed: int, folder: Path
) -> tuple[AccountedModel, CallDesk] | tuple[None, None]:
    """Return the models and the desk for their calls, or (None, None) if ``crew`` is None.

    The desk writes a ledger and transcripts into ``folder``.
    """
    if crew is None:
        return None, None
    caps = Caps(settings.max_cost or DEFAULT_MAX_COST, settings.max_calls)
    desk = CallDesk(folder, folder.name, caps=caps, catalogue=crew.catalogue, policy=RetryPolicy(attempts=1))
    desk.begin_level(1, "Robot", LEVEL, seed)
    return AccountedModel(crew.navigator, crew.observer, desk), desk
