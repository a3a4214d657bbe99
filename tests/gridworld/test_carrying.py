"""The search by events against the search step by step, on drawn tasks of keys and doors."""

from __future__ import annotations

import random
from typing import Any

import pytest

from gridworld.carrying import Carrying, is_possible
from gridworld.layout import Layout
from gridworld.relaxation import UNREACHABLE, Relaxation
from gridworld.solver import Solution, Solver, solve
from gridworld.task_spec import TaskSpecification
from gridworld.tilings import HEX, SQUARE, Cell
from gridworld.transition import achieved, transition
from tests.gridworld.families import keys_and_doors

COLOURS = ("red", "green", "blue")


def drawn(seed: int) -> TaskSpecification:
    """A small task, solvable or not, of keys and doors among walls, teleporters, lava and blocks that stand fast."""
    rng = random.Random(seed)
    width, height = rng.randint(7, 9), rng.randint(6, 7)
    cells = [(x, y) for x in range(1, width - 1) for y in range(1, height - 1)]
    rng.shuffle(cells)
    start, goal = cells.pop(), cells.pop()
    walls = [cells.pop() for _ in range(rng.randint(0, 3))]
    doors = [cells.pop() for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.6:
        column = rng.randint(2, width - 3)
        wall = [cell for cell in cells if cell[0] == column]
        doors, walls = [*doors[:1], *wall[:1]], walls + wall[1:]
        cells = [cell for cell in cells if cell[0] != column]
    locks = rng.sample(COLOURS, len(doors))
    colours = [*locks, *rng.choices(COLOURS, k=rng.randint(0, 3 - len(locks)))]
    mechanisms = {
        "doors": [_at(cell, id=f"door_{i}", requires_key=locks[i]) for i, cell in enumerate(doors)],
        "keys": [_at(cells.pop(), id=f"key_{i}", color=colour) for i, colour in enumerate(colours)],
        "hazards": [_at(cells.pop(), id="lava", hazard_type="lava")] if rng.random() < 0.3 else [],
        "blocks": [_at(cells.pop(), id="block", pushable=False)] if rng.random() < 0.3 else [],
    }
    if rng.random() < 0.3:
        mechanisms["teleporters"] = [
            {"id": "t", "position_a": cells.pop(), "position_b": cells.pop(), "bidirectional": rng.random() < 0.5}
        ]
    names = [each["id"] for kind in ("keys", "doors") for each in mechanisms[kind]]
    wanted: dict[str, Any] = {"type": "reach_position", "target": goal}
    if rng.random() < 0.3:
        wanted = {"type": "collect_all", "target_ids": rng.sample(names, 2)}
    return TaskSpecification.from_dict(
        {
            "task_id": f"drawn_{seed}",
            "seed": 0,
            "difficulty_tier": 1,
            "maze": {"dimensions": [width, height], "walls": walls, "start": start, "goal": goal},
            "mechanisms": mechanisms,
            "goal": wanted,
            "rules": {"key_consumption": rng.random() < 0.6},
            "max_steps": 500,
        }
    )


def _at(cell: Cell, **fields: object) -> dict[str, Any]:
    return {**fields, "position": cell}


@pytest.mark.parametrize("first", range(0, 100, 50))
def test_it_finds_what_the_search_step_by_step_finds(first: int) -> None:
    solved, unsolvable = 0, 0
    for seed in range(first, first + 50):
        layout = Layout(drawn(seed), HEX if seed % 4 == 0 else SQUARE)
        assert is_possible(layout), seed
        truth, start = _step_by_step(layout), layout.start()
        bound, actions, _ = Carrying(layout, Relaxation(layout), lambda state: state).search(start, None)
        if not truth.solved:
            assert (bound, actions) == (UNREACHABLE, None), seed
            unsolvable += 1
            continue
        assert actions is not None, seed
        assert len(actions) == bound == truth.steps, seed
        for action in actions:
            start = transition(layout, start, action)
        assert achieved(layout, start), seed
        solved += 1
    assert solved > 10
    assert unsolvable > 0


def _step_by_step(layout: Layout) -> Solution:
    found = Solver(layout)._search(layout.start(), None)
    assert isinstance(found, Solution)
    return found


@pytest.mark.parametrize("consumption", [True, False])
def test_three_keys_in_one_room_are_proven(consumption: bool) -> None:
    spec = keys_and_doors(31, 3, 25, 25, consumption=consumption)
    solution = solve(spec)
    assert (solution.status, solution.steps) == ("solved", 161 if consumption else 167)


@pytest.mark.parametrize("limit", [5_000, 6_000])
def test_a_search_that_gives_up_has_a_bound(limit: int) -> None:
    layout = Layout(keys_and_doors(31, 3, 25, 25, consumption=False))
    solver = Solver(layout)
    solver._refine()
    search = Carrying(layout, solver._relaxation, solver._vanished)
    bound, actions, spent = search.search(layout.start(), limit // 100)
    assert actions is None
    assert solver.distance(layout.start()) <= bound <= 167
    assert spent >= limit // 100
