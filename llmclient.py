"""One client for every model: routes a call by the prefix of the model's name and checks what comes back.

>>> client = ChatGPTClient("reference/planner", PDDLResp)   # doctest: +SKIP
>>> client.chat_completion([{"role": "user", "content": "..."}])   # doctest: +SKIP
PDDLResp(domain='(define ...', problem='(define ...')
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Final, Generic, TypeVar, overload

from pydantic import BaseModel, ValidationError

from spca.errors import BadAnswerError, ProviderConfigError
from spca.providers.base import Message, Provider, Request, Usage

Schema = TypeVar("Schema", bound=BaseModel)
Answer = TypeVar("Answer")

PROVIDERS: Final[Mapping[str, tuple[str, str]]] = {
    "reference": ("spca.providers.reference", "ReferenceProvider"),
    "faulty": ("spca.providers.faulty", "FaultyProvider"),
    "openai": ("spca.providers.openai", "OpenAIProvider"),
}
"""Model prefix -> module and class; imported on first use."""


def provider_for(model: str) -> tuple[Provider, str]:
    """The provider of a model name such as ``openai/o3``, and the name without its prefix.

    Raises:
        ProviderConfigError: no provider has this prefix.
    """
    prefix, _, name = model.partition("/")
    if prefix not in PROVIDERS or not name:
        known = ", ".join(f"{p}/..." for p in PROVIDERS)
        raise ProviderConfigError(f"unknown model {model!r}: the name must begin with one of {known}")
    module, cls = PROVIDERS[prefix]
    provider: Provider = getattr(importlib.import_module(module), cls)()
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

    def chat_completion(self, messages: Sequence[Message | Mapping[str, str]]) -> Answer:
        """Ask the model.

        Args:
            messages: :class:`Message` values or ``{"role": ..., "content": ...}`` mappings.

        Raises:
            BadAnswerError: the answer is not of the form asked for; the text says where.
            ProviderError: no answer came.
        """
        self.last_text, self.last_usage = "", Usage()
        request = Request(self._name, tuple(map(_as_message, messages)), self._schema)
        response = self._provider.complete(request)
        self.last_text, self.last_usage = response.text, response.usage
        if self._schema is None:
            return response.text  # type: ignore[return-value]  # the overloads tie Answer to the schema
        return _parsed(response.text, self._schema)  # type: ignore[return-value]


def _as_message(message: Message | Mapping[str, str]) -> Message:
    return message if isinstance(message, Message) else Message(message["role"], message["content"])


def _parsed(text: str, schema: type[Schema]) -> Schema:
    """Validate an answer, forgiving a code fence or chatter around the JSON object."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise BadAnswerError("the answer holds no JSON object")
    try:
        return schema.model_validate_json(text[start : end + 1])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the JSON"
        raise BadAnswerError(f"the answer is not valid: {where}: {first['msg']}") from error
