"""Compute which cells a body could ever touch.

The result contains every cell that a body can touch, and possibly more: the eye may be anywhere in its cell, and the
ray may go to any point of the target cell. An eye can touch a target cell under two conditions. The middles of the two
cells are at most :data:`MAX_REACH` apart. Within a box around the target, free cells connect the two cells. So no lever
can be pulled through a wall.

A place is the index of a cell in the flat arrays of a :class:`~explorer.solver.flood.Space`.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.rules.raycast import REACH
from explorer.scene import cells_apart
from explorer.solver.flood import Bytes, Space

MAX_REACH: Final = REACH + 3**0.5
"""Greatest distance in metres from the middle of the eye's cell to the middle of a touched cell.

It is the reach of the hands, plus half of a cell's diagonal at both ends.
"""
AROUND: Final = 7
"""Number of cells, along each axis, between the target and the sides of the box around it."""
_SIDE: Final = 2 * AROUND + 1
_NEARBY: Final = (np.indices((_SIDE,) * 3) - AROUND).astype(np.int64)
"""Offsets from a target to each cell of the box around it, as three arrays for y, z and x."""
_WITHIN: Final = (_NEARBY**2).sum(axis=0) <= MAX_REACH**2
"""Mask of the cells of the box that are at most :data:`MAX_REACH` from the target."""
_SURE: Final = 6
"""If an eye is at most this many steps over free cells from the target, it is surely within :data:`MAX_REACH`."""
_FAR: Final = 11
"""Greatest number of steps from cell to cell along a ray within reach.

The reason: a ray of length r crosses at most r * sqrt(3) + 1 faces.
"""


class Touch:
    """The cells that a body could touch; they become more when :meth:`update` adds free cells or cells of eyes.

    Attributes:
        eyes: mask of the cells where an eye could be.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._open = self.eyes = np.zeros(space.length, np.uint8)
        self._joined: dict[int, NDArray[np.intp]] = {}
        # Masks of the cells that eyes could touch at all, and of the cells that they can touch for certain.
        self._near = self._sure = self.eyes

    def update(self, feet: Bytes, open_: Bytes) -> None:
        """Set where a body could be.

        The eye is one cell above the feet or, during a jump or fall, two cells above.

        Args:
            feet: mask of the cells where feet could be.
            open_: mask of the cells that are not solid.
        """
        up = self._space.up
        head = np.zeros_like(feet)
        head[up:] = feet[:-up]
        self.eyes = head.copy()
        self.eyes[up:] |= head[:-up]
        self.eyes &= open_

        opened = np.flatnonzero(open_ & ~self._open)
        if self._open.any():
            self._forget(opened)
        self._open = open_.copy()

        reached = self.eyes
        for step in range(1, _FAR + 1):
            # The masks include solid cells beside free cells, but steps continue only from free cells.
            reached = self._next_to(reached)
            if step == _SURE:
                self._sure = reached
            if step < _FAR:
                reached = reached & open_
        self._near = reached

    def among(self, targets: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return a Boolean array: for each of the given places, whether a body could touch the cell at this place."""
        touched = self._sure[targets].astype(np.bool_)
        is_uncertain = (self._near[targets] != 0) & ~touched
        for number in np.flatnonzero(is_uncertain).tolist():
            touched[number] = self.reaches(int(targets[number]))
        return touched

    def reaches(self, target: int) -> bool:
        """Return whether a body could touch the cell at the place ``target``; the cell may be solid."""
        if self._sure[target]:
            return True
        if not self._near[target]:
            return False
        return bool(self.eyes[self._eyes_of(target)].any())

    def _forget(self, opened: NDArray[np.intp]) -> None:
        """Remove from the cache the targets near cells that have just become free.

        Args:
            opened: places of these cells.
        """
        cells = [self._space.cell(place) for place in opened.tolist()]
        for target in list(self._joined):
            target_cell = self._space.cell(target)
            if any(cells_apart(target_cell, cell) <= AROUND for cell in cells):
                del self._joined[target]

    def _eyes_of(self, target: int) -> NDArray[np.intp]:
        """Return the places from which an eye could touch the cell at the place ``target``; results are cached."""
        eyes = self._joined.get(target)
        if eyes is None:
            eyes = self._joined[target] = self._join(target)
        return eyes

    def _join(self, target: int) -> NDArray[np.intp]:
        """Compute the places from which an eye could touch the cell at the place ``target``, and return them.

        They are near enough to the target, and free cells of the box around the target connect them with it.
        """
        x, y, z = self._space.cell(target)
        width, height, depth = self._space.size
        ys = _NEARBY[0] + y
        zs = _NEARBY[1] + z
        xs = _NEARBY[2] + x
        inside = (ys >= 0) & (ys < height)
        inside &= (zs >= 0) & (zs < depth)
        inside &= (xs >= 0) & (xs < width)
        # As in Space.at; cells outside the arena are never used.
        places = (ys + 1) * self._space.up + (zs + 1) * self._space.south
        places += xs + 1
        free = inside & (self._open[np.where(inside, places, 0)] != 0)

        # Grow from the target in the middle of the box, which may be solid itself.
        joined = np.zeros_like(free)
        joined[AROUND, AROUND, AROUND] = True
        while True:
            grown = joined.copy()
            grown[1:] |= joined[:-1]
            grown[:-1] |= joined[1:]
            grown[:, 1:] |= joined[:, :-1]
            grown[:, :-1] |= joined[:, 1:]
            grown[:, :, 1:] |= joined[:, :, :-1]
            grown[:, :, :-1] |= joined[:, :, 1:]
            grown &= free
            grown[AROUND, AROUND, AROUND] = True
            if np.array_equal(grown, joined):
                eyes: NDArray[np.intp] = places[joined & _WITHIN]
                return eyes
            joined = grown

    def _next_to(self, cells: Bytes) -> Bytes:
        """Return the mask of the given cells together with the six neighbours of each cell."""
        grown = cells.copy()
        for by in (self._space.east, self._space.south, self._space.up):
            grown[by:] |= cells[:-by]
            grown[:-by] |= cells[by:]
        return grown
