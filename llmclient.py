"""One client for every model: routes a call by the prefix of the model's name and checks what comes back.

>>> client = ChatGPTClient("reference/planner", PDDLResp)   # doctest: +SKIP
>>> client.chat_completion([{"role": "user", "content": "..."}])   # doctest: +SKIP
PDDLResp(domain='(define ...', problem='(define ...')
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Generic, TypeVar, overload

from pydantic import BaseModel, ValidationError

from spca.errors import BadAnswerError, ProviderConfigError, ProviderDownError, ProviderError
from spca.providers.base import Message, Provider, Request, Response, Usage

Schema = TypeVar("Schema", bound=BaseModel)
Answer = TypeVar("Answer")

PROVIDERS: Final[Mapping[str, tuple[str, str]]] = {
    "reference": ("spca.providers.reference", "ReferenceProvider"),
    "faulty": ("spca.providers.faulty", "FaultyProvider"),
    "openai": ("spca.providers.openai", "OpenAIProvider"),
}
"""Model prefix -> module and class; imported on first use."""

MAX_UNANSWERED: Final = 3
"""Calls without an answer in a row after which a model counts as down."""

_MAX_STARTS: Final = 100
"""Opening braces at which an answer is tried to be read, so that a hostile one costs no more than its size."""


def provider_for(model: str) -> tuple[Provider, str]:
    """The provider of a model name such as ``openai/o3``, and the name without its prefix.

    A provider that offers certain models only lists them as its attribute ``models``.

    Raises:
        ProviderConfigError: there is no such prefix or model, or its provider lacks a key.
    """
    prefix, _, name = model.partition("/")
    if prefix not in PROVIDERS or not name:
        known = ", ".join(f"{p}/..." for p in PROVIDERS)
        raise ProviderConfigError(f"unknown model {model!r}: the name must begin with one of {known}")
    module, cls = PROVIDERS[prefix]
    provider: Provider = getattr(importlib.import_module(module), cls)()
    models: Sequence[str] = getattr(provider, "models", (name,))
    if name not in models:
        known = ", ".join(f"{prefix}/{each}" for each in models)
        raise ProviderConfigError(f"unknown model {model!r}: choose one of {known}")
    return provider, name


class ChatGPTClient(Generic[Answer]):
    """A model and the form its answers must have.

    Args:
        model: name with prefix, such as ``openai/o3`` or ``reference/coder``.
        schema: a Pydantic class for structured answers, None for free text.
        provider: used instead of the one that the prefix names.

    Attributes:
        last_usage: token counts of the last answer.
        last_text: the last answer as it came.
    """

    @overload
    def __init__(
        self: ChatGPTClient[Schema], model: str, schema: type[Schema], *, provider: Provider | None = None
    ) -> None: ...
    @overload
    def __init__(
        self: ChatGPTClient[str], model: str, schema: None = None, *, provider: Provider | None = None
    ) -> None: ...
    def __init__(self, model: str, schema: type[BaseModel] | None = None, *, provider: Provider | None = None) -> None:
        self.model = model
        self._schema = schema
        named: tuple[Provider, str] | None = (provider, model) if provider else None
        self._provider, self._name = named or provider_for(model)
        self.last_usage = Usage()
        self.last_text = ""
        self._unanswered = 0

    def chat_completion(self, messages: Sequence[Message | Mapping[str, str]]) -> Answer:
        """Ask the model.

        Args:
            messages: :class:`Message` values or ``{"role": ..., "content": ...}`` mappings.

        Raises:
            BadAnswerError: the answer is not of the form asked for; the text says where.
            ProviderDownError: no answer came, for the :data:`MAX_UNANSWERED`-th time in a row.
            ProviderError: no answer came.
        """
        self.last_text, self.last_usage = "", Usage()
        request = Request(self._name, tuple(map(_as_message, messages)), self._schema)
        response = self._answered(request)
        # A lone surrogate could be neither written to a file nor sent on.
        self.last_text = response.text.encode("utf-8", "replace").decode()
        self.last_usage = response.usage
        if self._schema is None:
            return self.last_text  # type: ignore[return-value]  # the overloads tie Answer to the schema
        return _parsed(self.last_text, self._schema)  # type: ignore[return-value]

    def _answered(self, request: Request) -> Response:
        try:
            response = self._provider.complete(request)
        except (ProviderConfigError, BadAnswerError):
            raise
        except ProviderError as error:
            self._unanswered += 1
            if self._unanswered < MAX_UNANSWERED:
                raise
            raise ProviderDownError(f"{error} ({self._unanswered} times in a row)") from error
        self._unanswered = 0
        return response


def _as_message(message: Message | Mapping[str, str]) -> Message:
    return message if isinstance(message, Message) else Message(message["role"], message["content"])


def _parsed(text: str, schema: type[Schema]) -> Schema:
    """Validate an answer, forgiving code fences, chatter around the JSON object and line breaks inside its strings."""
    fault = "the answer holds no JSON object"
    for found in _objects(text):
        if isinstance(found, json.JSONDecodeError):
            fault = f"the answer is not valid JSON: {found}"
            continue
        try:
            # As JSON again, since only then Pydantic refuses lone surrogates, which could not be written to a file.
            return schema.model_validate_json(json.dumps(found))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "the JSON"
            fault = f"the answer is not valid: {where}: {first['msg']}"
        except RecursionError:
            fault = "the answer is not valid JSON: nested too deeply"
    raise BadAnswerError(fault)


def _objects(text: str) -> Iterator[dict[str, Any] | json.JSONDecodeError]:
    """The JSON objects in a text in order; if there is none, the error of the attempt that got furthest."""
    decoder = json.JSONDecoder(strict=False)
    position, errors = text.find("{"), list[json.JSONDecodeError]()
    found = False
    while position >= 0 and len(errors) < _MAX_STARTS:
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            errors.append(error)
            end = position + 1
        except RecursionError:
            errors.append(json.JSONDecodeError("nested too deeply", text, position))
            break
        else:
            found = True
            yield value
        position = text.find("{", end)
    if errors and not found:
        yield max(errors, key=lambda error: error.pos)
