"""Models for the navigator: those of ``spca.llm.providers``, every call accounted for, kept and replayable.

The embedded navigators take the same way as a model behind a server: they are asked the same request and their answers
are in the same files.
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
from spca.llm.catalogue.catalogue import PROVIDERS, Catalogue
from spca.llm.catalogue.model_ref import EMBEDDED as EMBEDDED_PREFIXES
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import SERVERS_VARIABLE, Server, find_address_fault, parse_servers
from spca.llm.providers.base import Finish, Image, Limits, Listing, Message, Provider, Request, Response, Tool, ToolCall
from spca.llm.providers.failures import OTHER_MODEL

DEFAULT_MAX_COST: Final = 0.5
"""USD, where no cap was given."""
MAX_OUTPUT_TOKENS: Final = 4000
"""Of a decision: one call and a few sentences take 200; the rest is room for models that reason before they speak."""
LEVEL: Final = "exploration"

EMBEDDED: Final[Mapping[str, Callable[[int], DecisionModel]]] = {
    DEFAULT_MODEL: lambda _seed: ReferenceNavigator(),
}
"""Navigators that are part of the product, made of a seed."""
_OTHERS: Final = tuple(prefix for prefix in PROVIDERS if prefix not in EMBEDDED_PREFIXES)
"""Prefixes of models that may navigate."""


class EmbeddedProvider:
    """One of our own navigators as a provider: it sees what is in the request and nothing else.

    Attributes:
        latency_s: how long its last answer took on the robot's clock: no time, unless it says so, so that a simulated
            run is the same run again.
    """

    def __init__(self, navigator: DecisionModel) -> None:
        self._navigator = navigator
        self.latency_s = 0.0

    def complete(self, request: Request) -> Response:
        """Answer by itself; see :class:`spca.llm.providers.base.Provider`."""
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
        return Response(reply.text, finish=Finish.TOOL_CALL if calls else Finish.STOP, tool_calls=calls)


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model that exists.

    Attributes:
        ref: such as "openai/gpt-6-luna@low".
        effort: of its reasoning, None for the model's own choice.
        flag: that chooses it.
    """

    ref: ModelRef
    provider: Provider
    effort: str | None = None
    flag: str = "--model"

    @property
    def latency_s(self) -> float | None:
        """How long the last answer took on the robot's clock; None: the real time it took."""
        return getattr(self.provider, "latency_s", None)


