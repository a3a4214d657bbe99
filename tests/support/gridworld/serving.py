"""Servers that vision models are asked through, and what a model sees."""

from __future__ import annotations

import io
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from gridworld.actions import ACTION_NAMES
from gridworld.adapters.lmstudio_vlm_adapter import LMStudioVLMAdapter
from gridworld.adapters.ollama_vlm_adapter import OllamaVLMAdapter
from gridworld.adapters.vision import VisionModel
from gridworld.evaluation.model_interface import ModelInput
from tests.fakes.answers import Dialect, Heard
from tests.fakes.faults import answering
from tests.fakes.ollama_wire import OLLAMA
from tests.fakes.openai_wire import CHAT
from tests.fakes.serving import Asked, Reply, Server

MODEL = "seeing"


@dataclass(frozen=True, slots=True)
class Protocol:
    """An adapter and the protocol that it speaks."""

    make: Callable[..., VisionModel[Any]]
    dialect: Dialect

    def model(self, base_url: str, **more: Any) -> VisionModel[Any]:
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
