"""What a body could ever touch: an over-approximation, for an eye anywhere in its cell and a ray to any point.

An eye can touch a cell if the middles of the two cells are within :data:`FARTHEST`, and free cells connect them within
a box around the target. So no lever can be pulled through a wall.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.rules.raycast import REACH
from explorer.scene import cells_apart
from explorer.solver.flood import Bytes, Space

FARTHEST: Final = REACH + 3**0.5
"""The reach plus half of a cell's diagonal at both ends."""
AROUND: Final = 7
"""Cells along each axis from the target to the sides of its box."""
_SIDE: Final = 2 * AROUND + 1
_NEARBY: Final = (np.indices((_SIDE,) * 3) - AROUND).astype(np.int64)
_WITHIN: Final = (_NEARBY**2).sum(axis=0) <= FARTHEST**2
_SURE: Final = 6
"""An eye that is at most so many steps over free cells from the target is surely within :data:`FARTHEST`."""
_FAR: Final = 11
"""No ray within reach takes more steps than this: a ray of length r crosses at most r * sqrt(3) + 1 faces."""


class Touch:
    """Decide whether targets could be touched, while the sets of free cells and of eyes grow.

    Attributes:
        eyes: cells where an eye could be.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._open = self.eyes = np.zeros(space.length, np.uint8)
        self._joined: dict[int, NDArray[np.intp]] = {}
        self._near = self._sure = self.eyes

    def update(self, feet: Bytes, open_: Bytes) -> None:
        """Set where feet could be by now, and which cells are not solid.

        An eye is in the cell above the feet, or one higher during a jump or fall.
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

        seen = self.eyes
        for step in range(1, _FAR + 1):
            seen = self._next_to(seen)
            if step == _SURE:
                self._sure = seen
            if step < _FAR:
                seen = seen & open_
        self._near = seen

    def among(self, targets: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which of some targets could be touched, as a mask over them."""
        touched = self._sure[targets].astype(np.bool_)
        for number in np.flatnonzero((self._near[targets] != 0) & ~touched).tolist():
            touched[number] = self.reaches(int(targets[number]))
        return touched

    def reaches(self, target: int) -> bool:
        """Return whether a target, solid or not, could be touched."""
        if self._sure[target]:
            return True
        if not self._near[target]:
            return False
        return bool(self.eyes[self._eyes_of(target)].any())

    def _forget(self, opened: NDArray[np.intp]) -> None:
        """Drop cached results around newly opened cells."""
        cells = [self._space.cell(at) for at in opened.tolist()]
        for target in list(self._joined):
            here = self._space.cell(target)
            if any(cells_apart(here, cell) <= AROUND for cell in cells):
                del self._joined[target]

    def _eyes_of(self, target: int) -> NDArray[np.intp]:
        """Return the places of eyes that could touch a target."""
        found = self._joined.get(target)
        if found is None:
            found = self._joined[target] = self._join(target)
        return found

    def _join(self, target: int) -> NDArray[np.intp]:
        """Return the places of eyes that free cells connect with a target."""
        x, y, z = self._space.cell(target)
        width, height, depth = self._space.size
        ys = _NEARBY[0] + y
        zs = _NEARBY[1] + z
        xs = _NEARBY[2] + x
        inside = (ys >= 0) & (ys < height)
        inside &= (zs >= 0) & (zs < depth)
        inside &= (xs >= 0) & (xs < width)
        places = (ys + 1) * self._space.up + (zs + 1) * self._space.south
        places += xs + 1
        free = inside & (self._open[np.where(inside, places, 0)] != 0)

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
        """Return cells together with the six neighbours of each."""
        grown = cells.copy()
        for by in (self._space.east, self._space.south, self._space.up):
            grown[by:] |= cells[:-by]
            grown[:-by] |= cells[by:]
        return grown
