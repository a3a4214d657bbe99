"""The voxel world: the scenes drawn by hand are won as they should be, and not otherwise."""

from __future__ import annotations

import pytest

from explorer.milestones import Tracker
from explorer.rules.actions import Primitive, aim, craft, hold
from explorer.rules.blocks import BLOCKS
from explorer.rules.blocks import code as block
from explorer.rules.items import dig_ticks, item
from explorer.rules.recipes import recipe
from explorer.scene import Pose, StepResult
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.scenes import Puzzle, emerald, hall, handle, moat, plug
from tests.support.explorer.world_suite import WorldSuite

FALL_OF_5 = 12
"""Ticks: 5 m at 0.08 m a tick squared, with drag."""
F, B, L, R, J = Primitive.FORWARD, Primitive.BACK, Primitive.LEFT, Primitive.RIGHT, Primitive.JUMP


def play(puzzle: Puzzle, codes: list[int]) -> tuple[VoxelWorld, Tracker, list[StepResult]]:
    """Play codes, all of which have to have their effect."""
    world, tracker = VoxelWorld(), Tracker(puzzle.milestones, puzzle.scene.spawn)
    world.reset(puzzle.scene)
    tracker.observe(world.state(), world.view().known)
    happened = []
    for code in codes:
        happened.append(world.step(code))
        assert happened[-1].done, (len(happened), code, happened[-1])
        tracker.observe(world.state(), world.view().known)
    return world, tracker, happened


def test_the_emerald_is_behind_the_door_that_the_lever_opens() -> None:
    codes = [F] * 4 + [L] * 3 + [aim(1, 0, 0), Primitive.USE] + [B] * 3 + [R] * 6
    _, tracker, _ = play(emerald(), codes)
    assert tracker.complete
    assert list(tracker.latched) == ["behind_the_door", "emerald"]


def test_the_planks_bridge_the_moat() -> None:
    codes = [F, aim(-2, 0, 0), Primitive.USE, hold(item("oak_planks")), Primitive.TURN_LEFT, F, F]
    codes += [Primitive.PLACE_AHEAD, F] * 7 + [F] * 4
    world, tracker, _ = play(moat(), codes)
    assert list(tracker.latched.items()) == [("planks", 3), ("compass", 25)]
    assert world.state().inventory == {"oak_planks": 1, "compass": 1}
    assert len(world.state().placed) == 7


def test_a_pickaxe_of_wood_clears_the_plug() -> None:
    to_logs = [R] * 3 + [aim(-1, 1, -1), Primitive.DIG, aim(-1, 0, -1), Primitive.DIG, aim(-1, 2, -1), Primitive.DIG]
    crafts = [craft(recipe(name)) for name in ("oak_planks", "oak_planks", "stick", "wooden_pickaxe")]
    codes = [*to_logs, *[B] * 4, L, *crafts, hold(item("wooden_pickaxe")), F, *[L] * 5]
    codes += [aim(0, 1, 1), Primitive.DIG, aim(0, 0, 1), Primitive.DIG, F, F]
    _, tracker, _ = play(plug(), codes)
    assert list(tracker.latched) == ["log", "pickaxe", "blue_room"]


def test_a_lever_placed_beside_the_door_opens_it() -> None:
    codes = [F, aim(3, 0, -1), Primitive.USE, hold(item("lever")), R, R]
    codes += [aim(0, 0, 2), Primitive.PLACE, aim(0, 0, 1), Primitive.USE, F, F, F]
    _, tracker, _ = play(handle(), codes)
    assert list(tracker.latched) == ["lever", "behind_the_door"]


def test_only_what_is_solid_covers_lava() -> None:
    build = hall().put("lava", (4, 0, 5))
    build.inventory = {"torch": 1, "dirt": 1}
    world = VoxelWorld()
    world.reset(build.scene())
    world.step(hold(item("torch")))
    assert world.step(Primitive.PLACE_AHEAD).reason == "lava burns it"
    world.step(hold(item("dirt")))
    assert world.step(Primitive.PLACE_AHEAD).done


class TestVoxelWorld(WorldSuite):
    """All the rules."""


def test_a_fall_takes_its_ticks() -> None:
    build = hall(5, 10, 5, Pose((2, 6, 2))).fill((1, 5, 1), (3, 5, 3), "dirt")
    world = VoxelWorld()
    world.reset(build.scene())
    world.step(aim(0, -1, 0))
    assert world.step(Primitive.DIG).ticks == dig_ticks(None, BLOCKS[block("dirt")]) + FALL_OF_5


@pytest.mark.parametrize("code", [F, B, L, R, J])
def test_a_wall_is_bumped_into_without_ticks(code: int) -> None:
    world = VoxelWorld()
    world.reset(hall(3, 4, 3).scene())
    happened = world.step(code)
    assert (happened.done, happened.reason, happened.ticks) == (False, "bumped", 0)
