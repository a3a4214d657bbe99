"""Doubles and example values that more than one test uses."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from llmclient import ChatGPTClient
from plannerLLM import PDDLResp
from spca.contracts import (
    ActionSchema,
    AgentSource,
    LevelInfo,
    Outcome,
    Plan,
    PlannerMode,
    PlanStep,
    Snapshot,
    Status,
    TraceStep,
)
from spca.llm.calls.desk import CallDesk
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Message, Request, Response, Usage
from spca.plan.solver import Solver
from spca.sense.perception import VisibleObject
from tests.support.bodies.grid import make_snapshot, show

ROOT = Path(__file__).resolve().parents[3]
AGENT = AgentSource((ROOT / "agent.py").read_text(encoding="utf-8"))
LEVEL = LevelInfo("goal_navigation", "Walk to the green goal square", "Empty")
SNAPSHOT_GRID = (("wall", "wall", "unseen"), ("agent", "empty", "goal green"), ("wall", "door red locked", "unseen"))


def change_snapshot(**changes: Any) -> Snapshot:
    """The snapshot of most tests with other arguments of :func:`~tests.support.bodies.grid.make_snapshot`."""
    usual = {
        "mission": "get to the green goal square",
        "direction": "East",
        "inventory": None,
        "visible_grid": SNAPSHOT_GRID,
        "visible_objects": (VisibleObject("goal green", None, 2, 0), VisibleObject("door red", "locked", 1, 1)),
    }
    return make_snapshot(**{**usual, **changes})


SNAPSHOT = change_snapshot()

Scripted = str | Response | BaseException


class ScriptedProvider:
    """A model that gives the listed answers in turn, raising those that are exceptions; keeps what it was asked.

    An answer that is a text comes with as many input tokens as there were messages, and one output token.
    """

    def __init__(self, *answers: Scripted) -> None:
        self._answers = list(answers)
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Response:
        self.requests.append(request)
        assert self._answers, "the model was asked more often than the test expects"
        answer = self._answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, Response) else Response(answer, Usage(len(request.messages), 1))

    @property
    def left(self) -> int:
        """Answers not yet given."""
        return len(self._answers)

    def asked(self, number: int) -> str:
        """All texts of the ``number``-th request, counted from 0."""
        return "\n".join(message.text for message in self.requests[number].messages)

    def last_message(self, number: int) -> Message:
        """The newest message of the ``number``-th request."""
        return self.requests[number].messages[-1]


class Events:
    """An event sink that remembers."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, event: str, data: Mapping[str, object]) -> None:
        self.seen.append((event, dict(data)))

    def of(self, event: str) -> list[dict[str, Any]]:
        """The data of every event of that name."""
        return [data for name, data in self.seen if name == event]

    def count(self, counter: str) -> int:
        """How often a counter was asked to go up."""
        return sum(data["name"] == counter for data in self.of("counter_inc"))


def patient_desk() -> CallDesk:
    """A desk of its own, in memory, that does not really wait before it asks again."""
    return CallDesk(sleep=lambda _seconds: None)


def planner_client(provider: ScriptedProvider) -> Callable[[ModelRef], ChatGPTClient[PDDLResp]]:
    """Clients of one scripted planner, whatever the model is called; like the loop's they do not ask again."""
    desk = patient_desk()
    return lambda model: ChatGPTClient(model, PDDLResp, provider=provider, desk=desk, reasks=0)


def coder_client(provider: ScriptedProvider) -> Callable[[ModelRef], ChatGPTClient[str]]:
    """Clients of one scripted coder, whatever the model is called; like the loop's they do not ask again."""
    desk = patient_desk()
    return lambda model: ChatGPTClient(model, provider=provider, desk=desk, reasks=0)


@lru_cache(maxsize=1)
def shared_solver() -> Solver:
    """The real solver, started once for all tests of a process."""
    solver = Solver()
    atexit.register(solver.close)
    return solver


def answer(domain: str, problem: str, **writer: str) -> str:
    """A planner's answer, with the fields of a problem writer where they are given."""
    form: BaseModel = PDDLResp(domain=domain, problem=problem, **writer)
    return form.model_dump_json(exclude_defaults=True)


def pddl(*actions: str, name: str = "d") -> tuple[str, str]:
    """A domain and a problem whose only plan is ``actions`` in that order, each called with ``a1``."""
    facts = " ".join(f"(at{n} ?a - robot)" for n in range(len(actions) + 1))
    body = "\n".join(
        f"(:action {action} :parameters (?a - robot) :precondition (at{n} ?a)"
        f" :effect (and (at{n + 1} ?a) (not (at{n} ?a))))"
        for n, action in enumerate(actions)
    )
    domain = f"(define (domain {name}) (:requirements :strips :typing) (:types robot) (:predicates {facts})\n{body})"
    goal = f"(at{len(actions)} a1)"
    return domain, f"(define (problem p) (:domain {name}) (:objects a1 - robot) (:init (at0 a1)) (:goal {goal}))"


def plan_of(*steps: PlanStep, params: Mapping[str, tuple[str, ...]] | None = None) -> Plan:
    """A plan with made-up schemas; ``params`` defaults to as many ``x0, x1, ...`` as a step has arguments."""
    names = {step.action: tuple(f"x{i}" for i in range(len(step.args))) for step in steps} | dict(params or {})
    schemas = tuple(
        ActionSchema(name, given, f"(:action {name} :parameters ({' '.join(f'?{p}' for p in given)}))")
        for name, given in names.items()
    )
    return Plan(tuple(steps), "(define (domain d))", "(define (problem p))", schemas, PlannerMode.FRESH)


def outcome_of(status: Status, message: str = "it ended", codes: tuple[int, ...] = (2,), **more: Any) -> Outcome:
    """How an attempt with these primitives ended."""
    trace = tuple(TraceStep(code, 0, "act", 70 + n) for n, code in enumerate(codes))
    return Outcome(status, message, trace, **{"shown": show((("agent", "empty"),)), **more})
