"""Scenes of a few cells, what is done in them, and what has to come of it by docs/explorer_rules.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from explorer.rules.actions import aim, craft, hold
from explorer.rules.items import item
from explorer.rules.recipes import recipe
from explorer.scene import Cell, Pose
from tests.support.explorer.scenes import Builder, hall

WAIT, FORWARD, BACK, LEFT, RIGHT, JUMP = range(6)
TURN_LEFT, TURN_RIGHT, LOOK_UP, LOOK_DOWN, USE, DIG, ATTACK, PLACE, AHEAD, BELOW, DROP, DONE = range(6, 18)
F, B, L, R, J = FORWARD, BACK, LEFT, RIGHT, JUMP


@dataclass(frozen=True)
class Case:
    """Steps in a hall and the state after them.

    Attributes:
        codes: of the steps, each with "" or the reason why it is refused.
        cell: of the feet, relative to the spawn.
        blocks: relative to the spawn -> name, and a state after a blank.
    """

    build: Builder
    codes: Sequence[tuple[int, str]]
    cell: Cell = (0, 0, 0)
    inventory: Mapping[str, int] = field(default_factory=dict)
    blocks: Mapping[Cell, str] = field(default_factory=dict)
    over: str = ""
    held: str | None = None


def ok(*codes: int) -> list[tuple[int, str]]:
    """Steps that have their effect."""
    return [(code, "") for code in codes]


def no(code: int, reason: str) -> list[tuple[int, str]]:
    """A step that is refused."""
    return [(code, reason)]


def holding(name: str) -> list[tuple[int, str]]:
    """Take an item in hand."""
    return ok(hold(item(name)))


def made(name: str) -> int:
    """Craft."""
    return craft(recipe(name))


def pit(depth: int, width: int = 1, bottom: str = "") -> Builder:
    """A hall 9 x 9 with a trench along x, one step south of the spawn at (4, 6, 4)."""
    build = hall(9, 12, 9, Pose((4, 6, 4))).fill((1, 1, 1), (7, 5, 7))
    build.fill((1, 6 - depth, 5), (7, 5, 4 + width), "air")
    return build.fill((1, 6 - depth, 5), (7, 6 - depth, 4 + width), bottom) if bottom else build


def step_up(*more: Cell) -> Builder:
    """A block in front of the spawn, and more blocks relative to it."""
    build = hall(9, 8, 9).put("stone_bricks", (4, 1, 5))
    return build.put("stone_bricks", *((4 + x, 1 + y, 4 + z) for x, y, z in more))


def with_items(build: Builder, **items: int) -> Builder:
    """Give the agent items to begin with."""
    build.inventory = items
    return build


def beside(block: str, state: str = "", **items: int) -> Builder:
    """A block two cells south of the spawn, at the level of the head."""
    return with_items(hall().put(block, (4, 2, 6), state=state), **items)


def doored(*devices: str, mode: str = "any", holds: int | None = None) -> Builder:
    """An iron door two cells south of the spawn, wired to devices one to the east and west of the spawn."""
    cells = ((5, 1, 4), (3, 1, 4))[: len(devices)]
    build = hall().fill((1, 1, 6), (7, 4, 6)).door((4, 1, 6), *cells, mode=mode, holds=holds)
    for cell, device in zip(cells, devices, strict=True):
        build.put(device, cell)
    return build


EAST, WEST, DOOR, HEAD = aim(1, 0, 0), aim(-1, 0, 0), (0, 0, 2), aim(0, 1, 2)
SHUT, OPEN = {DOOR: "iron_door", (0, 1, 2): "iron_door"}, {DOOR: "iron_door open", (0, 1, 2): "iron_door open"}

CASES: Final[dict[str, Case]] = {
    # Moves
    "walks to the four sides": Case(hall(), ok(F, L, B, B, R, R, F), (-1, 0, 0)),
    "walks by its facing": Case(hall(), ok(TURN_RIGHT, F, TURN_RIGHT, F, TURN_LEFT, L), (-1, 0, 0)),
    "bumps": Case(hall(3, 4, 3), [*no(F, "bumped"), *no(J, "bumped")]),
    "bumps its head": Case(hall().put("glass", (4, 2, 5)), no(F, "bumped")),
    "walks down 1": Case(pit(1), ok(F), (0, -1, 1)),
    "walks down 3": Case(pit(3), ok(F), (0, -3, 1)),
    "walks not down 4": Case(pit(4), no(F, "too deep")),
    "walks over lava": Case(pit(3, bottom="lava"), ok(F), (0, -3, 1), over="lava"),
    "walks not to lava 4 below": Case(pit(4, bottom="lava"), no(F, "too deep")),
    "walks through what is thin": Case(
        hall().put("torch", (4, 1, 5)).put("lever", (4, 2, 5)).put("water", (4, 1, 6)), ok(F, F), (0, 0, 2)
    ),
    "walks through a mob": Case(hall().mob("cow", (4, 1, 5)), ok(F, F), (0, 0, 2)),
    "jumps up": Case(step_up(), ok(J), (0, 1, 1)),
    "jumps up under a low ceiling": Case(step_up((0, 3, 0), (0, 3, 1)), ok(J), (0, 1, 1)),
    "jumps not up without head-room": Case(step_up((0, 2, 0)), no(J, "bumped")),
    "jumps not up 2": Case(step_up((0, 1, 1)), no(J, "bumped")),
    "jumps not up into a slit": Case(step_up((0, 2, 1)), no(J, "bumped")),
    "jumps not where it walks": Case(hall(), no(J, "nothing to jump on")),
    "jumps over a gap": Case(pit(4), ok(J), (0, 0, 2)),
    "jumps over lava": Case(pit(1, bottom="lava"), ok(J), (0, 0, 2)),
    "jumps not over two": Case(pit(4, width=2), no(J, "nothing to jump on")),
    "jumps not over under a low ceiling": Case(pit(4).put("glass", (4, 8, 6)), no(J, "bumped")),
    "jumps into lava": Case(pit(4).put("lava", (4, 7, 5)), ok(J), (0, 0, 2), over="lava"),
    "looks no steeper": Case(hall(), [*ok(LOOK_UP, LOOK_UP, LOOK_UP), *no(LOOK_UP, "no steeper")]),
    # Hands
    "digs with bare hands": Case(beside("dirt"), ok(HEAD, DIG), inventory={"dirt": 1}, blocks={(0, 1, 2): "air"}),
    "digs not what is out of reach": Case(hall(9, 6, 16).put("dirt", (4, 2, 14)), no(DIG, "out of reach")),
    "digs within 4.5 m": Case(hall(9, 6, 16).put("dirt", (4, 2, 13)), ok(DIG), inventory={"dirt": 1}),
    "digs the nearest": Case(beside("dirt").put("cobweb", (4, 2, 5)), no(DIG, "needs a sword or shears")),
    "digs not through glass": Case(beside("dirt").put("glass", (4, 2, 5)), no(DIG, "cannot be broken")),
    "digs past what is at the eye": Case(beside("dirt").put("torch", (4, 2, 4)), ok(DIG), inventory={"dirt": 1}),
    "places into grass": Case(
        with_items(hall().put("grass", (4, 1, 5)), dirt=1),
        [*holding("dirt"), *ok(aim(0, -1, 1), PLACE)],
        blocks={(0, 0, 1): "dirt"},
    ),
    "digs past water and grass": Case(beside("dirt").put("grass", (4, 2, 5)), ok(DIG), inventory={"dirt": 1}),
    "digs not without the tool": Case(beside("stone"), no(DIG, "needs a pickaxe")),
    "digs with the tool": Case(
        beside("stone", wooden_pickaxe=1),
        [*holding("wooden_pickaxe"), *ok(DIG)],
        held="wooden_pickaxe",
        inventory={"wooden_pickaxe": 1, "cobblestone": 1},
    ),
    "digs not what is built": Case(beside("oak_planks"), no(DIG, "cannot be broken")),
    "digs the ground away and falls": Case(
        hall(5, 10, 5, Pose((2, 6, 2))).fill((1, 5, 1), (3, 5, 3), "dirt"),
        ok(aim(0, -1, 0), DIG),
        (0, -5, 0),
        {"dirt": 1},
    ),
    "digs the ground away over lava": Case(
        hall(5, 10, 5, Pose((2, 6, 2))).fill((1, 5, 1), (3, 5, 3), "dirt").put("lava", (2, 1, 2)),
        ok(aim(0, -1, 0), DIG),
        (0, -5, 0),
        {"dirt": 1},
        over="lava",
    ),
    "attacks a mob": Case(
        hall().mob("sheep", (4, 1, 6)), [*ok(ATTACK), *no(ATTACK, "nothing to attack")], inventory={"white_wool": 1}
    ),
    "attacks a small one only low": Case(
        hall().mob("chicken", (4, 1, 6)),
        [*no(ATTACK, "nothing to attack"), *ok(aim(0, 0, 2), ATTACK)],
        inventory={"feather": 1},
    ),
    "attacks not through glass": Case(
        hall().mob("sheep", (4, 1, 6)).put("glass", (4, 2, 5)), no(ATTACK, "nothing to attack")
    ),
    "attacks one where it stands": Case(
        hall().mob("spider", (4, 1, 4)).mob("cow", (4, 1, 5)), ok(aim(0, -1, 0), ATTACK), inventory={"string": 1}
    ),
    "places against a face": Case(
        with_items(hall(), dirt=1),
        [*holding("dirt"), *ok(aim(0, -1, 2), PLACE), *no(DIG, "placed blocks are final")],
        blocks={(0, 0, 2): "dirt"},
    ),
    "places not into the body": Case(
        with_items(hall(), dirt=1),
        [*holding("dirt"), *ok(aim(0, -1, 0)), *no(PLACE, "the body is in the way")],
        inventory={"dirt": 1},
        held="dirt",
    ),
    "places not with empty hands": Case(
        with_items(hall(), dirt=1), no(PLACE, "nothing to place in hand"), inventory={"dirt": 1}
    ),
    "places not a tool": Case(
        with_items(hall(), stick=1),
        [*holding("stick"), *no(AHEAD, "nothing to place in hand")],
        inventory={"stick": 1},
        held="stick",
    ),
    "bridges": Case(
        with_items(pit(4, width=2), dirt=2),
        [*holding("dirt"), *ok(AHEAD, F, AHEAD, F)],
        (0, 0, 2),
        blocks={(0, -1, 1): "dirt", (0, -1, 2): "dirt"},
    ),
    "bridges over lava": Case(with_items(pit(1, bottom="lava"), dirt=1), [*holding("dirt"), *ok(AHEAD, F)], (0, 0, 1)),
    "bridges not through a wall": Case(
        with_items(pit(4).put("glass", (4, 6, 5)), dirt=1),
        [*holding("dirt"), *no(AHEAD, "something is in the way")],
        inventory={"dirt": 1},
        held="dirt",
    ),
    "bridges not where ground is": Case(
        with_items(hall(), dirt=1),
        [*holding("dirt"), *no(AHEAD, "something is in the way")],
        inventory={"dirt": 1},
        held="dirt",
    ),
    "pillars": Case(
        with_items(hall(), dirt=3),
        [*holding("dirt"), *ok(BELOW, BELOW), *no(BELOW, "no head-room")],
        (0, 2, 0),
        {"dirt": 1},
        {(0, 0, 0): "dirt", (0, 1, 0): "dirt"},
        held="dirt",
    ),
    "pillars not on a torch": Case(
        with_items(hall(), torch=1),
        [*holding("torch"), *no(BELOW, "it is not solid")],
        inventory={"torch": 1},
        held="torch",
    ),
    "holds not what it has not": Case(hall(), no(hold(item("dirt")), "no dirt in the inventory")),
    "drops and picks up": Case(
        with_items(hall(), dirt=1),
        [*holding("dirt"), *ok(DROP), *no(DROP, "nothing in hand"), *ok(F)],
        (0, 0, 1),
        {"dirt": 1},
    ),
    "drops not over a hole": Case(
        with_items(pit(4), dirt=1),
        [*holding("dirt"), *no(DROP, "no room for it in front")],
        inventory={"dirt": 1},
        held="dirt",
    ),
    "picks up": Case(
        hall().item((4, 1, 5), "emerald", 2).item((4, 1, 5), "stick"), ok(F), (0, 0, 1), {"emerald": 2, "stick": 1}
    ),
    "picks up where it spawns": Case(hall().item((4, 1, 4), "emerald"), ok(WAIT), inventory={"emerald": 1}),
    "crafts": Case(
        with_items(hall(), oak_log=1), ok(made("oak_planks"), made("stick")), inventory={"oak_planks": 2, "stick": 4}
    ),
    "crafts not without ingredients": Case(
        with_items(hall(), oak_log=1), no(made("stick"), "ingredients are missing"), inventory={"oak_log": 1}
    ),
    "crafts not without a table": Case(
        with_items(hall(), oak_planks=3, stick=2),
        no(made("wooden_pickaxe"), "needs a crafting table in reach"),
        inventory={"oak_planks": 3, "stick": 2},
    ),
    "crafts at a table": Case(
        with_items(hall().put("crafting_table", (2, 1, 3)), oak_planks=3, stick=2),
        ok(made("wooden_pickaxe")),
        inventory={"wooden_pickaxe": 1},
    ),
    "crafts not at a table behind glass": Case(
        with_items(hall().put("crafting_table", (4, 1, 7)).fill((1, 1, 6), (7, 4, 6), "glass"), oak_planks=3, stick=2),
        no(made("wooden_pickaxe"), "needs a crafting table in reach"),
        inventory={"oak_planks": 3, "stick": 2},
    ),
    "crafts with what it holds": Case(
        with_items(hall(), oak_log=1), [*holding("oak_log"), *ok(made("oak_planks"))], inventory={"oak_planks": 4}
    ),
    "opens a chest": Case(
        hall().chest((4, 2, 6), dirt=2, stick=1), [*ok(USE), *no(USE, "empty")], inventory={"dirt": 2, "stick": 1}
    ),
    "uses no wall": Case(beside("stone_bricks"), no(USE, "nothing to use")),
    "opens a wooden door": Case(
        hall().fill((1, 1, 6), (7, 4, 6)).door((4, 1, 6), block="oak_door"), ok(USE, F, F, F), (0, 0, 3)
    ),
    "ends": Case(hall(), ok(DONE), over="done"),
    # Devices and doors
    "opens no iron door": Case(doored(), [*no(USE, "it has no handle"), *ok(F), *no(F, "bumped")], (0, 0, 1)),
    "a lever opens for good": Case(doored("lever"), ok(EAST, USE, USE), blocks={**OPEN, (1, 0, 0): "lever"}),
    "a lever that holds 0": Case(doored("lever", holds=0), ok(EAST, USE, USE), blocks={**SHUT, (1, 0, 0): "lever"}),
    "a lever that holds 2": Case(doored("lever", holds=2), ok(EAST, USE, USE, WAIT), blocks=OPEN),
    "a lever that held 2": Case(doored("lever", holds=2), ok(EAST, USE, USE, WAIT, WAIT), blocks=SHUT),
    "a button stays on": Case(
        doored("stone_button"),
        [*ok(EAST, USE), *no(USE, "already pressed")],
        blocks={**OPEN, (1, 0, 0): "stone_button on"},
    ),
    "a button that holds 2": Case(
        doored("stone_button", holds=2), ok(EAST, USE, WAIT, WAIT), blocks={**OPEN, (1, 0, 0): "stone_button"}
    ),
    "a button that held 2": Case(doored("stone_button", holds=2), ok(EAST, USE, WAIT, WAIT, WAIT), blocks=SHUT),
    "all of two": Case(
        doored("lever", "stone_button", mode="all", holds=1),
        ok(WEST, USE),
        blocks={**SHUT, (-1, 0, 0): "stone_button on"},
    ),
    "both of two": Case(doored("lever", "stone_button", mode="all"), ok(WEST, USE, EAST, USE), blocks=OPEN),
    "any of two": Case(doored("lever", "stone_button"), ok(WEST, USE), blocks=OPEN),
    "a plate": Case(
        doored("stone_pressure_plate", holds=0), ok(L), (1, 0, 0), blocks={**OPEN, (1, 0, 0): "stone_pressure_plate on"}
    ),
    "a plate left": Case(
        doored("stone_pressure_plate", holds=0), ok(L, R), blocks={**SHUT, (1, 0, 0): "stone_pressure_plate"}
    ),
    "a door waits for who stands in it": Case(
        doored("lever", holds=2), ok(EAST, USE, USE, R, R, WAIT, WAIT), (0, 0, 2), blocks=OPEN
    ),
    "a door shuts behind who waited": Case(
        doored("lever", holds=2), ok(EAST, USE, USE, R, R, WAIT, WAIT, R), (0, 0, 3), blocks=SHUT
    ),
    "a placed lever is a handle": Case(
        with_items(doored("lever", "lever", mode="all"), lever=1),
        [*holding("lever"), *ok(aim(0, 0, 2), PLACE, aim(0, 0, 1), USE)],
        blocks=OPEN,
    ),
    "a placed button is one too": Case(
        with_items(doored("lever", holds=0), stone_button=1),
        [*holding("stone_button"), *ok(aim(0, 0, 2), PLACE, aim(0, 0, 1), USE)],
        blocks={**OPEN, (0, 0, 1): "stone_button"},
    ),
    "a handle of a door without a wire": Case(
        with_items(doored(), stone_button=1),
        [*holding("stone_button"), *ok(aim(0, 0, 2), PLACE, aim(0, 0, 1), USE, WAIT)],
        blocks={**OPEN, (0, 0, 1): "stone_button on"},
    ),
    "a lever placed elsewhere is none": Case(
        with_items(doored(), lever=1),
        [*holding("lever"), *ok(aim(1, -1, 1), PLACE, aim(1, 0, 1), USE)],
        blocks={**SHUT, (1, 0, 1): "lever on"},
    ),
    "a wired wooden door has no handle": Case(
        hall().fill((1, 1, 6), (7, 4, 6)).put("lever", (5, 1, 4)).door((4, 1, 6), (5, 1, 4), block="oak_door"),
        [*no(USE, "it has no handle"), *ok(EAST, USE)],
        blocks={DOOR: "oak_door open"},
    ),
    "a door opens under the feet": Case(
        hall(9, 9, 9, Pose((4, 4, 4)))
        .fill((1, 1, 1), (7, 3, 7))
        .fill((4, 1, 4), (4, 1, 4), "air")
        .door((4, 2, 4), (5, 4, 4))
        .put("lever", (5, 4, 4))
        .item((4, 1, 4), "emerald"),
        ok(EAST, USE),
        (0, -3, 0),
        {"emerald": 1},
    ),
    "an unwired lever does nothing": Case(
        doored().put("lever", (5, 1, 4)), ok(EAST, USE), blocks={**SHUT, (1, 0, 0): "lever on"}
    ),
}
