"""Decorate rooms with screens, pillars, furniture, borders and filled corners; most decorations also hide things from
view.

A spot is a column of cells, given by x and z. A look is the set of blocks that a room is built of.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from explorer.generating.places.draft import column_box
from explorer.generating.places.furnishing import Furnished
from explorer.generating.places.rooms import Room, Spot
from explorer.generating.places.styles import Look
from explorer.generating.plans.plan import Thing

_FURNITURE: Final = ("cartography_table", "smithing_table", "fletching_table", "smoker", "blast_furnace", "stonecutter")


def dress_rooms(placed: Furnished, looks: list[Look]) -> None:
    """Add one or two kinds of decoration to each room, without blocking a way through the room.

    Args:
        looks: look of each room, in the order of the rooms.
    """
    for room, look in zip(placed.layout.rooms, looks, strict=True):
        amount = placed.rng.choice((1, 2, 2))
        for decorate in placed.rng.sample(_DECORATORS, amount):
            decorate(placed, room, look)


def _free_spots(placed: Furnished, room: Room, *, edge: bool | None) -> list[Spot]:
    """Return the columns of a room that are free for decoration, in random order.

    Args:
        edge: which columns to consider, as in :meth:`Furnished.find_spots`.
    """
    return placed.find_spots(Thing("target", room.area), edge=edge, guarded=False)


def _build_pillar(placed: Furnished, spot: Spot, room: Room, name: str, height: int) -> None:
    """Put the block called ``name`` into the lowest ``height`` cells of a column, and mark the column as taken."""
    placed.taken.add(spot)
    placed.draft.fill(column_box(spot, room.floor, height), name)


def _room_height(room: Room) -> int:
    """Return the height of a room in cells."""
    return room.inside.most[1] - room.floor + 1


def _build_screens(placed: Furnished, room: Room, look: Look) -> None:
    """Build one or two free-standing walls, each 3 cells wide, and 2 cells high or as high as the room."""
    for _ in range(placed.rng.choice((1, 2))):
        free = _free_spots(placed, room, edge=False)
        height = placed.rng.choice((2, _room_height(room)))
        for x, z in free:
            i, j = placed.rng.choice(((1, 0), (0, 1)))
            left = (x - i, z - j)
            right = (x + i, z + j)
            if left in free and right in free:
                for spot in (left, (x, z), right):
                    _build_pillar(placed, spot, room, look.wall, height)
                break


def _build_pillars(placed: Furnished, room: Room, look: Look) -> None:
    """Build two to four pillars from the floor to the ceiling."""
    material = look.wall if "glass" in look.ceiling else look.ceiling
    for _ in range(placed.rng.choice((2, 3, 4))):
        for spot in _free_spots(placed, room, edge=False)[:1]:
            _build_pillar(placed, spot, room, material, _room_height(room))


def _add_furniture(placed: Furnished, room: Room, _look: Look) -> None:
    """Put furniture along the walls."""
    for _ in range(placed.rng.choice((1, 2, 3))):
        for spot in _free_spots(placed, room, edge=True)[:1]:
            name = placed.rng.choice(_FURNITURE)
            _build_pillar(placed, spot, room, name, 1)


def _fill_corners(placed: Furnished, room: Room, look: Look) -> None:
    """Fill some corners of a room from the floor to the ceiling, so that the room is not a plain box."""
    west, _, north = room.inside.least
    east, _, south = room.inside.most
    free = set(_free_spots(placed, room, edge=None))
    size = placed.rng.choice((1, 2, 2, 3))
    triangle = [(i, j) for i in range(size) for j in range(size) if i + j < size]

    for corner_x, step_x in ((west, 1), (east, -1)):
        for corner_z, step_z in ((north, 1), (south, -1)):
            spots = [(corner_x + i * step_x, corner_z + j * step_z) for i, j in triangle]
            if free.issuperset(spots) and placed.rng.random() < 0.8:
                for spot in spots:
                    _build_pillar(placed, spot, room, look.wall, _room_height(room))


def _lay_border(placed: Furnished, room: Room, look: Look) -> None:
    """Replace the floor along the walls of a room by another block, where the floor is the floor block of the look."""
    name = placed.rng.choice((look.ceiling, look.wall))
    if "glass" in name:
        return
    for x, z in room.columns:
        ground = (x, room.floor - 1, z)
        if room.is_on_edge((x, z)) and placed.draft.contains_block(ground, look.floor):
            placed.draft.put(ground, name)


_DECORATORS: Final[tuple[Callable[[Furnished, Room, Look], None], ...]] = (
    _build_screens,
    _build_pillars,
    _add_furniture,
    _lay_border,
    _fill_corners,
)
