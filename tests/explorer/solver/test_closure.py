"""What a closure holds, and what it lacks without a milestone."""

from __future__ import annotations

import pytest

from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, Rule, cell_offset
from explorer.scene import Pose
from explorer.solver.closure import NOTHING, Arena, Closure, closure
from explorer.solver.forbid import possible, restraint, whole_cells
from tests.support.explorer import scenes
from tests.support.explorer.scenes import Builder, Puzzle, hall

PUZZLES = (scenes.emerald, scenes.moat, scenes.plug, scenes.handle)


def milestone(rule: Rule, name: str = "it") -> Milestone:
    return Milestone("task", name, name, (rule,))


def all_that_can_be(build: Builder) -> tuple[Arena, Closure]:
    arena = Arena(build.scene())
    return arena, closure(arena)


def lacks(build: Builder, first: Rule, goal: Rule) -> bool:
    """Whether the goal is out of reach without the first milestone, and both are possible with it."""
    arena, everything = all_that_can_be(build)
    assert possible(arena, everything, milestone(first))
    assert possible(arena, everything, milestone(goal))
    return not possible(arena, closure(arena, restraint(arena, milestone(first)) or NOTHING), milestone(goal))


@pytest.mark.parametrize("make", PUZZLES)
def test_every_milestone_of_a_puzzle_is_possible_and_necessary(make: object) -> None:
    puzzle: Puzzle = make()  # type: ignore[operator]
    arena = Arena(puzzle.scene)
    everything = closure(arena)
    assert all(possible(arena, everything, each) for each in puzzle.milestones)
    for each in puzzle.milestones[:-1]:
        forbidden = restraint(arena, each)
        assert forbidden is not None
        assert not possible(arena, closure(arena, forbidden), puzzle.milestones[-1]), each.milestone_id


@pytest.mark.parametrize(("gap", "reached"), [(4, True), (5, True), (6, False), (7, False)])
def test_a_jump_clears_five_cells_at_most(gap: int, reached: bool) -> None:
    build = hall(5, 12, 20, Pose((2, 6, 2)))
    build.fill((1, 1, 1), (3, 5, 3)).fill((1, 1, 4 + gap), (3, 5, 18)).fill((1, 1, 4), (3, 1, 3 + gap), "lava")
    _, everything = all_that_can_be(build)
    assert bool(everything.cells[6, 4 + gap, 2]) is reached


@pytest.mark.parametrize(("blocks", "gap", "reached"), [(0, 6, False), (1, 11, True), (1, 13, False), (2, 17, True)])
def test_each_block_gets_six_cells_on(blocks: int, gap: int, reached: bool) -> None:
    build = hall(5, 7, 25, Pose((2, 2, 2))).fill((1, 1, 1), (3, 1, 3)).fill((1, 1, 4 + gap), (3, 1, 23))
    build.fill((1, 1, 4), (3, 1, 3 + gap), "lava")
    build.inventory = {"dirt": blocks} if blocks else {}
    _, everything = all_that_can_be(build)
    assert bool(everything.cells[2, 4 + gap, 2]) is reached


@pytest.mark.parametrize(("height", "blocks", "reached"), [(1, 0, True), (2, 0, False), (2, 1, True), (4, 2, False)])
def test_a_jump_rises_one_and_each_block_one_more(height: int, blocks: int, reached: bool) -> None:
    build = hall(5, 12, 12, Pose((2, 1, 2))).fill((1, 1, 7), (3, height, 10))
    build.inventory = {"dirt": blocks} if blocks else {}
    _, everything = all_that_can_be(build)
    assert bool(everything.cells[height + 1, 8, 2]) is reached


def test_no_lever_is_pulled_through_a_wall_or_a_window() -> None:
    for wall, opened in (("stone_bricks", False), ("glass", False), ("air", True)):
        build = hall(9, 6, 14, Pose((4, 1, 2))).fill((1, 1, 5), (7, 4, 5), wall).put("lever", (4, 2, 6))
        build.fill((1, 1, 9), (7, 4, 9)).door((4, 1, 9), (4, 2, 6))
        _, everything = all_that_can_be(build)
        assert bool(everything.cells[1, 9, 4]) is opened


def test_a_door_for_two_levers_needs_both() -> None:
    for mode, opened in (("any", True), ("all", False)):
        build = hall(9, 6, 14, Pose((4, 1, 2))).fill((1, 1, 7), (7, 4, 7)).put("lever", (1, 2, 1), (1, 2, 12))
        build.door((4, 1, 7), (1, 2, 1), (1, 2, 12), mode=mode)
        _, everything = all_that_can_be(build)
        assert bool(everything.cells[1, 10, 4]) is opened


def test_a_tool_is_needed_for_stone_and_what_it_gives() -> None:
    for tool, most in (("wooden_pickaxe", 2), ("shears", 0)):
        build = hall().put("stone", (2, 1, 2), (3, 1, 2))
        build.inventory = {tool: 1}
        _, everything = all_that_can_be(build)
        assert everything.most.get("cobblestone", 0) == most


def test_items_are_bounded_by_what_recipes_make_of_them() -> None:
    build = hall().put("oak_log", (2, 1, 2), (3, 1, 2)).mob("sheep", (6, 1, 6))
    _, everything = all_that_can_be(build)
    assert everything.most["oak_planks"] == 8
    assert everything.most["stick"] == 16
    assert everything.most["white_wool"] == 1
    assert "white_bed" not in everything.most, "it takes three of wool"
    assert "painting" in everything.most, "it takes a table, made of planks"


