"""ProblemSets writers of one small family, what they are given, and a solver and a world that are quick about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from textwrap import dedent
from typing import Any

from spca.bodies.grid.body import GRID
from spca.code.regression import SolvedLevel
from spca.contracts import (
    AgentSource,
    Checkpoint,
    LevelInfo,
    LevelSpec,
    Outcome,
    Plan,
    PlannedAction,
    PlannerMode,
    PlanStep,
    ProblemWriter,
    Snapshot,
    SolveResult,
    SolveStatus,
    Status,
)
from spca.errors import PlanTextError
from spca.writers.problems import ProblemSets
from spca.writers.stored import Case, writer_state
from tests.support.spca.doubles import change_snapshot, outcome_of

LEVEL = LevelInfo("collecting", "Fetch what is asked for", "Fetch")
DOMAIN = """(define (domain fetching) (:requirements :strips) (:predicates (at ?t) (fetched ?t))
(:action fetch :parameters (?agent ?thing) :precondition (at ?thing) :effect (fetched ?thing)))"""
FETCH = """
import re


def make_problem(snapshot):
    match = re.fullmatch(r"fetch the (\\w+) (\\w+)", snapshot["mission"])
    if not match:
        raise ValueError("cannot read " + snapshot["mission"])
    thing = f"{match[2]}_{match[1]}"
    return f'''(define (problem p) (:domain fetching) (:objects a1 {thing})
(:init (at {thing})) (:goal (fetched {thing})))'''
"""


def make_problem(body: str) -> str:
    """A writer's source with this body."""
    lines = dedent(body).strip().splitlines()
    return "\n".join(["def make_problem(snapshot):", *(f"    {line}" for line in lines), ""])


def writer(source: str = FETCH, name: str = "fetch") -> ProblemWriter:
    return ProblemWriter(name, DOMAIN, source)


def snapshot(mission: str = "fetch the red ball") -> Snapshot:
    grid = (("agent", "ball red", "key blue"), ("box green", "empty", "wall"))
    return change_snapshot(mission=mission, visible_grid=grid, visible_objects=())


def state(mission: str = "fetch the red ball") -> dict[str, Any]:
    return writer_state(snapshot(mission), LEVEL)


def problem(thing: str = "ball_red", init: str = "") -> str:
    objects = f"(:objects a1 {thing})"
    return f"(define (problem p) (:domain fetching) {objects} (:init (at {thing}){init}) (:goal (fetched {thing})))"


def solve(_domain: str, text: str, _seconds: float) -> SolveResult:
    """Fetch what the goal names, if it is there."""
    try:
        read = ProblemSets.from_text(text)
    except PlanTextError as error:
        return SolveResult(SolveStatus.PARSE_ERROR, message=str(error))
    if not all(("at", thing) in read.init for _, thing in read.goal):
        return SolveResult(SolveStatus.UNSOLVABLE, message="it is not there")
    steps = tuple(PlannedAction("fetch", ("a1", thing)) for _, thing in sorted(read.goal))
    return SolveResult(SolveStatus.SOLVED, steps, "double")


def case(mission: str = "fetch the red ball", thing: str = "ball_red", seed: int = 1) -> Case:
    plan = Plan((PlanStep("fetch", ("a1", thing)),), DOMAIN, problem(thing), (), PlannerMode.FRESH)
    return Case(
        state(mission), problem(thing), SolvedLevel(LevelSpec("Fetch-v0"), seed, Checkpoint((2,), "hash"), plan)
    )


@dataclass
class PlayedWorlds:
    """Makes worlds in which a plan succeeds if ``succeeds`` says so; keeps what was played in them."""

    succeeds: Callable[[Plan], bool] = lambda _plan: True
    error: Exception | None = None

    def __post_init__(self) -> None:
        self.played: list[tuple[str, int, Checkpoint, str]] = []
        self.open = 0

    def __call__(self, level: LevelSpec, seed: int) -> _PlayedWorld:
        if self.error is not None:
            raise self.error
        self.open += 1
        return _PlayedWorld(self, level.id, seed)


class _PlayedWorld:
    body = GRID
    can_restore = True
    one_life_reason = ""

    def __init__(self, worlds: PlayedWorlds, env_id: str, seed: int) -> None:
        self._worlds, self._place = worlds, (env_id, seed)
        self._start = Checkpoint((), "")

    def sense(self) -> Snapshot:
        return snapshot()

    def run_sim(self, plan: Plan, agent: AgentSource) -> Outcome:
        assert agent.text
        self._worlds.played.append((*self._place, self._start, plan.text))
        return outcome_of(Status.SUCCESS if self._worlds.succeeds(plan) else Status.STUCK)

    def checkpoint(self) -> Checkpoint:
        return self._start

    def restore(self, checkpoint: Checkpoint) -> None:
        self._start = checkpoint

    def close(self) -> None:
        self._worlds.open -= 1
