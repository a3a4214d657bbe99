"""A server on loopback whose model is the embedded reference model, with books of its own, in every protocol.

::

    python -m tests.fakes.reference_server --port 8123 --log FILE [--faults 0.1 --seed 7] [--stall SECONDS]

It serves OpenAI's ``/v1/chat/completions`` and ``/v1/responses``, Anthropic's ``/v1/messages``, Google's
``/v1beta/models/...:generateContent``, Ollama's ``/api/chat``, and the lists of models of all four. A request that has
tools goes to the robot's navigator, one that asks for JSON to the planner, any other to the coder. Every request is a
line of the log, written and flushed before its answer is sent and before ``--stall`` is waited for.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import random
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import takewhile
from pathlib import Path
from typing import Any

from spca.errors import BadAnswerError
from spca.llm.providers.base import Message, ToolCall, Usage
from spca.reference import coder, planner
from tests.fakes import anthropic_wire, faults
from tests.fakes import openai_wire as wire
from tests.fakes.answers import Answer, Dialect, Heard
from tests.fakes.anthropic_wire import ANTHROPIC
from tests.fakes.google_wire import GOOGLE
from tests.fakes.ollama_wire import OLLAMA
from tests.fakes.openai_wire import CHAT, RESPONSES
from tests.fakes.serving import Asked, Reply, Server

KNOWN = (
    *("gpt-5.2", "gpt-5.2-2025-12-11", "gpt-6-luna", "gpt-6.1-sol", "gpt-6.1-terra"),
    *("claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"),
    *("gemini-3.5-flash-lite", "gemini-3.8-flash", "qwen3-coder:30b"),
)
"""Names that are listed where all exist."""
CHARACTERS_PER_TOKEN = 4
CACHED_STEP = 128
"""Prompts are written into the cache and read from it in steps of so many tokens, as OpenAI's servers do; Anthropic's
cache what a request marks."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the server behaves.

    ``faults`` is the share of requests for an answer that are refused with 429 or 500, drawn for each from ``seed``
    and its number; ``retry_after`` what a 429 asks to wait. ``schema`` and ``json`` tell which forms of answer are
    known, ``responses`` whether there is OpenAI's second API, ``usage`` whether tokens are reported, ``count`` what is
    reported in place of each count (None: the count), ``models`` which names exist (None: all do, and :data:`KNOWN` are
    listed), ``ends`` when they are shut down. ``stall`` seconds pass before an answer is sent. Requests without ``key``
    are refused, unless it is "".
    """

    faults: float = 0.0
    seed: int = 0
    retry_after: str = "0"
    schema: bool = True
    json: bool = True
    responses: bool = True
    usage: bool = True
    count: int | str | None = None
    models: tuple[str, ...] | None = None
    ends: Mapping[str, str] = field(default_factory=dict)
    stall: float = 0.0
    key: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the log; ``number`` counts requests for an answer from 1 and is 0 for any other.

    ``fault`` is "429" or "500" where one was injected; tokens are as the answer reports them.
    """

    number: int
    time: float
    method: str
    path: str
    model: str | None
    sha256: str
    status: int
    fault: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cache_write_tokens: int | None = None
    effort: str | None = None


