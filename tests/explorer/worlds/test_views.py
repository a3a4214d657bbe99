"""What a view of the voxel world tells: things, chests that are empty, recipes, tables in reach."""

from __future__ import annotations

from explorer.rules.actions import Primitive, aim, craft
from explorer.rules.recipes import recipe
from explorer.scene import Cell, Pose
from explorer.view import Thing, View
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.scenes import Builder


def played(builder: Builder, *codes: int) -> View:
    world = VoxelWorld()
    world.reset(builder.scene())
    for code in codes:
        world.step(code)
    return world.view()


def room(**inventory: int) -> Builder:
    builder = Builder((9, 6, 9), Pose((4, 1, 2)))
    builder.inventory = inventory
    return builder


def thing(view: View, name: str) -> Thing:
    return next(thing for thing in view.things if thing.name == name)


def test_a_chest_that_was_used_is_empty_whatever_was_in_it() -> None:
    for stacks in ({}, {"dirt": 2}):
        builder = room().put("chest", (4, 1, 4)).chest((4, 1, 4), **stacks)
        assert thing(played(builder), "chest_1").state == ""
        assert thing(played(builder, aim(0, 0, 2), Primitive.USE), "chest_1").state == "empty"


def test_the_recipe_book_tells_what_can_be_made_here() -> None:
    def craftable(table: Cell | None) -> bool:
        builder = room(oak_planks=3, stick=2)
        view = played(builder.put("crafting_table", table) if table else builder)
        return next(offer.craftable for offer in view.recipes if offer.recipe == "wooden_pickaxe")

    assert [craftable(table) for table in (None, (4, 1, 4), (7, 1, 7))] == [False, True, False]


def test_the_recipe_book_follows_the_inventory() -> None:
    view = played(room(oak_log=1), craft(recipe("oak_planks")))
    book = {offer.recipe: offer.craftable for offer in view.recipes}
    assert (book["crafting_table"], book["stick"], book["wooden_pickaxe"]) == (True, True, False)
    assert not {"oak_planks", "stone_pickaxe"} & book.keys()


def test_known_is_a_copy() -> None:
    world = VoxelWorld()
    first = world.reset(room().scene())
    first.known[:] = 0
    assert world.view().known.any()