def test_what_turns_into_each_other_has_no_bound_and_ends() -> None:
    build = hall().put("crafting_table", (2, 1, 2))
    build.inventory = {"gold_ingot": 9}
    _, everything = all_that_can_be(build)
    assert everything.most["gold_ingot"] == everything.most["gold_block"] * 9 or everything.most["gold_ingot"] >= 4096


def test_a_bridge_is_necessary_where_its_box_is_the_whole_moat() -> None:
    def build(block: str, *more: str) -> Builder:
        made = hall(9, 10, 24, Pose((4, 4, 2)))
        made.fill((1, 1, 1), (7, 3, 5)).fill((1, 1, 14), (7, 3, 22)).fill((1, 1, 6), (7, 1, 13), "lava")
        made.chest((2, 4, 3), **dict.fromkeys((block, *more), 8))
        return made.item((4, 4, 18), "compass")

    goal = InventoryHas("compass")

    def bridge(block: str, top: int) -> AtLeast:
        origin = (4, 4, 2)
        return AtLeast("block", block, cell_offset((1, 1, 6), origin), cell_offset((7, top, 13), origin))

    assert lacks(build("dirt"), bridge("dirt", 8), goal)
    assert not lacks(build("dirt", "clay"), bridge("dirt", 8), goal), "another block makes a bridge too"
    assert not lacks(build("oak_planks"), bridge("oak_planks", 8), goal), "slabs and tables are crafted of planks"
    assert not lacks(build("dirt"), bridge("dirt", 3), goal), "a bridge one level above the box"


def test_a_plug_is_necessary_unless_another_block_can_count_for_it() -> None:
    def build(block: str) -> Builder:
        made = hall(9, 6, 14, Pose((4, 1, 2))).fill((1, 1, 7), (7, 4, 7)).fill((4, 1, 7), (4, 2, 7), block)
        made.item((4, 1, 10), "compass")
        made.inventory = {"iron_pickaxe": 1, "cobblestone": 1}
        return made

    goal, origin = InventoryHas("compass"), (4, 1, 2)
    for block, top, most, necessary in (
        ("stone", 2, 1, True),
        ("stone", 2, 0, False),
        ("cobblestone", 2, 1, True),
        ("cobblestone", 3, 1, True),
    ):
        low, high = cell_offset((4, 1, 7), origin), cell_offset((4, top, 7), origin)
        assert lacks(build(block), AtMost("block", block, low, high, most), goal) is necessary, (block, top)
    wide = cell_offset((4, 1, 6), origin), cell_offset((4, 2, 7), origin)
    assert not lacks(build("cobblestone"), AtMost("block", "cobblestone", *wide, 1), goal)
    assert lacks(build("stone"), AtMost("block", "stone", *wide, 1), goal)


def test_a_box_is_necessary_only_where_nobody_slips_by() -> None:
    build = hall(9, 6, 20, Pose((4, 1, 2))).item((4, 1, 17), "compass")
    goal, origin = InventoryHas("compass"), build.spawn.cell
    assert lacks(build, whole_cells((1, 1, 8), (7, 4, 10), origin), goal)
    assert lacks(build, whole_cells((1, 1, 8), (7, 4, 9), origin), goal)
    assert not lacks(build, whole_cells((1, 1, 8), (7, 4, 8), origin), goal), "a jump spans it"
    assert not lacks(build, whole_cells((2, 1, 8), (7, 4, 10), origin), goal), "one way is left"
    middles = InsideBox(cell_offset((1, 1, 8), origin), cell_offset((7, 4, 10), origin))
    assert not lacks(build, middles, goal), "along the wall a body is less than half a cell from it"


def test_a_fall_leads_through_a_box_that_has_no_ground() -> None:
    build = hall(9, 12, 20, Pose((4, 9, 2))).fill((1, 1, 1), (7, 8, 6)).item((4, 1, 17), "compass")
    goal, origin = InventoryHas("compass"), build.spawn.cell
    assert not lacks(build, whole_cells((1, 6, 7), (7, 10, 10), origin), goal)
    assert lacks(build, whole_cells((1, 1, 7), (7, 10, 10), origin), goal)


def test_items_that_would_be_too_many_at_once_are_left() -> None:
    goal = InventoryHas("chest")

    def build(*counts: int) -> Builder:
        made = hall().put("crafting_table", (2, 1, 2))
        for number, count in enumerate(counts):
            made.chest((6, 1, 1 + number), oak_planks=count)
        return made

    assert lacks(build(8), InventoryHas("oak_planks", 8), goal)
    assert lacks(build(4, 4), InventoryHas("oak_planks", 8), goal)
    assert not lacks(build(8, 8), InventoryHas("oak_planks", 9), goal)


def test_a_look_and_two_rules_forbid_nothing() -> None:
    arena = Arena(hall().scene())
    rule = InventoryHas("dirt")
    assert restraint(arena, milestone(NearWithFacing((0.0, 0.0, 3.0)))) is None
    assert restraint(arena, Milestone("task", "two", "", (rule, rule))) is None


def test_what_is_replaced_or_dug_counts() -> None:
    build = hall().put("lava", (4, 0, 6)).put("dirt", (6, 1, 6))
    spawn = build.spawn.cell
    under, ahead, free = (cell_offset(cell, spawn) for cell in ((4, 0, 6), (6, 1, 6), (2, 1, 2)))
    lava, filled = AtMost("block", "lava", under, under), AtMost("block", "air", free, free)
    dug = AtLeast("block", "air", ahead, ahead)
    arena, everything = all_that_can_be(build)
    assert all(possible(arena, everything, milestone(rule)) for rule in (lava, dug, filled))
    arena, everything = all_that_can_be(build.put("stone_bricks", (6, 1, 6)))
    assert not any(possible(arena, everything, milestone(rule)) for rule in (lava, dug, filled))