class ReferenceServer(Server):
    """See the module; ``lines`` is what the log holds."""

    def __init__(self, settings: Settings | None = None, *, port: int = 0, log: Path | None = None) -> None:
        super().__init__(port)
        self.settings = settings or Settings()
        self.lines: list[Line] = []
        self._log = log
        self._lock = threading.Lock()
        self._seen: set[Message] = set()
        self._beginnings: set[tuple[Message, ...]] = set()
        if log is not None:
            log.touch()

    @property
    def base_url(self) -> str:
        """What a client's base URL must be."""
        return f"{self.url}/v1"

    @property
    def asked(self) -> list[Line]:
        """The requests for an answer, faults and refusals included."""
        return [line for line in self.lines if line.number]

    def reply_to(self, asked: Asked) -> Reply:
        with self._lock:
            dialect = _dialect(asked) if asked.method == "POST" else None
            number = len(self.asked) + 1 if dialect else 0
            fault = self._fault(number, dialect) if dialect else None
            heard = _read(asked, dialect) if dialect else None
            reply, usage = self._served(asked, dialect, heard) if fault is None else (fault, None)
            line = Line(
                number=number,
                time=time.time(),
                method=asked.method,
                path=asked.path,
                model=heard.model if heard else None,
                sha256=hashlib.sha256(asked.raw).hexdigest(),
                status=reply.status,
                fault=str(fault.status) if fault else None,
                effort=heard.effort if heard else None,
                **(asdict(usage) if usage else {}),
            )
            self.lines.append(line)
            if self._log is not None:
                with self._log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(line)) + "\n")
        return reply

    def _fault(self, number: int, dialect: Dialect) -> Reply | None:
        drawn = random.Random(f"{self.settings.seed} {number}")
        if drawn.random() >= self.settings.faults:
            return None
        if drawn.random() < 0.5:
            busy = dialect.refused(429, "Rate limit reached for requests", "rate_limit_exceeded")
            return replace(busy, headers={"retry-after": self.settings.retry_after})
        return dialect.refused(500, "The server had an error while processing your request", None)

    def _served(self, asked: Asked, dialect: Dialect | None, heard: Heard | None) -> tuple[Reply, Usage | None]:
        if self.settings.key and asked.headers.get("authorization") != f"Bearer {self.settings.key}":
            return (dialect or CHAT).refused(401, "Incorrect API key provided.", "invalid_api_key"), None
        listed = _list(asked) if asked.method == "GET" else None
        if listed:
            names = KNOWN if self.settings.models is None else self.settings.models
            return Reply.of(listed(names, self.settings.ends)), None
        if dialect is None:
            return wire.refused(404, f"Unknown request URL: {asked.path}"), None
        if heard is None:
            return dialect.refused(400, "We could not parse the JSON body of your request.", None), None
        if fault := self._objection(dialect, heard):
            return fault, None
        marks = anthropic_wire.marks(asked) if dialect is ANTHROPIC else None
        answer = self._counted(self.answer_to(heard), heard, marks)
        if answer.usage is not None:
            answer = replace(answer, usage=_told(answer.usage, dialect))
        body, usage = dialect.answered(answer, heard.model), answer.usage
        if self.settings.count is not None:
            body, usage = faults.miscounted(body, self.settings.count), None
        return Reply.of(body, delay=self.settings.stall), usage

    def answer_to(self, heard: Heard) -> Answer:
        """What the model says."""
        return _answer(heard)

    def _objection(self, dialect: Dialect, heard: Heard) -> Reply | None:
        """Why a request cannot be served, in the words of such servers."""
        known = {"text": True, "json_object": self.settings.json, "json_schema": self.settings.schema}
        names = self.settings.models
        if dialect is RESPONSES and not self.settings.responses:
            return dialect.refused(404, "Not Found", None)
        if names is not None and heard.model not in names:
            words = f"The model `{heard.model}` does not exist or you do not have access to it."
            return dialect.refused(404, words, "model_not_found")
        if not known.get(heard.form, False):
            return faults.unsupported_form(dialect)
        if dialect is ANTHROPIC:
            return anthropic_wire.objection(heard)
        return wire.objection(heard, dialect) if dialect in (CHAT, RESPONSES) else None

    def _counted(self, answer: Answer, heard: Heard, marks: Sequence[int] | None) -> Answer:
        """The answer with its tokens, cut where they exceed the limit; what is cached is up to ``marks``, if any."""
        limit = heard.max_output_tokens
        written = _tokens(answer.text or answer.refusal or "")
        reasoning = 0 if heard.effort == "none" else written // 2
        if limit is not None and reasoning + written > limit:
            reasoning = min(reasoning, limit)
            written = limit - reasoning
            answer = replace(answer, text=answer.text[: written * CHARACTERS_PER_TOKEN], ended="length")
        if not self.settings.usage:
            return answer
        cached, stored = self._cached(heard.messages) if marks is None else self._marked(heard.messages, marks)
        usage = Usage(_size(heard.messages), reasoning + written, cached, reasoning, stored)
        return replace(answer, usage=usage)

    def _cached(self, messages: Sequence[Message]) -> tuple[int, int]:
        """Tokens read from the cache and written into it where it holds every message that was seen."""
        known = list(takewhile(self._seen.__contains__, messages))
        self._seen.update(messages)
        read, cached = _size(messages), _size(known)
        cached -= cached % CACHED_STEP
        return cached, read - read % CACHED_STEP - cached

    def _marked(self, messages: Sequence[Message], marks: Sequence[int]) -> tuple[int, int]:
        """Likewise where it holds the beginnings that were marked."""
        beginnings = [tuple(messages[:count]) for count in range(max(marks, default=0) + 1)]
        known = max((each for each in beginnings if each in self._beginnings), key=len, default=())
        self._beginnings.update(beginnings[count] for count in marks)
        return _size(known), _size(beginnings[-1]) - _size(known)


