"""Place the things of a plan, such as chests, levers and trees; hands can reach each thing only from inside its own
room.

A spot is a column of cells, given by x and z. A hop is a planned milestone; an area is a room that is entered through a
gate.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.generating.places.draft import Box, Draft, column_box
from explorer.generating.places.gates import door_cells, door_name
from explorer.generating.places.rooms import STEPS, Layout, Passage, Room, Spot
from explorer.generating.plans.keys import FIELDS, find_block
from explorer.generating.plans.plan import Area, Plan, RejectedDraw, Thing
from explorer.scene import Cell, Mob, Stack, Wire
from explorer.solver.touch import MAX_REACH

OUT_OF_TOUCH: Final = MAX_REACH + 0.1
"""Distance in metres, between the cell of an eye and the cell of a thing, from which hands cannot reach the thing."""
OUT_OF_LOOK: Final = 6.2
"""Distance in metres that the target of a hop to look must exceed from each open cell outside its room.

Looking counts only from within 4 m of the target.
"""
_AISLE: Final = tuple((i, j) for i in range(-3, 4) for j in range(-3, 4) if abs(i) + abs(j) < 4)
"""Offsets (x, z) from a column of an opening to the columns that must stay free."""
_TARGET_EDGES: Final[dict[str, bool | None]] = {
    "find_block": True,
    "find_odd": True,
    "find_banner": None,
    "find_flower": None,
}
"""Role of a target -> the argument ``edge`` of :meth:`Furnished.find_spots`; for all other roles, it is False."""


@dataclass(slots=True, eq=False)
class Furnished:
    """The placed things of a plan.

    Attributes:
        cells: thing -> its cells; the witness of the scene aims at the first cell, or stands in it.
        names: thing -> names of its mobs.
        taken: columns (x, z) that hold a thing or a decoration.
    """

    draft: Draft
    layout: Layout
    rng: random.Random
    cells: dict[Thing, list[Cell]] = field(default_factory=dict)
    names: dict[Thing, list[str]] = field(default_factory=dict)
    taken: set[Spot] = field(default_factory=set)
    _eyes: dict[Area, NDArray[np.intp]] = field(default_factory=dict)

    def room(self, area: Area) -> Room:
        """Return the room that was built for an area."""
        return self.layout.rooms[area.number]

    def find_spots(self, thing: Thing, edge: bool | None = None, clear: int = 1, *, guarded: bool = True) -> list[Spot]:
        """Return the columns of a thing's room that are free, in random order.

        Args:
            edge: True: only columns along walls; False: only columns away from walls; None: all columns.
            clear: number of columns, in each direction around a spot, that must not be taken.
            guarded: whether the thing must be out of reach for a body in front of each gate that leads to the thing.
        """
        room = self.room(thing.area)
        aisles = self._find_aisles(room)

        free = []
        for spot in room.columns:
            if edge is not None and room.is_on_edge(spot) != edge:
                continue
            if spot in aisles or self._is_crowded(spot, clear):
                continue
            if guarded and not self._is_guarded(thing, (spot[0], room.floor, spot[1])):
                continue
            free.append(spot)

        self.rng.shuffle(free)
        return free

    def take_spots(self, thing: Thing, spots: Iterable[Spot], height: int = 0) -> list[Cell]:
        """Mark columns as taken by a thing; return the cell of each column that is ``height`` cells above the floor.

        Raises:
            RejectedDraw: ``spots`` is empty.
        """
        floor = self.room(thing.area).floor
        cells = [(x, floor + height, z) for x, z in spots]
        if not cells:
            raise RejectedDraw(f"things: no place ({thing.kind})")
        self.taken.update((x, z) for x, _, z in cells)
        self.cells[thing] = cells
        return cells

    def take_first_spot(self, thing: Thing, edge: bool | None = None, height: int = 0) -> Cell:
        """Mark a random free column as taken by a thing; return its cell that is ``height`` cells above the floor.

        Args:
            edge: which columns to consider, as in :meth:`find_spots`.

        Raises:
            RejectedDraw: no column is free.
        """
        spots = self.find_spots(thing, edge=edge)
        return self.take_spots(thing, spots[:1], height)[0]

    def _is_crowded(self, spot: Spot, clear: int) -> bool:
        """Return whether any column within ``clear`` columns of ``spot``, along x and along z, is taken."""
        x, z = spot
        offsets = range(-clear, clear + 1)
        around = [(x + i, z + j) for i in offsets for j in offsets]
        return not self.taken.isdisjoint(around)

    def _find_aisles(self, room: Room) -> set[Spot]:
        """Return the columns near the openings of a room, which must stay free."""
        openings: list[Spot] = []
        for passage in self.layout.passages.values():
            if passage.parent is room:
                openings += passage.lanes[0]
            if passage.child is room:
                openings += passage.lanes[-1]

        aisles: set[Spot] = set()
        for x, z in openings:
            aisles.update((x + i, z + j) for i, j in _AISLE)
        return aisles

    def _is_guarded(self, thing: Thing, cell: Cell) -> bool:
        """Return whether hands in front of the gates on the way to a thing cannot reach ``cell``; gates without a hop
        are ignored.
        """
        for area in thing.area.walk_to_root():
            if area.gate is None or area.gate.hop is None:
                continue
            if not _is_far(cell, self._eyes_before(area), OUT_OF_TOUCH):
                return False
        return True

    def _eyes_before(self, area: Area) -> NDArray[np.intp]:
        """Return the cells where the eye of a body in front of an area's gate may be, as an array ``[n, x y z]``.

        The first row behind the gate also counts as in front of it.
        """
        cached = self._eyes.get(area)
        if cached is not None:
            return cached

        passage = self.layout.passages[area.number]
        # ``owner`` is indexed y, z, x.
        is_before = self.draft.owner == passage.parent.area.number
        feet_before = np.argwhere(is_before)[:, [2, 0, 1]]

        row = min(passage.last + 1, len(passage.lanes) - 1)
        floor = passage.parent.floor
        cells_behind = [(x, floor, z) for x, z in passage.lanes[row]]
        feet_behind = np.array(cells_behind, np.intp)

        feet = np.concatenate((feet_before, feet_behind))
        eyes: NDArray[np.intp] = feet + np.array((0, 1, 0))
        self._eyes[area] = eyes
        return eyes


def furnish_rooms(rng: random.Random, plan: Plan, layout: Layout, draft: Draft) -> Furnished:
    """Put the things of a plan into its rooms, wire its doors to their devices, and return the placed things.

    Raises:
        RejectedDraw: a thing has no place where hands reach it only from its own room.
    """
    placed = Furnished(draft, layout, rng)

    # Place bulky things first, while most columns are free.
    bulky = ("block", "tree", "target")
    for thing in sorted(plan.things, key=lambda thing: thing.kind not in bulky):
        _PLACERS[thing.kind](placed, thing)

    for passage in layout.passages.values():
        if passage.gate.kind == "iron_door":
            _wire_door(placed, passage)
    return placed


def _wire_door(placed: Furnished, passage: Passage) -> None:
    """Add to the draft the wire that connects a door with its devices."""
    gate = passage.gate
    door = door_cells(passage)
    needs = tuple(placed.cells[device][0] for device in gate.devices)
    holds = max(_time_to_pass(device, door[0]) for device in needs) if gate.timed else None
    placed.draft.wires.append(Wire(door_name(passage), door, needs, gate.mode, holds))


def _time_to_pass(device: Cell, door: Cell) -> int:
    """Return how many steps a timed door stays open: the horizontal distance from its device, plus 8."""
    device_x, _, device_z = device
    door_x, _, door_z = door
    return abs(device_x - door_x) + abs(device_z - door_z) + 8


def _place_lying(placed: Furnished, thing: Thing) -> None:
    cell = placed.take_first_spot(thing)
    placed.draft.items[cell] = (Stack(thing.item, thing.count),)


def _place_chest(placed: Furnished, thing: Thing) -> None:
    cell = placed.take_first_spot(thing, edge=True)
    placed.draft.put(cell, "chest")
    if thing.item:
        placed.draft.chests[cell] = (Stack(thing.item, thing.count),)


def _place_table(placed: Furnished, thing: Thing) -> None:
    cell = placed.take_first_spot(thing, edge=True)
    placed.draft.put(cell, "crafting_table")


def _place_device(placed: Furnished, thing: Thing) -> None:
    cell = placed.take_first_spot(thing, edge=True, height=1)
    placed.draft.put(cell, thing.block)


def _place_plate(placed: Furnished, thing: Thing) -> None:
    cell = placed.take_first_spot(thing)
    placed.draft.put(cell, thing.block)


def _place_mob(placed: Furnished, thing: Thing) -> None:
    """Place all mobs of a thing, and name each mob after its kind with a number."""
    mobs = placed.draft.mobs
    spots = placed.find_spots(thing, edge=False, clear=0)[: thing.count]
    if len(spots) < thing.count:
        raise RejectedDraw("things: no place for a herd")

    names = placed.names[thing] = []
    for cell in placed.take_spots(thing, spots):
        number = sum(mob.kind == thing.block for mob in mobs) + 1
        name = f"{thing.block}_{number}"
        names.append(name)
        mobs.append(Mob(name, thing.block, cell))


def _place_block(placed: Furnished, thing: Thing) -> None:
    """Place the blocks of a thing.

    Soft ground goes into the floor, and blocks that need a tool go into a wall. All other blocks, and cobweb, go onto
    the floor.
    """
    if thing.block in FIELDS:
        _place_patch(placed, thing)
        return
    kind = find_block(thing.block)
    if kind.tools and thing.block != "cobweb":
        _place_vein(placed, thing)
        return

    # Solid blocks stand along walls, where they bar no way; all other blocks stand anywhere.
    edge = True if kind.solid else None
    spots = placed.find_spots(thing, edge=edge, clear=0)
    for cell in placed.take_spots(thing, _nearest_spots(spots, thing.count)):
        placed.draft.put(cell, thing.block)


def _nearest_spots(spots: list[Spot], count: int) -> list[Spot]:
    """Return the ``count`` columns that are nearest to the first column of the list, including this column.

    Raises:
        RejectedDraw: the list is shorter than ``count``.
    """
    if len(spots) < count:
        raise RejectedDraw("things: no place for a heap")
    first_x, first_z = spots[0]

    def rank(spot: Spot) -> tuple[int, Spot]:
        distance = abs(spot[0] - first_x) + abs(spot[1] - first_z)
        return distance, spot

    return sorted(spots, key=rank)[:count]


def _place_patch(placed: Furnished, thing: Thing) -> None:
    """Replace blocks of the floor that lie close together by soft ground."""
    spots = placed.find_spots(thing, edge=False, clear=0)
    for cell in placed.take_spots(thing, _nearest_spots(spots, thing.count), height=-1):
        placed.draft.put(cell, thing.block)


def _place_vein(placed: Furnished, thing: Thing) -> None:
    """Replace blocks of a wall by the blocks of a thing, in up to two rows: at the head of a body, then at its feet."""
    room = placed.room(thing.area)
    columns = math.ceil(thing.count / 2)
    spots = _nearest_spots(placed.find_spots(thing, edge=True, clear=0), columns)
    placed.take_spots(thing, spots)

    cells = [_cell_in_wall(room, spot, height) for height in (1, 0) for spot in spots]
    cells = cells[: thing.count]
    if len(set(cells)) < thing.count:
        raise RejectedDraw("things: no place for a vein")
    placed.cells[thing] = cells
    for cell in cells:
        placed.draft.put(cell, thing.block)


def _cell_in_wall(room: Room, spot: Spot, height: int) -> Cell:
    """Return the cell of the wall beside a column, ``height`` cells above the floor; the column lies along the wall."""
    west, _, north = room.inside.least
    east, _, _ = room.inside.most
    x, z = spot
    y = room.floor + height
    if x == west:
        return x - 1, y, z
    if x == east:
        return x + 1, y, z
    if z == north:
        return x, y, z - 1
    return x, y, z + 1


def _place_tree(placed: Furnished, thing: Thing) -> None:
    """Plant trunks that are 3 logs high; put leaves into the air cells around and above the top log of each trunk."""
    trunks = _trunk_spots(placed, thing)
    placed.take_spots(thing, trunks)
    floor = placed.room(thing.area).floor
    logs = [(x, floor + height, z) for height in range(3) for x, z in trunks]
    placed.cells[thing] = logs
    for log in logs:
        placed.draft.put(log, thing.block)

    leaves = thing.block.replace("_log", "_leaves")
    ceiling = placed.room(thing.area).inside.most[1]
    for x, z in trunks:
        crown = [(x + i, floor + 2, z + j) for i, j in STEPS]
        crown.append((x, floor + 3, z))
        for cell in crown:
            if placed.draft.is_air(cell) and cell[1] <= ceiling:
                placed.draft.put(cell, leaves)


def _trunk_spots(placed: Furnished, thing: Thing) -> list[Spot]:
    """Return the columns for the trunks of a tree; the columns do not touch, not even at corners.

    Raises:
        RejectedDraw: too few columns are free.
    """
    needed = math.ceil(thing.count / 3)
    spots: list[Spot] = []
    for x, z in placed.find_spots(thing, edge=False):
        distances = (max(abs(x - other_x), abs(z - other_z)) for other_x, other_z in spots)
        if all(distance > 1 for distance in distances):
            spots.append((x, z))
    if len(spots) < needed:
        raise RejectedDraw("things: no place for a tree")
    return spots[:needed]


def _place_pedestal(placed: Furnished, thing: Thing) -> None:
    """Build a pedestal of one block; the cell of the thing is the free cell on top of the pedestal."""
    x, y, z = placed.take_first_spot(thing, edge=False)
    placed.draft.put((x, y, z), "chiseled_quartz_block")
    placed.cells[thing] = [(x, y + 1, z)]


def _place_hole(placed: Furnished, thing: Thing) -> None:
    """Dig a hole of one cell into the floor; this is the cell of the thing."""
    cell = placed.take_first_spot(thing, edge=False, height=-1)
    placed.draft.carve(Box(cell, cell), thing.area.number)


def _place_gap(placed: Furnished, thing: Thing) -> None:
    """Build two fence posts with an empty cell between them; this is the cell of the thing."""
    columns = placed.room(thing.area).columns
    for x, z in placed.find_spots(thing, edge=False, clear=2):
        for i, j in ((1, 0), (0, 1)):
            left = (x - i, z - j)
            right = (x + i, z + j)
            if left not in columns or right not in columns:
                continue

            gap, *posts = placed.take_spots(thing, [(x, z), left, right])
            for post in posts:
                placed.draft.put(post, thing.block)
            placed.cells[thing] = [gap]
            return
    raise RejectedDraw("things: no place for a fence")


def _place_target(placed: Furnished, thing: Thing) -> None:
    """Place the target of a hop to look, far from all open cells outside its room.

    For some roles, add pillars that look similar to the target.
    """
    draft = placed.draft
    room = placed.room(thing.area)
    edge = _TARGET_EDGES.get(thing.role, False)
    outside = _open_cells_outside(placed, room)
    spots = placed.find_spots(thing, edge=edge)
    hidden = [(x, z) for x, z in spots if _is_far((x, room.floor, z), outside, OUT_OF_LOOK)]
    x, y, z = placed.take_spots(thing, hidden[:1])[0]

    target = (x, y, z)
    if thing.role == "find_odd":
        target = _cell_in_wall(room, (x, z), 1)
        draft.put(target, thing.block)
    elif thing.role == "find_pair":
        draft.put(target, thing.block)
        draft.put((x + 1, y, z), thing.block)
        placed.taken.add((x + 1, z))
        _add_lone_pillar(placed, thing, 1)
    elif thing.role == "find_tallest":
        draft.fill(Box(target, (x, y + 2, z)), thing.block)
        target = (x, y + 1, z)
        _add_lone_pillar(placed, thing, 2)
        _add_lone_pillar(placed, thing, 1)
    else:
        draft.put(target, thing.block)
    placed.cells[thing] = [target]


def _add_lone_pillar(placed: Furnished, thing: Thing, height: int) -> None:
    """If a column is free, build a lone pillar of the target's block in it, ``height`` cells high."""
    spots = placed.find_spots(thing, edge=False, clear=2)
    if spots:
        placed.taken.add(spots[0])
        pillar = column_box(spots[0], placed.room(thing.area).floor, height)
        placed.draft.fill(pillar, thing.block)


