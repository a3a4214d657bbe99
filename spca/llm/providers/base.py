"""The contract between the client and a provider of models.

A provider turns one :class:`Request` into one :class:`Response` by at most one request to a server. Routing, retries,
falling back to a weaker form, validation and bookkeeping live above it, in ``llmclient.py`` and ``spca/llm/calls/``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

TIMEOUT_S = 300.0
"""Seconds before a request is given up; reasoning models think for minutes."""
LISTING_TIMEOUT_S = 5.0
"""Seconds for a list of models, which nobody should wait for."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in a message: its media type, such as "image/png", and its bytes.

    ``detail`` is how closely the model is to look, "low", "high" or "" for its own choice, where its server can
    be told: it decides the price.
    """

    media_type: str
    data: bytes
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; ``role`` is "system", "user" or "assistant"; pictures come after the text."""

    role: str
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call; ``parameters`` is a Pydantic class, told to the model as a strict schema."""

    name: str
    description: str
    parameters: type[BaseModel]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the model asks for, its arguments as they came: validated above the provider."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the provider reported them; None where it did not.

    ``input_tokens`` is the whole prompt: ``cached_tokens`` of it were read from the provider's cache, and
    ``cache_write_tokens``, others, were written into it. ``output_tokens`` is all that the model made:
    ``reasoning_tokens`` of it were spent on thinking.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_tokens: int | None = None


class Form(StrEnum):
    """How a structured answer is asked for, strongest first; servers differ in what they know."""

    SCHEMA = "json_schema"
    JSON = "json_object"
    TEXT = "text"


class Finish(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    TOOL_CALL = "tool_call"


@dataclass(frozen=True, slots=True)
class Limits:
    """``max_output_tokens`` includes reasoning; None leaves it, temperature and reasoning effort to the model.

    ``effort`` is a word that the model knows, such as "none" or "low"; some models take no other temperature than
    their own.
    """

    max_output_tokens: int | None = None
    temperature: float | None = None
    timeout_s: float = TIMEOUT_S
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """Where in a run a call is made: the ``number``-th, from 0, of a role, such as "planner", in a level."""

    category: str
    level: str
    seed: int | None
    role: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """What a provider is asked: the model name without prefix, the conversation, and the wanted form.

    ``schema`` is a Pydantic class whose JSON the answer must be, or None for free text; ``form`` is how the server is
    told so. ``tools`` exclude a schema; ``tool_choice`` is "auto", "required" or the name of a tool. ``occurrence``
    counts the calls of this run that were exactly the same, ``phase`` says who asks, such as "planner", ``turn`` where
    in the run; none of them is sent.
    """

    model: str
    messages: tuple[Message, ...]
    schema: type[BaseModel] | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "required"
    limits: Limits = field(default_factory=Limits)
    form: Form = Form.SCHEMA
    occurrence: int = 0
    phase: str = ""
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """What a provider answered: text or tool calls, and why it ended; a refusal's text is the model's reason.

    ``served`` is what the server calls the model that answered, "" where it does not say.
    """

    text: str
    usage: Usage = Usage()
    finish: Finish = Finish.STOP
    tool_calls: tuple[ToolCall, ...] = ()
    served: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What is known of a model but its price; None where nothing is.

    ``context`` and ``max_output`` in tokens; ``api`` is "chat" or "responses"; from ``shutdown`` on the model is
    gone, and ``successor`` (name with prefix) takes its place; ``least_effort`` is the least reasoning that it takes.
    """

    context: int | None = None
    max_output: int | None = None
    api: str = "chat"
    shutdown: date | None = None
    successor: str | None = None
    least_effort: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What a provider is made for: one model, where its server is (None: the usual place), what is known of it.

    ``is_open``: send neither the key nor the proxies of the environment. ``is_named``: send no key but that of
    ``key_variable`` (None otherwise: the provider's own variables). ``label`` is what messages call the model, "" for
    prefix and name. ``wording`` replaces fields of :class:`spca.llm.providers.failures.Service`, for programs whose
    options have other names.
    """

    model: str
    base_url: str | None = None
    info: ModelInfo = field(default_factory=ModelInfo)
    is_open: bool = False
    is_named: bool = False
    key_variable: str | None = None
    label: str = ""
    wording: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Listed:
    """A model in the list of its server: its name there, and the day on which it is shut down if that was announced."""

    name: str
    shutdown: date | None = None


@runtime_checkable
class Listing(Protocol):
    """A provider whose server tells which models it has.

    ``address`` is where it is asked, fit for messages; a list that does not come within ``timeout_s`` is given up.
    ``load_sdk`` imports all that the provider needs: call it before a thread uses the provider, since threads that
    import packages at the same time can meet modules that are half loaded.

    Raises:
        ProviderError: the list cannot be had.
    """

    @property
    def address(self) -> str: ...
    def load_sdk(self) -> None: ...
    def list_models(self, timeout_s: float = LISTING_TIMEOUT_S) -> Sequence[Listed]: ...


class Provider(Protocol):
    """One method, made by ``Provider(target)``.

    ``complete`` sends at most one request and never repeats it. Where a provider has an attribute ``at_terminal`` that
    is true, nothing else may write to the terminal meanwhile.

    Raises:
        TransientError: no answer came, but the same request may succeed later.
        UnsupportedFormError: the server does not know the form that was asked for; ``UnsupportedApiError``: nor the
            API, and the provider asks through another one from now on.
        ProviderConfigError: key, model or request were refused; ``UnknownModelError`` for the model.
        BadAnswerError: an answer came that cannot be read.
    """

    def complete(self, request: Request) -> Response: ...
