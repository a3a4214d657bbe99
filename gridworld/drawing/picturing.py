"""An observation as a picture (pure)."""

from __future__ import annotations

import colorsys
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gridworld.errors import BackendError
from gridworld.observation import LOOKS, Observation

TILE_SIZE: Final = 32
"""Width of a cell, in pixels."""


def checked_tile_size(size: object) -> int:
    """The size itself.

    Raises:
        BackendError: it is no whole number from 8 to 256.
    """
    if isinstance(size, bool) or not isinstance(size, int) or not 8 <= size <= 256:
        raise BackendError(f"tile_size {size!r:.80}: must be a whole number of pixels from 8 to 256")
    return size


def picture(observation: Observation, tile_size: int = TILE_SIZE) -> NDArray[np.uint8]:
    """RGB, shape (height, width, 3)."""
    count = len(LOOKS)
    colours = np.array([colorsys.hsv_to_rgb(n / count, 0.8, 0.9 if n else 0.1) for n in range(count)])
    image = (colours[observation.codes] * 255).astype(np.uint8)
    image[~observation.visible] //= 2
    image = image.repeat(tile_size, axis=0).repeat(tile_size, axis=1)
    column, row = observation.position
    part = slice(tile_size // 4, -(tile_size // 4))
    cell = image[row * tile_size : (row + 1) * tile_size, column * tile_size : (column + 1) * tile_size]
    cell[part, part] = 255 - 30 * observation.heading
    return image
