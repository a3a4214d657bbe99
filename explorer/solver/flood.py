"""Where a body could ever be: an over-approximation of every play in ticks, so that a "no" is a proof.

From a cell in which it stands, a body rises at most one cell and flies at most :data:`FLIGHT` cells sideways (to 8
neighbours), plus one for every two levels that it falls below the take-off. It may rise beside that cell, too, with one
cell less to fly: beyond an edge it overhangs, and no ceiling may be there. It may fall any depth, and needs two cells
of room. It can stand in a cell without ground by placing a block below, at a cost of one; the number of blocks bounds
the total cost of a route. Vanilla's longest sprint jump clears 4 cells, or 3 upwards, and one more after jumps under a
ceiling of two cells, which add speed. A body stands on whatever its box overlaps, by up to 0.3.

Cells are in a flat array with a border of barred ones: a neighbour has a constant offset, and one numpy operation looks
at a neighbour of every cell. The remaining flight is one number: ``4 * cells + 1``, plus 1 if the level is not above
the take-off. Of two ways to be in a cell, the one with the greater number can do whatever the other can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.scene import Cell

Bytes = NDArray[np.uint8]
"""Flat, one byte per cell; masks are 0 or 255, so that ``&`` also masks numbers."""

FLIGHT: Final = 6
"""Cells sideways from ground to ground on the same level, over a gap of five."""
_STANDING: Final = np.uint8(4 * FLIGHT + 2)
_RISEN: Final = np.uint8(4 * FLIGHT + 1)
_SIDE: Final = np.uint8(4)
_FRESH: Final = _STANDING - _SIDE
"""One cell beyond the edge: a body that got there with less flight left cannot have stood on it."""
_OVERHUNG: Final = _RISEN - _SIDE
"""After a jump from beyond the edge, where a ceiling ends above it."""
_FALL: Final = np.uint8(2)
_MOST: Final = np.uint8(252)
"""Cap of the remaining flight: it stands for deeper falls too, and is far beyond any arena's width."""


_INNER: Final = (slice(1, -2), slice(1, -1), slice(1, -1))
"""The arena within an array ``[y, z, x]`` with its border."""


class Space:
    """The order of an arena's cells in a flat array.

    Attributes:
        up, south, east: offset to the neighbouring cell.
    """

    def __init__(self, size: Cell) -> None:
        self.size = size
        width, height, depth = size
        self._shape = height + 3, depth + 2, width + 2
        self.east = 1
        self.south = width + 2
        self.up = (width + 2) * (depth + 2)
        self.length = (height + 3) * self.up

    def at(self, cell: Cell) -> int:
        """Return the place of a cell."""
        x, y, z = cell
        return (y + 1) * self.up + (z + 1) * self.south + x + 1

    def cell(self, at: int) -> Cell:
        """Return the cell at a place."""
        y, rest = divmod(at, self.up)
        z, x = divmod(rest, self.south)
        return x - 1, y - 1, z - 1

    def holds(self, cell: Cell) -> bool:
        """Return whether a cell lies in the arena."""
        x, y, z = cell
        width, height, depth = self.size
        return 0 <= x < width and 0 <= y < height and 0 <= z < depth

    def flat(self, mask: NDArray[np.bool_]) -> Bytes:
        """Return a mask ``[y, z, x]`` as a flat mask; the border is 0."""
        whole = np.zeros(self._shape, np.uint8)
        whole[_INNER] = mask
        return (whole * np.uint8(255)).ravel()

    def solid(self, flat: Bytes) -> NDArray[np.bool_]:
        """Return a flat mask as a mask ``[y, z, x]``."""
        inner: Bytes = flat.reshape(self._shape)[_INNER]
        return inner.astype(np.bool_)

    def where(self, flat: Bytes) -> Iterator[Cell]:
        """Yield the cells of a mask."""
        return map(self.cell, np.flatnonzero(flat).tolist())

    def mask(self, cells: Iterable[Cell]) -> Bytes:
        """Return the mask of some cells; those outside the arena are left out."""
        flat = np.zeros(self.length, np.uint8)
        flat[[self.at(cell) for cell in cells if self.holds(cell)]] = 255
        return flat


def shift(flat: Bytes, by: int) -> Bytes:
    """Return a flat array shifted by some cells: if ``by`` > 0, each cell gets the value below, north or west of it."""
    moved = np.zeros_like(flat)
    if by > 0:
        moved[by:] = flat[:-by]
    else:
        moved[:by] = flat[-by:]
    return moved


