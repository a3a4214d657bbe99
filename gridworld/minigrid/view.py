"""What a model sees, in MiniGrid's forms: pictures of tiles, and the agent's own view as codes."""

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
"""Brightness of what is remembered."""


class TaskGrid(Grid):
    """A grid of :mod:`gridworld.minigrid.objects`; its tiles are kept apart from those of other MiniGrid worlds."""

    tile_cache: dict[tuple[Any, ...], Any] = {}  # noqa: RUF012 - shared by all, as MiniGrid's is


@cache
def specimen(code: int) -> WorldObj | None:
    """Return an object that looks as a code says, for drawing and encoding; shared."""
    return object_of(LOOKS[code])


def view_objects(codes: NDArray[np.uint8]) -> list[WorldObj | None]:
    """Return objects of codes of shape (width, height), in the order of ``Grid.grid``."""
    return [specimen(code) for code in codes.T.ravel().tolist()]


def encode(codes: NDArray[np.uint8]) -> Image:
    """Return MiniGrid's encoding of codes, shape (..., 3)."""
    return _encodings()[codes]


def egocentric(observation: Observation, view_size: int, *, see_through_walls: bool) -> NDArray[np.uint8]:
    """Return the codes of the agent's view, shape (view_size, view_size), column first: it is in the last row's middle.

    Args:
        observation: of the whole grid.
        view_size: odd, at least 3.
        see_through_walls: whether everything in the view is seen, else what ``observation.visible`` says.
    """
    padded = np.pad(observation.codes, view_size, constant_values=_WALL)
    if not see_through_walls:
        padded[~np.pad(observation.visible, view_size, constant_values=False)] = CODES[Look("unseen")]
    columns, rows = _view_offsets(view_size, observation.heading)
    column, row = observation.position
    seen: NDArray[np.uint8] = padded[row + view_size + rows, column + view_size + columns]
    return seen


def picture(observation: Observation, tile_size: int = TILE_PIXELS) -> Image:
    """Draw what may be known, as MiniGrid does; shape (height * tile_size, width * tile_size, 3).

    Remembered cells are dimmed; unknown ones are hatched in grey. A key in hand is drawn small on the agent's cell.
    """
    height, width = observation.codes.shape
    image = np.zeros((height * tile_size, width * tile_size, 3), dtype=np.uint8)
    cells = image.reshape(height, tile_size, width, tile_size, 3).swapaxes(1, 2)
    for code in np.unique(observation.codes).tolist():
        here = observation.codes == code
        for visible in (True, False):
            chosen = here & (observation.visible == visible)
            if chosen.any():
                cells[chosen] = _tile(code, tile_size, visible)
    column, row = observation.position
    code = int(observation.codes[row, column])
    cells[row, column] = _agent_tile(code, tile_size, observation.heading, observation.carrying)
    return image


@cache
def _encodings() -> Image:
    things = [specimen(code) for code in CODES.values()]
    codes = [EMPTY if thing is None else thing.encode() for thing in things]
    codes[CODES[Look("unseen")]] = UNSEEN
    return np.array(codes, dtype=np.uint8)


@cache
def _view_offsets(view_size: int, heading: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the columns and rows, relative to the agent, of the cells of its view."""
    right, down = ((1, 0), (0, 1), (-1, 0), (0, -1))[heading]
    aside = np.arange(view_size) - view_size // 2
    ahead = view_size - 1 - np.arange(view_size)
    aside = aside[:, np.newaxis]
    ahead = ahead[np.newaxis, :]
    return right * ahead - down * aside, down * ahead + right * aside


@cache
def _tile(code: int, tile_size: int, visible: bool) -> Image:
    if LOOKS[code].kind == "unseen":
        pixels = np.arange(tile_size)
        stripes = np.add.outer(pixels, pixels) * 4 // tile_size % 2
        grey = stripes[..., np.newaxis] * 24
        return np.repeat(grey, 3, axis=2).astype(np.uint8)
    tile = TaskGrid.render_tile(specimen(code), tile_size=tile_size)
    return np.asarray(tile if visible else tile * _DIMMED, dtype=np.uint8)


@cache
def _agent_tile(code: int, tile_size: int, heading: int, carrying: str | None) -> Image:
    tile = np.array(TaskGrid.render_tile(specimen(code), agent_dir=heading, tile_size=tile_size), dtype=np.uint8)
    if carrying is not None:
        # The corner on the right of the agent's tip, which its triangle leaves free.
        size = round(0.4 * tile_size)
        top, left = ((-size, -size), (-size, 0), (0, 0), (0, -size))[heading]
        corner = tile[top:, left:][:size, :size]
        corner[:] = TaskGrid.render_tile(GroundKey(carrying), tile_size=size)
    return tile
