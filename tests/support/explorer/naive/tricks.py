"""Scenes that seem to need a key and do not, each beside its honest twin: what a proof must not be fooled by.

A trick is a function of whether it is played. Its first milestone is the key that the goal seems to need.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from explorer.milestones import AtLeast, AtMost, Milestone, NearWithFacing, cell_offset
from explorer.scene import Cell, Pose
from explorer.solver.steps import (
    BridgeTo,
    Craft,
    Dig,
    Enter,
    Hunt,
    LookAt,
    PickUp,
    PillarTo,
    PlaceBeside,
    Step,
    TakeChest,
    Use,
)
from tests.support.explorer.scenes import Builder, Puzzle, hall, having, inside


class Trick(NamedTuple):
    """A puzzle, and steps that win it with the key."""

    puzzle: Puzzle
    steps: tuple[Step, ...]


FAR: Final = (1, 1, 8), (7, 4, 12)
"""Corners of the room behind the wall of :func:`walled`."""


def walled(height: int = 6, length: int = 14) -> Builder:
    """Two rooms 7 wide, one behind the other, with a wall between them at z = 7."""
    return hall(9, height, length, Pose((4, 1, 2))).fill((1, 1, 7), (7, height - 2, 7))


def closet(build: Builder, *needs: Cell, mode: str = "any", block: str = "iron_door") -> Builder:
    """A closet in the near room, with a compass and a door that faces east."""
    build.fill((1, 1, 4), (2, 4, 4)).fill((2, 1, 1), (2, 4, 3)).item((1, 1, 2), "compass")
    return build.door((2, 1, 2), *needs, mode=mode, block=block)


def far_first(build: Builder, *steps: Step) -> Trick:
    """What takes the far room of :func:`walled`, 20 long, to get at the compass of :func:`closet`."""
    key, goal = inside(build, "enter", "key", (0, 0, 7), (8, 5, 19)), having("take", "goal", "compass")
    return Trick(Puzzle(build.scene(), (key, goal)), (*steps, PickUp((1, 1, 2))))


def behind(build: Builder, name: str = "goal") -> Milestone:
    """The body is in the far room."""
    return inside(build, "enter", name, *FAR)


def with_handle(build: Builder) -> Builder:
    """An iron door in the wall, its lever in a chest."""
    return build.door((4, 1, 7)).chest((7, 1, 2), lever=1)


def handled(build: Builder) -> Trick:
    """What takes the lever of :func:`with_handle` to get into the far room."""
    steps = TakeChest((7, 1, 2)), PlaceBeside((4, 1, 7), "lever"), Enter(*FAR)
    return Trick(Puzzle(build.scene(), (having("take_lever", "key", "lever"), behind(build))), steps)


def window(played: bool) -> Trick:
    """A hole in the wall a step above the floor, two cells high: one jumps through."""
    return handled(with_handle(walled()).put("air", *((1, 2 + up, 7) for up in range(1 + played))))


def wall_too_low(played: bool) -> Trick:
    """The wall ends below the ceiling, three blocks of earth lie about: one piles them up."""
    build = with_handle(walled(9)).fill((1, 5, 7), (7, 7, 7), "air" if played else "stone_bricks")
    return handled(build.item((2, 1, 4), "dirt", 3))


def hand_made_handle(played: bool) -> Trick:
    """A log lies about: planks of it make a button, which opens an iron door as well as the lever does."""
    return handled(with_handle(walled()).item((2, 1, 4), "oak_log" if played else "coal"))


def earth_below(played: bool) -> Trick:
    """The wall stands on earth: one digs through below it."""
    build = hall(9, 8, 14, Pose((4, 3, 2))).fill((1, 1, 1), (7, 2, 12), "dirt" if played else "bricks")
    build.fill((1, 3, 7), (7, 6, 7)).door((4, 3, 7)).chest((7, 3, 2), lever=1)
    goal = inside(build, "enter", "goal", (1, 3, 8), (7, 6, 12))
    steps = TakeChest((7, 3, 2)), PlaceBeside((4, 3, 7), "lever"), Enter((1, 3, 8), (7, 6, 12))
    return Trick(Puzzle(build.scene(), (having("take_lever", "key", "lever"), goal)), steps)


def box_before_the_wall(played: bool) -> Trick:
    """The goal's box reaches out to this side of the wall."""
    build = with_handle(walled())
    (scene, (key, _)), steps = handled(build)
    goal = inside(build, "enter", "goal", (1, 1, 6 if played else 8), (7, 4, 12))
    return Trick(Puzzle(scene, (key, goal)), steps)


