"""Place chests, levers, trees and sheep in rooms, so that each thing can be reached only from its own room."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.generating.places.draft import Box, Draft
from explorer.generating.places.gates import door_cells, door_name
from explorer.generating.places.rooms import Layout, Room, Spot
from explorer.generating.plans.keys import FIELDS, block
from explorer.generating.plans.plan import Area, Plan, Thing, Unfit
from explorer.scene import Cell, Mob, Stack, Wire
from explorer.solver.touch import FARTHEST

OUT_OF_TOUCH: Final = FARTHEST + 0.1
"""Least metres between the cell of an eye before a gate and the cell of a thing that it must not touch."""
OUT_OF_LOOK: Final = 6.2
"""Least metres from open cells outside a room to a target that must be looked at from within 4."""


@dataclass(slots=True, eq=False)
class Furnished:
    """The placed things of a plan.

    Attributes:
        cells: thing -> its cells; the first is the one to aim at or stand in.
        names: thing -> names of its mobs.
    """

    draft: Draft
    layout: Layout
    rng: random.Random
    cells: dict[Thing, list[Cell]] = field(default_factory=dict)
    names: dict[Thing, list[str]] = field(default_factory=dict)
    taken: set[Spot] = field(default_factory=set)
    _eyes: dict[Area, NDArray[np.intp]] = field(default_factory=dict)

    def room(self, area: Area) -> Room:
        """Return the room of an area."""
        return self.layout.rooms[area.number]

    def spots(self, thing: Thing, edge: bool | None = None, clear: int = 1, *, guarded: bool = True) -> list[Spot]:
        """Return the free columns for a thing, in random order.

        Args:
            edge: True: only along walls; False: only away from them; None: anywhere.
            clear: radius in columns that must hold nothing else.
            guarded: whether the thing must be out of touch from in front of each gate.
        """
        room = self.room(thing.area)
        aisles = self._aisles(room)
        found = [
            spot
            for spot in room.columns
            if (edge is None or room.on_edge(spot) == edge)
            and spot not in aisles
            and not any(
                (spot[0] + i, spot[1] + j) in self.taken
                for i in range(-clear, clear + 1)
                for j in range(-clear, clear + 1)
            )
            and (not guarded or self._is_guarded(thing, (spot[0], room.floor, spot[1])))
        ]
        self.rng.shuffle(found)
        return found

    def take(self, thing: Thing, spots: Iterable[Spot], height: int = 0) -> list[Cell]:
        """Take columns for a thing; return their cells at a height above the floor."""
        floor = self.room(thing.area).floor
        cells = [(x, floor + height, z) for x, z in spots]
        if not cells:
            raise Unfit(f"things: no place ({thing.kind})")
        self.taken.update((x, z) for x, _, z in cells)
        self.cells[thing] = cells
        return cells

    def _aisles(self, room: Room) -> set[Spot]:
        """Return the columns in front of the openings of a room."""
        found: set[Spot] = set()
        for passage in self.layout.passages.values():
            ends = [passage.lanes[0]] if passage.parent is room else []
            ends += [passage.lanes[-1]] if passage.child is room else []
            found.update(
                (x + i, z + j)
                for end in ends
                for x, z in end
                for i in range(-3, 4)
                for j in range(-3, 4)
                if abs(i) + abs(j) < 4
            )
        return found

    def _is_guarded(self, thing: Thing, cell: Cell) -> bool:
        """Return whether a cell is out of touch from in front of each gate that guards it."""
        gated = (area for area in thing.area.way() if area.gate is not None and area.gate.hop is not None)
        return all((((self._eyes_before(area) - cell) ** 2).sum(axis=1) > OUT_OF_TOUCH**2).all() for area in gated)

    def _eyes_before(self, area: Area) -> NDArray[np.intp]:
        """Return the cells of eyes that have not, or only just, passed the gate of an area, ``[n, x y z]``."""
        found = self._eyes.get(area)
        if found is None:
            passage = self.layout.passages[area.number]
            y, z, x = np.nonzero(self.draft.owner == passage.parent.area.number)
            edge = passage.lanes[min(passage.last + 1, len(passage.lanes) - 1)]
            cells = [*zip(x, y, z, strict=True), *((a, passage.parent.floor, b) for a, b in edge)]
            found = self._eyes[area] = np.array(cells, np.intp) + np.array((0, 1, 0))
        return found


def furnish(rng: random.Random, plan: Plan, layout: Layout, draft: Draft) -> Furnished:
    """Put the things of a plan into its rooms, and wire its doors.

    Raises:
        Unfit: a thing has no place where only its own room reaches it.
    """
    placed = Furnished(draft, layout, rng)
    bulky = ("block", "tree", "target")
    for thing in sorted(plan.things, key=lambda thing: thing.kind not in bulky):
        _PLACERS[thing.kind](placed, thing)
    for number, passage in layout.passages.items():
        gate = layout.rooms[number].area.gate
        if gate is not None and gate.kind == "iron_door":
            needs = tuple(placed.cells[device][0] for device in gate.devices)
            holds = max(_time_to_pass(cell, door_cells(passage)[0]) for cell in needs) if gate.timed else None
            draft.wires.append(Wire(door_name(passage), door_cells(passage), needs, gate.mode, holds))
    return placed


def _time_to_pass(device: Cell, door: Cell) -> int:
    return abs(device[0] - door[0]) + abs(device[2] - door[2]) + 8


def _lying(placed: Furnished, thing: Thing) -> None:
    cell = placed.take(thing, placed.spots(thing)[:1])[0]
    placed.draft.items[cell] = (Stack(thing.item, thing.count),)


def _chest(placed: Furnished, thing: Thing) -> None:
    cell = placed.take(thing, placed.spots(thing, edge=True)[:1])[0]
    placed.draft.put(cell, "chest")
    if thing.item:
        placed.draft.chests[cell] = (Stack(thing.item, thing.count),)


def _table(placed: Furnished, thing: Thing) -> None:
    placed.draft.put(placed.take(thing, placed.spots(thing, edge=True)[:1])[0], "crafting_table")


def _device(placed: Furnished, thing: Thing) -> None:
    placed.draft.put(placed.take(thing, placed.spots(thing, edge=True)[:1], height=1)[0], thing.block)


def _plate(placed: Furnished, thing: Thing) -> None:
    placed.draft.put(placed.take(thing, placed.spots(thing)[:1])[0], thing.block)


def _mob(placed: Furnished, thing: Thing) -> None:
    mobs = placed.draft.mobs
    spots = placed.spots(thing, edge=False, clear=0)[: thing.count]
    if len(spots) < thing.count:
        raise Unfit("things: no place for a herd")
    names = placed.names[thing] = []
    for cell in placed.take(thing, spots):
        names.append(f"{thing.block}_{sum(mob.kind == thing.block for mob in mobs) + 1}")
        mobs.append(Mob(names[-1], thing.block, cell))


def _block(placed: Furnished, thing: Thing) -> None:
    """Put soft ground into the floor, blocks that need a tool into the wall, and other blocks onto the floor."""
    if thing.block in FIELDS:
        _patch(placed, thing)
    elif block(thing.block).tools and thing.block != "cobweb":
        _vein(placed, thing)
    else:
        solid = block(thing.block).solid
        spots = placed.spots(thing, edge=solid or None, clear=0)
        cells = placed.take(thing, _together(spots, thing.count))
        for cell in cells:
            placed.draft.put(cell, thing.block)


def _together(spots: list[Spot], count: int) -> list[Spot]:
    """Return the ``count`` columns nearest to the first."""
    if len(spots) < count:
        raise Unfit("things: no place for a heap")
    x, z = spots[0]
    return sorted(spots, key=lambda spot: (abs(spot[0] - x) + abs(spot[1] - z), spot))[:count]


def _patch(placed: Furnished, thing: Thing) -> None:
    cells = placed.take(thing, _together(placed.spots(thing, edge=False, clear=0), thing.count), height=-1)
    for cell in cells:
        placed.draft.put(cell, thing.block)


def _vein(placed: Furnished, thing: Thing) -> None:
    room = placed.room(thing.area)
    spots = _together(placed.spots(thing, edge=True, clear=0), -(-thing.count // 2))
    placed.take(thing, spots)
    cells = [cell for height in (1, 0) for spot in spots for cell in [_in_wall(room, spot, height)]][: thing.count]
    if len(set(cells)) < thing.count:
        raise Unfit("things: no place for a vein")
    placed.cells[thing] = cells
    for cell in cells:
        placed.draft.put(cell, thing.block)


def _in_wall(room: Room, spot: Spot, height: int) -> Cell:
    x, _, z = room.inside.least
    u, _, _ = room.inside.most
    a, b = spot
    if a in (x, u):
        return (a - 1 if a == x else a + 1), room.floor + height, b
    return a, room.floor + height, (b - 1 if b == z else b + 1)


def _tree(placed: Furnished, thing: Thing) -> None:
    """Plant trunks of 3 logs, with leaves where there is space."""
    room = placed.room(thing.area)
    needed = -(-thing.count // 3)
    spots: list[Spot] = []
    for spot in placed.spots(thing, edge=False):
        if all(max(abs(spot[0] - x), abs(spot[1] - z)) > 1 for x, z in spots):
            spots.append(spot)
    if len(spots) < needed:
        raise Unfit("things: no place for a tree")
    placed.take(thing, spots[:needed])
    cells = [(x, room.floor + height, z) for height in range(3) for x, z in spots[:needed]]
    placed.cells[thing] = cells
    leaves = thing.block.replace("_log", "_leaves")
    for x, y, z in cells:
        placed.draft.put((x, y, z), thing.block)
    for x, z in spots[:needed]:
        for i, j in ((1, 0), (-1, 0), (0, 1), (0, -1), (0, 0)):
            cell = (x + i, room.floor + (3 if (i, j) == (0, 0) else 2), z + j)
            if placed.draft.is_air(cell) and cell[1] <= room.inside.most[1]:
                placed.draft.put(cell, leaves)


def _pedestal(placed: Furnished, thing: Thing) -> None:
    x, y, z = placed.take(thing, placed.spots(thing, edge=False)[:1])[0]
    placed.draft.put((x, y, z), "chiseled_quartz_block")
    placed.cells[thing] = [(x, y + 1, z)]


def _hole(placed: Furnished, thing: Thing) -> None:
    cell = placed.take(thing, placed.spots(thing, edge=False)[:1], height=-1)[0]
    placed.draft.carve(Box(cell, cell), thing.area.number)


def _gap(placed: Furnished, thing: Thing) -> None:
    """Build a row of three fences with the middle one missing."""
    for x, z in placed.spots(thing, edge=False, clear=2):
        for i, j in ((1, 0), (0, 1)):
            ends = [(x - i, z - j), (x + i, z + j)]
            if all(end in placed.room(thing.area).columns for end in ends):
                cell = placed.take(thing, [(x, z), *ends])[0]
                for other in placed.cells[thing][1:]:
                    placed.draft.put(other, thing.block)
                placed.cells[thing] = [cell]
                return
    raise Unfit("things: no place for a fence")


def _target(placed: Furnished, thing: Thing) -> None:
    """Put a target far from all open cells outside its room, and add lookalikes."""
    draft = placed.draft
    room = placed.room(thing.area)
    edge = {"find_block": True, "find_banner": None, "find_flower": None}.get(thing.role, thing.role == "find_odd")
    outside = _open_outside(placed, room)
    spots = [spot for spot in placed.spots(thing, edge=edge) if _is_far((spot[0], room.floor, spot[1]), outside)]
    spots = spots[:1]
    cell = placed.take(thing, spots)[0]
    x, y, z = cell
    if thing.role == "find_odd":
        cell = _in_wall(room, (x, z), 1)
        draft.put(cell, thing.block)
    elif thing.role == "find_pair":
        for other in ((x, y, z), (x + 1, y, z)):
            draft.put(other, thing.block)
        placed.taken.add((x + 1, z))
        _alone(placed, thing, 1)
    elif thing.role == "find_tallest":
        cell = (x, y + 1, z)
        draft.fill(Box((x, y, z), (x, y + 2, z)), thing.block)
        _alone(placed, thing, 2)
        _alone(placed, thing, 1)
    else:
        draft.put(cell, thing.block)
    placed.cells[thing] = [cell]


def _alone(placed: Furnished, thing: Thing, height: int) -> None:
    """Add a lone pillar of the target's block."""
    spots = placed.spots(thing, edge=False, clear=2)
    if spots:
        x, z = spots[0]
        floor = placed.room(thing.area).floor
        placed.taken.add((x, z))
        placed.draft.fill(Box((x, floor, z), (x, floor + height - 1, z)), thing.block)


def _open_outside(placed: Furnished, room: Room) -> list[Cell]:
    owner = placed.draft.owner
    near = room.inside.grown(7)
    low = tuple(max(0, each) for each in near.least)
    y, z, x = np.nonzero(owner[Box((low[0], low[1], low[2]), near.most).slices] >= 0)
    cells = zip((x + low[0]).tolist(), (y + low[1]).tolist(), (z + low[2]).tolist(), strict=True)
    inside = room.inside
    return [
        cell for cell in cells if not all(a <= c <= b for a, c, b in zip(inside.least, cell, inside.most, strict=True))
    ]


def _is_far(cell: Cell, outside: list[Cell]) -> bool:
    return all(math.dist(cell, other) > OUT_OF_LOOK for other in outside)


_PLACERS: Final[dict[str, Callable[[Furnished, Thing], None]]] = {
    "lying": _lying,
    "chest": _chest,
    "block": _block,
    "tree": _tree,
    "mob": _mob,
    "device": _device,
    "plate": _plate,
    "table": _table,
    "pedestal": _pedestal,
    "hole": _hole,
    "gap": _gap,
    "target": _target,
}
