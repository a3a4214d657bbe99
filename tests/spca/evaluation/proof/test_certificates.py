"""Certificates are held against the simulator's grid by a reader who knows nothing of the search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from minigrid.core import world_object
from minigrid.envs.babyai.core import verifier

from minigridenv import MiniGridEnv
from spca.evaluation.proof.certificates import APART, LAVA, LOCKED, REACHED, START, WALL
from spca.evaluation.proof.certifying import Solvability, Verdict, certify, decide
from spca.evaluation.proof.searching import visit_all
from spca.evaluation.proof.simulator import open_simulator, read

THINGS: Any = world_object
INSTRUCTIONS: Any = verifier
BESIDE = ((1, 0), (-1, 0), (0, 1), (0, -1))


def check_closed(simulator: Any, rows: tuple[str, ...]) -> set[tuple[int, int]]:
    """Check that nothing leads out of the marked cells, whatever is moved; return them as (column, row)."""
    marked = {(x, y) for y, row in enumerate(rows) for x, mark in enumerate(row) if mark in START + REACHED}
    beside = {(x + dx, y + dy) for x, y in marked for dx, dy in BESIDE} | marked
    within = [simulator.grid.get(*place) for place in beside]
    things = [thing for found in within for thing in (found, getattr(found, "contains", None)) if thing is not None]
    held = simulator.carrying
    colors = {thing.color for thing in (*things, *([held] if held else [])) if thing.type == "key"}
    assert tuple(map(int, simulator.agent_pos)) in marked
    for place in beside - marked:
        found, mark = simulator.grid.get(*place), rows[place[1]][place[0]]
        assert found is not None
        assert mark == {"wall": WALL, "lava": LAVA, "door": LOCKED}[found.type]
        assert found.type != "door" or (found.is_locked and found.color not in colors)
    return beside


def verdict_of(simulator: Any) -> Verdict:
    return decide(*read(simulator))


@pytest.mark.parametrize("seed", [6, 14, 777])
def test_a_key_behind_its_own_door(seed: int) -> None:
    verdict = certify("BabyAI-GoToImpUnlock-v0", seed, MiniGridEnv)
    assert verdict.solvability is Solvability.UNSOLVABLE
    simulator = open_simulator("BabyAI-GoToImpUnlock-v0", seed)
    beside = check_closed(simulator, verdict.map)
    assert not {tuple(map(int, place)) for place in simulator.instrs.desc.obj_poss} & beside
    assert "stays locked, its keys are out of reach" in verdict.reason


def test_a_key_that_a_ball_was_put_on() -> None:
    """The generator of version 0 may overwrite the box with the key; version 1 of the id mends that."""
    verdict = certify("MiniGrid-ObstructedMaze-1Q-v0", 7, MiniGridEnv)
    simulator = open_simulator("MiniGrid-ObstructedMaze-1Q-v0", 7)
    beside = check_closed(simulator, verdict.map)
    assert simulator.obj not in [simulator.grid.get(*place) for place in beside]
    assert "there is no key of its color" in verdict.reason


def test_a_world_without_a_goal() -> None:
    verdict = certify("MiniGrid-Playground-v0", 1, MiniGridEnv)
    assert verdict.solvability is Solvability.UNSOLVABLE
    assert "stand on nothing" in verdict.reason
    check_closed(open_simulator("MiniGrid-Playground-v0", 1), verdict.map)


def test_a_corner_behind_things_that_must_not_be_picked_up() -> None:
    """Strictly judged, any wrong pick-up fails: the yellow ball lies in a corner behind two others."""
    verdict = certify("BabyAI-PickupDistDebug-v0", 1052, MiniGridEnv)
    assert verdict.solvability is Solvability.UNSOLVABLE
    assert "all 73 states" in verdict.reason


def key_moved_behind_its_door(simulator: Any) -> None:
    cells = {found.type: place for place, found in enumerate(simulator.grid.grid) if found is not None}
    key = simulator.grid.grid[cells["key"]]
    simulator.grid.grid[cells["key"]] = None
    simulator.grid.grid[cells["goal"] - simulator.grid.width] = key


def key_boxed_behind_its_door(simulator: Any) -> None:
    key_moved_behind_its_door(simulator)
    place = next(n for n, found in enumerate(simulator.grid.grid) if found is not None and found.type == "key")
    simulator.grid.grid[place] = THINGS.Box("red", simulator.grid.grid[place])


def key_of_another_color(simulator: Any) -> None:
    place = next(n for n, found in enumerate(simulator.grid.grid) if found is not None and found.type == "key")
    simulator.grid.grid[place] = THINGS.Key("grey")


@pytest.mark.parametrize("plant", [key_moved_behind_its_door, key_boxed_behind_its_door, key_of_another_color])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_planted_keys_out_of_reach(plant: Callable[[Any], None], seed: int) -> None:
    simulator = open_simulator("MiniGrid-DoorKey-6x6-v0", seed)
    assert verdict_of(simulator).solvability is Solvability.SOLVABLE
    plant(simulator)
    verdict = verdict_of(simulator)
    assert verdict.solvability is Solvability.UNSOLVABLE
    check_closed(simulator, verdict.map)


def test_a_goal_behind_walls() -> None:
    simulator = open_simulator("MiniGrid-Empty-8x8-v0", 1)
    for place in ((5, 6), (6, 5)):
        simulator.grid.set(*place, THINGS.Wall())
    verdict = verdict_of(simulator)
    beside = check_closed(simulator, verdict.map)
    assert (6, 6) not in beside
    assert verdict.map[6][6] == APART


def test_a_limit_below_the_way() -> None:
    simulator = open_simulator("MiniGrid-Empty-16x16-v0", 1)
    simulator.max_steps = 25
    assert verdict_of(simulator).reason.startswith("needs 26 steps")
    simulator.max_steps = 26
    assert "states" in verdict_of(simulator).reason, "a turn is needed too, which only the search of all states knows"
    assert verdict_of(simulator).solvability is Solvability.UNSOLVABLE
    simulator.max_steps = 27
    assert verdict_of(simulator).solvability is Solvability.SOLVABLE


@pytest.mark.parametrize("seed", [1, 2])
def test_the_step_limit_counts_to_the_step(seed: int) -> None:
    simulator = open_simulator("MiniGrid-DoorKey-5x5-v0", seed)
    maze, start, mission = read(simulator)
    shortest = visit_all(maze, mission, start, 100_000).plan
    assert shortest is not None
    simulator.max_steps = len(shortest)
    assert verdict_of(simulator).solvability is Solvability.SOLVABLE
    simulator.max_steps -= 1
    verdict = verdict_of(simulator)
    assert verdict.solvability is Solvability.UNSOLVABLE
    assert "were visited" in verdict.reason


@pytest.mark.parametrize(("pocket", "solvability"), [(False, Solvability.UNSOLVABLE), (True, Solvability.SOLVABLE)])
def test_a_blind_alley_without_room_to_pass(pocket: bool, solvability: Solvability) -> None:
    """Locked door, agent, ball and key in a row: only all states tell that the ball always lies on the wrong side."""
    simulator = open_simulator("BabyAI-GoToObj-v0", 1)
    grid = simulator.grid
    for x in range(grid.width):
        for y in range(grid.height):
            free = (y == 3 and 2 <= x <= 4) or (pocket and (x, y) == (3, 2))
            grid.set(x, y, None if free else THINGS.Wall())
    simulator.agent_pos, simulator.agent_dir = (2, 3), 0
    for x, thing in ((1, THINGS.Door("red", is_locked=True)), (3, THINGS.Ball("red")), (4, THINGS.Key("red"))):
        grid.set(x, 3, thing)
    simulator.instrs = INSTRUCTIONS.OpenInstr(INSTRUCTIONS.ObjDesc("door", "red"))
    simulator.instrs.reset_verifier(simulator)
    verdict = verdict_of(simulator)
    assert verdict.solvability is solvability
    assert "states" in verdict.reason
    for code in verdict.witness:
        _, reward, terminated, _, _ = simulator.step(code)
    assert not verdict.witness or (terminated and reward > 0)
