"""Abstract steps carried out in the world, and the reasons of those that cannot be."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from explorer.milestones import Tracker
from explorer.scene import Pose, Scene, WorldState
from explorer.solver.steps import (
    BridgeTo,
    Carried,
    Craft,
    Dig,
    Enter,
    GoTo,
    Hunt,
    LookAt,
    PickUp,
    PillarTo,
    Place,
    PlaceBeside,
    Step,
    TakeChest,
    Use,
)
from explorer.solver.witness import carry_out
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.plans import PLANS
from tests.support.explorer.scenes import Builder, Puzzle, hall


def replayed(scene: Scene, carried: Carried) -> WorldState:
    world = VoxelWorld(observe=False)
    world.reset(scene)
    for code in carried.codes:
        world.step(code)
    return world.state()


def after(build: Builder, *steps: Step) -> WorldState:
    carried = carry_out(build.scene(), steps)
    assert carried.failed is None, carried.reason
    return replayed(build.scene(), carried)


@pytest.mark.parametrize("make", PLANS, ids=lambda make: make.__name__)
def test_a_plan_wins_its_puzzle(make: Callable[[], Puzzle]) -> None:
    puzzle = make()
    carried = carry_out(puzzle.scene, PLANS[make])
    assert carried.failed is None, carried.reason
    world, tracker = VoxelWorld(), Tracker(puzzle.milestones, puzzle.scene.spawn)
    view = world.reset(puzzle.scene)
    tracker.observe(world.state(), view.known)
    for code in carried.codes:
        assert world.step(code).done
        tracker.observe(world.state(), world.view().known)
    assert tracker.complete
    steps = [tracker.latched[each.milestone_id] for each in puzzle.milestones]
    assert steps == sorted(steps)
    assert steps[0] > 0
    assert steps[-1] == len(carried.codes)


def test_a_shortest_way_needs_no_turn() -> None:
    carried = carry_out(hall(9, 6, 9).scene(), [GoTo((2, 1, 6))])
    assert len(carried.codes) == 4


def test_a_step_up_and_a_drop() -> None:
    build = hall(9, 9, 12, Pose((4, 1, 2))).fill((1, 1, 5), (7, 1, 9)).fill((1, 2, 6), (7, 2, 9))
    assert after(build, GoTo((4, 3, 7)), GoTo((4, 1, 3))).pose.cell == (4, 1, 3)


def test_a_pillar_up_a_ledge() -> None:
    build = hall(9, 12, 12, Pose((4, 1, 2))).fill((1, 1, 6), (7, 4, 10)).chest((1, 1, 1), dirt=3)
    state = after(build, TakeChest((1, 1, 1)), PillarTo((4, 5, 8), "dirt"))
    assert state.pose.cell == (4, 5, 8)
    assert len(state.placed) == 3
    assert carry_out(build.scene(), [TakeChest((1, 1, 1)), BridgeTo((4, 5, 8), "dirt")]).reason.startswith("no way")


def test_a_mob_and_a_look() -> None:
    build = hall(9, 6, 9, Pose((1, 1, 1))).mob("sheep", (7, 1, 7)).put("red_wool", (7, 1, 1))
    state = after(build, Hunt("sheep_1"), LookAt((7, 1, 1), 3.0))
    assert state.inventory == {"white_wool": 1}
    assert not state.mobs
    x, _, z = state.pose.cell
    assert (x - 7) ** 2 + (z - 1) ** 2 <= 9
    assert state.pose.direction[0] > 0.5


def test_placing_into_a_cell_and_beside_a_door_by_its_name() -> None:
    build = hall(9, 6, 14, Pose((4, 1, 2))).fill((1, 1, 7), (7, 4, 7)).door((4, 1, 7), (1, 1, 12))
    build.put("lever", (1, 1, 12))
    build.inventory = {"stone_button": 1, "dirt": 1, "oak_planks": 1}
    state = after(build, Place((2, 1, 4), "dirt"), PlaceBeside("door_1", "stone_button"), Enter((1, 1, 8), (7, 4, 12)))
    assert (2, 1, 4) in state.placed
    assert state.inventory == {"oak_planks": 1}


def test_a_plate_beside_a_door_is_stood_on() -> None:
    build = hall(9, 6, 14, Pose((4, 1, 2))).fill((1, 1, 7), (7, 4, 7)).door((4, 1, 7))
    build.inventory = {"stone_pressure_plate": 1}
    assert after(build, PlaceBeside((4, 1, 7), "stone_pressure_plate"), GoTo((4, 1, 9))).pose.cell == (4, 1, 9)


def test_crafting_goes_to_a_table() -> None:
    build = hall(5, 6, 20, Pose((2, 1, 2))).put("crafting_table", (2, 1, 18))
    build.inventory = {"oak_planks": 3, "stick": 2}
    state = after(build, Craft("wooden_pickaxe"))
    assert state.inventory == {"wooden_pickaxe": 1}
    assert state.pose.cell[2] > 10


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (PickUp((2, 1, 2)), "nothing lies there"),
        (GoTo((4, 3, 4)), "no way to (4, 3, 4)"),
        (Place((1, 1, 4), "dirt"), "no dirt in the inventory"),
        (Dig((2, 1, 2)), "nothing at hand digs stone"),
        (Dig((0, 1, 2)), "nothing at hand digs stone_bricks"),
        (Hunt("cow_1"), "there is no cow_1"),
        (Craft("chest"), "there is no crafting table"),
        (Craft("stick"), "ingredients are missing"),
        (TakeChest((6, 1, 6)), "empty"),
        (Use((3, 3, 3)), "no way to"),
        (PlaceBeside("door", "lever"), "there is no such iron door"),
        (Place((2, 1, 2), "torch"), "something is in the way"),
    ],
)
def test_a_step_that_fails_says_why(step: Step, reason: str) -> None:
    build = hall().put("stone", (2, 1, 2)).put("chest", (6, 1, 6))
    build.inventory = {"torch": 1}
    carried = carry_out(build.scene(), [GoTo((4, 1, 4)), step, GoTo((4, 1, 4))])
    assert carried.failed == 1
    assert carried.reason.startswith(reason)


def test_a_door_that_closed_on_the_way_is_a_failure() -> None:
    build = hall(9, 6, 24, Pose((4, 1, 2))).fill((1, 1, 17), (7, 4, 17)).door((4, 1, 17), (4, 2, 1), holds=1)
    build.put("stone_button", (4, 2, 1))
    carried = carry_out(build.scene(), [Use((4, 2, 1)), GoTo((4, 1, 20))])
    assert carried.failed == 1
    assert carried.reason.startswith("no way to")
