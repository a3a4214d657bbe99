"""Certify an episode: unsolvable with a certificate, solvable with a witness, or undecided."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from spca.errors import WorldError
from spca.evaluation.proof.dynamics import Maze, MazeState
from spca.evaluation.proof.missions import Mission
from spca.evaluation.proof.relaxation import Relaxed
from spca.evaluation.proof.searching import find_plan, visit_all
from spca.evaluation.proof.simulator import UnknownRulesError, opened, read

PLAN_STATES: Final = 4_000
ALL_STATES: Final = 150_000


class Solvability(StrEnum):
    """What is known of an episode."""

    SOLVABLE = "solvable"
    UNSOLVABLE = "unsolvable"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found, and why in one line: the certificate where nothing solves it, else what was tried.

    ``witness`` are the primitives that solve it, replayed in the real environment.
    """

    solvability: Solvability
    reason: str
    witness: tuple[int, ...] = ()


class Playable(Protocol):
    """A world that has been reset, as ``minigridenv.MiniGridEnv`` is one."""

    @property
    def over(self) -> bool: ...
    @property
    def reward(self) -> float: ...
    def step(self, code: int) -> None: ...
    def close(self) -> None: ...


MakeWorld = Callable[[str, int], Playable]


def certify(env_id: str, seed: int, make_world: MakeWorld, *, upstream_rules: bool = False) -> Verdict:
    """Return what can be proven of an episode with the whole grid known.

    Args:
        make_world: makes the world of an id and a seed, under the same rules; a witness counts only if it is solved.
    """
    try:
        maze, start, mission = read(opened(env_id, seed, upstream_rules), upstream_rules)
    except UnknownRulesError as error:
        return Verdict(Solvability.UNDECIDED, f"the rules are not known: {error}")
    verdict = decide(maze, mission, start)
    if verdict.solvability is Solvability.SOLVABLE and not replay(make_world(env_id, seed), verdict.witness):
        return Verdict(Solvability.UNDECIDED, "a plan was found that the environment does not accept")
    return verdict


def replay(world: Playable, witness: tuple[int, ...]) -> bool:
    """Whether primitives solve a world exactly with the last of them; closes it."""
    with closing(world):
        try:
            for code in witness:
                world.step(code)
        except WorldError:
            return False
        return world.over and world.reward > 0


def decide(maze: Maze, mission: Mission, start: MazeState) -> Verdict:
    """Return what can be proven of a maze in the model of the rules; a witness has yet to be replayed."""
    least = mission.cost(maze, start, Relaxed(maze, start, bound=True))
    if math.isinf(least):
        return Verdict(Solvability.UNSOLVABLE, "relaxation")
    if least > maze.limit:
        return Verdict(Solvability.UNSOLVABLE, f"at least {least:g} steps are needed, the limit is {maze.limit}")
    found = find_plan(maze, mission, start, PLAN_STATES)
    tried = f"{found.states} states of a search for a plan"
    if found.plan is None:
        found = visit_all(maze, mission, start, ALL_STATES)
        tried = f"{tried}, {found.states} of all states"
    if found.plan is not None:
        return Verdict(Solvability.SOLVABLE, tried, found.plan)
    if found.exhausted:
        why = f"all {found.states} states that can be reached within the limit of {maze.limit} steps were visited"
        return Verdict(Solvability.UNSOLVABLE, why)
    return Verdict(Solvability.UNDECIDED, tried)
