"""Cast all rays of a picture through blocks at once, from cell to cell (Amanatides and Woo 1987)."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    def from_angles(cls, eye: Vector, yaw: float, pitch: float, tall: float) -> Camera:
        """Return a camera with a level horizon.

        Args:
            yaw, pitch: in radians; yaw 0 is south and grows to the right, pitch grows downward.
            tall: radians from the lower to the upper edge of the picture.
        """
        sine = math.sin(yaw)
        cosine = math.cos(yaw)
        level = math.cos(pitch)
        right = (-cosine, 0.0, -sine)
        forward = (-sine * level, -math.sin(pitch), cosine * level)
        up = np.cross(right, forward)
        return cls(eye, np.array([right, up, forward]), math.tan(tall / 2))

    def rays(self, width: int, height: int) -> Floats:
        """Return a vector for each pixel, row by row, of length 1 along forward, ``[3, height * width]``."""
        scale = 2 * self.tall / height
        across = (np.arange(width) + 0.5 - width / 2) * scale
        along = (height / 2 - np.arange(height) - 0.5) * scale
        right, up, forward = self.turn[:, :, None, None]
        sideways = across[None, None, :] * right
        upright = along[None, :, None] * up
        rays: Floats = (sideways + upright + forward).astype(np.float32)
        # A component of 0 would divide by 0 in `march`.
        rays[np.abs(rays) < 1e-6] = 1e-6
        return rays.reshape(3, -1)

    def project(self, point: Vector, width: int, height: int) -> Vector:
        """Return the column, row and distance along forward of a point; behind the eye the distance is negative."""
        right, up, ahead = self.turn @ (np.array(point) - self.eye)
        distance = ahead if abs(ahead) > 1e-9 else 1e-9
        scale = height / (2 * self.tall) / distance
        column = width / 2 + right * scale
        row = height / 2 - up * scale
        return float(column), float(row), float(ahead)


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

    @classmethod
    def join(cls, parts: Sequence[Hits]) -> Hits:
        """Return the hits of all parts, in order."""
        return cls(
            np.concatenate([part.rays for part in parts]),
            np.concatenate([part.cells for part in parts]),
            np.concatenate([part.far for part in parts]),
            np.concatenate([part.axes for part in parts]),
        )

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
    strides = np.array([[1], [depth * width], [width]], dtype=np.int32)
    start, begin = _find_starts(rays, eye, (width - 2, height - 2, depth - 2))
    number = np.flatnonzero(begin < np.inf).astype(np.int32)
    rays = rays[:, number]
    start = start[:, number]
    begin = begin[number]

    # `due` holds, by axis, the length of each ray until it crosses the next face; `each`, from one face to the next.
    each = np.abs(1 / rays)
    forward = rays > 0
    due = (start + forward - np.array(eye, dtype=np.float32)[:, None]) / rays
    steps = np.where(forward, 1, -1).astype(np.int32) * strides
    cell = ((start + 1) * strides).sum(axis=0, dtype=np.int32)

    alive = np.ones(len(number), dtype=np.bool_)
    found = []
    outside = begin > 0
    if outside.any():
        last_crossed = np.where(due > 0, due - each, -1)
        entered = Hits(number, cell, begin, np.argmax(last_crossed, axis=0).astype(np.uint8))
        kind = flat[cell]
        found.append(entered.take(outside & (kind != PASSED) & (kind != LOST)))
        alive &= ~outside | (kind == PASSED) | (kind == THROUGH)

    while len(number):
        due_x, due_y, due_z = due
        step_x, step_y, step_z = steps
        by_x = (due_x <= due_y) & (due_x <= due_z)
        by_z = ~by_x & (due_z < due_y)
        axis = (1 - by_x + by_z).astype(np.uint8)
        far = np.where(by_x, due_x, np.where(by_z, due_z, due_y))
        cell = cell + np.where(by_x, step_x, np.where(by_z, step_z, step_y))
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


def _find_starts(rays: Floats, eye: Vector, size: tuple[int, int, int]) -> tuple[Integers, Floats]:
    """Return the cells in which rays start, ``[3, n]``, and their distances; infinite for rays that miss the blocks."""
    at = np.array(eye, dtype=np.float32)[:, None]
    bounds = np.array(size, dtype=np.float32)[:, None]
    if ((at >= 0) & (at < bounds)).all():
        count = rays.shape[1]
        eye_cell = np.floor(at).astype(np.int32)
        return np.repeat(eye_cell, count, axis=1), np.zeros(count, np.float32)

    # A ray is inside from its last entry through a pair of parallel planes to its first exit.
    low = -at / rays
    high = (bounds - at) / rays
    enters = np.minimum(low, high).max(axis=0)
    leaves = np.maximum(low, high).min(axis=0)
    meets = (leaves > enters) & (leaves > 0)
    enters = np.where(meets, np.maximum(enters, 0), np.inf).astype(np.float32)

    just_inside = np.where(enters < np.inf, enters + 1e-4, 0)
    cells = np.floor(at + rays * just_inside)
    return np.clip(cells, 0, bounds - 1).astype(np.int32), enters
