"""The contract between the client and the providers of models.

A provider turns one :class:`Request` into one :class:`Response`, with at most one request to a server. Routing,
retries, weaker forms of answers, validation and records are the tasks of ``llmclient.py`` and ``spca/llm/calls/``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel

TIMEOUT_S = 300.0
"""Seconds after which a request is given up; long, because reasoning models think for minutes."""
LISTING_TIMEOUT_S = 5.0
"""Seconds after which the request for a list of models is given up; short, because users wait for the list."""


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in a message.

    Attributes:
        media_type: media type, such as "image/png".
        data: bytes of the image file.
        detail: "low" or "high" resolution for the model, which affects the price; "" leaves the choice to the server.
            Servers without this option ignore the value.
    """

    media_type: str
    data: bytes
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; ``role`` is "system", "user" or "assistant"; the images follow the text."""

    role: str
    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call; ``parameters`` is a Pydantic class, whose schema the model is given."""

    name: str
    description: str
    parameters: type[BaseModel]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call in an answer of the model; the provider does not validate the arguments."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of one request; None for a count that the provider did not report.

    Attributes:
        input_tokens: all tokens of the prompt.
        output_tokens: all tokens that the model generated.
        cached_tokens: part of the input that was read from the provider's cache.
        reasoning_tokens: part of the output that was reasoning.
        cache_write_tokens: part of the input that was written into the provider's cache; not included in
            ``cached_tokens``.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_tokens: int | None = None


class Form(StrEnum):
    """How a server is asked for a structured answer, strongest form first; not every server supports every form."""

    SCHEMA = "json_schema"  # the server enforces the schema
    JSON = "json_object"  # the server enforces JSON; the prompt describes the schema
    TEXT = "text"  # only the prompt asks for JSON


class Finish(StrEnum):
    """Why an answer ended."""

    STOP = "stop"
    LENGTH = "length"
    REFUSAL = "refusal"
    TOOL_CALL = "tool_call"


@dataclass(frozen=True, slots=True)
class RequestOptions:
    """Limits and options of an answer; None leaves an option to the model.

    Attributes:
        max_output_tokens: maximum number of tokens of the answer, including reasoning.
        temperature: sampling temperature; some models accept only their default.
        timeout_s: seconds after which the request is given up.
        effort: reasoning effort, such as "none" or "low".
    """

    max_output_tokens: int | None = None
    temperature: float | None = None
    timeout_s: float = TIMEOUT_S
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """Where in a run a call is made; ``number`` is the number of the call among the calls of its role in its level.

    Numbers begin at 0; a role is, for example, "planner".
    """

    category: str
    level: str
    seed: int | None
    role: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """A question to a model. The last three attributes are not sent to the server.

    Attributes:
        model: name of the model without prefix.
        messages: the conversation.
        schema: Pydantic class of a structured answer; None for free text.
        tools: functions that the model may call; a request has either tools or a schema.
        tool_choice: "auto", "required" or the name of a tool.
        form: how the server is asked for the structured answer.
        occurrence: number of earlier identical calls of this run.
        phase: role that asks, such as "planner".
        turn: where in the run the call is made.
    """

    model: str
    messages: tuple[Message, ...]
    schema: type[BaseModel] | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "required"
    limits: RequestOptions = field(default_factory=RequestOptions)
    form: Form = Form.SCHEMA
    occurrence: int = 0
    phase: str = ""
    turn: Turn | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """An answer of a model.

    Attributes:
        text: text of the answer; for a refusal, the model's reason.
        finish: why the answer ended.
        tool_calls: calls of tools, in order.
        served: the server's name of the model that answered, "" if the server does not report the name.
    """

    text: str
    usage: Usage = Usage()
    finish: Finish = Finish.STOP
    tool_calls: tuple[ToolCall, ...] = ()
    served: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """Properties of a model, without its price; None for an unknown property.

    Attributes:
        context: maximum number of tokens of prompt and answer together.
        max_output: maximum number of tokens of an answer.
        api: "chat" or "responses".
        shutdown: day on which the model is shut down.
        successor: model (with prefix) that replaces the model after its shutdown.
        least_effort: least reasoning effort that the model accepts.
    """

    context: int | None = None
    max_output: int | None = None
    api: str = "chat"
    shutdown: date | None = None
    successor: str | None = None
    least_effort: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """The model and server that a provider is made for.

    Attributes:
        model: name of the model without prefix.
        base_url: address of the server; None for the usual address.
        info: properties of the model.
        is_open: whether the server takes no key. If so, the keys and proxies in environment variables are ignored.
        is_named: whether the user has added the server. If so, only the key in ``key_variable`` is sent.
        key_variable: environment variable with the key; None for the provider's own variables.
        label: name of the model in messages; "" for prefix and name.
        wording: replacements for fields of :class:`spca.llm.providers.failures.Service`, for programs whose options
            have other names.
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
    """A model in the list of a server: the server's name of the model, and the day of its shutdown if announced."""

    name: str
    shutdown: date | None = None


@runtime_checkable
class Listing(Protocol):
    """A provider whose server lists its models.

    ``address`` is the address of the server, without keys, for messages. ``list_models`` gives up after ``timeout_s``
    seconds. ``load_sdk`` imports all packages that the provider needs. Call ``load_sdk`` before threads use the
    provider, because threads that import a package at the same time can see a partly loaded module.

    Raises:
        ProviderError: the list is unavailable.
    """

    @property
    def address(self) -> str: ...
    def load_sdk(self) -> None: ...
    def list_models(self, timeout_s: float = LISTING_TIMEOUT_S) -> Sequence[Listed]: ...


class Provider(Protocol):
    """A provider of one model, made by ``Provider(target)``.

    ``complete`` sends at most one request and never repeats a request. If a provider has a true attribute
    ``at_terminal``, nothing else may write to the terminal during ``complete``.

    Raises:
        TransientError: no answer came, but the same request may succeed later.
        UnsupportedFormError: the server does not support the form of the request.
        UnsupportedApiError: the server lacks the API; the provider's next request uses another API.
        ProviderConfigError: key, model or request were refused; ``UnknownModelError`` for the model.
        BadAnswerError: the answer cannot be read.
    """

    def complete(self, request: Request) -> Response: ...
