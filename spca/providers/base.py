"""The contract between the client and a provider of models.

A provider turns one :class:`Request` into one :class:`Response`; routing, validation and bookkeeping live above it
in ``llmclient.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message; ``role`` is "system", "user" or "assistant"."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts as the provider reported them; None where it did not."""

    input_tokens: int | None = None
    output_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What a provider is asked: the model name without prefix, the conversation, and the wanted form.

    ``schema`` is a Pydantic class whose JSON the answer must be, or None for free text.
    """

    model: str
    messages: tuple[Message, ...]
    schema: type[BaseModel] | None = None


@dataclass(frozen=True, slots=True)
class Response:
    """What a provider answered, as text."""

    text: str
    usage: Usage = Usage()


class Provider(Protocol):
    """One method; raises :class:`spca.errors.ProviderError` when there is no answer."""

    def complete(self, request: Request) -> Response: ...