class AccountedModel:
    """A :class:`~robot_bridge.protocols.DecisionModel` whose calls pass a :class:`~spca.llm.calls.desk.CallDesk`.

    Nothing is asked twice: a robot needs an answer to what it sees now, and its watchdog counts the failures.

    Args:
        navigator: decides.
        observer: describes pictures; without it the navigator does.

    Attributes:
        ended: why nothing more can be had from it, "" while something can.
        unseeing: why no picture is described any more by a model of its own, "" while one is.
        failure: why the last request came to nothing, "" where every one came to something.
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
        offered = tuple(map(_make_tool, tools))
        response = self._request(model, messages, offered, timeout_s, "navigate")
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
        limits = Limits(MAX_OUTPUT_TOKENS, timeout_s=timeout_s, effort=model.effort)
        request = Request(model.ref.name, messages, tools=tools, limits=limits)
        try:
            response = self._desk.ask(model.provider, model.ref, request, phase=phase).answer.get()
        except BudgetReached as error:
            self.ended = str(error)
            raise BudgetSpent(self.ended) from error
        except ProviderConfigError as error:
            if model is not self._navigator:  # which goes on without descriptions
                self.unseeing = _explain_error(error, model.flag)
                raise ModelFailure(self.unseeing) from error
            self.ended = _explain_error(error, model.flag)
            raise ModelEnded(self.ended) from error
        except ProviderError as error:
            self.failure = _explain_error(error, model.flag)
            raise ModelFailure(self.failure) from error
        if eaten := describe_exhausted_reasoning(response):
            self.failure = f"{model.ref}: {eaten}; take a model that reasons less with {model.flag}"
            raise ModelFailure(self.failure)
        return response


def _explain_error(error: Exception, flag: str) -> str:
    """Return the text of an error with the flags of this program; ``--timeout`` is none of them."""
    return str(error).replace(OTHER_MODEL, f"name another one with {flag}").replace(" (--timeout)", "")


def _make_tool(name: str) -> Tool:
    functions = (definition["function"] for definition in tools.TOOL_DEFINITIONS)
    definition = next(function for function in functions if function["name"] == name)
    return Tool(name, definition["description"], tools.PARAMETERS[definition["name"]])


@dataclass(frozen=True, slots=True)
class Crew:
    """The models of an exploration, and what is known of models; ``observer`` describes pictures where it is given."""

    navigator: NamedModel
    observer: NamedModel | None
    catalogue: Catalogue


def resolve_models(settings: ModelOptions, robot: RobotOptions) -> Crew | None:
    """Return the models that settings name, None if none is wanted; nothing is paid or written yet.

    Keys are taken from the environment, completed from ``.env`` in the working directory. What is known of the end of
    a model is warned of.

    Raises:
        SetupError: there is no such model, it was shut down, it lacks a key, its address is invalid or its cost cannot
            be capped.
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
        if ref.prefix not in _OTHERS and ref.prefix not in servers:
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
    ref = ModelRef.parse(name)
    if name in EMBEDDED:
        return NamedModel(ref, EmbeddedProvider(EMBEDDED[name](seed)), flag=flag)

    effort = ref.effort or catalogue.info(ref).least_effort
    try:
        provider = catalogue.provider(ref)
        if isinstance(provider, Listing):
            provider.load_sdk()  # here, because questions are asked in a thread of their own
    except ProviderConfigError as error:
        raise SetupError(_explain_error(error, flag)) from error

    is_priced = catalogue.price(ref) is not None
    if not is_priced and (settings.max_cost is not None or settings.max_calls is None):
        fix = "leave it out and give" if settings.max_cost is not None else "give"
        hint = catalogue.suggest(ref)
        raise SetupError(f"the price of {ref} is unknown{hint}, so its cost cannot be capped: {fix} --max-calls N")
    return NamedModel(ref, provider, effort, flag)


def _check_models(asked: Sequence[ModelRef], catalogue: Catalogue, *, is_asked: bool) -> None:
    """Refuse models that cannot be meant, and warn of what is known of others.

    Args:
        is_asked: whether servers are asked for their lists.
    """
    try:
        warning = catalogue.find_warning(asked, is_asked=is_asked)
    except ProviderConfigError as error:
        flags = ("--model", "--observe-model")[: len(asked)]
        raise SetupError(_explain_error(error, " or ".join(flags))) from error
    if warning:
        print(f"warning: {warning}", file=sys.stderr, flush=True)


def _check_flags(settings: ModelOptions, robot: RobotOptions) -> None:
    asked = [ModelRef.parse(name) for name in (settings.model, settings.observe_model) if name]
    if settings.base_url and not any(ref.prefix == "openai" for ref in asked):
        raise SetupError(f"--base-url is for openai/... models, not for {settings.model}: leave it out or give --model")
    if settings.model == NO_MODEL and settings.observe_model:
        raise SetupError(f"--observe-model describes what a model looks at: --model {NO_MODEL} never looks")
    if not robot.is_simulated and (person := [ref for ref in asked if ref.prefix == "human"]):
        raise SetupError(f"{person[0]}: a person answers too late for a real robot: leave out --robot ros2")


def _unknown_model_error(ref: ModelRef, catalogue: Catalogue) -> SetupError:
    model = str(ref)
    near = catalogue.find_nearest(ref, has_prefix=False) if model not in catalogue.table.names() else None
    similar = [str(near)] if near else []
    similar += find_nearest(model, (*EMBEDDED, NO_MODEL), 1)
    hint = f" (did you mean {similar[0]}?)" if similar else ""
    prefixes = dict.fromkeys((*_OTHERS, *catalogue.servers))
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
    """Return the models with the desk that their calls pass, which keeps a ledger and transcripts in ``folder``."""
    if crew is None:
        return None, None
    caps = Caps(settings.max_cost or DEFAULT_MAX_COST, settings.max_calls)
    desk = CallDesk(folder, folder.name, caps=caps, catalogue=crew.catalogue, policy=RetryPolicy(attempts=1))
    desk.begin_level(1, "Robot", LEVEL, seed)
    return AccountedModel(crew.navigator, crew.observer, desk), desk
