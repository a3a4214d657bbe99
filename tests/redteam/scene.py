"""What both hosts, with and without a sandbox, have in common: hidden state, and an episode driven to its end."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from spca.contracts import AgentSource, AgentView, PlanStep
from spca.protocols import Failed, Finished, Yielded
from spca.testing.generated_code import make_view

MAX_STEPS = 300
"""Primitives after which the world has had enough."""

PLAN = (PlanStep("attack", ()),)


@dataclass
class HiddenEnv:
    """Stands for the simulator: what generated code must never see."""

    goal: str = ""
    env_id: str = ""
    seed: str = ""

    def hide(self, goal: str, tail: str) -> None:
        self.goal, self.env_id, self.seed = goal, f"MiniGrid-Hidden-{tail}-v0", f"SEED-{tail}"


class Driven(Protocol):
    """An episode as both executors make it."""

    @property
    def printed(self) -> str: ...

    def advance(self, view: AgentView) -> Yielded | Finished | Failed: ...

    def close(self) -> None: ...


def source_of(text: str, host: int) -> AgentSource:
    return AgentSource(text.replace("@HPID@", str(host)))


def drive(episode: Driven, limit: int = MAX_STEPS, view: AgentView | None = None) -> dict[str, Any]:
    """Advance until the episode ends or has had ``limit`` primitives; what was seen, ready for JSON."""
    shown = view or make_view()
    before = [array.tobytes() for array in shown.values if isinstance(array, np.ndarray)]
    events: list[Yielded | Finished | Failed] = []
    slowest = 0.0
    while len(events) < limit and (not events or isinstance(events[-1], Yielded)):
        began = time.monotonic()
        events.append(episode.advance(shown))
        slowest = max(slowest, time.monotonic() - began)
    last = events[-1]
    return {
        "end": type(last).__name__,
        "status": str(last.status) if isinstance(last, Failed) else "",
        "position": last.position if isinstance(last, Failed) else None,
        "message": last.message if isinstance(last, Failed) else "",
        "traceback": last.traceback if isinstance(last, Failed) else "",
        "steps": [[e.step.code, e.step.position, e.step.action, e.step.line] for e in events if isinstance(e, Yielded)],
        "exact": all(type(e.step.code) is int for e in events if isinstance(e, Yielded)),
        "printed": episode.printed,
        "slowest": slowest,
        "untouched": [array.tobytes() for array in shown.values if isinstance(array, np.ndarray)] == before,
    }


def say(descriptor: int, message: dict[str, Any]) -> None:
    """One JSON line."""
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]