def _open_cells_outside(placed: Furnished, room: Room) -> NDArray[np.intp]:
    """Return the open cells that are near a room but outside it, as an array ``[n, x y z]``."""
    inside = room.inside
    near = inside.grow(7)
    # A negative bound would count from the other end of the array.
    low_x, low_y, low_z = (max(0, bound) for bound in near.least)
    nearby = Box((low_x, low_y, low_z), near.most)

    is_open = placed.draft.owner[nearby.slices] >= 0
    cells = np.argwhere(is_open)[:, [2, 0, 1]] + nearby.least
    is_inside = ((cells >= inside.least) & (cells <= inside.most)).all(axis=1)
    return cells[~is_inside]


def _is_far(cell: Cell, others: NDArray[np.intp], metres: float) -> bool:
    """Return whether a cell is more than ``metres`` away from every cell of the array ``others``, ``[n, x y z]``."""
    squares = ((others - cell) ** 2).sum(axis=1)
    return bool((squares > metres**2).all())


_PLACERS: Final[dict[str, Callable[[Furnished, Thing], None]]] = {
    "lying": _place_lying,
    "chest": _place_chest,
    "block": _place_block,
    "tree": _place_tree,
    "mob": _place_mob,
    "device": _place_device,
    "plate": _place_plate,
    "table": _place_table,
    "pedestal": _place_pedestal,
    "hole": _place_hole,
    "gap": _place_gap,
    "target": _place_target,
}
