"""Views of a model in MiniGrid's forms: pictures of tiles, and the agent's egocentric view as codes.

A look is the visible content of a cell. A code is the number of a look in :data:`gridworld.rules.observation.CODES`.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import numpy as np
from minigrid.core.constants import TILE_PIXELS
from minigrid.core.grid import Grid
from minigrid.core.world_object import WorldObj
from numpy.typing import NDArray

from gridworld.minigrid.objects import EMPTY, UNSEEN, GroundKey, Image, object_of
from gridworld.rules.observation import CODES, LOOKS, Look, Observation

_WALL: Final = CODES[Look("wall")]
_DIMMED: Final = 0.6
"""Brightness of cells that are remembered but not visible, as a factor."""


class TaskGrid(Grid):
    """A grid of :mod:`gridworld.minigrid.objects`; its cache of tiles is separate from the cache of ``Grid``."""

    tile_cache: dict[tuple[Any, ...], Any] = {}  # noqa: RUF012 - shared by all grids, as in MiniGrid


@cache
def specimen(code: int) -> WorldObj | None:
    """Return the MiniGrid object for a code; return None for plain floor and for unseen cells.

    The object is shared, so use it only for drawing and encoding.
    """
    return object_of(LOOKS[code])


def view_objects(codes: NDArray[np.uint8]) -> list[WorldObj | None]:
    """Return the MiniGrid object for each code, row by row as in ``Grid.grid``.

    Args:
        codes: codes of shape (width, height).
    """
    return [specimen(code) for code in codes.T.ravel().tolist()]


def encode(codes: NDArray[np.uint8]) -> Image:
    """Return MiniGrid's encoding (type, colour, state) of each code, shape (..., 3)."""
    return _encodings()[codes]


def egocentric(observation: Observation, view_size: int, *, see_through_walls: bool) -> NDArray[np.uint8]:
    """Return the codes of the agent's view, shape (view_size, view_size), indexed [column, row].

    The agent is in the middle of the last row and faces up.

    Args:
        observation: the observation of the whole grid.
        view_size: width and height of the view in cells, odd, at least 3.
        see_through_walls: whether all cells of the view are seen; otherwise only ``observation.visible`` is seen.
    """
    # Cells outside the grid look like walls.
    padded = np.pad(observation.codes, view_size, constant_values=_WALL)
    if not see_through_walls:
        visible = np.pad(observation.visible, view_size, constant_values=False)
        padded[~visible] = CODES[Look("unseen")]
    columns, rows = _view_offsets(view_size, observation.heading)
    column, row = observation.position
    view: NDArray[np.uint8] = padded[row + view_size + rows, column + view_size + columns]
    return view


def picture(observation: Observation, tile_size: int = TILE_PIXELS) -> Image:
    """Draw an observation in MiniGrid's style; return an image of shape (height * tile_size, width * tile_size, 3).

    Remembered cells are dimmed, and unknown cells are hatched in grey. A carried key is drawn small on the agent's
    cell.
    """
    height, width = observation.codes.shape
    image = np.zeros((height * tile_size, width * tile_size, 3), dtype=np.uint8)
    cells = image.reshape(height, tile_size, width, tile_size, 3).swapaxes(1, 2)
    for code in np.unique(observation.codes).tolist():
        has_code = observation.codes == code
        for visible in (True, False):
            mask = has_code & (observation.visible == visible)
            if mask.any():
                cells[mask] = _tile(code, tile_size, visible)
    column, row = observation.position
    code = int(observation.codes[row, column])
    cells[row, column] = _agent_tile(code, tile_size, observation.heading, observation.carrying)
    return image


@cache
def _encodings() -> Image:
    """Return MiniGrid's encoding of each code, shape (number of codes, 3)."""
    things = [specimen(code) for code in CODES.values()]
    codes = [EMPTY if thing is None else thing.encode() for thing in things]
    codes[CODES[Look("unseen")]] = UNSEEN
    return np.array(codes, dtype=np.uint8)


@cache
def _view_offsets(view_size: int, heading: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return (columns, rows) of the cells of the view, relative to the agent, each of shape (view_size, view_size)."""
    right, down = ((1, 0), (0, 1), (-1, 0), (0, -1))[heading]
    aside = np.arange(view_size) - view_size // 2  # cells to the right of the agent
    ahead = view_size - 1 - np.arange(view_size)  # cells in front of the agent
    aside = aside[:, np.newaxis]
    ahead = ahead[np.newaxis, :]
    return right * ahead - down * aside, down * ahead + right * aside


@cache
def _tile(code: int, tile_size: int, visible: bool) -> Image:
    """Return the picture of a cell; a remembered cell (not visible) is dimmed, an unseen cell is hatched."""
    if LOOKS[code].kind == "unseen":
        pixels = np.arange(tile_size)
        stripes = np.add.outer(pixels, pixels) * 4 // tile_size % 2
        grey = stripes[..., np.newaxis] * 24
        return np.repeat(grey, 3, axis=2).astype(np.uint8)
    tile = TaskGrid.render_tile(specimen(code), tile_size=tile_size)
    return np.asarray(tile if visible else tile * _DIMMED, dtype=np.uint8)


@cache
def _agent_tile(code: int, tile_size: int, heading: int, carrying: str | None) -> Image:
    """Return the picture of the agent's cell; ``carrying`` is the colour of the carried key, None without a key."""
    tile = np.array(TaskGrid.render_tile(specimen(code), agent_dir=heading, tile_size=tile_size), dtype=np.uint8)
    if carrying is not None:
        # The key is drawn in the corner on the right of the tip, which the agent's triangle leaves free.
        size = round(0.4 * tile_size)
        top, left = ((-size, -size), (-size, 0), (0, 0), (0, -size))[heading]
        corner = tile[top:, left:][:size, :size]
        corner[:] = TaskGrid.render_tile(GroundKey(carrying), tile_size=size)
    return tile
