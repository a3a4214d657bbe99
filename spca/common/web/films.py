"""Episodes for the player of the pages: true grid and agent's map over time, or rows of text and pictures.

A cell of a grid holds a code. A code is an index into a tuple of words; code 0 is "unseen".
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spca.common.images import png

_TILES_PER_ROW: Final = 16
"""Tiles in a row of the picture of the tiles."""


@dataclass(frozen=True, slots=True)
class GridFrame:
    """The state after a step of an episode. All arrays have the shape (rows, columns), with row 0 at the top.

    Attributes:
        truth: codes (uint8) of the true world; 0 outside of the world.
        known: codes (uint8) of the agent's map.
        view: for each cell, whether the agent sees the cell now; all False if the agent's view has no limit.
        agent: row, column and direction of the agent.
        inventory: word for the object that the agent carries; None if the agent carries none.
    """

    truth: NDArray[np.uint8]
    known: NDArray[np.uint8]
    view: NDArray[np.bool_]
    agent: tuple[int, int, int]
    inventory: str | None
    reward: float


@dataclass(frozen=True, slots=True)
class Changes:
    """A grid over time.

    Attributes:
        first: codes of all cells at the beginning, row by row.
        steps: for each step, the changed cells and their new codes, as [cell, code, cell, code, ...].
    """

    first: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class GridFilm:
    """An episode for the player, as a sequence of frames.

    Frame 0 is the first state of the episode; frame i is the state after step i. Cells are numbered row by row from 0.

    Attributes:
        rows, columns: size of the section of the grid that the film shows.
        top, left: row and column of the section's upper left cell in the true grid.
        truth: the section of the true grid.
        known: the section of the agent's map.
        agent: for each frame, [row, column, direction] of the agent in the section.
        view: for each frame, the numbers of the cells in the section that the agent sees.
        inventory: for each frame, the word for the object that the agent carries; None if the agent carries none.
        reward: for each frame, the reward.
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
class TextFilm:
    """An episode of a world without a grid. Frame 0 is the first state; frame i is the state after step i.

    Attributes:
        lines: the different lines of text of all frames.
        rows: for each frame, the indices of its rows in ``lines``.
        pictures: the different pictures of all frames, as PNG in base64.
        picture: for each frame, the index of its picture in ``pictures``; -1 for a frame without a picture.
        reward: for each frame, the reward.
    """

    lines: tuple[str, ...]
    rows: tuple[tuple[int, ...], ...]
    pictures: tuple[str, ...]
    picture: tuple[int, ...]
    reward: tuple[float, ...]


Film: TypeAlias = GridFilm | TextFilm
"""An episode for the player."""


@dataclass(frozen=True, slots=True)
class Tiles:
    """The tiles of a page's grids.

    Attributes:
        picture: PNG in base64 with the tiles of all codes, in the order of the codes.
        size: width and height of a tile in pixels.
        words: word of each code.
        plain: words that a legend leaves out.
        directions: names of the directions, clockwise from the right.
        columns: number of tiles in a row of ``picture``.
        pitch: distance between two adjacent rows of a grid, in widths of a tile.
        high: height of a tile in a grid, in widths of a tile.
        shift: shift of odd rows of a grid to the right, in widths of a tile.
    """

    picture: str
    size: tuple[int, int]
    words: tuple[str, ...]
    plain: tuple[str, ...]
    directions: tuple[str, ...]
    columns: int = _TILES_PER_ROW
    pitch: float = 1.0
    high: float = 1.0
    shift: float = 0.0


def make_film(frames: Sequence[GridFrame], top: int = 0, left: int = 0) -> GridFilm:
    """Return the film of an episode, cut to the used cells with a margin of one cell.

    A cell is used if, in any frame, its code is not 0, the agent sees it, or the agent is in it.

    Args:
        frames: at least one frame.
        top, left: row and column of the frames' upper left cell in the true grid.
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
    """Return the range of rows and the range of columns that contain all used cells and a margin of one cell.

    The margin ends at the border of the grid.
    """
    height, width = frames[0].truth.shape
    used = np.zeros((height, width), dtype=np.bool_)
    for frame in frames:
        used |= (frame.truth != 0) | (frame.known != 0) | frame.view
        used[frame.agent[:2]] = True
    rows = np.flatnonzero(used.any(axis=1))
    columns = np.flatnonzero(used.any(axis=0))
    top = max(0, int(rows[0]) - 1) // 2 * 2  # rounded down to even, so that the odd rows of a hexagonal grid stay odd
    bottom = min(height, int(rows[-1]) + 2)
    left = max(0, int(columns[0]) - 1)
    right = min(width, int(columns[-1]) + 2)
    return slice(top, bottom), slice(left, right)


def _list_changes(grids: Iterable[NDArray[np.uint8]]) -> Changes:
    """Return the first grid, and the changes from each grid to the next."""
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
    """Return the picture of all tiles (PNG in base64), and width and height of a tile in pixels.

    Args:
        images: image of the tile of each code, height x width x channels (RGB or RGBA), all of one shape.
    """
    height, width, channels = images[0].shape
    rows = math.ceil(len(images) / _TILES_PER_ROW)
    sheet = np.zeros((rows * height, _TILES_PER_ROW * width, channels), dtype=np.uint8)
    for code, image in enumerate(images):
        row, column = divmod(code, _TILES_PER_ROW)
        top = row * height
        left = column * width
        sheet[top : top + height, left : left + width] = image
    picture = png(sheet, optimize=True, palette=True)
    return base64.b64encode(picture).decode("ascii"), (width, height)