class Flood:
    """Where a body could be after each number of placements. It only grows; each call continues from the last.

    Args:
        start: start cell of the body.
    """

    def __init__(self, space: Space, start: Cell) -> None:
        self._space = space
        self._ways = [np.zeros(space.length, np.uint8)]
        self._ways[0][space.at(start)] = _STANDING

    @property
    def states(self) -> int:
        """Number of pairs of a cell and a number of placements that were reached."""
        return sum(int(np.count_nonzero(ways)) for ways in self._ways)

    def grow(self, room: Bytes, through: Bytes, ground: Bytes, fillable: Bytes, placements: int) -> Bytes:
        """Return the mask of the cells where feet could be.

        Args:
            room: cells where a body fits with its feet.
            through: cells that a body may only fall through, without acting on anything.
            ground: cells that are solid at the start.
            fillable: cells that may take a placed block.
            placements: greatest number of blocks that can be placed.
        """
        up = self._space.up
        spread = _Spread(self._space, room, room | through)
        stand = shift(ground, up) & room
        filled = shift(fillable, up) & room
        spread(self._ways[0], stand)

        before: Bytes | None = None
        for level in range(placements):
            below = self._ways[level]
            raised = (below > 0) * filled
            # Without a new cell to place a block in, further blocks lead nowhere.
            settled = before is not None and np.array_equal(raised, before)
            if settled or not (raised & ~stand).any():
                del self._ways[level + 1 :]
                break
            before = raised

            if level + 1 == len(self._ways):
                self._ways.append(below.copy())
            ways = self._ways[level + 1]
            np.maximum(below, ways, out=ways)
            spread(ways, stand | raised)
        return (self._ways[-1] > 0) * room


class _Spread:
    """Continue flights until nothing new is reached."""

    def __init__(self, space: Space, room: Bytes, fall: Bytes) -> None:
        self._up = space.up
        self._room = room
        self._fall = fall
        self._south = space.south
        self._east = space.east
        self._square = fall.copy()
        for by in (space.east, space.south, space.south + space.east):
            self._square[:-by] &= fall[by:]

    def __call__(self, ways: Bytes, stand: Bytes) -> None:
        """Grow ``ways`` to its fixpoint in place."""
        up = self._up
        south = self._south
        east = self._east
        room = self._room
        fall = self._fall

        # What a start gives: standing in a cell, or rising by one from the cell below, or from beside that.
        room_above = room[up:]
        standing = stand & _STANDING
        risen = stand[:-up] & room_above & _RISEN
        overhung = self._find_beside(stand)[:-up] & room[:-up]
        overhung &= room_above & _OVERHUNG

        below = ways[:-up]
        while True:
            new = np.maximum(ways, (ways > 0) * standing)
            above = new[up:]
            np.maximum(above, (below > 0) * risen, out=above)
            np.maximum(above, (below >= _FRESH) * overhung, out=above)

            left = (np.maximum(new, _SIDE) - _SIDE) & room
            for by in (east, south):
                after = new[by:]
                np.maximum(after, left[:-by] & fall[by:], out=after)
                before = new[:-by]
                np.maximum(before, left[by:] & fall[:-by], out=before)
            self._cross(new, left, south + east, 0)
            self._cross(new, left, south - east, east)

            fallen = np.minimum(new, _MOST)
            fallen += (_FALL - (fallen & 1)) * (fallen > 0)
            lower = new[:-up]
            np.maximum(lower, fallen[up:] & fall[:-up], out=lower)
            if np.array_equal(new, ways):
                return
            np.copyto(ways, new)

    def _find_beside(self, stand: Bytes) -> Bytes:
        """Return the cells beside those to stand in: a body that overhangs an edge still jumps there."""
        beside = np.zeros_like(stand)
        south = self._south
        east = self._east
        for by in (east, south, south + east, south - east):
            beside[by:] |= stand[:-by]
            beside[:-by] |= stand[by:]
        return beside

    def _cross(self, new: Bytes, left: Bytes, by: int, first: int) -> None:
        """Let flights cross squares of four free cells, both ways along one diagonal."""
        length = len(new) - by - first
        square = self._square[:length]
        near = slice(first, first + length)
        far = slice(first + by, first + by + length)
        np.maximum(new[far], left[near] & square, out=new[far])
        np.maximum(new[near], left[far] & square, out=new[near])
