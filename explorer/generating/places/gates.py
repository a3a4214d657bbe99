"""Build rooms, passages and gates out of blocks."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from explorer.generating.places.draft import MASONRY, Box, Draft
from explorer.generating.places.rooms import Layout, Passage, Room, Spot
from explorer.generating.places.styles import Look
from explorer.generating.plans.gadgets import MOAT
from explorer.generating.plans.plan import GateKind
from explorer.scene import Cell

PIT: Final = 6
HEADROOM: Final = 3


def build(rng: random.Random, layout: Layout, looks: list[Look]) -> Draft:
    """Return the rooms and gates of a layout, without devices and things."""
    draft = Draft.of(layout.size, looks[0].wall)
    for room, look in zip(layout.rooms, looks, strict=True):
        _room(draft, room, look)
    gates = _Gates(rng, draft)
    for passage in layout.passages.values():
        _BUILDERS[passage.gate.kind](gates, passage, looks[passage.child.area.number])
    return draft


def door_name(passage: Passage) -> str:
    """Return the name of the door of a passage."""
    return f"door_{passage.child.area.number}"


def door_cells(passage: Passage) -> tuple[Cell, Cell]:
    """Return the two cells of a door, lower one first."""
    x, z = passage.middle[passage.first]
    return (x, passage.parent.floor, z), (x, passage.parent.floor + 1, z)


def plug_box(passage: Passage) -> Box:
    """Return the cells of a plug."""
    x, z = passage.middle[passage.first]
    u, w = passage.middle[passage.last]
    floor = passage.parent.floor
    return Box((min(x, u), floor, min(z, w)), (max(x, u), floor + 1, max(z, w)))


def _room(draft: Draft, room: Room, look: Look) -> None:
    x, y, z = room.inside.least
    u, v, w = room.inside.most
    draft.fill(room.inside.grown(1), look.wall)
    draft.fill(Box((x - 1, v + 1, z - 1), (u + 1, v + 1, w + 1)), look.ceiling)
    draft.fill(Box((x - 1, y - 1, z - 1), (u + 1, y - 1, w + 1)), look.floor)
    draft.carve(room.inside, room.area.number)
    for a in range(x + 2, u, 4):
        for b in range(z + 2, w, 4):
            draft.put((a, v + 1, b), look.lamp)


def _column(draft: Draft, spot: Spot, low: int, high: int, owner: int, floor: str = "") -> None:
    """Empty a column from ``low`` up to ``high``, and lay a floor below it."""
    draft.carve(Box((spot[0], low, spot[1]), (spot[0], high, spot[1])), owner)
    if floor:
        draft.put((spot[0], low - 1, spot[1]), floor)


def _tunnel(draft: Draft, passage: Passage, height: int, floor: str) -> None:
    """Carve a level passage; cells beyond the gate belong to the child."""
    level = passage.parent.floor
    for number, row in enumerate(passage.lanes):
        owner = (passage.parent if number <= passage.last else passage.child).area.number
        for spot in row:
            _column(draft, spot, level, level + height - 1, owner, floor)


def _pit(draft: Draft, spot: Spot, level: int, liquid: str) -> None:
    x, z = spot
    depth = 1 if liquid else PIT
    draft.carve(Box((x, level - depth, z), (x, level - 1, z)), MASONRY)
    if liquid:
        draft.put((x, level - depth - 1, z), liquid)


def _beside(spots: list[Spot], step: int) -> Spot:
    (x, z), (u, w) = (spots[0], spots[1]) if step < 0 else (spots[-1], spots[-2])
    return 2 * x - u, 2 * z - w


class _Gates:
    """Builds the gate of a passage, by its kind."""

    def __init__(self, rng: random.Random, draft: Draft) -> None:
        self.rng = rng
        self.draft = draft

    def open(self, passage: Passage, look: Look) -> None:
        passage.first = 0
        passage.last = 0
        _tunnel(self.draft, passage, HEADROOM, look.floor)

    def iron_door(self, passage: Passage, look: Look) -> None:
        self.door(passage, look, "iron_door")
        if self.rng.random() < 0.3:
            self._window(passage)

    def wooden_door(self, passage: Passage, look: Look) -> None:
        self.door(passage, look, passage.gate.block)

    def door(self, passage: Passage, look: Look, name: str) -> None:
        passage.first = passage.last = 1
        _tunnel(self.draft, passage, 2, look.floor)
        for cell in door_cells(passage):
            self.draft.put(cell, name)

    def plug(self, passage: Passage, look: Look) -> None:
        passage.first = 1
        passage.last = self.rng.choice((1, 1, 2))
        _tunnel(self.draft, passage, 2, look.floor)
        self.draft.fill(plug_box(passage), passage.gate.block)

    def moat(self, passage: Passage, look: Look) -> None:
        passage.first = 1
        passage.last = MOAT
        level = passage.parent.floor
        _tunnel(self.draft, passage, HEADROOM + 1, look.floor)
        for row in passage.lanes[1 : MOAT + 1]:
            for spot in row:
                _pit(self.draft, spot, level, passage.gate.block)

    def trench(self, passage: Passage, look: Look) -> None:
        passage.first = passage.last = 2
        _tunnel(self.draft, passage, HEADROOM + 1, look.floor)
        for spot in passage.lanes[2]:
            _pit(self.draft, spot, passage.parent.floor, "lava" if passage.gate.block == "lava" else "")

    def ledge(self, passage: Passage, look: Look) -> None:
        """Build a cliff behind a step; it is 3 cells above the step, too high to climb and low enough to drop down."""
        low = passage.parent.floor
        high = passage.child.floor
        passage.first = passage.last = 3
        for number, row in enumerate(passage.lanes):
            up = number > passage.last
            owner = passage.child if up else passage.parent
            for spot in row:
                _column(self.draft, spot, high if up else low, high + HEADROOM, owner.area.number, look.floor)
                if number == passage.last + 1:
                    self.draft.fill(Box((spot[0], low - 1, spot[1]), (spot[0], high - 1, spot[1])), passage.gate.block)
                elif number == passage.last:
                    self.draft.put((spot[0], low, spot[1]), passage.gate.block)

    def stairs(self, passage: Passage, look: Look) -> None:
        low = passage.parent.floor
        high = passage.child.floor
        passage.first, passage.last = 0, len(passage.lanes) - 1
        step = 1 if high > low else -1
        for number, row in enumerate(passage.lanes):
            level = low + step * min(number, abs(high - low))
            for spot in row:
                _column(
                    self.draft, spot, level, max(level, level - step) + HEADROOM, passage.parent.area.number, look.wall
                )

    def maze(self, passage: Passage, look: Look) -> None:
        """Build walls across the passage, each with one opening at random, never straight behind the previous one."""
        passage.first, passage.last = 0, len(passage.lanes) - 1
        _tunnel(self.draft, passage, HEADROOM, look.floor)
        level = passage.parent.floor
        before = -1
        for row in passage.lanes[1:-1:2]:
            before = self.rng.choice([number for number in range(len(row)) if number != before])
            for number, (x, z) in enumerate(row):
                if number != before:
                    self.draft.fill(Box((x, level, z), (x, level + HEADROOM - 1, z)), look.wall)

    def _window(self, passage: Passage) -> None:
        """Cut a glazed slit beside the door: one can see what is behind it but not touch it."""
        if passage.parent.floor != passage.child.floor:
            return
        along_x = passage.middle[0][1] == passage.middle[-1][1]
        offset = self.rng.choice((-2, 2))
        spots = [(x, z + offset) if along_x else (x + offset, z) for x, z in passage.middle]
        ends = [_beside(spots, -1), _beside(spots, 1)]
        level = passage.parent.floor + 1
        if not all(self.draft.owner[level, z, x] != MASONRY for x, z in ends):
            return
        for x, z in spots:
            self.draft.put((x, level, z), "air")
        for x, z in (spots[0], spots[-1]):
            self.draft.put((x, level, z), "glass")


_BUILDERS: Final[dict[GateKind, Callable[[_Gates, Passage, Look], None]]] = {
    "open": _Gates.open,
    "iron_door": _Gates.iron_door,
    "wooden_door": _Gates.wooden_door,
    "plug": _Gates.plug,
    "moat": _Gates.moat,
    "ledge": _Gates.ledge,
    "trench": _Gates.trench,
    "stairs": _Gates.stairs,
    "maze": _Gates.maze,
}
