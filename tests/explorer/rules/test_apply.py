"""The judge is pure, reads any state alike, tells all that is different, and keeps what is final."""

from __future__ import annotations

from typing import get_args, get_type_hints

import numpy as np
import pytest

from explorer.rules.actions import decode
from explorer.rules.apply import Applied, apply
from explorer.rules.blocks import AIR, BLOCKS, UNSEEN
from explorer.rules.moves import OUTSIDE, fall, stands
from explorer.rules.reach import resolve_event
from explorer.rules.state import Still, doors_of
from explorer.scene import Change, Event, Pose, Scene, WorldState
from explorer.worlds.state_hash import state_hash
from explorer.worlds.storage import Storage
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.scenes import Builder, emerald, hall, handle, moat, plug, stored
from tests.support.explorer.world_suite import codes

SCENES = [puzzle().scene for puzzle in (emerald, handle, moat, plug)]
EVENTS = [Event("arrive"), Event("tick")]


def workshop() -> Scene:
    """A bit of everything within a few steps."""
    build = Builder((9, 9, 9), Pose((4, 4, 4))).fill((1, 1, 1), (7, 3, 7), "dirt").fill((1, 1, 1), (1, 3, 7), "air")
    build.put("lava", (1, 1, 1)).put("crafting_table", (2, 4, 2)).chest((6, 4, 2), oak_log=3, lever=1, torch=2)
    build.put("stone_button", (4, 4, 7)).door((2, 4, 6), (4, 4, 7), (6, 4, 6), mode="any", holds=3)
    build.put("stone_pressure_plate", (6, 4, 6)).door((7, 4, 7)).mob("sheep", (3, 4, 2)).mob("chicken", (5, 4, 3)).mob(
        "cow", (4, 4, 6)
    ).mob("cow", (3, 4, 4))
    build.mob("sheep", (3, 4, 2)).mob("chicken", (5, 4, 3)).mob("cow", (4, 4, 6)).mob("cow", (3, 4, 4))
    build.item((4, 4, 5), "emerald", 2).put("oak_door", (7, 4, 1), (7, 5, 1)).put("oak_log", (1, 4, 4), (1, 5, 4))
    build.inventory = {"dirt": 4, "oak_planks": 5, "stone_button": 1}
    return build.scene("workshop")


def played(scene: Scene, count: int, seed: int) -> list[tuple[WorldState, int, WorldState, tuple[Change, ...]]]:
    """States before and after the steps of a random play, with their codes and changes."""
    world = VoxelWorld(observe=False)
    world.reset(scene)
    steps = []
    for code in codes(count, seed):
        before = world.state()
        if before.over:
            world.reset(scene)
            continue
        happened = world.step(code)
        steps.append((before, code, world.state(), happened.changes))
    return steps


@pytest.mark.parametrize("scene", [workshop(), *SCENES], ids=lambda scene: scene.name)
def test_a_state_is_judged_alike_wherever_it_is_kept(scene: Scene) -> None:
    doors = doors_of(scene)
    for before, code, _, _ in played(scene, 300, 5):
        kept = stored(scene, before)
        events = list(EVENTS)
        decoded = decode(code)
        if decoded.kind in ("hold", "craft") or decoded.primitive in range(10, 17):
            meant = resolve_event(kept, decoded)
            assert meant == resolve_event(Still(before, doors), decoded)
            events += [meant] if isinstance(meant, Event) else []
        hashed = state_hash(before)
        for event in events:
            assert apply(kept, event) == apply(Still(before, doors), event)
        assert state_hash(kept.freeze(before.step)) == state_hash(before) == hashed


@pytest.mark.parametrize("scene", [workshop(), *SCENES], ids=lambda scene: scene.name)
def test_the_changes_are_all_that_is_different(scene: Scene) -> None:
    for before, _, after, changes in played(scene, 400, 6):
        kept = stored(scene, before)
        kept.do(changes)
        kept.pose = after.pose
        assert state_hash(kept.freeze(after.step)) == state_hash(after)


@pytest.mark.parametrize("scene", [workshop(), *SCENES], ids=lambda scene: scene.name)
def test_what_always_holds(scene: Scene) -> None:
    doors = doors_of(scene)
    built = np.isin(scene.blocks, [block.code for block in BLOCKS if block.kind in ("built", "chest", "table")])
    for before, _, after, _ in played(scene, 400, 7):
        assert np.array_equal(after.blocks[built], scene.blocks[built])
        assert (after.blocks != UNSEEN).all()
        assert before.placed <= after.placed
        for x, y, z in before.placed:
            assert BLOCKS[after.blocks[y, z, x]].name == BLOCKS[before.blocks[y, z, x]].name
        assert all(count > 0 for count in after.inventory.values())
        assert after.held is None or after.held in after.inventory
        assert after.over or stands(Still(after, doors), after.pose.cell)
        assert not after.items.get(after.pose.cell) or after.over
        assert all(0 < count for count in after.timers.values())


def test_a_random_play_meets_every_kind_of_change() -> None:
    kinds = {change.kind for seed in range(6) for *_, changes in played(workshop(), 300, seed) for change in changes}
    assert kinds == set(get_args(get_type_hints(Change)["kind"]))


def test_outside_is_rock_that_nobody_breaks() -> None:
    still = Still(Storage(hall().scene()).freeze(0), ())
    for cell in ((-1, 1, 1), (1, -1, 1), (1, 1, -1), (9, 1, 1), (1, 6, 1), (1, 1, 9)):
        assert still.block(cell) == OUTSIDE
        assert apply(still, Event("dig", cell)) == Applied(refusal="cannot be broken")


def test_an_event_without_its_cell_is_an_error() -> None:
    with pytest.raises(ValueError, match="dig without a cell"):
        apply(Still(Storage(hall().scene()).freeze(0), ()), Event("dig"))


def test_a_fall_has_an_end() -> None:
    blocks = np.full((9, 1, 1), AIR, np.uint16)
    still = Still(Storage(Scene("shaft", Pose((0, 0, 0)), blocks)).freeze(0), ())
    assert fall(still, (0, 8, 0)).cell == (0, 0, 0)


def test_iron_doors_without_a_wire_are_one_for_each_column() -> None:
    build = hall().door((4, 1, 6)).door((5, 1, 6)).door((2, 1, 2), (1, 1, 1))
    doors = doors_of(build.scene())
    assert [(door.name, door.cells) for door in doors] == [
        ("door_1", ((2, 1, 2), (2, 2, 2))),
        ("iron_door 4 1 6", ((4, 1, 6), (4, 2, 6))),
        ("iron_door 5 1 6", ((5, 1, 6), (5, 2, 6))),
    ]
