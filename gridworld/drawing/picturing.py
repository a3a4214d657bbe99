"""An observation as a picture: bright what is seen, dimmed what is remembered, dark what is not known.

Square tiling: a cell of ``tile_size`` pixels starts at (column * tile_size, row * tile_size). Hexagonal: pointy-top
hexagons ``tile_size`` wide (one more if odd) and about 1.15 times as high, rows 0.87 times apart, odd rows half a cell
to the right; the rest of the picture looks as if unseen.
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
    """Return the size itself.

    Raises:
        BackendError: it is no whole number from 8 to 256.
    """
    if isinstance(size, bool) or not isinstance(size, int) or not 8 <= size <= 256:
        raise BackendError(f"tile_size {size!r:.80}: must be a whole number of pixels from 8 to 256")
    return size


def picture(
    observation: Observation, tile_size: int = TILE_SIZE, *, marked: Collection[Cell] = ()
) -> NDArray[np.uint8]:
    """Draw an observation, RGB, shape (height, width, 3); equal observations have equal pictures.

    Args:
        observation: what to show.
        tile_size: width of a cell, in pixels; every look is a different one from 16 on.
        marked: cells to be framed as hidden from the agent.

    Raises:
        BackendError: a ``tile_size`` that is no whole number from 8 to 256.
    """
    size = checked_tile_size(tile_size)
    kinds, which = _stamps(observation, marked)
    images = np.stack([stamp(observation.tiling, size, kind) for kind in kinds])
    return _compose(images, which, geometry(observation.tiling, size))


def _stamps(observation: Observation, marked: Collection[Cell]) -> tuple[list[Stamp], NDArray[np.intp]]:
    """Return the different stamps of an observation, and the index of each cell's, shape (height, width)."""
    keys = observation.codes.astype(np.int64) * 4 + observation.visible * 2
    for column, row in marked:
        keys[row, column] += 1
    found, which = np.unique(keys, return_inverse=True)
    which = which.reshape(keys.shape)
    kinds = [_read_stamp(key) for key in found.tolist()]

    # The agent's cell is a stamp of its own.
    column, row = observation.position
    here = kinds[which[row, column]]
    which[row, column] = len(kinds)
    kinds.append(here._replace(heading=observation.heading, carrying=observation.carrying))
    return kinds, which


def _read_stamp(key: int) -> Stamp:
    return Stamp(key // 4, visible=bool(key & 2), marked=bool(key & 1))


def _compose(images: NDArray[np.uint8], which: NDArray[np.intp], shape: Geometry) -> NDArray[np.uint8]:
    """Join stamps side by side, shape (height, width, 3)."""
    rows, columns = which.shape
    if not shape.shift:
        joined = images[which].swapaxes(1, 2)
        return joined.reshape(rows * shape.height, columns * shape.width, 3)

    # A ring of unseen cells, two rows of it on top to keep what is odd odd, so that the outermost edges are smooth too.
    unseen = np.broadcast_to(np.array(UNSEEN, dtype=np.uint8), images[:1].shape)
    padded = np.pad(which, ((2, 2), (1, 1)), constant_values=len(images))
    canvas = _lay_rows(np.concatenate([images, unseen]), padded, shape)

    high = (rows - 1) * shape.pitch + shape.height
    wide = columns * shape.width + shape.shift
    top = 2 * shape.pitch
    left = shape.width
    return np.ascontiguousarray(canvas[top : top + high, left : left + wide])


def _lay_rows(images: NDArray[np.uint8], which: NDArray[np.intp], shape: Geometry) -> NDArray[np.uint8]:
    """Lay shifted rows over the others; stamps of rows of one parity do not overlap, so they are laid at once."""
    rows, columns = which.shape
    band = 2 * shape.pitch
    run = 3 * shape.width
    wide = columns * shape.width
    canvas = np.zeros(((rows + 2) * shape.pitch, wide + shape.shift, 3), dtype=np.uint8)

    # Channels are taken with the pixels of a line: long runs are several times as fast.
    lines = images.reshape(len(images), shape.height, run)
    cover = shape.cover.repeat(3, axis=1)
    inside = (cover == 8)[:, None, :]
    y, x = np.nonzero((cover > 0) & (cover < 8))
    share = cover[y, x, None, None].astype(np.uint16)

    for parity in range(2):
        laid = lines[which[parity::2]].swapaxes(1, 2)
        left = parity * shape.shift
        top = parity * shape.pitch
        part = canvas[top : top + len(laid) * band, left : left + wide]
        cells = part.reshape(len(laid), band, columns, run)[:, : shape.height]
        if not parity:
            cells[:] = laid
            continue
        over = laid[:, y, :, x] * share
        under = cells[:, y, :, x] * (8 - share)
        np.copyto(cells, laid, where=inside)
        # Shares are in eighths; half of 8 rounds to the nearest.
        cells[:, y, :, x] = (over + under + 4) // 8
    return canvas
