"""Cast all rays of a picture through blocks at once, from cell to cell (Amanatides and Woo 1987)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Integers = NDArray[np.int32]
Vector = tuple[float, float, float]

PASSED: Final = 0
"""An invisible cell."""
HIT: Final = 1
"""A cell that ends a ray."""
THROUGH: Final = 2
"""A visible cell that may let the ray through."""
LOST: Final = 3
"""An unknown cell; it ends a ray without a hit."""
_FEW: Final = 0.12
"""Share of ended rays from which on they are removed."""


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """The position and orientation from which a picture is taken.

    Attributes:
        eye: position, which may lie outside the blocks.
        turn: unit vectors right, up and forward, ``[3, 3]``.
        tall: half of the picture's height at distance 1; the width follows from the number of pixels.
    """

    eye: Vector
    turn: NDArray[np.float64]
    tall: float

    @classmethod
    def turned(cls, eye: Vector, yaw: float, pitch: float, tall: float) -> Camera:
        """Return a camera with a level horizon.

        Args:
            yaw, pitch: in radians; yaw 0 is south and grows to the right, pitch grows downward.
            tall: radians from the lower to the upper edge of the picture.
        """
        right = (-math.cos(yaw), 0.0, -math.sin(yaw))
        forward = (-math.sin(yaw) * math.cos(pitch), -math.sin(pitch), math.cos(yaw) * math.cos(pitch))
        up = np.cross(right, forward)
        return cls(eye, np.array([right, up, forward]), math.tan(tall / 2))

    def rays(self, width: int, height: int) -> Floats:
        """Return a vector for each pixel, row by row, of length 1 along forward, ``[3, height * width]``."""
        scale = 2 * self.tall / height
        across = (np.arange(width) + 0.5 - width / 2) * scale
        along = (height / 2 - np.arange(height) - 0.5) * scale
        right, up, forward = self.turn[:, :, None, None]
        rays: Floats = (across[None, None, :] * right + along[None, :, None] * up + forward).astype(np.float32)
        rays[np.abs(rays) < 1e-6] = 1e-6
        return rays.reshape(3, -1)

    def project(self, point: Vector, width: int, height: int) -> Vector:
        """Return the column, row and distance along forward of a point; behind the eye the distance is negative."""
        right, up, ahead = self.turn @ (np.array(point) - self.eye)
        scale = height / (2 * self.tall) / (ahead if abs(ahead) > 1e-9 else 1e-9)
        return float(width / 2 + right * scale), float(height / 2 - up * scale), float(ahead)


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Cells that rays hit; each array has one entry per ray.

    Attributes:
        rays: numbers of the rays.
        cells: indices in the flat array of kinds.
        far: length of the ray until it enters the cell.
        axes: axis of the face by which it enters: 0 x, 1 y, 2 z.
    """

    rays: Integers
    cells: Integers
    far: Floats
    axes: NDArray[np.uint8]

    def take(self, which: NDArray[np.bool_]) -> Hits:
        """Return the hits that a mask selects."""
        return Hits(self.rays[which], self.cells[which], self.far[which], self.axes[which])


def march(kinds: NDArray[np.uint8], eye: Vector, rays: Floats) -> list[Hits]:
    """Return the hits of rays, each ray's in order, up to and including the cell that ends it.

    Args:
        kinds: kinds of cells, ``[y, z, x]``, with a border of :data:`LOST`; cell (0, 0, 0) is at index 1, 1, 1.
        rays: vectors ``[3, n]`` without zero components.
    """
    height, depth, width = kinds.shape
    flat = kinds.ravel()
    strides = np.array([1, depth * width, width], dtype=np.int32)
    start, begin = _start(rays, eye, (width - 2, height - 2, depth - 2))
    number = np.flatnonzero(begin < np.inf).astype(np.int32)
    rays = rays[:, number]
    start = start[:, number]
    each = np.abs(1 / rays)
    due = (start + (rays > 0) - np.array(eye, dtype=np.float32)[:, None]) / rays
    steps = np.where(rays > 0, 1, -1).astype(np.int32) * strides[:, None]
    cell = ((start + 1) * strides[:, None]).sum(axis=0, dtype=np.int32)
    alive = np.ones(len(number), dtype=np.bool_)
    found = []
    outside = begin[number] > 0
    if outside.any():
        entered = Hits(
            number, cell, begin[number], np.argmax(np.where(due > 0, due - each, -1), axis=0).astype(np.uint8)
        )
        kind = flat[cell]
        found.append(entered.take(outside & (kind != PASSED) & (kind != LOST)))
        alive &= ~outside | (kind == PASSED) | (kind == THROUGH)
    while len(number):
        by_x = (due[0] <= due[1]) & (due[0] <= due[2])
        by_z = ~by_x & (due[2] < due[1])
        axis = (1 - by_x + by_z).astype(np.uint8)
        far = np.where(by_x, due[0], np.where(by_z, due[2], due[1]))
        cell = cell + np.where(by_x, steps[0], np.where(by_z, steps[2], steps[1]))
        for part, crossed in enumerate((by_x, ~(by_x | by_z), by_z)):
            due[part] += each[part] * crossed
        kind = flat.take(cell, mode="clip")
        seen = alive & (kind != PASSED) & (kind != LOST)
        if seen.any():
            found.append(Hits(number[seen], cell[seen], far[seen], axis[seen]))
        alive &= (kind == PASSED) | (kind == THROUGH)
        left = np.count_nonzero(alive)
        if left < (1 - _FEW) * len(alive):
            number = number[alive]
            cell = cell[alive]
            due = due[:, alive]
            each = each[:, alive]
            steps = steps[:, alive]
            alive = alive[alive]  # fmt: skip
    return found


def _start(rays: Floats, eye: Vector, size: tuple[int, int, int]) -> tuple[Integers, Floats]:
    """Return the cells in which rays start, ``[3, n]``, and their distances; infinite for rays that miss the blocks."""
    at = np.array(eye, dtype=np.float32)[:, None]
    bounds = np.array(size, dtype=np.float32)[:, None]
    if ((at >= 0) & (at < bounds)).all():
        return np.repeat(np.floor(at).astype(np.int32), rays.shape[1], axis=1), np.zeros(rays.shape[1], np.float32)
    low = -at / rays
    high = (bounds - at) / rays
    enters = np.minimum(low, high).max(axis=0)
    leaves = np.maximum(low, high).min(axis=0)
    enters = np.where((leaves > enters) & (leaves > 0), np.maximum(enters, 0), np.inf).astype(np.float32)
    inside = at + rays * np.where(enters < np.inf, enters + 1e-4, 0)
    return np.clip(np.floor(inside), 0, bounds - 1).astype(np.int32), enters
