"""Compute what a body could ever touch: an over-approximation, for an eye anywhere in its cell and a ray to any point.

An eye can touch a target cell under two conditions: the middles of the two cells are at most :data:`MAX_REACH` apart,
and free cells connect the two cells within a box around the target. So no lever can be pulled through a wall.

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
"""Greatest distance in metres: the reach, plus half of a cell's diagonal at both ends."""
AROUND: Final = 7
"""Cells along each axis from the target to the sides of the box around the target."""
_SIDE: Final = 2 * AROUND + 1
_NEARBY: Final = (np.indices((_SIDE,) * 3) - AROUND).astype(np.int64)
"""Offsets y, z and x from a target to the cells of its box, as three arrays over the box."""
_WITHIN: Final = (_NEARBY**2).sum(axis=0) <= MAX_REACH**2
"""Cells of the box that are near enough to the target."""
_SURE: Final = 6
"""An eye at most this many steps over free cells from the target is certainly within :data:`MAX_REACH`."""
_FAR: Final = 11
"""No ray within reach takes more steps, because a ray of length r crosses at most r * sqrt(3) + 1 faces."""


class Touch:
    """The targets that could be touched, while the sets of free cells and of eyes grow.

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
        """Set the mask of the cells where feet could be, and the mask ``open_`` of the cells that are not solid.

        An eye is in the cell above the feet, or, during a jump or fall, two cells above the feet.
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
        """Return a mask over an array of target places: whether each target could be touched."""
        touched = self._sure[targets].astype(np.bool_)
        is_uncertain = (self._near[targets] != 0) & ~touched
        for number in np.flatnonzero(is_uncertain).tolist():
            touched[number] = self.reaches(int(targets[number]))
        return touched

    def reaches(self, target: int) -> bool:
        """Return whether the cell at a target place, solid or not, could be touched."""
        if self._sure[target]:
            return True
        if not self._near[target]:
            return False
        return bool(self.eyes[self._eyes_of(target)].any())

    def _forget(self, opened: NDArray[np.intp]) -> None:
        """Drop the cached places of eyes for targets near the places of newly opened cells."""
        cells = [self._space.cell(place) for place in opened.tolist()]
        for target in list(self._joined):
            target_cell = self._space.cell(target)
            if any(cells_apart(target_cell, cell) <= AROUND for cell in cells):
                del self._joined[target]

    def _eyes_of(self, target: int) -> NDArray[np.intp]:
        """Return the places from which an eye could touch a target; results are cached."""
        eyes = self._joined.get(target)
        if eyes is None:
            eyes = self._joined[target] = self._join(target)
        return eyes

    def _join(self, target: int) -> NDArray[np.intp]:
        """Return the places that are near enough to a target and connected with the target by free cells of its box."""
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
        """Return the mask of some cells and of the six neighbours of each."""
        grown = cells.copy()
        for by in (self._space.east, self._space.south, self._space.up):
            grown[by:] |= cells[:-by]
            grown[:-by] |= cells[by:]
        return grown
