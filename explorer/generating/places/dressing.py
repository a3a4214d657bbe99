"""Decorate rooms, and hide things from view: screens, pillars, furniture, borders, corners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from explorer.generating.places.draft import Box
from explorer.generating.places.furnishing import Furnished
from explorer.generating.places.rooms import Room, Spot
from explorer.generating.places.styles import Look
from explorer.generating.plans.plan import Thing

_FURNITURE: Final = ("cartography_table", "smithing_table", "fletching_table", "smoker", "blast_furnace", "stonecutter")


def dress(placed: Furnished, looks: list[Look]) -> None:
    """Add decoration to each room; every way through it stays open."""
    for room, look in zip(placed.layout.rooms, looks, strict=True):
        for build in placed.rng.sample(_DRESSES, placed.rng.choice((1, 2, 2))):
            build(placed, room, look)


def _free(placed: Furnished, room: Room, *, edge: bool | None, clear: int) -> list[Spot]:
    return placed.spots(Thing("target", room.area), edge=edge, clear=clear, guarded=False)


def _wall(placed: Furnished, spot: Spot, room: Room, name: str, height: int) -> None:
    x, z = spot
    floor = room.floor
    placed.taken.add(spot)
    placed.draft.fill(Box((x, floor, z), (x, floor + height - 1, z)), name)


def _screens(placed: Furnished, room: Room, look: Look) -> None:
    """Build free-standing walls 3 cells wide, 2 cells high or as high as the room."""
    high = room.inside.most[1] - room.floor + 1
    for _ in range(placed.rng.choice((1, 2))):
        free = _free(placed, room, edge=False, clear=1)
        height = placed.rng.choice((2, high))
        for x, z in free:
            i, j = placed.rng.choice(((1, 0), (0, 1)))
            line = [(x - i, z - j), (x, z), (x + i, z + j)]
            if set(free).issuperset(line):
                for spot in line:
                    _wall(placed, spot, room, look.wall, height)
                break


def _pillars(placed: Furnished, room: Room, look: Look) -> None:
    """Build pillars up to the ceiling."""
    high = room.inside.most[1] - room.floor + 1
    for _ in range(placed.rng.choice((2, 3, 4))):
        for spot in _free(placed, room, edge=False, clear=1)[:1]:
            _wall(placed, spot, room, look.ceiling if "glass" not in look.ceiling else look.wall, high)


def _furniture(placed: Furnished, room: Room, _look: Look) -> None:
    """Put furniture along the walls."""
    for _ in range(placed.rng.choice((1, 2, 3))):
        for spot in _free(placed, room, edge=True, clear=1)[:1]:
            _wall(placed, spot, room, placed.rng.choice(_FURNITURE), 1)


def _corners(placed: Furnished, room: Room, look: Look) -> None:
    """Fill corners up to the ceiling, so that the room is not a plain box."""
    x, y, z = room.inside.least
    u, v, w = room.inside.most
    free = set(_free(placed, room, edge=None, clear=1))
    size = placed.rng.choice((1, 2, 2, 3))
    for a, b in ((x, z), (x, w), (u, z), (u, w)):
        spots = {
            (a + (i if a == x else -i), b + (j if b == z else -j))
            for i in range(size)
            for j in range(size)
            if i + j < size
        }
        if free.issuperset(spots) and placed.rng.random() < 0.8:
            placed.taken.update(spots)
            for i, j in spots:
                placed.draft.fill(Box((i, y, j), (i, v, j)), look.wall)


def _border(placed: Furnished, room: Room, look: Look) -> None:
    """Lay a stripe of another block around the floor, except where the floor is not the room's own."""
    name = placed.rng.choice((look.ceiling, look.wall))
    if "glass" in name:
        return
    for x, z in room.columns:
        y = room.floor - 1
        if room.on_edge((x, z)) and placed.draft.holds((x, y, z), look.floor):
            placed.draft.put((x, y, z), name)


_DRESSES: Final[tuple[Callable[[Furnished, Room, Look], None], ...]] = (
    _screens,
    _pillars,
    _furniture,
    _border,
    _corners,
)
