"""A server on loopback that gives scripted replies in any dialect: the faults that well-kept fakes do not make."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any, Final

from spca.llm.providers.base import ToolCall, Usage
from tests.fakes.answers import Answer, Dialect
from tests.fakes.anthropic_wire import ANTHROPIC
from tests.fakes.google_wire import GOOGLE
from tests.fakes.ollama_wire import OLLAMA
from tests.fakes.openai_wire import CHAT, RESPONSES, objection
from tests.fakes.serving import Asked, Reply, Server

DIALECTS: Final = {dialect.name: dialect for dialect in (CHAT, RESPONSES, ANTHROPIC, GOOGLE, OLLAMA)}


class FaultServer(Server):
    """Gives ``reply`` to every request for an answer and keeps what it was asked.

    It lists ``models`` with their ``ends``, or gives the reply ``listing``.
    """

    def __init__(self, dialect: Dialect) -> None:
        super().__init__()
        self.dialect = dialect
        self.reset()

    def reset(self) -> None:
        """Forget what was asked and set."""
        self.reply = answering(self.dialect)
        self.models: tuple[str, ...] = ("small", "large")
        self.ends: dict[str, str] = {}
        self.listing: Reply | None = None
        self.asked: list[Asked] = []

    def reply_to(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        if asked.method == "GET" and not asked.path.startswith("/elsewhere"):
            return self.listing or Reply.of(self.dialect.listed(self.models, self.ends))
        return self._objection(asked) or self.reply

    def _objection(self, asked: Asked) -> Reply | None:
        """What the real servers of OpenAI refuse."""
        if self.dialect not in (CHAT, RESPONSES):
            return None
        dialect = CHAT if asked.path == CHAT.endpoint else RESPONSES
        return objection(dialect.heard(asked), dialect)

    @property
    def base_url(self) -> str:
        """What a client's base URL must be."""
        return f"{self.url}{self.dialect.path}"

    @property
    def posted(self) -> list[Asked]:
        """The requests for an answer."""
        return [asked for asked in self.asked if asked.method == "POST"]


def answering(dialect: Dialect, text: str = "yes", **more: Any) -> Reply:
    """A reply that holds an answer."""
    answer = Answer(text, **{"usage": Usage(11, 7), **more})
    return Reply.of(dialect.answered(answer, "m"))


def calling(dialect: Dialect, name: str, arguments: Mapping[str, Any], *, broken: bool = False) -> Reply:
    """A reply that calls a tool."""
    return answering(dialect, "", calls=(ToolCall(name, arguments),), broken=broken)


ABSURD: Final[tuple[Any, ...]] = (
    *(10**400, -(10**400), 10**8 + 1, -1, True, False, "7", "", 1.5, float("nan"), float("inf"), [7], {}),
)
"""What no number of tokens can be."""


def miscounting(dialect: Dialect, value: object) -> list[tuple[str, Reply]]:
    """Replies that hold an answer in which one count each, named, is ``value``."""
    found = []
    for path in _counts(json.loads(answering(dialect, usage=Usage(11, 7, 5, 3, 2)).body)):
        body = json.loads(answering(dialect, usage=Usage(11, 7, 5, 3, 2)).body)
        holder = body
        for name in path[:-1]:
            holder = holder[name]
        holder[path[-1]] = value
        found.append((path[-1], Reply.of(body)))
    return found


def _counts(node: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, value in node.items():
        if isinstance(value, dict):
            yield from ((name, *path) for path in _counts(value))
        elif name.endswith(("_tokens", "TokenCount", "eval_count")) and "total" not in name and "max" not in name:
            yield (name,)


def busy(dialect: Dialect, headers: Mapping[str, str], status: int = 429) -> Reply:
    """Too many requests, or another refusal that passes."""
    return replace(dialect.refused(status, "Slow down, please.", None), headers=headers)


def http_date(seconds: float) -> str:
    """The moment that many seconds from now, as HTTP writes it."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


def _truncated(dialect: Dialect) -> Reply:
    whole = answering(dialect).body
    return Reply(whole[: len(whole) // 2], announced=len(whole))


def _page(_dialect: Dialect) -> Reply:
    return Reply(b"<html><body>Sign in to the network</body></html>", content_type="text/html")


BROKEN: Final[Mapping[str, Callable[[Dialect], Reply]]] = {
    "slow": lambda dialect: replace(answering(dialect), delay=5.0),
    "byte by byte": lambda dialect: replace(answering(dialect), drip=0.1),
    "truncated": _truncated,
    "malformed": lambda _dialect: Reply(b'{"choices": [{"mess'),
    "no object": lambda _dialect: Reply(b"[]"),
    "number of 5000 digits": lambda _dialect: Reply(b'{"usage": {"prompt_tokens": 1' + b"0" * 5000 + b"}}"),
    "empty body": lambda _dialect: Reply(b""),
    "page": _page,
    "page called JSON": lambda dialect: replace(_page(dialect), content_type="application/json"),
    "silent": lambda _dialect: Reply(silent=True),
}
"""The server took the request, and what came back cannot be read as JSON: the answer is lost."""

UNKNOWN_FORMS: Final[tuple[Any, ...]] = (
    {},
    {"answer": "yes"},
    {"choices": "many", "output": "much", "candidates": "few", "message": "none"},
    {"choices": [{}], "output": [{"type": "message"}], "candidates": [{"content": "x"}], "message": {}},
    {"choices": [{"message": None}], "output": [None], "candidates": [None], "message": {"content": 1}},
)
"""Bodies of 200 that are JSON, but no answer in any dialect."""


def unsupported_form(dialect: Dialect) -> Reply:
    """The form of answer is not known, in words that servers have for it."""
    words = {
        "openai-chat": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        "openai-responses": "Invalid parameter: 'text.format' of type 'json_schema' is not supported with this model.",
        "anthropic": "output_config.format: Extra inputs are not permitted",
        "google": "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config'",
        "ollama": 'invalid format: expected "json" or a JSON schema',
    }
    return dialect.refused(400, words[dialect.name], None)


def context_exceeded(dialect: Dialect) -> Reply:
    """The prompt is longer than what the model can read."""
    words = {
        "anthropic": "prompt is too long: 208310 tokens > 200000 maximum",
        "google": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "ollama": "the input length exceeds the context length",
    }
    usual = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
    return dialect.refused(400, words.get(dialect.name, usual), "context_length_exceeded")


def echoing(dialect: Dialect, status: int, key: str) -> Reply:
    """A refusal that repeats the key, as some servers do."""
    return dialect.refused(status, f"Incorrect API key provided: {key}.\nYou can find your API key elsewhere.", None)
