"""Least steps: never more than what it takes, and not far below where there is one way."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from explorer.milestones import AtMost, InventoryHas, Milestone, NearWithFacing, Rule, cell_offset
from explorer.scene import Pose
from explorer.solver.bounds import lower_bound
from explorer.solver.closure import Arena
from explorer.solver.forbid import whole_cells
from explorer.solver.proving import prove
from explorer.solver.witness import carry_out
from tests.support.explorer.opinions.exhaustive import Search
from tests.support.explorer.plans import PLANS
from tests.support.explorer.scenes import Builder, Puzzle, hall


def bound(build: Builder, *rules: Rule) -> int:
    milestones = [Milestone("task", f"m{number}", "", (rule,)) for number, rule in enumerate(rules)]
    arena = Arena(build.scene())
    return lower_bound(arena, milestones, prove(arena, milestones))


@pytest.mark.parametrize("make", PLANS, ids=lambda make: make.__name__)
def test_no_witness_is_shorter(make: Callable[[], Puzzle]) -> None:
    puzzle = make()
    arena = Arena(puzzle.scene)
    least = lower_bound(arena, puzzle.milestones, prove(arena, puzzle.milestones))
    assert 1 <= least <= len(carry_out(puzzle.scene, PLANS[make]).codes)


def test_a_walk_takes_a_step_a_cell() -> None:
    corridor = hall(3, 5, 22, Pose((1, 1, 2)))
    assert bound(corridor.item((1, 1, 19), "stick"), InventoryHas("stick")) == 17
    assert bound(corridor, whole_cells((1, 1, 15), (1, 3, 20), (1, 1, 2))) == 13
    assert bound(corridor, NearWithFacing((0.0, 0.0, 17.0), 4.0)) == 13


def test_hands_reach_further_than_feet() -> None:
    corridor = hall(3, 5, 22, Pose((1, 1, 2))).chest((1, 2, 19), emerald=1).mob("chicken", (1, 1, 20))
    assert bound(corridor, InventoryHas("emerald")) == 12
    origin = corridor.spawn.cell
    box = cell_offset((1, 1, 20), origin), cell_offset((1, 1, 20), origin)
    assert bound(corridor, AtMost("mob", "chicken", *box)) == 13


def test_a_jump_over_a_gap_gets_two_cells_on() -> None:
    build = hall(3, 7, 22, Pose((1, 3, 2))).fill((1, 1, 1), (1, 2, 20)).item((1, 3, 19), "stick")
    for gap in (5, 8, 11):
        build.put("air", (1, 1, gap), (1, 2, gap))
    least = bound(build, InventoryHas("stick"))
    scene, milestone = build.scene(), Milestone("task", "m", "", (InventoryHas("stick"),))
    assert least <= Search(scene, [milestone], placing=False).run().achieved["m"] == 14


def test_a_way_there_and_back_counts_twice() -> None:
    build = hall(3, 5, 32, Pose((1, 1, 16))).put("stone_pressure_plate", (1, 1, 2)).item((1, 1, 30), "stick")
    build.door((1, 1, 29), (1, 1, 2))
    assert bound(build, InventoryHas("stick")) == 14
    assert bound(build, whole_cells((0, 1, 1), (2, 3, 3), build.spawn.cell), InventoryHas("stick")) == 13 + 27


def test_an_item_that_is_crafted_is_had_anywhere() -> None:
    build = hall(3, 5, 22, Pose((1, 1, 2))).chest((1, 1, 20), stick=1)
    build.inventory = {"oak_planks": 2}
    assert bound(build, InventoryHas("stick")) == 1
