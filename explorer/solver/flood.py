"""Compute where a body could ever be.

The result contains every cell that a body can reach in any number of ticks, and possibly more. So if a cell is not in
the result, this proves that the body cannot reach it. The model of a body:

* A body needs two free cells, one above the other, and may fall any depth.
* From a cell in which it stands, a body rises at most one cell and flies at most :data:`FLIGHT` cells sideways. Each
  cell of the flight is one of the 8 neighbours of the previous cell. For every two levels that the body falls below the
  take-off, it may fly one cell more.
* A body that overhangs an edge may also take off from a cell beside the cell in which it stands. It then has one cell
  less to fly, and needs free room above this neighbouring cell.
* A body can stand in a cell without ground if it places a block below the cell; this costs one block. The number of
  blocks that the body could have is the limit for the total cost of a route.

The model includes everything that is possible in vanilla. The longest sprint jump crosses a gap of 4 cells, or of 3
cells if it ends higher. After jumps under a ceiling two cells high, which add speed, it crosses one cell more. A body
stands on every block that its box overlaps, up to 0.3 m beside its middle.

Cells are stored in a flat array with a border of barred cells. So each neighbour has a constant offset, and one numpy
operation handles the same neighbour of all cells.

The remaining flight of a body in a cell is one number: ``4 * cells + 1``, plus 1 if the level is not above the
take-off. Of several numbers that are possible in a cell, the greatest is stored: it allows every move that the others
allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.scene import Cell

Bytes = NDArray[np.uint8]
"""Flat array with one byte per cell.

Masks contain 0 or 255, so that ``&`` with a mask either keeps or clears a number.
"""

FLIGHT: Final = 6
"""Greatest number of cells that a body flies sideways on the same level: it crosses a gap of five cells."""
_STANDING: Final = np.uint8(4 * FLIGHT + 2)
"""Remaining flight of a body that stands."""
_RISEN: Final = np.uint8(4 * FLIGHT + 1)
"""Remaining flight of a body that has risen one level above the take-off."""
_SIDE: Final = np.uint8(4)
"""Amount by which flying one cell sideways reduces the remaining flight."""
_BEYOND_EDGE: Final = _STANDING - _SIDE
"""Least remaining flight with which a body can overhang an edge; it has flown one cell sideways from where it stood."""
_OVERHUNG: Final = _RISEN - _SIDE
"""Remaining flight of a body that has jumped from a cell beside the cell in which it stood."""
_FALL: Final = np.uint8(2)
"""Amount by which falling one level below the take-off increases the remaining flight: half a cell."""
_MAX_FLIGHT: Final = np.uint8(252)
"""Greatest remaining flight that is stored, so that it fits into a byte; it is longer than any arena is wide."""


_INNER: Final = (slice(1, -2), slice(1, -1), slice(1, -1))
"""Index that selects the arena from an array ``[y, z, x]`` with a border.

The border is one cell wide on each side, and two cells wide at the top.
"""


class Space:
    """The order of an arena's cells in a flat array; the flat array includes a border around the arena.

    The place of a cell is its index in the flat array.

    Attributes:
        size: number of cells of the arena along x, y and z.
        up, south, east: what to add to the place of a cell to get the place of its neighbour in this direction.
        length: length of the flat array.
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
        """Return a mask ``[y, z, x]`` of the arena as a flat mask; the border is 0."""
        whole = np.zeros(self._shape, np.uint8)
        whole[_INNER] = mask
        return (whole * np.uint8(255)).ravel()

    def solid(self, flat: Bytes) -> NDArray[np.bool_]:
        """Return a flat mask as a Boolean array ``[y, z, x]`` of the arena, without the border."""
        inner: Bytes = flat.reshape(self._shape)[_INNER]
        return inner.astype(np.bool_)

    def where(self, flat: Bytes) -> Iterator[Cell]:
        """Yield the cells that a flat mask contains."""
        return map(self.cell, np.flatnonzero(flat).tolist())

    def mask(self, cells: Iterable[Cell]) -> Bytes:
        """Return the flat mask of the given cells; cells outside the arena are left out."""
        flat = np.zeros(self.length, np.uint8)
        flat[[self.at(cell) for cell in cells if self.holds(cell)]] = 255
        return flat


def shift(flat: Bytes, by: int) -> Bytes:
    """Return a flat array shifted by ``by`` places: place ``p`` gets the value that ``flat`` has at ``p - by``.

    Places without such a value get 0. For example, with :attr:`Space.up`, each cell gets the value of the cell below
    it.
    """
    moved = np.zeros_like(flat)
    if by > 0:
        moved[by:] = flat[:-by]
    else:
        moved[:by] = flat[-by:]
    return moved


