"""Certify an episode: unsolvable with a certificate, solvable with a witness, or undecided."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol

from spca.common.text import format_count
from spca.errors import WorldError
from spca.evaluation.proof import certificates
from spca.evaluation.proof.dynamics import Maze, MazeState
from spca.evaluation.proof.missions import Mission
from spca.evaluation.proof.obstacles import find_way, has_obstacles
from spca.evaluation.proof.relaxation import Relaxed
from spca.evaluation.proof.searching import Found, find_plan, visit_all
from spca.evaluation.proof.simulator import UnknownRulesError, open_simulator, read

PLAN_STATES: Final = 20_000
ALL_STATES: Final = 150_000
DODGING_STATES: Final = 20_000


class Solvability(StrEnum):
    """What is known of an episode."""

    SOLVABLE = "solvable"
    UNSOLVABLE = "unsolvable"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found, and why in one line: the certificate where nothing solves it, else what was tried.

    Attributes:
        witness: the primitives that solve it, replayed in the real environment.
        map: rows of the closed set of cells that an agent cannot leave, if the certificate is one
            (:mod:`spca.evaluation.proof.certificates`).
    """

    solvability: Solvability
    reason: str
    witness: tuple[int, ...] = ()
    map: tuple[str, ...] = ()


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
        simulator = open_simulator(env_id, seed, upstream_rules)
        if has_obstacles(simulator):
            verdict = _certify_with_obstacles(simulator)
        else:
            verdict = decide(*read(simulator, upstream_rules))

        if verdict.solvability is Solvability.SOLVABLE and not replay(make_world(env_id, seed), verdict.witness):
            return Verdict(Solvability.UNDECIDED, "a plan was found that the environment does not accept")
    except UnknownRulesError as error:
        return Verdict(Solvability.UNDECIDED, f"the rules are not known: {error}")
    except WorldError as error:
        return Verdict(Solvability.UNDECIDED, str(error))
    return verdict


def replay(world: Playable, witness: tuple[int, ...]) -> bool:
    """Return whether the last of the primitives, and none before it, solves a world; close the world.

    Raises:
        WorldError: they end it earlier, or it fails.
    """
    with closing(world):
        for code in witness:
            world.step(code)
        return world.over and world.reward > 0


def decide(maze: Maze, start: MazeState, mission: Mission) -> Verdict:
    """Return what can be proven in the model of the rules; a witness has yet to be replayed.

    Raises:
        UnknownRulesError: the agent could leave the grid.
    """
    relaxed = Relaxed(maze, start, bound=True)
    if any(len(maze.neighbours(cell)) < len(maze.offsets) for cell in relaxed.at):
        raise UnknownRulesError("a grid that is not closed")
    least = mission.cost(relaxed)
    if math.isinf(least):
        why = certificates.reason(maze, mission, start, relaxed)
        return Verdict(Solvability.UNSOLVABLE, why, map=certificates.draw_map(maze, start, relaxed))
    if least > maze.limit:
        why = f"needs {least:g} steps even if all that can be carried were out of the way, and has {maze.limit}"
        return Verdict(Solvability.UNSOLVABLE, why)
    found = find_plan(maze, mission, start, PLAN_STATES)
    tried = f"{format_count(found.states, 'state')} of a search for a plan"
    if found.plan is not None:
        return Verdict(Solvability.SOLVABLE, tried, found.plan)
    return _conclude_search(visit_all(maze, mission, start, ALL_STATES), maze.limit, f"{tried}, ")


def _certify_with_obstacles(simulator: Any) -> Verdict:
    return _conclude_search(find_way(simulator, DODGING_STATES), simulator.max_steps, "")


def _conclude_search(found: Found, limit: int, tried: str) -> Verdict:
    """Return the verdict after a search that may have been exhaustive."""
    if found.plan is not None:
        return Verdict(Solvability.SOLVABLE, f"{tried}{found.states} of all states", found.plan)
    if found.exhausted:
        why = f"all {found.states} states that {limit} steps can lead to were visited, none completes the mission"
        return Verdict(Solvability.UNSOLVABLE, why)
    return Verdict(Solvability.UNDECIDED, f"{tried}{found.states} of all states")
