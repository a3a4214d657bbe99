"""Servers whose models play, what a model sees, and the counts of a server against those of an evaluation."""

from __future__ import annotations

import io
import json
import socket
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gridworld.actions import ACTION_NAMES
from gridworld.adapters.lmstudio_vlm_adapter import LMStudioVLMAdapter
from gridworld.adapters.local_model import LocalModel
from gridworld.adapters.ollama_vlm_adapter import OllamaVLMAdapter
from gridworld.evaluation.model_interface import ModelInput
from tests.fakes.answers import Answer, Dialect, Heard
from tests.fakes.faults import answering
from tests.fakes.ollama_wire import OLLAMA
from tests.fakes.openai_wire import CHAT
from tests.fakes.reference_server import Line, ReferenceServer, Settings
from tests.fakes.serving import Asked, Reply, Server
from tests.support.spca.served import TOKENS, cost_of
from tests.support.waiting import AGES

MODEL = "seeing"


@dataclass(frozen=True, slots=True)
class Protocol:
    """An adapter and the protocol that it speaks."""

    make: Callable[..., LocalModel]
    dialect: Dialect

    def model(self, base_url: str, **more: Any) -> LocalModel:
        return self.make(MODEL, base_url, **({"timeout": 10, "retry_sleep": 0.01} | more))


PROTOCOLS = {"ollama": Protocol(OllamaVLMAdapter, OLLAMA), "lmstudio": Protocol(LMStudioVLMAdapter, CHAT)}


class ScriptedServer(Server):
    """Gives replies in order, the last one again and again; texts become answers. Knows ``MODEL``.

    Attributes:
        asked: every request for an answer.
    """

    def __init__(self, dialect: Dialect, replies: Iterable[str | Reply] = ("Action: 6",)) -> None:
        super().__init__()
        self.dialect = dialect
        self.replies = list(replies)
        self.listing = Reply.of(dialect.listed((MODEL, "other")))
        self.showing = Reply.of({"capabilities": ["completion", "vision"], "details": {}, "model_info": {}})
        self.asked: list[Asked] = []
        self.others: list[Asked] = []

    def reply_to(self, asked: Asked) -> Reply:
        if asked.path != self.dialect.endpoint:
            self.others.append(asked)
            return self.showing if asked.path == "/api/show" else self.listing
        self.asked.append(asked)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return answering(self.dialect, reply) if isinstance(reply, str) else reply


def seen(**more: Any) -> ModelInput:
    """What a model gets; images of one colour each, so that they can be told apart."""
    given: dict[str, Any] = {
        "image": plain(3),
        "text_prompt": "Reach the goal.",
        "action_space": dict(ACTION_NAMES),
        "step_number": 3,
        "max_steps": 50,
    }
    return ModelInput(**(given | more))


def plain(value: int) -> Any:
    """A grey image, 8 pixels wide and 6 high."""
    return np.full((6, 8, 3), value, dtype=np.uint8)


def nobody() -> str:
    """An address where nothing listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{found.getsockname()[1]}"


def heard(server: ScriptedServer, number: int = -1) -> Heard:
    return server.dialect.heard(server.asked[number])


def shades(said: Heard) -> list[int]:
    """The grey of each image, in order."""
    images = [Image.open(io.BytesIO(image.data)) for message in said.messages for image in message.images]
    return [int(np.asarray(image.convert("RGB"))[0, 0, 0]) for image in images]


MODELS = {
    "openai": "openai/gpt-6.1-sol",
    "google": "google/gemini-3.8-flash",
    "anthropic": "anthropic/claude-sonnet-5-5",
    "ollama": "ollama/qwen3-coder:30b",
}


class PlayingServer(ReferenceServer):
    """Says the same to every request: to walk on, unless it is told otherwise; keeps what it ``heard``.

    Attributes:
        stall_at: number of the request that gets no answer for ages, nor those after it until ``settings`` are set.
    """

    def __init__(self, settings: Settings | None = None, says: str = "Free.\nAction: 2", **more: Any) -> None:
        super().__init__(settings, **more)
        self.says = says
        self.heard: list[Heard] = []
        self.stall_at = 0

    def answer_to(self, heard: Heard) -> Answer:
        self.heard.append(heard)
        if len(self.heard) == self.stall_at:
            self.settings = replace(self.settings, stall=AGES)
        return Answer(self.says)


def records(output: Path) -> list[dict[str, Any]]:
    """The ledgers of all episodes of an evaluation, in the order in which requests were sent."""
    books = output.with_suffix(".calls").glob("*/calls.jsonl")
    found = [json.loads(line) for book in books for line in book.read_text(encoding="utf-8").splitlines()]
    return sorted(found, key=lambda record: float(record["started"]))


def imbalance(output: Path, log: Sequence[Line]) -> list[str]:
    """Where ledgers, results and the server's log differ; all requests have to be answered or refused."""
    found = [] if len(records(output)) == len(log) else [f"{len(records(output))} records, {len(log)} requests"]
    served = [[getattr(line, name) for name in TOKENS] + [round(cost_of(line), 9)] for line in log]
    booked = [[record[name] for name in TOKENS] + [round(record["cost"], 9)] for record in records(output)]
    found += [
        f"{mine} in the ledger, {theirs} served" for mine, theirs in zip(booked, served, strict=False) if mine != theirs
    ]
    results = json.loads(output.read_text(encoding="utf-8"))
    told = [result["episode"]["info"]["details"] for result in results["task_results"]]
    sums = {name: sum(getattr(line, name) or 0 for line in log) for name in TOKENS}
    sums |= {"requests": len(log), "cost_usd": sum(map(cost_of, log)), "cost_unknown": 0}
    for name, expected in sums.items():
        of_episodes = sum(details.get(name, 0) for details in told)
        for where, value in (("episodes", of_episodes), ("usage", results["usage"].get(name, 0))):
            if round(value, 9) != round(expected, 9):
                found.append(f"{where}: {value} {name} instead of {expected}")
    return found
