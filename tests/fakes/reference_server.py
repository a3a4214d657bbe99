"""An OpenAI-compatible server on loopback whose model is the embedded reference model, with books of its own.

::

    python -m tests.fakes.reference_server --port 8123 --log FILE [--faults 0.1 --seed 7] [--stall SECONDS]

It serves ``/v1/chat/completions``, ``/v1/responses`` and ``/v1/models``. A request that asks for JSON goes to the
planner, any other to the coder. Every request is a line of the log, written and flushed before its answer is sent and
before ``--stall`` is waited for.
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
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from spca.errors import BadAnswerError
from spca.providers.base import Message, Usage
from spca.reference import coder, planner
from tests.fakes import openai_wire as wire
from tests.fakes.answers import Answer, Heard
from tests.fakes.serving import Asked, Reply, Server

CHARACTERS_PER_TOKEN = 4
CACHED_STEP = 128
"""Prompts are written into the cache and read from it in steps of so many tokens, as OpenAI's servers do."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the server behaves.

    ``faults`` is the share of requests for an answer that are refused with 429 or 500, drawn for each from ``seed``
    and its number; ``retry_after`` what a 429 asks to wait. ``schema`` and ``json`` tell which forms of answer are
    known, ``usage`` whether tokens are reported, ``models`` which names exist (None: all do). ``stall`` seconds pass
    before an answer is sent.
    """

    faults: float = 0.0
    seed: int = 0
    retry_after: str = "0"
    schema: bool = True
    json: bool = True
    usage: bool = True
    models: tuple[str, ...] | None = None
    stall: float = 0.0


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


class ReferenceServer(Server):
    """See the module; ``lines`` is what the log holds."""

    def __init__(self, settings: Settings | None = None, *, port: int = 0, log: Path | None = None) -> None:
        super().__init__(port)
        self.settings = settings or Settings()
        self.lines: list[Line] = []
        self._log = log
        self._lock = threading.Lock()
        self._seen: set[Message] = set()
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
            number = len(self.asked) + 1 if asked.method == "POST" and asked.path in _SHAPES else 0
            fault = self._fault(number) if number else None
            body = _read(asked)
            reply, usage = self._served(asked, body, number) if fault is None else (fault, None)
            line = Line(
                number=number,
                time=time.time(),
                method=asked.method,
                path=asked.path,
                model=body.get("model"),
                sha256=hashlib.sha256(asked.raw).hexdigest(),
                status=reply.status,
                fault=str(fault.status) if fault else None,
                **(asdict(usage) if usage else {}),
            )
            self.lines.append(line)
            if self._log is not None:
                with self._log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(line)) + "\n")
        return reply

    def _fault(self, number: int) -> Reply | None:
        drawn = random.Random(f"{self.settings.seed} {number}")
        if drawn.random() >= self.settings.faults:
            return None
        if drawn.random() < 0.5:
            words = wire.error("Rate limit reached for requests", "requests", "rate_limit_exceeded")
            return Reply.of(words, 429, headers={"retry-after": self.settings.retry_after})
        return Reply.of(wire.error("The server had an error while processing your request", "server_error"), 500)

    def _served(self, asked: Asked, body: Mapping[str, Any], number: int) -> tuple[Reply, Usage | None]:
        names = self.settings.models
        if asked.method == "GET" and asked.path == "/v1/models":
            return Reply.of(wire.models(names or ("reference-planner", "reference-coder"))), None
        if not number:
            return Reply.of(wire.error(f"Unknown request URL: {asked.path}", "invalid_request_error"), 404), None
        if fault := self._objection(body):
            return fault, None
        heard = wire.hear(body)
        answer = self._counted(_answer(heard), heard)
        reply = Reply.of(_SHAPES[asked.path](answer, body["model"], number), delay=self.settings.stall)
        return reply, answer.usage

    def _objection(self, body: Mapping[str, Any]) -> Reply | None:
        """Why a request cannot be served, in the words of OpenAI's servers."""
        known = {"text": True, "json_object": self.settings.json, "json_schema": self.settings.schema}
        names = self.settings.models
        if not body or body.get("stream"):
            return Reply.of(
                wire.error("We could not parse the JSON body of your request.", "invalid_request_error"), 400
            )
        if names is not None and body["model"] not in names:
            words = f"The model `{body['model']}` does not exist or you do not have access to it."
            return Reply.of(wire.error(words, "invalid_request_error", "model_not_found"), 404)
        form = wire.hear(body).form
        if not known.get(form, False):
            words = f"Invalid parameter: 'response_format' of type '{form}' is not supported with this model."
            return Reply.of(wire.error(words, "invalid_request_error", param="response_format"), 400)
        return None

    def _counted(self, answer: Answer, heard: Heard) -> Answer:
        """The answer with its tokens, cut where they exceed the limit; messages seen before count as cached."""
        cached, limit = 0, heard.max_output_tokens
        for message in heard.messages:
            if message not in self._seen:
                break
            cached += _tokens(message.text)
        self._seen.update(heard.messages)
        written = _tokens(answer.text or answer.refusal or "")
        reasoning = written // 2
        if limit is not None and reasoning + written > limit:
            reasoning = min(reasoning, limit)
            written = limit - reasoning
            answer = replace(answer, text=answer.text[: written * CHARACTERS_PER_TOKEN], ended="length")
        if not self.settings.usage:
            return answer
        read = sum(_tokens(message.text) for message in heard.messages)
        cached -= cached % CACHED_STEP
        stored = read - read % CACHED_STEP - cached
        return replace(answer, usage=Usage(read, reasoning + written, cached, reasoning, stored))


_SHAPES = {"/v1/chat/completions": wire.chat, "/v1/responses": wire.responses}


def _read(asked: Asked) -> dict[str, Any]:
    """The body of a request, empty where it is no JSON object with a model."""
    try:
        body = asked.body
    except ValueError:
        return {}
    return body if isinstance(body, dict) and isinstance(body.get("model"), str) else {}


def _answer(heard: Heard) -> Answer:
    """What the reference model says; where it cannot answer it refuses, as a model would."""
    plans = heard.form != "text" or any("<snapshot>" in message.text for message in heard.messages)
    try:
        return Answer((planner if plans else coder).answer(heard.messages))
    except BadAnswerError as error:
        return Answer(refusal=str(error))


def _tokens(text: str) -> int:
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="An OpenAI-compatible server whose model is the reference model.")
    parser.add_argument("--port", type=int, default=0, help="0: a free one; the address is the first line printed")
    parser.add_argument("--log", type=Path, help="append a JSON line for each request to this file")
    parser.add_argument("--faults", type=float, default=0.0, help="share of requests answered with 429 or 500")
    parser.add_argument("--seed", type=int, default=0, help="draws the faults")
    parser.add_argument("--retry-after", default="0", help="what a 429 asks to wait")
    parser.add_argument("--no-schema", dest="schema", action="store_false", help="refuse JSON schemas")
    parser.add_argument("--no-json", dest="json", action="store_false", help="refuse JSON mode")
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
