"""Verdicts on episodes: unsolvable with a certificate, solvable with a witness, or undecided."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

from spca.common.text import format_count
from spca.contracts import LevelSpec
from spca.errors import WorldError
from spca.evaluation.proof import certificates
from spca.evaluation.proof.dynamics import Maze, MazeState
from spca.evaluation.proof.missions import Mission
from spca.evaluation.proof.obstacles import find_way, has_obstacles
from spca.evaluation.proof.relaxation import Relaxed
from spca.evaluation.proof.searching import Found, find_plan, visit_all
from spca.evaluation.proof.simulator import UnknownRulesError, open_simulator, read

PLAN_STATES: Final = 20_000
"""Largest number of states of the search for a plan."""
ALL_STATES: Final = 150_000
"""Largest number of states of the exhaustive search."""
DODGING_STATES: Final = 20_000
"""Largest number of states of the search among moving obstacles."""


class Solvability(StrEnum):
    """Whether an episode can be solved."""

    SOLVABLE = "solvable"
    UNSOLVABLE = "unsolvable"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether an episode can be solved, with the evidence.

    Attributes:
        reason: one line: the certificate if the episode is unsolvable, else the extent of the search or an error.
        witness: primitives that solve the episode and were replayed in the real environment; () if there are none.
        map: rows of the certificate's map (:mod:`spca.evaluation.proof.certificates`), if the certificate is a closed
            set of cells; else ().
    """

    solvability: Solvability
    reason: str
    witness: tuple[int, ...] = ()
    map: tuple[str, ...] = ()


class Playable(Protocol):
    """A world that has been reset, such as ``minigridenv.MiniGridEnv``."""

    @property
    def over(self) -> bool: ...
    @property
    def reward(self) -> float: ...
    def step(self, code: int) -> None: ...
    def close(self) -> None: ...


MakeWorld = Callable[[LevelSpec | str, int], Playable]


def certify(level: LevelSpec | str, seed: int, make_world: MakeWorld, *, upstream_rules: bool = False) -> Verdict:
    """Return the verdict on an episode, by a search that knows the whole grid.

    Args:
        make_world: builds the world of a level and a seed under the same rules. If a witness does not solve
            this world, the verdict is undecided.
    """
    try:
        simulator = open_simulator(level, seed, upstream_rules)
        if has_obstacles(simulator):
            verdict = _certify_with_obstacles(simulator)
        else:
            verdict = decide(*read(simulator, upstream_rules))

        if verdict.solvability is Solvability.SOLVABLE and not replay(make_world(level, seed), verdict.witness):
            return Verdict(Solvability.UNDECIDED, "a plan was found that the environment does not accept")
    except UnknownRulesError as error:
        return Verdict(Solvability.UNDECIDED, f"the rules are not known: {error}")
    except WorldError as error:
        return Verdict(Solvability.UNDECIDED, str(error))
    return verdict


def replay(world: Playable, witness: tuple[int, ...]) -> bool:
    """Carry out the primitives of a witness in a world, close the world, and return whether the last primitive solved
    it.

    Raises:
        WorldError: a primitive before the last one ends the episode, or the simulator fails.
    """
    with closing(world):
        for code in witness:
            world.step(code)
        return world.over and world.reward > 0


def decide(maze: Maze, start: MazeState, mission: Mission) -> Verdict:
    """Return the verdict that follows from this package's model of the rules.

    The caller must replay the witness, if there is one, in the real environment.

    Raises:
        UnknownRulesError: the agent could leave the grid.
    """
    relaxed = Relaxed(maze, start, bound=True)
    at_border = [cell for cell in relaxed.at if len(maze.neighbours(cell)) < len(maze.offsets)]
    if at_border:
        raise UnknownRulesError("a grid that is not closed")
    least_steps = mission.cost(relaxed)
    if math.isinf(least_steps):
        reason = certificates.reason(maze, mission, start, relaxed)
        return Verdict(Solvability.UNSOLVABLE, reason, map=certificates.draw_map(maze, start, relaxed))
    if least_steps > maze.limit:
        reason = (
            f"needs {least_steps:g} steps even if all that can be carried were out of the way, and has {maze.limit}"
        )
        return Verdict(Solvability.UNSOLVABLE, reason)
    found = find_plan(maze, mission, start, PLAN_STATES)
    extent = f"{format_count(found.states, 'state')} of a search for a plan"
    if found.plan is not None:
        return Verdict(Solvability.SOLVABLE, extent, found.plan)
    return _conclude_search(visit_all(maze, mission, start, ALL_STATES), maze.limit, f"{extent}, ")


def _certify_with_obstacles(simulator: Any) -> Verdict:
    return _conclude_search(find_way(simulator, DODGING_STATES), simulator.max_steps, "")


def _conclude_search(found: Found, limit: int, tried: str) -> Verdict:
    """Return the verdict after a search that may have been exhaustive.

    Args:
        limit: step limit of the episode.
        tried: extent of earlier searches, as the beginning of the verdict's reason.
    """
    if found.exhausted and found.plan is None:
        reason = f"all {found.states} states that {limit} steps can lead to were visited, none completes the mission"
        return Verdict(Solvability.UNSOLVABLE, reason)
    extent = f"{tried}{found.states} of all states"
    if found.plan is None:
        return Verdict(Solvability.UNDECIDED, extent)
    return Verdict(Solvability.SOLVABLE, extent, found.plan)