def banner_at_the_wall(played: bool) -> Trick:
    """What has to be found stands so near the wall that it is near from outside, too."""
    build = with_handle(walled()).put("red_banner", at := (1, 1, 9 if played else 12))
    (scene, (key, _)), steps = handled(build)
    goal = Milestone("find", "goal", "", (NearWithFacing(cell_offset(at, build.spawn.cell), 4),))
    return Trick(Puzzle(scene, (key, goal)), (*steps, LookAt(at, 4)))


def lever_behind_a_hole(played: bool) -> Trick:
    """The lever's closet has to be broken into, but it has a hole through which a hand gets."""
    build = walled().fill((1, 1, 4), (3, 4, 4)).fill((3, 1, 1), (3, 4, 3)).put("lever", (1, 2, 2))
    build.put("stone", (3, 1, 2), (3, 2, 2)).put("air" if played else "glass", (3, 3, 2))
    build.door((4, 1, 7), (1, 2, 2), block="oak_door").chest((7, 1, 2), wooden_pickaxe=1)
    steps = TakeChest((7, 1, 2)), Dig((3, 2, 2)), Dig((3, 1, 2)), Use((1, 2, 2)), Enter(*FAR)
    return Trick(Puzzle(build.scene(), (having("take", "key", "wooden_pickaxe"), behind(build))), steps)


def chest_at_the_door(played: bool) -> Trick:
    """One has to enter a room for its chest, but gets at it through the open door."""
    chest = 4, 1, 9 if played else 16
    build = walled(length=20).door((4, 1, 7), block="oak_door").chest(chest, emerald=1)
    key, goal = inside(build, "enter", "key", (0, 0, 7), (8, 5, 19)), having("take", "goal", "emerald")
    return Trick(Puzzle(build.scene(), (key, goal)), (Use((4, 1, 7)), Enter((5, 1, 10), (6, 1, 12)), TakeChest(chest)))


def thin_room(played: bool) -> Trick:
    """A box as thin as the trench in it: one jumps from one side to the other."""
    build = hall(7, 7, 16, Pose((3, 2, 2))).fill((1, 1, 1), (5, 1, 14)).fill((1, 1, 6), (5, 1, 6), "air")
    key = inside(build, "enter", "key", (0, 0, 6), (6, 6, 6 if played else 8))
    scene = build.item((3, 2, 13), "emerald").scene()
    steps = Enter((3, 1, 6), (3, 2, 6)), PickUp((3, 2, 13))
    return Trick(Puzzle(scene, (key, having("take", "goal", "emerald"))), steps)


def moat_of(width: int, build: Builder, low: int = 4, high: int = 4, lava: str = "lava") -> Builder:
    """Two banks with lava between; feet are at levels ``high`` and ``low``."""
    x, _, z = build.size
    build.fill((1, 1, 1), (x - 2, high - 1, 7)).fill((1, 1, 8 + width), (x - 2, low - 1, z - 2))
    return build.fill((1, 1, 8), (x - 2, 1, 7 + width), lava)


def bridged(build: Builder, landing: Cell, block: str = "oak_planks") -> Trick:
    """What takes planks to get to a compass across a moat."""
    key, goal = having("take", "key", block), having("take", "goal", "compass")
    build.chest((1, build.spawn.cell[1], 2), **{block: 12}).item(landing, "compass")
    steps = TakeChest((1, build.spawn.cell[1], 2)), BridgeTo(landing, block)
    return Trick(Puzzle(build.scene(), (key, goal)), steps)


def moat_under_a_low_ceiling(played: bool) -> Trick:
    """Jumps under a ceiling of two cells add speed: the last one clears five cells."""
    width = 5 if played else 7
    build = moat_of(width, hall(5, 9, 24, Pose((2, 4, 2)))).fill((1, 6, 3), (3, 7, 6))
    return bridged(build, (2, 4, 18))


def moat_from_above(played: bool) -> Trick:
    """The near bank is three higher: a jump down clears six cells."""
    high = 7 if played else 4
    return bridged(moat_of(6, hall(5, 14, 22, Pose((2, high, 2))), high=high), (2, 4, 18))


def stone_in_the_moat(played: bool) -> Trick:
    """A pillar in the middle of the moat: two jumps instead of a bridge."""
    build = moat_of(9, hall(5, 9, 24, Pose((2, 4, 2))))
    return bridged(build.fill((2, 1, 12), (2, 3, 12)) if played else build, (2, 4, 20))


