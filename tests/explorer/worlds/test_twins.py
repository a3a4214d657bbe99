"""A view tells nothing of what nobody has seen: scenes that differ only there look the same, field by field."""

from __future__ import annotations

import random

import pytest

from explorer.codes import unpacked
from explorer.generating.composer import compose
from explorer.generating.knobs import Knobs
from explorer.rules.actions import Primitive, aim
from explorer.rules.blocks import code
from explorer.scene import Change, Pose
from explorer.view import View
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.scenes import Builder, emerald
from tests.support.explorer.told import EMERALD
from tests.support.explorer.twins import KINDS, compare_views, furnish, make_twins, walk_codes
from tests.support.tiers import long

LENGTH = 60


@pytest.mark.parametrize("dark", [0, long(1)])
def test_twins_look_the_same_until_the_difference_is_noticed(dark: int) -> None:
    loaded = compose(31, 4, Knobs(hops=2, dark=dark)).loaded()
    assert loaded.certificate is not None
    scene, begin = furnish(loaded.scene)
    for kind in KINDS:
        for number in range(2):
            rng = random.Random(f"twins {kind} {number} {dark}")
            codes = walk_codes(rng, begin, unpacked(loaded.certificate.witness.codes), LENGTH)
            twins = make_twins(kind, scene, codes, rng)
            assert compare_views(twins, codes).differ == "", f"{kind} {number}"


def played(builder: Builder, *codes: int) -> View:
    world = VoxelWorld()
    world.reset(builder.scene())
    for each in codes:
        world.step(each)
    return world.view()


def room() -> Builder:
    return Builder((9, 6, 13), Pose((4, 1, 5)))


USE_LEVER = aim(0, 1, 2), Primitive.USE


@pytest.mark.parametrize("holds", [None, 5])
def test_a_door_that_opens_behind_the_back_is_not_told(holds: int | None) -> None:
    builder = room().put("lever", (4, 2, 7)).door((4, 1, 1), (4, 2, 7), holds=holds)
    view = played(builder, *USE_LEVER)
    assert view.last.changes == (Change("block", (4, 2, 7), code=code("lever", "on")),)
    assert not played(builder, *USE_LEVER, Primitive.WAIT).last.changes


def test_a_door_in_sight_is_seen_to_open_and_its_timer_is_not() -> None:
    builder = room().put("lever", (4, 2, 7)).door((4, 1, 11), (4, 2, 7), holds=5)
    cells = {change.cell: change.code for change in played(builder, *USE_LEVER).last.changes}
    assert cells == {
        (4, 2, 7): code("lever", "on"),
        (4, 1, 11): code("iron_door", "open"),
        (4, 2, 11): code("iron_door", "open"),
    }


def test_in_sight_is_meant_from_where_the_body_ends() -> None:
    """A plate behind the body: it steps back onto it, and sees the door that it faces open."""
    builder = room().put("stone_pressure_plate", (4, 1, 4)).door((4, 1, 11), (4, 1, 4))
    cells = {change.cell for change in played(builder, Primitive.BACK).last.changes}
    assert cells == {(4, 1, 4), (4, 1, 11), (4, 2, 11)}


def test_a_button_that_springs_back_is_told_once() -> None:
    builder = room().put("stone_button", (4, 2, 7)).door((4, 1, 1), (4, 2, 7), holds=3)
    view = played(builder, *USE_LEVER)
    assert view.last.changes == (Change("block", (4, 2, 7), code=code("stone_button")),)


def test_a_mob_that_is_gone_has_the_name_that_it_was_seen_by() -> None:
    builder = room().mob("sheep", (1, 1, 1)).mob("sheep", (4, 1, 7))
    first = played(builder)
    assert [thing.name for thing in first.things] == ["sheep_1"]
    gone = played(builder, aim(0, 1, 2), Primitive.ATTACK).last.changes
    assert [change.name for change in gone if change.kind == "mob"] == ["sheep_1"]


def test_what_evaluators_get_of_a_step_is_everything() -> None:
    scene = emerald().scene
    world = VoxelWorld()
    world.reset(scene)
    told = [world.step(each) for each in EMERALD][9]
    assert {change.cell for change in told.changes} == {(9, 1, 6), (5, 1, 8), (5, 2, 8)}
    assert {thing.name: thing.state for thing in world.view().things}["iron_door_1"] == "open"


@pytest.mark.parametrize(("table", "craftable"), [((4, 1, 3), False), ((4, 1, 7), True)])
def test_a_table_behind_the_back_is_not_known_until_it_is_seen(table: tuple[int, int, int], craftable: bool) -> None:
    builder = room().put("crafting_table", table)
    builder.inventory = {"oak_planks": 8}

    def has_table(*codes: int) -> bool:
        return next(offer.craftable for offer in played(builder, *codes).recipes if offer.recipe == "chest")

    assert has_table() is craftable
    assert has_table(*[Primitive.TURN_LEFT] * 2)
    assert has_table(*[Primitive.TURN_LEFT] * 4)


def test_a_table_behind_a_screen_put_up_out_of_sight_is_still_believed_in() -> None:
    """Known is known: the door in between closed behind the back."""
    builder = room().put("crafting_table", (4, 1, 8)).put("stone_pressure_plate", (4, 1, 5))
    builder.door((4, 1, 7), (4, 1, 5), holds=0)
    builder.inventory = {"oak_planks": 8}

    def has_table(*codes: int) -> bool:
        return next(offer.craftable for offer in played(builder, *codes).recipes if offer.recipe == "chest")

    see = Primitive.WAIT, Primitive.TURN_LEFT, Primitive.TURN_LEFT
    assert has_table(*see)
    assert has_table(*see, Primitive.BACK)
    assert not has_table(*see, Primitive.BACK, Primitive.TURN_LEFT, Primitive.TURN_LEFT)
