"""The model of the rules against the simulator: every primitive of walks, random and on the way to a success."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from spca.evaluation.proof.dynamics import NOWHERE, End, Ground, Maze, MazeState
from spca.evaluation.proof.missions import Mission, step_mission
from spca.evaluation.proof.searching import find_plan
from spca.evaluation.proof.simulator import open_simulator, read
from spca.runs.curriculum import load
from tests.support.tiers import long

ROOT = Path(__file__).resolve().parents[4]
FEW = (
    *("BabyAI-GoToSeqS5R2-v0", "BabyAI-KeyInBox-v0", "BabyAI-MiniBossLevel-v0", "BabyAI-MoveTwoAcrossS5N2-v0"),
    *("BabyAI-OpenDoorsOrderN2Debug-v0", "BabyAI-OpenRedBlueDoorsDebug-v0", "BabyAI-PickupDistDebug-v0"),
    *("BabyAI-PutNextS5N2Carrying-v0", "BabyAI-UnlockPickup-v0", "MiniGrid-DoorKey-5x5-v0"),
    *("MiniGrid-Fetch-5x5-N2-v0", "MiniGrid-GoToDoor-5x5-v0", "MiniGrid-GoToObject-6x6-N2-v0"),
    *("MiniGrid-LavaGapS5-v0", "MiniGrid-MemoryS7-v0", "MiniGrid-ObstructedMaze-1Dlhb-v0"),
    *("MiniGrid-PutNear-6x6-N2-v0", "MiniGrid-RedBlueDoors-6x6-v0", "MiniGrid-Unlock-v0"),
)
"""One of each kind of judgement."""


LEARNED = [task.env_id for task in load(ROOT / "merged_curriculum2.json").tasks()]
REST = [env_id for env_id in LEARNED if env_id not in FEW and "Dynamic" not in env_id]


def in_model(maze: Maze, state: MazeState) -> tuple[object, ...]:
    def thing(number: int) -> object:
        if number == NOWHERE:
            return None
        item = maze.items[number]
        return item.kind, item.color, thing(item.inside)

    items = {cell: thing(number) for number, cell in enumerate(state.places) if cell != NOWHERE}
    doors = {door.cell: now for door, now in zip(maze.doors, state.doors, strict=True)}
    return state.cell, state.heading, thing(state.held), items, doors


def in_simulator(simulator: Any) -> tuple[object, ...]:
    def thing(found: Any) -> object:
        return None if found is None else (found.type, found.color, thing(found.contains))

    cells = dict(enumerate(simulator.grid.grid))
    items = {cell: thing(found) for cell, found in cells.items() if found is not None and found.can_pickup()}
    doors = {cell: found.encode()[2] for cell, found in cells.items() if found is not None and found.type == "door"}
    column, row = simulator.agent_pos
    place = int(row) * simulator.grid.width + int(column)
    return place, int(simulator.agent_dir), thing(simulator.carrying), items, doors


def expected(maze: Maze, found: tuple[object, ...]) -> tuple[object, ...]:
    """What the model keeps of what the simulator holds: doors and items that can never be used are walls to it."""
    cell, heading, held, *kinds = found
    kept = [{place: it for place, it in each.items() if maze.ground[place] != Ground.WALL} for each in kinds]  # type: ignore[attr-defined]
    return cell, heading, held, *kept


def chosen(rng: random.Random, maze: Maze, mission: Mission, state: MazeState, plan: list[int]) -> int:
    """Mostly the next primitive of a plan, if there is one; now and then any."""
    if not plan and rng.random() < 0.05:
        plan.extend(find_plan(maze, mission, state, 20).plan or ())
    if plan and rng.random() < 0.98:
        return plan.pop(0)
    plan.clear()
    return rng.choice((0, 1, 2, 2, 2, 3, 4, 5, 5, 6))


@pytest.mark.parametrize("upstream_rules", [False, True])
@pytest.mark.parametrize("env_id", [*FEW, *map(long, REST)])
def test_the_model_steps_as_the_simulator_does(env_id: str, upstream_rules: bool) -> None:
    ends = set()
    for seed in range(3):
        simulator = open_simulator(env_id, seed, upstream_rules)
        maze, state, mission = read(simulator, upstream_rules)
        rng, plan, end = random.Random(seed), list[int](), End.NONE
        for _ in range(min(maze.limit, 150)):
            action = chosen(rng, maze, mission, state, plan)
            state, end = step_mission(maze, mission, state, action)
            _, reward, terminated, truncated, _ = simulator.step(action)
            assert end == (End.NONE if not terminated else End.SUCCESS if reward > 0 else End.FAILURE)
            if end != End.NONE or truncated:
                break
            assert in_model(maze, state) == expected(maze, in_simulator(simulator))
        ends.add(end)
    assert End.SUCCESS in ends or upstream_rules or env_id in REST