_LISTS = {"/v1/models": CHAT.listed, "/v1beta/models": GOOGLE.listed, "/api/tags": OLLAMA.listed}


def _list(asked: Asked) -> Callable[..., dict[str, Any]] | None:
    return ANTHROPIC.listed if "anthropic-version" in asked.headers else _LISTS.get(asked.path.partition("?")[0])


def _dialect(asked: Asked) -> Dialect | None:
    return next((each for each in faults.DIALECTS.values() if asked.path.startswith(each.endpoint)), None)


def _read(asked: Asked, dialect: Dialect) -> Heard | None:
    """A request as it is understood; None where it is no request for one whole answer of a model."""
    try:
        heard = None if asked.body.get("stream") else dialect.heard(asked)
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError):
        return None
    return heard if heard and isinstance(heard.model, str) else None


def _told(usage: Usage, dialect: Dialect) -> Usage:
    """As much of the usage as the protocol has a field for."""
    if dialect is OLLAMA:
        return Usage(usage.input_tokens, usage.output_tokens)
    return replace(usage, cache_write_tokens=None) if dialect is GOOGLE else usage


def _answer(heard: Heard) -> Answer:
    """What the reference model says; where it cannot answer it refuses, as a model would."""
    if heard.tools:
        return _decided(heard)
    plans = heard.form != "text" or any("<snapshot>" in message.text for message in heard.messages)
    try:
        return Answer((planner if plans else coder).answer(heard.messages))
    except BadAnswerError as error:
        return Answer(refusal=str(error))


def _decided(heard: Heard) -> Answer:
    """The call of a tool by the navigator of the robot."""
    from robot_bridge.decisions.navigators.reference_navigator import ReferenceNavigator

    said = {message.role: message.text for message in heard.messages}
    images = [image.data for message in heard.messages for image in message.images]
    image = images[0] if images else None
    reply = ReferenceNavigator().ask(said.get("system", ""), said["user"], image, list(heard.tools), 8.0)
    return Answer(reply.text, calls=tuple(ToolCall(name, arguments) for name, arguments in reply.calls))


def _size(messages: Iterable[Message]) -> int:
    return sum(_tokens(message.text) for message in messages)


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="A server whose model is the reference model.")
    parser.add_argument("--port", type=int, default=0, help="0: a free one; the address is the first line printed")
    parser.add_argument("--log", type=Path, help="append a JSON line for each request to this file")
    parser.add_argument("--faults", type=float, default=0.0, help="share of requests answered with 429 or 500")
    parser.add_argument("--seed", type=int, default=0, help="draws the faults")
    parser.add_argument("--retry-after", default="0", help="what a 429 asks to wait")
    parser.add_argument("--no-schema", dest="schema", action="store_false", help="refuse JSON schemas")
    parser.add_argument("--no-json", dest="json", action="store_false", help="refuse JSON mode")
    parser.add_argument("--no-responses", dest="responses", action="store_false", help="chat completions only")
    parser.add_argument("--no-usage", dest="usage", action="store_false", help="report no tokens")
    parser.add_argument("--models", type=lambda text: tuple(text.split(",")), help="names that exist, with commas")
    parser.add_argument("--stall", type=float, default=0.0, help="seconds before an answer is sent")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    chosen = vars(build_parser().parse_args(argv))
    port, log = chosen.pop("port"), chosen.pop("log")
    with ReferenceServer(Settings(**chosen), port=port, log=log) as server:
        print(server.base_url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