def other_blocks(played: bool) -> Trick:
    """Another block, or what can be dug, bridges as well as the planks do."""
    build = moat_of(7, hall(5, 9, 22, Pose((2, 4, 2))))
    return bridged(build.put("sand" if played else "sandstone", (3, 4, 4)), (2, 4, 18))


def earth_of_another_hop(played: bool) -> Trick:
    """A bridge is asked for; a wall divides the moat, and on the other side of it the same earth bridges it as well."""
    build = moat_of(7, hall(9, 9, 22, Pose((4, 4, 2)))).item((2, 4, 18), "compass").chest((1, 4, 2), dirt=20)
    if played:
        build.fill((4, 1, 4), (4, 7, 16))
    origin = build.spawn.cell
    low, high = cell_offset((5 if played else 1, 1, 8), origin), cell_offset((7, 8, 14), origin)
    key = Milestone("bridge", "key", "", (AtLeast("block", "dirt", low, high),))
    steps = TakeChest((1, 4, 2)), BridgeTo((6, 4, 15), "dirt"), PickUp((2, 4, 18))
    return Trick(Puzzle(build.scene(), (key, having("take", "goal", "compass"))), steps)


def never_so_many_at_once(played: bool) -> Trick:
    """Two planks are asked for, but found one by one: the first may be placed before the second is taken."""
    build = moat_of(13, hall(5, 9, 28, Pose((2, 4, 2)))).item((2, 4, 24), "compass")
    build.chest((1, 4, 2), oak_planks=7 if played else 14).chest((3, 4, 2), oak_planks=7 if played else 14)
    key, goal = having("take", "key", "oak_planks", 14), having("take", "goal", "compass")
    return Trick(
        Puzzle(build.scene(), (key, goal)),
        (TakeChest((1, 4, 2)), TakeChest((3, 4, 2)), BridgeTo((2, 4, 24), "oak_planks")),
    )


def ledge_and_table(played: bool) -> Trick:
    """A ledge takes blocks to climb; the planks of a log make a table, and that is one."""
    build = hall(7, 10, 14, Pose((3, 1, 2))).fill((1, 1, 7), (5, 3, 12)).item((3, 4, 10), "compass")
    build.chest((1, 1, 2), dirt=4).item((5, 1, 4), "oak_log" if played else "coal")
    key, goal = having("take", "key", "dirt"), having("take", "goal", "compass")
    return Trick(Puzzle(build.scene(), (key, goal)), (TakeChest((1, 1, 2)), PillarTo((3, 4, 10), "dirt")))


def ledge_and_chest(played: bool) -> Trick:
    """A chest and a block beside the ledge are a staircase."""
    build = hall(7, 10, 14, Pose((3, 1, 2))).fill((1, 1, 7), (5, 3, 12)).item((3, 4, 10), "compass")
    build.chest((1, 1, 6) if played else (1, 1, 2), dirt=4)
    if played:
        build.fill((2, 1, 6), (2, 2, 6))
    key, goal = having("take", "key", "dirt"), having("take", "goal", "compass")
    return Trick(
        Puzzle(build.scene(), (key, goal)), (TakeChest(next(iter(build.chests))), PillarTo((3, 4, 10), "dirt"))
    )


def handle_of_another_door(played: bool) -> Trick:
    """The closet's handle lies in the far room, but the handle that opens the far room opens the closet as well."""
    build = with_handle(walled(length=20))
    opened: tuple[Step, ...]
    if played:
        closet(build.chest((7, 1, 17), stone_button=1))
        opened = TakeChest((7, 1, 17)), PlaceBeside((2, 1, 2), "stone_button")
    else:
        closet(build.put("lever", (7, 2, 17)), (7, 2, 17), block="oak_door")
        opened = (Use((7, 2, 17)),)
    return far_first(
        build, TakeChest((7, 1, 2)), PlaceBeside((4, 1, 7), "lever"), Enter((4, 1, 10), (4, 1, 12)), *opened
    )


def handle_on_a_wired_door(played: bool) -> Trick:
    """An iron door opens by a lever that is placed beside it even if it has a wire; a wooden one does not."""
    build = with_handle(walled(length=20)).put("lever", (7, 2, 17))
    closet(build, (7, 2, 17), block="iron_door" if played else "oak_door")
    way = TakeChest((7, 1, 2)), PlaceBeside((4, 1, 7), "lever"), Enter((4, 1, 10), (4, 1, 12))
    return far_first(build, *way, Use((7, 2, 17)))


