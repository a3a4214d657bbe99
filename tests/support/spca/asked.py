"""Planner and coder with scripted answers, and what came of them."""

from __future__ import annotations

import json
import re
from typing import Any

from plannerLLM import PlannerLLM
from spca.contracts import Plan, PlanFailure, Snapshot
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import (
    LEVEL,
    SNAPSHOT,
    Events,
    Scripted,
    ScriptedProvider,
    planner_client,
    shared_solver,
)


class AskedPlanner:
    """A planner with scripted answers, and what came of it."""

    def __init__(self, *answers: Scripted) -> None:
        self.model = ScriptedProvider(*answers)
        self.events = Events()
        self.planner = PlannerLLM(
            ref("x/large"), ref("x/small"), shared_solver(), self.events, planner_client(self.model)
        )

    def plan(self, snapshot: Snapshot = SNAPSHOT, actions: str = "(none yet)", **more: Any) -> Plan | PlanFailure:
        return self.planner.plan(snapshot, LEVEL, actions, **more)

    @property
    def calls(self) -> list[tuple[str, str]]:
        """Mode and model of every call."""
        return [(call["mode"], call["model"]) for call in self.events.of("planner_call")]


def blocks(prompt: str, tag: str) -> list[Any]:
    """The JSON of every block with that tag in a prompt."""
    return [json.loads(body) for body in re.findall(rf"^<{tag}>\n(.*?)\n</{tag}>$", prompt, re.DOTALL | re.MULTILINE)]
