"""Mapping: accumulate rotated views into one growing grid of cell codes (pure numpy).

Positions are displacements (rows south, columns east) from the start cell, as odometry gives them. The map does not
know the size of the world, or where in the world the agent began.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spca.sense.perception import AGENT, EMPTY, UNSEEN


@dataclass(frozen=True, slots=True)
class GridMap:
    """The cells seen so far; never mutated, since :func:`integrate` returns a new map.

    Attributes:
        codes: uint8 of shape (rows, columns); the code that was last seen in each cell.
        origin: (row, column) of the start cell in ``codes``.
    """

    codes: NDArray[np.uint8]
    origin: tuple[int, int]

    def index(self, position: tuple[int, int]) -> tuple[int, int]:
        """Return the (row, column) in ``codes`` of the cell at a displacement from the start cell."""
        return self.origin[0] + position[0], self.origin[1] + position[1]

    def mark_agent(self, position: tuple[int, int]) -> NDArray[np.uint8]:
        """Return a copy of the codes in which the agent's cell is marked."""
        grid = self.codes.copy()
        grid[self.index(position)] = AGENT
        return grid


def empty_map() -> GridMap:
    """Return the map before the first view: the start cell alone, which is assumed to be empty ground."""
    return GridMap(np.full((1, 1), EMPTY, dtype=np.uint8), (0, 0))


def integrate(grid: GridMap, view: NDArray[np.uint8], position: tuple[int, int], agent_at: tuple[int, int]) -> GridMap:
    """Return the map after writing a view into it; the map grows if the view reaches beyond its edges.

    Args:
        grid: the map so far.
        view: codes of shape (view, view), rows north to south; unseen cells change nothing.
        position: displacement of the agent from the start cell.
        agent_at: the agent's (row, column) in ``view``; this cell shows the inventory and is not written.
    """
    size = view.shape[0]
    top = grid.origin[0] + position[0] - agent_at[0]
    left = grid.origin[1] + position[1] - agent_at[1]
    codes, (north, west) = _pad_codes(grid.codes, top, left, size)
    top += north
    left += west
    seen = view != UNSEEN
    seen[agent_at] = False
    np.copyto(codes[top : top + size, left : left + size], view, where=seen)
    origin = grid.origin
    if north or west:
        origin = (origin[0] + north, origin[1] + west)
    return GridMap(codes, origin)  # the same tuple, if it can be: the sandbox then need not compare it


def read_window(grid: GridMap, size: int, position: tuple[int, int], agent_at: tuple[int, int]) -> NDArray[np.uint8]:
    """Return the map's codes of the cells that a view of ``size`` rows and columns covers; see :func:`integrate`."""
    top = grid.origin[0] + position[0] - agent_at[0]
    left = grid.origin[1] + position[1] - agent_at[1]
    codes, (north, west) = _pad_codes(grid.codes, top, left, size)
    top += north
    left += west
    return codes[top : top + size, left : left + size]


def _pad_codes(codes: NDArray[np.uint8], top: int, left: int, size: int) -> tuple[NDArray[np.uint8], tuple[int, int]]:
    """Return a padded copy of the codes that contains the window, and how many rows and columns were added.

    Only rows added in the north and columns added in the west are counted. The window has ``size`` rows and columns;
    ``top`` and ``left`` may be negative.
    """
    rows, columns = codes.shape
    north = max(0, -top)
    west = max(0, -left)
    south = max(0, top + size - rows)
    east = max(0, left + size - columns)
    if not (north or west or south or east):
        return codes.copy(), (0, 0)
    grown = np.full((rows + north + south, columns + west + east), UNSEEN, dtype=np.uint8)
    grown[north : north + rows, west : west + columns] = codes
    return grown, (north, west)