def two_levers(played: bool) -> Trick:
    """A lever in the far room opens the closet, but so does another one."""
    build = walled(length=20).door((4, 1, 7), block="oak_door").put("lever", (7, 2, 17), (7, 2, 5))
    closet(build, (7, 2, 17), (7, 2, 5), mode="any" if played else "all", block="oak_door")
    way = Use((4, 1, 7)), Enter((4, 1, 10), (4, 1, 12))
    return far_first(build, *way, Use((7, 2, 17)), *(() if played else (Use((7, 2, 5)),)))


def wool_of_string(played: bool) -> Trick:
    """A painting needs the wool of a sheep, unless there is string to make some of."""
    build = hall(9, 6, 14, Pose((4, 1, 2))).mob("sheep", (4, 1, 11)).put("crafting_table", (7, 1, 2))
    build.chest((1, 1, 2), stick=8, **({"string": 4} if played else {"feather": 4}))
    origin = build.spawn.cell
    low, high = cell_offset((1, 1, 9), origin), cell_offset((7, 4, 12), origin)
    key = Milestone("hunt", "key", "", (AtMost("mob", "sheep", low, high),))
    steps = TakeChest((1, 1, 2)), Hunt("sheep_1"), Craft("painting")
    return Trick(Puzzle(build.scene(), (key, having("craft", "goal", "painting"))), steps)


def plug_beside_a_plug(played: bool) -> Trick:
    """Stone plugs the doorway and asks for a pickaxe, but right beside it is one of earth."""
    build = walled().fill((4, 1, 7), (4, 2, 7), "stone").chest((7, 1, 2), wooden_pickaxe=1)
    build.fill((2, 1, 7), (2, 2, 7), "dirt" if played else "bricks")
    steps = TakeChest((7, 1, 2)), Dig((4, 2, 7)), Dig((4, 1, 7)), Enter(*FAR)
    return Trick(Puzzle(build.scene(), (having("take", "key", "wooden_pickaxe"), behind(build))), steps)


def plug_above_the_way(played: bool) -> Trick:
    """Earth has to be dug out of a doorway, but one walks through below it."""
    earth = 4, 3 if played else 2, 7
    build = walled().put("air", *((4, level, 7) for level in (1, 2, 3))).put("dirt", earth)
    offset = cell_offset(earth, build.spawn.cell)
    if not played:
        build.put("bricks", (4, 3, 7))
    key = Milestone("clear", "key", "", (AtMost("block", "dirt", offset, offset),))
    return Trick(Puzzle(build.scene(), (key, behind(build))), (Dig(earth), Enter(*FAR)))


def shaft_from_the_roof(played: bool) -> Trick:
    """One falls into the locked room through its roof."""
    build = hall(9, 9, 14, Pose((4, 4, 2))).fill((1, 1, 1), (7, 3, 12)).fill((2, 1, 8), (6, 2, 11), "air")
    build.fill((4, 1, 4), (4, 2, 6), "air").put("air", (4, 3, 4)).door((4, 1, 7)).chest((7, 4, 2), lever=1)
    build.put("air" if played else "glass", (4, 3, 9))
    goal = inside(build, "enter", "goal", (2, 1, 8), (6, 2, 11))
    steps = (
        TakeChest((7, 4, 2)),
        Enter((4, 1, 5), (4, 1, 5)),
        PlaceBeside((4, 1, 7), "lever"),
        Enter((3, 1, 8), (5, 1, 11)),
    )
    return Trick(Puzzle(build.scene(), (having("take_lever", "key", "lever"), goal)), steps)


TRICKS: Final[tuple[Callable[[bool], Trick], ...]] = (
    window,
    wall_too_low,
    hand_made_handle,
    earth_below,
    box_before_the_wall,
    banner_at_the_wall,
    lever_behind_a_hole,
    chest_at_the_door,
    thin_room,
    moat_under_a_low_ceiling,
    moat_from_above,
    stone_in_the_moat,
    other_blocks,
    earth_of_another_hop,
    never_so_many_at_once,
    ledge_and_table,
    ledge_and_chest,
    handle_of_another_door,
    handle_on_a_wired_door,
    two_levers,
    wool_of_string,
    plug_beside_a_plug,
    plug_above_the_way,
    shaft_from_the_roof,
)
