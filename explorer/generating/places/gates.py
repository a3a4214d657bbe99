"""Build rooms, passages and gates out of blocks.

A passage is a tunnel from a parent room to a child room. It consists of rows of columns across its direction; some rows
hold the gate.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

from explorer.generating.places.draft import MASONRY, Box, Draft, column_box
from explorer.generating.places.rooms import Layout, Passage, Room, Spot
from explorer.generating.places.styles import Look
from explorer.generating.plans.gadgets import MOAT
from explorer.generating.plans.plan import GateKind
from explorer.scene import Cell

PIT: Final = 6
"""Depth in cells of a pit that holds no liquid."""
HEADROOM: Final = 3
"""Height in cells of most passages; some gates need another height."""


def build_rooms(rng: random.Random, layout: Layout, looks: list[Look]) -> Draft:
    """Return a draft with the rooms and gates of a layout; it contains no devices and no things yet.

    Args:
        looks: look (blocks to build with) of each area, by the area's number.
    """
    draft = Draft.make_solid(layout.size, looks[0].wall)
    for room, look in zip(layout.rooms, looks, strict=True):
        _build_room(draft, room, look)

    gates = _Gates(rng, draft)
    for passage in layout.passages.values():
        build_gate = _BUILDERS[passage.gate.kind]
        build_gate(gates, passage, looks[passage.child.area.number])
    return draft


def door_name(passage: Passage) -> str:
    """Return the name of the door in a passage."""
    return f"door_{passage.child.area.number}"


def door_cells(passage: Passage) -> tuple[Cell, Cell]:
    """Return the two cells of the door in a passage: the lower cell, then the upper cell."""
    x, z = passage.middle[passage.first]
    floor = passage.parent.floor
    return (x, floor, z), (x, floor + 1, z)


def plug_box(passage: Passage) -> Box:
    """Return the box of the plug in a passage; the plug is 1 cell wide and 2 cells high."""
    floor = passage.parent.floor
    first = column_box(passage.middle[passage.first], floor, 2)
    x, z = passage.middle[passage.last]
    return first.include((x, floor, z))


def _build_room(draft: Draft, room: Room, look: Look) -> None:
    """Build the walls, ceiling, floor and lamps of a room, and clear its inside."""
    shell = room.inside.grow(1)
    west, bottom, north = shell.least
    east, top, south = shell.most
    draft.fill(shell, look.wall)
    draft.fill(Box((west, top, north), shell.most), look.ceiling)
    draft.fill(Box(shell.least, (east, bottom, south)), look.floor)
    draft.carve(room.inside, room.area.number)

    for lamp_x in range(west + 3, east - 1, 4):
        for lamp_z in range(north + 3, south - 1, 4):
            draft.put((lamp_x, top, lamp_z), look.lamp)


def _carve_column(draft: Draft, spot: Spot, low: int, height: int, owner: int, floor: str) -> None:
    """Clear ``height`` cells of a column from the level ``low`` upwards, and put a block below these cells as floor.

    Args:
        owner: number of the area to which the cleared cells belong.
        floor: name of the block for the floor.
    """
    x, z = spot
    draft.carve(column_box(spot, low, height), owner)
    draft.put((x, low - 1, z), floor)


def _carve_tunnel(draft: Draft, passage: Passage, height: int, floor: str) -> None:
    """Carve a level passage.

    The rows behind the gate belong to the child area; all other rows belong to the parent area.
    """
    level = passage.parent.floor
    for number, row in enumerate(passage.lanes):
        room = passage.parent if number <= passage.last else passage.child
        for spot in row:
            _carve_column(draft, spot, level, height, room.area.number, floor)


def _dig_pit(draft: Draft, spot: Spot, level: int, liquid: str) -> None:
    """Dig a pit into a column of a passage.

    With a liquid, the pit is 1 cell deep, and the liquid fills the next cell down. Without a liquid, the pit is
    :data:`PIT` cells deep.

    Args:
        level: level of the feet in the passage.
        liquid: name of the block, or "" for no liquid.
    """
    x, z = spot
    depth = 1 if liquid else PIT
    bottom = level - depth
    draft.carve(column_box(spot, bottom, depth), MASONRY)
    if liquid:
        draft.put((x, bottom - 1, z), liquid)


def _continue_line(before: Spot, end: Spot) -> Spot:
    """Return the next column after ``end`` on the straight line from ``before`` through ``end``; both adjoin."""
    before_x, before_z = before
    end_x, end_z = end
    return 2 * end_x - before_x, 2 * end_z - before_z


class _Gates:
    """Builder of the gates of passages.

    Each method carves a passage, builds a gate of one kind, and sets ``passage.first`` and ``passage.last`` to the
    indices of the first and last row of the gate.
    """

    def __init__(self, rng: random.Random, draft: Draft) -> None:
        self.rng = rng
        self.draft = draft

    def build_open(self, passage: Passage, look: Look) -> None:
        """Build an opening without a gate."""
        passage.first = 0
        passage.last = 0
        _carve_tunnel(self.draft, passage, HEADROOM, look.floor)

    def build_iron_door(self, passage: Passage, look: Look) -> None:
        """Build an iron door, sometimes with a window beside it."""
        self._build_door(passage, look, "iron_door")
        if self.rng.random() < 0.3:
            self._cut_window(passage)

    def build_wooden_door(self, passage: Passage, look: Look) -> None:
        self._build_door(passage, look, passage.gate.block)

    def _build_door(self, passage: Passage, look: Look, name: str) -> None:
        """Build a door of two blocks called ``name``."""
        passage.first = 1
        passage.last = 1
        _carve_tunnel(self.draft, passage, 2, look.floor)
        for cell in door_cells(passage):
            self.draft.put(cell, name)

    def build_plug(self, passage: Passage, look: Look) -> None:
        """Build a plug: blocks that fill one or two rows of the passage."""
        passage.first = 1
        passage.last = self.rng.choice((1, 1, 2))
        _carve_tunnel(self.draft, passage, 2, look.floor)
        self.draft.fill(plug_box(passage), passage.gate.block)

    def build_moat(self, passage: Passage, look: Look) -> None:
        """Build a moat (with liquid) or chasm (without liquid) of :data:`MOAT` rows."""
        passage.first = 1
        passage.last = MOAT
        level = passage.parent.floor
        _carve_tunnel(self.draft, passage, HEADROOM + 1, look.floor)
        for row in passage.lanes[1 : MOAT + 1]:
            for spot in row:
                _dig_pit(self.draft, spot, level, passage.gate.block)

    def build_trench(self, passage: Passage, look: Look) -> None:
        """Build a trench of a single row; a body can jump over it."""
        passage.first = 2
        passage.last = 2
        _carve_tunnel(self.draft, passage, HEADROOM + 1, look.floor)

        liquid = "lava" if passage.gate.block == "lava" else ""
        for spot in passage.lanes[2]:
            _dig_pit(self.draft, spot, passage.parent.floor, liquid)

    def build_ledge(self, passage: Passage, look: Look) -> None:
        """Build a step and, behind it, a cliff up to the child area.

        The top of the cliff is 3 cells above the step. A body cannot jump up so high, but it can drop down.
        """
        low = passage.parent.floor
        high = passage.child.floor
        ceiling = high + HEADROOM
        material = passage.gate.block
        passage.first = 3
        passage.last = 3

        for number, row in enumerate(passage.lanes):
            is_up = number > passage.last
            feet = high if is_up else low
            room = passage.child if is_up else passage.parent
            for x, z in row:
                _carve_column(self.draft, (x, z), feet, ceiling - feet + 1, room.area.number, look.floor)
                if number == passage.last:
                    self.draft.put((x, low, z), material)
                elif number == passage.last + 1:
                    cliff = Box((x, low - 1, z), (x, high - 1, z))
                    self.draft.fill(cliff, material)

    def build_stairs(self, passage: Passage, look: Look) -> None:
        """Build stairs up or down along the whole passage; each row is one cell higher or lower until the child's
        level.
        """
        low = passage.parent.floor
        high = passage.child.floor
        owner = passage.parent.area.number
        passage.first = 0
        passage.last = len(passage.lanes) - 1

        step = 1 if high > low else -1
        for number, row in enumerate(passage.lanes):
            level = low + step * min(number, abs(high - low))
            # On the way down, the head of a body on the previous, higher stair needs room here.
            ceiling = max(level, level - step) + HEADROOM
            for spot in row:
                _carve_column(self.draft, spot, level, ceiling - level + 1, owner, look.wall)

    def build_maze(self, passage: Passage, look: Look) -> None:
        """Build a wall across every second row.

        Each wall has one random opening, which is not in line with the opening of the previous wall.
        """
        passage.first = 0
        passage.last = len(passage.lanes) - 1
        _carve_tunnel(self.draft, passage, HEADROOM, look.floor)

        level = passage.parent.floor
        opening = -1
        for row in passage.lanes[1:-1:2]:
            opening = self.rng.choice([number for number in range(len(row)) if number != opening])
            for number, spot in enumerate(row):
                if number != opening:
                    self.draft.fill(column_box(spot, level, HEADROOM), look.wall)

    def _cut_window(self, passage: Passage) -> None:
        """Cut a slit beside the door from room to room, with glass at both ends.

        An agent can see through the slit into the other room, but cannot touch anything there. Cut no slit if the rooms
        are on different levels, or if an end of the slit would meet masonry.
        """
        if passage.parent.floor != passage.child.floor:
            return
        along_x = passage.middle[0][1] == passage.middle[-1][1]
        offset = self.rng.choice((-2, 2))
        shift_x, shift_z = (0, offset) if along_x else (offset, 0)
        spots = [(x + shift_x, z + shift_z) for x, z in passage.middle]

        level = passage.parent.floor + 1
        column_before = _continue_line(spots[1], spots[0])
        column_behind = _continue_line(spots[-2], spots[-1])
        # If an end of the slit meets masonry, the slit shows nothing.
        owners = [self.draft.owner[level, z, x] for x, z in (column_before, column_behind)]
        if MASONRY in owners:
            return

        for x, z in spots:
            self.draft.put((x, level, z), "air")
        for x, z in (spots[0], spots[-1]):
            self.draft.put((x, level, z), "glass")


_BUILDERS: Final[dict[GateKind, Callable[[_Gates, Passage, Look], None]]] = {
    "open": _Gates.build_open,
    "iron_door": _Gates.build_iron_door,
    "wooden_door": _Gates.build_wooden_door,
    "plug": _Gates.build_plug,
    "moat": _Gates.build_moat,
    "ledge": _Gates.build_ledge,
    "trench": _Gates.build_trench,
    "stairs": _Gates.build_stairs,
    "maze": _Gates.build_maze,
}
