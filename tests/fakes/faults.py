"""A server on loopback that gives scripted replies in any dialect: the faults that well-kept fakes do not make."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
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


def miscounting(dialect: Dialect, value: object) -> list[tuple[str, Reply]]:
    """Replies that hold an answer in which one count each, named, is ``value``."""
    whole = answering(dialect, usage=Usage(11, 7, 5, 3, 2)).body
    paths = [path for path in _counts(json.loads(whole)) if "total" not in path[-1].lower()]
    return [(path[-1], Reply.of(_with_value(json.loads(whole), path, value))) for path in paths]


def miscounted(body: dict[str, Any], value: object) -> dict[str, Any]:
    """An answer in which every count is ``value``."""
    for path in list(_counts(body)):
        _with_value(body, path, value)
    return body


def _with_value(body: dict[str, Any], path: Sequence[str], value: object) -> dict[str, Any]:
    holder = body
    for name in path[:-1]:
        holder = holder[name]
    holder[path[-1]] = value
    return body


def _counts(node: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, value in node.items():
        if isinstance(value, dict):
            yield from ((name, *path) for path in _counts(value))
        elif name.endswith(("_tokens", "TokenCount", "eval_count")) and not name.startswith("max"):
            yield (name,)


MISSING: Final = object()
ODD_VALUES: Final[Mapping[str, object]] = {
    "missing": MISSING,
    "null": None,
    "negative": -1,
    "text": "odd",
    "true": True,
    "not a number": float("nan"),
    "list": [1],
    "object": {"odd": 1},
}
"""What the fields of an answer can be that are not needed for its content."""

_CONTENT: Final = frozenset(
    [
        "choices",
        "message",
        "output",
        "content",
        "candidates",
        "parts",
        "text",
        "refusal",
        "tool_calls",
        "function",
        "functionCall",
        "name",
    ]
)
_KEPT: Final = frozenset(("arguments", "args", "input", "type"))
"""Of these, arguments are content as they are, and types tell words from thoughts."""


def disfigured(body: Any, odd: str) -> Any:
    """An answer, all of whose fields but its content have that odd value."""
    if isinstance(body, list):
        return [disfigured(each, odd) for each in body]
    if not isinstance(body, dict):
        return body
    value = ODD_VALUES[odd]
    found = {}
    for name, each in body.items():
        if name in _KEPT:
            found[name] = each
        elif name in _CONTENT:
            found[name] = disfigured(each, odd)
        elif value is not MISSING:
            found[name] = value
    return found


def _in_bytes(change: Callable[[bytes], bytes], **more: Any) -> Callable[[Dialect], Reply]:
    return lambda dialect: replace(answering(dialect), body=change(answering(dialect).body), **more)


ODD_BYTES: Final[Mapping[str, Callable[[Dialect], Reply]]] = {
    "called a page": _in_bytes(bytes, content_type="text/html; charset=utf-16"),
    "byte order mark": _in_bytes(lambda body: b"\xef\xbb\xbf" + body),
    "space around it": _in_bytes(lambda body: b"\r\n \t" + body + b"\n\n"),
    "UTF-16": _in_bytes(lambda body: body.decode().encode("utf-16")),
    "line break in a text": _in_bytes(lambda body: body[:-1] + b', "odd": "a\nb"}'),
    "gzip": _in_bytes(gzip.compress, headers={"content-encoding": "gzip"}),
    "deflate": _in_bytes(zlib.compress, headers={"content-encoding": "deflate"}),
    "created": _in_bytes(bytes, status=201),
}
"""Whole answers, and the bytes in which they come."""


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
    "truncated": _truncated,
    "malformed": lambda _dialect: Reply(b'{"choices": [{"mess'),
    "no object": lambda _dialect: Reply(b"[]"),
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
