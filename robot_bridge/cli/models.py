"""Models for the navigator: those of ``spca.llm.providers``, every call accounted for, kept and replayable.

The embedded navigators take the same way as a model behind a server: they are asked the same request and their answers
are in the same files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from robot_bridge.cli.parser import DEFAULT_MODEL, NO_MODEL, Settings
from robot_bridge.contracts import ModelReply
from robot_bridge.decisions import tools
from robot_bridge.decisions.hostile_navigator import HostileNavigator
from robot_bridge.decisions.reference_navigator import ReferenceNavigator
from robot_bridge.errors import BudgetSpent, ModelEnded, ModelFailure, SetupError
from robot_bridge.protocols import DecisionModel
from spca.common.errors import BudgetReached
from spca.common.files import load_env
from spca.errors import ProviderConfigError, ProviderError
from spca.llm.calls.answers import reasoned_away
from spca.llm.calls.budget import Caps
from spca.llm.calls.desk import CallDesk
from spca.llm.calls.preflight import examine
from spca.llm.calls.prices import ModelTable
from spca.llm.calls.retry import RetryPolicy
from spca.llm.providers.addresses import address_fault
from spca.llm.providers.base import Finish, Image, Limits, Message, Provider, Request, Response, Tool, ToolCall
from spca.llm.providers.failures import OTHER_MODEL
from spca.llm.providers.registry import PROVIDERS, provider_for
from spca.llm.providers.servers import Server

DEFAULT_MAX_COST: Final = 0.5
"""USD, where no cap was given."""
MAX_OUTPUT_TOKENS: Final = 4000
"""Of a decision: one call and a few sentences take 200; the rest is room for models that reason before they speak."""
LEVEL: Final = "exploration"

EMBEDDED: Final[Mapping[str, Callable[[int], DecisionModel]]] = {
    DEFAULT_MODEL: lambda _seed: ReferenceNavigator(),
    "hostile/navigator": HostileNavigator,
}
"""Navigators that are part of the product, made of a seed."""
_OTHERS: Final = tuple(prefix for prefix in PROVIDERS if prefix not in ("reference", "faulty"))
"""Prefixes of models that may navigate."""
_PRICED: Final = ("openai", "anthropic", "google")
"""Prefixes with a price for every model that is known."""
_FLAGS: Final[Mapping[str, str]] = {OTHER_MODEL: "name another one with --model", " (--timeout)": ""}
"""What errors of providers say of the flags of ``main.py``, and what is said here instead."""


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
        said = {message.role: message.text for message in request.messages}
        images = [image.data for message in request.messages for image in message.images]
        image = images[0] if images else None
        timeout = request.limits.timeout_s
        if not request.tools:
            return Response(self._navigator.describe(said["user"], image or b"", timeout))
        names = [tool.name for tool in request.tools]
        reply = self._navigator.ask(said.get("system", ""), said["user"], image, names, timeout)
        self.latency_s = reply.latency_s or 0.0
        calls = tuple(ToolCall(name, arguments) for name, arguments in reply.calls)
        return Response(reply.text, finish=Finish.TOOL_CALL if calls else Finish.STOP, tool_calls=calls)


class AccountedModel:
    """A :class:`~robot_bridge.protocols.DecisionModel` whose calls pass a :class:`~spca.llm.calls.desk.CallDesk`.

    Nothing is asked twice: a robot needs an answer to what it sees now, and its watchdog counts the failures.

    Args:
        name: with prefix, such as "openai/gpt-6-luna".
        model: the name without prefix.
        effort: of its reasoning, None for the model's own choice; a late answer is not used.

    Attributes:
        ended: why nothing more can be had from it, "" while something can.
        failure: why the last request came to nothing, "" where every one came to something.
    """

    def __init__(self, name: str, model: str, provider: Provider, desk: CallDesk, effort: str | None = None) -> None:
        self.name, self.ended, self.failure = name, "", ""
        self._model, self._provider, self._desk, self._effort = model, provider, desk, effort

    def ask(self, system: str, user: str, image: bytes | None, tools: Sequence[str], timeout_s: float) -> ModelReply:
        """See :class:`~robot_bridge.protocols.DecisionModel`."""
        pictures = (Image("image/jpeg", image, "low"),) if image else ()
        messages = (Message("system", system), Message("user", user, pictures))
        response = self._response(messages, tuple(map(_tool, tools)), timeout_s, "navigate")
        calls = tuple((call.name, call.arguments) for call in response.tool_calls)
        if not calls:
            self.failure = f"{self.name}: the answer called no tool; take a model that calls tools with --model"
        return ModelReply(response.text, calls, getattr(self._provider, "latency_s", None))

    def describe(self, prompt: str, image: bytes, timeout_s: float) -> str:
        """See :class:`~robot_bridge.protocols.DecisionModel`."""
        messages = (Message("user", prompt, (Image("image/jpeg", image, "high"),)),)
        return self._response(messages, (), timeout_s, "observe").text

    def _response(
        self, messages: tuple[Message, ...], tools: tuple[Tool, ...], timeout_s: float, phase: str
    ) -> Response:
        limits = Limits(MAX_OUTPUT_TOKENS, timeout_s=timeout_s, effort=self._effort)
        request = Request(self._model, messages, tools=tools, limits=limits)
        try:
            response = self._desk.ask(self._provider, self.name, request, phase=phase).answer.get()
        except (BudgetReached, ProviderConfigError) as error:
            self.ended = _told(error)
            raise (BudgetSpent if isinstance(error, BudgetReached) else ModelEnded)(self.ended) from error
        except ProviderError as error:
            self.failure = _told(error)
            raise ModelFailure(self.failure) from error
        if eaten := reasoned_away(response):
            self.failure = f"{self.name}: {eaten}; take a model that reasons less with --model"
            raise ModelFailure(self.failure)
        return response


def _told(error: Exception) -> str:
    """An error of a provider, with the flags of this program."""
    text = str(error)
    for theirs, ours in _FLAGS.items():
        text = text.replace(theirs, ours)
    return text


def _tool(name: str) -> Tool:
    definition = next(each["function"] for each in tools.TOOL_DEFINITIONS if each["function"]["name"] == name)
    return Tool(name, definition["description"], tools.PARAMETERS[definition["name"]])


@dataclass(frozen=True, slots=True)
class Named:
    """A model that exists: its provider, and its name without prefix."""

    provider: Provider
    model: str


def named(settings: Settings) -> Named | None:
    """Return the model that settings name, None where none is wanted; nothing is paid or written yet.

    Keys are taken from the environment, completed from ``.env`` in the working directory. What is known of the end of
    the model is warned of.

    Raises:
        SetupError: there is no such model, it was shut down, it lacks a key, its address is invalid or its cost cannot
            be capped.
        FileError: ``.env`` cannot be read.
    """
    prefix = settings.model.partition("/")[0]
    if settings.base_url and prefix != "openai":
        raise SetupError(f"--base-url is for openai/... models, not for {settings.model}: leave it out or give --model")
    if settings.model == NO_MODEL:
        return None
    if settings.model in EMBEDDED:
        return Named(EmbeddedProvider(EMBEDDED[settings.model](settings.seed)), settings.model.partition("/")[2])
    table = ModelTable.load()
    if prefix not in _OTHERS:
        raise _unknown(settings.model, table)
    load_env(Path.cwd() / ".env")
    if prefix == "openai":
        _check_address(settings.base_url)
    servers = {"openai": Server(settings.base_url)}
    try:
        found = Named(*provider_for(settings.model, servers=servers, table=table))
        _check_caps(settings, table)
        warning = examine([settings.model], servers=servers, table=table).warning() if settings.preflight else ""
    except ProviderConfigError as error:
        raise SetupError(_told(error)) from error
    if warning:
        print(f"warning: {warning}", file=sys.stderr, flush=True)
    return found


def _unknown(model: str, table: ModelTable) -> SetupError:
    similar = [f"{prefix}/{model}" for prefix in _PRICED if table.price(f"{prefix}/{model}")]
    similar += get_close_matches(model.lower(), (*EMBEDDED, NO_MODEL), 1)
    hint = f" (did you mean {similar[0]}?)" if similar else ""
    known = ", ".join((*EMBEDDED, NO_MODEL, *(f"{prefix}/..." for prefix in _OTHERS)))
    return SetupError(f"unknown model {model!r}{hint}: choose one of {known}")


def _check_address(given: str | None) -> None:
    name = "--base-url" if given else "OPENAI_BASE_URL"
    url = given or os.environ.get("OPENAI_BASE_URL", "").strip()
    if url and (fault := address_fault(name, url)):
        raise SetupError(fault)


def _check_caps(settings: Settings, table: ModelTable) -> None:
    is_priced = table.price(settings.model) is not None
    if not is_priced and (settings.max_cost is not None or settings.max_calls is None):
        fix = "leave it out and give" if settings.max_cost is not None else "give"
        raise SetupError(f"the price of {settings.model} is unknown, so its cost cannot be capped: {fix} --max-calls N")


def accounted(
    found: Named | None, settings: Settings, folder: Path
) -> tuple[AccountedModel, CallDesk] | tuple[None, None]:
    """The model with the desk that its calls pass, which keeps a ledger and transcripts in ``folder``."""
    if found is None:
        return None, None
    caps = Caps(settings.max_cost or DEFAULT_MAX_COST, settings.max_calls)
    desk = CallDesk(folder, folder.name, caps=caps, policy=RetryPolicy(attempts=1))
    desk.begin_level(1, "Robot", LEVEL, settings.seed)
    effort = desk.table.info(settings.model).least_effort
    return AccountedModel(settings.model, found.model, found.provider, desk, effort), desk