class Flood:
    """The cells where a body could be, for each number of placed blocks.

    Each call of :meth:`grow` continues from the result of the previous call.

    Args:
        start: cell of the feet at the start.
    """

    def __init__(self, space: Space, start: Cell) -> None:
        self._space = space
        # By number of placed blocks: the greatest remaining flight in each cell, 0 where no body could be.
        self._ways = [np.zeros(space.length, np.uint8)]
        self._ways[0][space.at(start)] = _STANDING

    @property
    def states(self) -> int:
        """Number of pairs (cell, number of placed blocks) that were reached."""
        return sum(int(np.count_nonzero(ways)) for ways in self._ways)

    def grow(self, room: Bytes, through: Bytes, ground: Bytes, fillable: Bytes, placements: int) -> Bytes:
        """Return the mask of the cells where feet could be.

        All masks are flat. From call to call, they may gain cells but must not lose any.

        Args:
            room: mask of the cells where the feet of a body can be, because the body fits.
            through: mask of the cells through which a body may only fall, without acting on anything.
            ground: mask of the cells on which a body can stand.
            fillable: mask of the cells into which a block may be placed.
            placements: greatest number of blocks that could be placed.
        """
        up = self._space.up
        spread = _Spread(self._space, room, room | through)
        stand = shift(ground, up) & room
        above_fillable = shift(fillable, up) & room
        spread(self._ways[0], stand)

        before: Bytes | None = None
        for placed in range(placements):
            below = self._ways[placed]
            raised = (below > 0) * above_fillable
            # If a further block gives no new cell to stand in, no number of blocks does.
            gives_new_cell = (raised & ~stand).any()
            if not gives_new_cell or (before is not None and np.array_equal(raised, before)):
                del self._ways[placed + 1 :]
                break
            before = raised

            if placed + 1 == len(self._ways):
                self._ways.append(below.copy())
            else:
                np.maximum(below, self._ways[placed + 1], out=self._ways[placed + 1])
            spread(self._ways[placed + 1], stand | raised)
        return (self._ways[-1] > 0) * room


class _Spread:
    """A function that continues flights until they reach no new cell.

    Args:
        room: mask of the cells where feet may be.
        fall: mask of the cells through which a body may fall; it includes the cells of ``room``.
    """

    def __init__(self, space: Space, room: Bytes, fall: Bytes) -> None:
        self._up = space.up
        self._room = room
        self._fall = fall
        self._south = space.south
        self._east = space.east
        # Cells that are free together with their neighbours to the east, south and south-east.
        self._square = fall.copy()
        for by in (space.east, space.south, space.south + space.east):
            self._square[:-by] &= fall[by:]

    def __call__(self, ways: Bytes, stand: Bytes) -> None:
        """Grow ``ways`` in place until nothing changes.

        Args:
            ways: remaining flight of a body in each cell; 0 where no body could be.
            stand: mask of the cells in which a body can stand.
        """
        up = self._up
        south = self._south
        east = self._east
        room = self._room
        fall = self._fall

        # Flight after a start: standing in a cell, rising from this cell by one level, or rising from a cell beside it.
        room_above = room[up:]
        standing = stand & _STANDING
        risen = stand[:-up] & room_above & _RISEN
        overhung = self._find_beside(stand)[:-up] & room[:-up]
        overhung &= room_above & _OVERHUNG

        below = ways[:-up]
        while True:
            # Views of ``new``, such as ``above`` and ``lower``, change ``new`` in place.
            new = np.maximum(ways, (ways > 0) * standing)
            above = new[up:]
            np.maximum(above, (below > 0) * risen, out=above)
            np.maximum(above, (below >= _BEYOND_EDGE) * overhung, out=above)

            # Fly one cell sideways, along both axes and both diagonals.
            left = (np.maximum(new, _SIDE) - _SIDE) & room
            for by in (east, south):
                after = new[by:]
                np.maximum(after, left[:-by] & fall[by:], out=after)
                before = new[:-by]
                np.maximum(before, left[by:] & fall[:-by], out=before)
            self._cross(new, left, south + east, 0)
            self._cross(new, left, south - east, east)

            # Fall by one level. An odd number is a flight above the take-off, which gains only 1 and becomes even.
            fallen = np.minimum(new, _MAX_FLIGHT)
            fallen += (_FALL - (fallen & 1)) * (fallen > 0)
            lower = new[:-up]
            np.maximum(lower, fallen[up:] & fall[:-up], out=lower)
            if np.array_equal(new, ways):
                return
            np.copyto(ways, new)

    def _find_beside(self, stand: Bytes) -> Bytes:
        """Return the mask of the 8 neighbours of each cell of ``stand``.

        In these cells, a body may overhang the edge and jump.
        """
        beside = np.zeros_like(stand)
        south = self._south
        east = self._east
        for by in (east, south, south + east, south - east):
            beside[by:] |= stand[:-by]
            beside[:-by] |= stand[by:]
        return beside

    def _cross(self, new: Bytes, left: Bytes, by: int, first: int) -> None:
        """Let flights continue diagonally, in both directions, across each square of four free cells.

        Args:
            new: remaining flight in each cell; changed in place.
            left: remaining flight after one cell sideways.
            by: difference between the places of the southern and the northern end of the diagonal.
            first: difference between the places of the northern end and of the square's north-western cell.
        """
        length = len(new) - by - first
        square = self._square[:length]
        north = slice(first, first + length)
        south = slice(first + by, first + by + length)
        np.maximum(new[south], left[north] & square, out=new[south])
        np.maximum(new[north], left[south] & square, out=new[north])
