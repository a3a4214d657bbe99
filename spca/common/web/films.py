"""Gridworld episodes as the pages' player wants them: two grids over time in one frame, and a picture of the tiles.

A cell holds a code; a code is an index into words, and code 0 is "unseen".
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spca.common.images import png

_IN_A_ROW: Final = 16
"""Tiles in a row of their picture."""


@dataclass(frozen=True, slots=True)
class GridFrame:
    """A step of an episode. Grids are uint8, rows from above, all of one shape.

    Attributes:
        truth: codes of the whole world, 0 outside of it.
        known: codes of what the agent knows.
        view: bool: the cells that it sees; none where nothing limits its view.
        agent: row, column and direction.
        inventory: the word of what it carries.
    """

    truth: NDArray[np.uint8]
    known: NDArray[np.uint8]
    view: NDArray[np.bool_]
    agent: tuple[int, int, int]
    inventory: str | None
    reward: float


@dataclass(frozen=True, slots=True)
class Changes:
    """A grid over time: ``first`` its codes, row by row; per step the cells that changed, flat: [cell, code, ...]."""

    first: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class GridFilm:
    """An episode for the player. Frame 0 is the state in which it began, frame i that after step i.

    Both grids share one frame of ``rows`` x ``columns`` cells whose upper left cell is (``top``, ``left``) of the true
    grid; cells are numbered row by row. Per frame: ``agent`` is [row, column, direction] in it, ``view`` the cells
    seen.
    """

    rows: int
    columns: int
    top: int
    left: int
    truth: Changes
    known: Changes
    agent: tuple[tuple[int, int, int], ...]
    view: tuple[tuple[int, ...], ...]
    inventory: tuple[str | None, ...]
    reward: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Tiles:
    """The tiles of a page's grids.

    Attributes:
        picture: PNG in base64, tiles of ``size`` pixels (width, height), ``columns`` in a row.
        words: of each code, whose tiles come in this order; ``plain`` are those that a legend leaves out.
        directions: names of the directions, clockwise from the right.
        pitch: distance of rows, in widths of a tile; ``high`` is the height of a tile.
        shift: of odd rows to the right, in widths of a tile.
    """

    picture: str
    size: tuple[int, int]
    words: tuple[str, ...]
    plain: tuple[str, ...]
    directions: tuple[str, ...]
    columns: int = _IN_A_ROW
    pitch: float = 1.0
    high: float = 1.0
    shift: float = 0.0


def make_film(frames: Sequence[GridFrame], top: int = 0, left: int = 0) -> GridFilm:
    """Return the film of an episode, cut to what is ever seen or there and a cell around it.

    Args:
        frames: at least one.
        top, left: of the frames' upper left cell in the true grid.
    """
    rows, columns = _find_extent(frames)
    agents = []
    views = []
    for frame in frames:
        row, column, direction = frame.agent
        agents.append((row - rows.start, column - columns.start, direction))
        seen = np.flatnonzero(frame.view[rows, columns])
        views.append(tuple(seen.tolist()))

    return GridFilm(
        rows=rows.stop - rows.start,
        columns=columns.stop - columns.start,
        top=top + rows.start,
        left=left + columns.start,
        truth=_list_changes(frame.truth[rows, columns] for frame in frames),
        known=_list_changes(frame.known[rows, columns] for frame in frames),
        agent=tuple(agents),
        view=tuple(views),
        inventory=tuple(frame.inventory for frame in frames),
        reward=tuple(frame.reward for frame in frames),
    )


def _find_extent(frames: Sequence[GridFrame]) -> tuple[slice, slice]:
    height, width = frames[0].truth.shape
    used = np.zeros((height, width), dtype=np.bool_)
    for frame in frames:
        used |= (frame.truth != 0) | (frame.known != 0) | frame.view
        used[frame.agent[:2]] = True
    rows = np.flatnonzero(used.any(axis=1))
    columns = np.flatnonzero(used.any(axis=0))
    top = max(0, int(rows[0]) - 1) // 2 * 2  # even, so that the odd rows of a hexagonal grid stay odd
    bottom = min(height, int(rows[-1]) + 2)
    left = max(0, int(columns[0]) - 1)
    right = min(width, int(columns[-1]) + 2)
    return slice(top, bottom), slice(left, right)


def _list_changes(grids: Iterable[NDArray[np.uint8]]) -> Changes:
    first, *others = (grid.ravel() for grid in grids)
    steps = []
    before = first
    for grid in others:
        cells = np.flatnonzero(grid != before)
        changes = np.column_stack((cells, grid[cells])).ravel()
        steps.append(tuple(changes.tolist()))
        before = grid
    return Changes(tuple(first.tolist()), tuple(steps))


def draw_sheet(images: Sequence[NDArray[np.uint8]]) -> tuple[str, tuple[int, int]]:
    """Return the picture of tiles and their size, given the image of each, RGB or RGBA, all of one size."""
    height, width, channels = images[0].shape
    rows = math.ceil(len(images) / _IN_A_ROW)
    sheet = np.zeros((rows * height, _IN_A_ROW * width, channels), dtype=np.uint8)
    for code, image in enumerate(images):
        row, column = divmod(code, _IN_A_ROW)
        sheet[row * height : (row + 1) * height, column * width : (column + 1) * width] = image
    return base64.b64encode(png(sheet, optimize=True, palette=True)).decode("ascii"), (width, height)
