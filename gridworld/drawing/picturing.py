"""Pictures of observations: visible cells are bright, remembered cells are dimmed, unknown cells are dark.

Square tiling: the upper left pixel of a cell is (column * tile_size, row * tile_size).

Hexagonal tiling: hexagons have a corner at the top. A hexagon is ``tile_size`` pixels wide; an odd ``tile_size`` is
increased by 1. A hexagon is about 1.15 times as high as wide. Rows are 0.87 widths apart; odd rows are shifted to the
right by half a cell. Pixels outside of all cells have the colour of unseen cells.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gridworld.drawing.glyphs import UNSEEN
from gridworld.drawing.stamps import Geometry, Stamp, geometry, stamp
from gridworld.errors import BackendError
from gridworld.rules.observation import Observation
from gridworld.rules.tilings import Cell

TILE_SIZE: Final = 32
"""Default width of a cell, in pixels."""


def checked_tile_size(size: object) -> int:
    """Return a valid size unchanged.

    Raises:
        BackendError: the size is not a whole number from 8 to 256.
    """
    # In Python, a bool is an int.
    if isinstance(size, bool) or not isinstance(size, int) or not 8 <= size <= 256:
        raise BackendError(f"tile_size {size!r:.80}: must be a whole number of pixels from 8 to 256")
    return size


def picture(
    observation: Observation, tile_size: int = TILE_SIZE, *, marked: Collection[Cell] = ()
) -> NDArray[np.uint8]:
    """Return the picture of an observation: RGB, shape (height, width, 3). Equal observations have equal pictures.

    Args:
        observation: what to show.
        tile_size: width of a cell, in pixels; from 16 on, all looks can be told apart.
        marked: cells (column, row) whose content is hidden from the agent; each cell gets a frame.

    Raises:
        BackendError: ``tile_size`` is not a whole number from 8 to 256.
    """
    size = checked_tile_size(tile_size)
    stamps, stamp_of = _index_stamps(observation, marked)
    images = np.stack([stamp(observation.tiling, size, each) for each in stamps])
    return _compose(images, stamp_of, geometry(observation.tiling, size))


def _index_stamps(observation: Observation, marked: Collection[Cell]) -> tuple[list[Stamp], NDArray[np.intp]]:
    """Return (stamps, stamp_of): the different contents of cells, and an array of the index of each cell's content.

    The array has the shape (height, width); its values are indices into ``stamps``.
    """
    # A key is code * 4 + visible * 2 + marked, so that np.unique finds equal cells; _read_stamp decodes a key.
    keys = observation.codes.astype(np.int64) * 4 + observation.visible * 2
    for column, row in marked:
        keys[row, column] += 1
    unique_keys, stamp_of = np.unique(keys, return_inverse=True)
    stamp_of = stamp_of.reshape(keys.shape)
    stamps = [_read_stamp(key) for key in unique_keys.tolist()]

    # Only the agent's cell shows a heading and a key in hand, so this cell gets a separate stamp.
    column, row = observation.position
    agents_cell = stamps[stamp_of[row, column]]
    stamp_of[row, column] = len(stamps)
    stamps.append(agents_cell._replace(heading=observation.heading, carrying=observation.carrying))
    return stamps, stamp_of


def _read_stamp(key: int) -> Stamp:
    return Stamp(key // 4, visible=bool(key & 2), marked=bool(key & 1))


def _compose(images: NDArray[np.uint8], stamp_of: NDArray[np.intp], shape: Geometry) -> NDArray[np.uint8]:
    """Return the picture of a grid, composed from images of cells ("stamps"); shape (height, width, 3).

    Args:
        images: images of the stamps, shape (stamps, height, width, 3).
        stamp_of: for each cell, the index of its stamp in ``images``; shape (rows, columns).
        shape: geometry of the tiling.
    """
    rows, columns = stamp_of.shape
    if not shape.shift:
        joined = images[stamp_of].swapaxes(1, 2)
        return joined.reshape(rows * shape.height, columns * shape.width, 3)

    # Unseen cells around the grid make the edges of the outermost cells smooth. Two rows above, not one, keep each
    # row's parity.
    unseen = np.broadcast_to(np.array(UNSEEN, dtype=np.uint8), images[:1].shape)
    padded = np.pad(stamp_of, ((2, 2), (1, 1)), constant_values=len(images))
    canvas = _lay_rows(np.concatenate([images, unseen]), padded, shape)

    picture_height = (rows - 1) * shape.pitch + shape.height
    picture_width = columns * shape.width + shape.shift
    top = 2 * shape.pitch
    left = shape.width
    return np.ascontiguousarray(canvas[top : top + picture_height, left : left + picture_width])


def _lay_rows(images: NDArray[np.uint8], stamp_of: NDArray[np.intp], shape: Geometry) -> NDArray[np.uint8]:
    """Return a canvas on which all rows of hexagons are drawn. Odd rows are blended over the even rows.

    The stamps of even rows do not overlap, and neither do those of odd rows. Therefore, all even rows are drawn at
    once, and then all odd rows. The arguments are those of :func:`_compose`.
    """
    rows, columns = stamp_of.shape
    band_height = 2 * shape.pitch  # of a row and the gap up to the next row of the same parity
    line_length = 3 * shape.width
    width = columns * shape.width
    canvas = np.zeros(((rows + 2) * shape.pitch, width + shape.shift, 3), dtype=np.uint8)

    # Pixels and channels of a line share one axis, because numpy copies long runs several times as fast.
    lines = images.reshape(len(images), shape.height, line_length)
    cover = shape.cover.repeat(3, axis=1)
    inside = (cover == 8)[:, None, :]
    y, x = np.nonzero((cover > 0) & (cover < 8))  # pixels that the edge of the hexagon crosses
    share = cover[y, x, None, None].astype(np.uint16)

    for parity in range(2):
        laid = lines[stamp_of[parity::2]].swapaxes(1, 2)
        left = parity * shape.shift
        top = parity * shape.pitch
        part = canvas[top : top + len(laid) * band_height, left : left + width]
        bands = part.reshape(len(laid), band_height, columns, line_length)
        cells = bands[:, : shape.height]
        if parity == 0:
            cells[:] = laid
            continue
        over = laid[:, y, :, x] * share
        under = cells[:, y, :, x] * (8 - share)
        np.copyto(cells, laid, where=inside)
        # Shares are in eighths; adding 4, half of 8, rounds to the nearest value.
        cells[:, y, :, x] = (over + under + 4) // 8
    return canvas
