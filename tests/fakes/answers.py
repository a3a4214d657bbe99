"""What a fake model says and what it has heard, whatever the protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from spca.llm.providers.base import Message, ToolCall, Usage
from tests.fakes.serving import Asked, Reply


@dataclass(frozen=True, slots=True)
class Answer:
    """``ended`` is "stop", "length" or "content_filter"; ``thought`` is reasoning told apart from the answer.

    ``broken`` spoils the arguments of the calls; a ``usage`` of None is left out.
    """

    text: str = ""
    usage: Usage | None = None
    refusal: str | None = None
    calls: tuple[ToolCall, ...] = ()
    ended: str = "stop"
    thought: str = ""
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """A request as its server understands it.

    ``form`` is "json_schema", "json_object" or "text", with the ``schema`` of the first; ``choice`` is "auto",
    "required", the name of a tool, or None where nothing is said; ``effort`` is that of its reasoning, None likewise.
    """

    model: str
    messages: tuple[Message, ...]
    form: str
    schema: Mapping[str, Any] | None
    max_output_tokens: int | None
    temperature: float | None
    tools: Mapping[str, Mapping[str, Any]]
    choice: str | None
    effort: str | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """A protocol of models.

    ``path`` is what a base URL ends in and ``endpoint`` where answers are asked for; ``answered`` makes the body of
    an answer for a model, ``refused`` the reply to a refused request from status, words and code, ``listed`` the
    list of models from their names and the days on which they are shut down; ``heard`` reads a request.
    """

    name: str
    path: str
    endpoint: str
    answered: Callable[[Answer, str], dict[str, Any]]
    refused: Callable[[int, str, str | None], Reply]
    listed: Callable[..., dict[str, Any]]
    heard: Callable[[Asked], Heard]
