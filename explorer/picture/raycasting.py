"""Cast all rays of a picture at once, from cell to cell through the blocks (Amanatides and Woo 1987).

The distance along a ray is measured in lengths of the ray's vector.
"""

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

INVISIBLE: Final = 0
"""Kind of a cell that lets rays pass and is not recorded as a hit."""
OPAQUE: Final = 1
"""Kind of a cell that ends rays and is recorded as a hit."""
SEE_THROUGH: Final = 2
"""Kind of a cell that lets rays pass and is recorded as a hit."""
UNKNOWN: Final = 3
"""Kind of an unknown cell, which ends rays and is not recorded as a hit."""
_FINISHED_SHARE: Final = 0.12
"""Fraction of finished rays. If it is exceeded, the finished rays are removed from the arrays."""


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """The position and orientation from which a picture is taken.

    Attributes:
        eye: position (x, y, z) in metres, possibly outside the blocks.
        turn: unit vectors, ``[3, 3]``; the rows are right, up and forward, the columns x, y and z.
        tall: half the height of the picture at distance 1; the width follows from the numbers of pixels.
    """

    eye: Vector
    turn: NDArray[np.float64]
    tall: float

    @classmethod
    def from_angles(cls, eye: Vector, yaw: float, pitch: float, tall: float) -> Camera:
        """Return a camera with a level horizon.

        Args:
            yaw, pitch: direction in radians; yaw 0 is south and grows to the right, pitch grows downward.
            tall: angle from the lower to the upper edge of the picture, in radians.
        """
        sine = math.sin(yaw)
        cosine = math.cos(yaw)
        horizontal = math.cos(pitch)
        right = (-cosine, 0.0, -sine)
        forward = (-sine * horizontal, -math.sin(pitch), cosine * horizontal)
        up = np.cross(right, forward)
        return cls(eye, np.array([right, up, forward]), math.tan(tall / 2))

    def rays(self, width: int, height: int) -> Floats:
        """Return the vectors from the eye through the pixels, ``[3, height * width]``.

        The pixels are in row-major order. Each vector has the component 1 along the camera's forward vector.
        """
        scale = 2 * self.tall / height
        across = (np.arange(width) + 0.5 - width / 2) * scale
        along = (height / 2 - np.arange(height) - 0.5) * scale
        right, up, forward = self.turn[:, :, None, None]
        sideways = across[None, None, :] * right
        upright = along[None, :, None] * up
        rays: Floats = (sideways + upright + forward).astype(np.float32)
        # `march` divides by each component.
        rays[np.abs(rays) < 1e-6] = 1e-6
        return rays.reshape(3, -1)

    def project(self, point: Vector, width: int, height: int) -> Vector:
        """Return (column, row, distance) of a point in a picture of ``width`` by ``height`` pixels.

        The distance is measured along the camera's forward vector. If the point is behind the eye, the distance is
        negative.
        """
        right, up, ahead = self.turn @ (np.array(point) - self.eye)
        distance = ahead if abs(ahead) > 1e-9 else 1e-9
        scale = height / (2 * self.tall) / distance
        column = width / 2 + right * scale
        row = height / 2 - up * scale
        return float(column), float(row), float(ahead)


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Cells that rays hit; each array has one entry per hit.

    Attributes:
        rays: numbers of the rays.
        cells: indices of the cells in the flattened array of kinds.
        distances: distances along the rays to the points at which the rays enter the cells.
        axes: axes of the faces through which the rays enter the cells: 0 for x, 1 for y, 2 for z.
    """

    rays: Integers
    cells: Integers
    distances: Floats
    axes: NDArray[np.uint8]

    @classmethod
    def join(cls, parts: Sequence[Hits]) -> Hits:
        """Return the hits of all parts, in the order of the parts."""
        return cls(
            np.concatenate([part.rays for part in parts]),
            np.concatenate([part.cells for part in parts]),
            np.concatenate([part.distances for part in parts]),
            np.concatenate([part.axes for part in parts]),
        )

    def take(self, which: NDArray[np.bool_]) -> Hits:
        """Return the hits that a mask selects."""
        return Hits(self.rays[which], self.cells[which], self.distances[which], self.axes[which])


def march(kinds: NDArray[np.uint8], eye: Vector, rays: Floats) -> list[Hits]:
    """Return the hits of rays; a ray ends at an opaque or unknown cell.

    Each entry of the list contains the hits of one step of all rays, so each ray's hits are in order of distance.

    Args:
        kinds: kinds of cells, ``[y, z, x]``, with a border of :data:`UNKNOWN`; cell (0, 0, 0) is at index 1, 1, 1.
        eye: point (x, y, z) at which all rays start.
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

    # By axis and ray, `crossing` is the distance to the next face across the axis, and `spacing` the distance between
    # two faces across the axis. The paper calls these distances tMax and tDelta.
    spacing = np.abs(1 / rays)
    forward = rays > 0
    crossing = (start + forward - np.array(eye, dtype=np.float32)[:, None]) / rays
    steps = np.where(forward, 1, -1).astype(np.int32) * strides
    cell = ((start + 1) * strides).sum(axis=0, dtype=np.int32)

    active = np.ones(len(number), dtype=np.bool_)
    hits = []
    starts_outside = begin > 0
    if starts_outside.any():
        # A ray from outside enters its first cell through the last of the faces that the ray has crossed.
        last_crossed = np.where(crossing > 0, crossing - spacing, -1)
        entered = Hits(number, cell, begin, np.argmax(last_crossed, axis=0).astype(np.uint8))
        kind = flat[cell]
        hits.append(entered.take(starts_outside & (kind != INVISIBLE) & (kind != UNKNOWN)))
        active &= ~starts_outside | (kind == INVISIBLE) | (kind == SEE_THROUGH)

    while len(number):
        # Move each ray through its nearest face into the next cell.
        crossing_x, crossing_y, crossing_z = crossing
        step_x, step_y, step_z = steps
        by_x = (crossing_x <= crossing_y) & (crossing_x <= crossing_z)
        by_z = ~by_x & (crossing_z < crossing_y)
        axis = (1 - by_x + by_z).astype(np.uint8)
        distance = np.where(by_x, crossing_x, np.where(by_z, crossing_z, crossing_y))
        cell = cell + np.where(by_x, step_x, np.where(by_z, step_z, step_y))
        for part, is_crossed in enumerate((by_x, ~(by_x | by_z), by_z)):
            crossing[part] += spacing[part] * is_crossed

        # Finished rays move on until they are removed, possibly beyond the array: "clip" keeps the index valid.
        kind = flat.take(cell, mode="clip")
        hit = active & (kind != INVISIBLE) & (kind != UNKNOWN)
        if hit.any():
            hits.append(Hits(number[hit], cell[hit], distance[hit], axis[hit]))
        active &= (kind == INVISIBLE) | (kind == SEE_THROUGH)

        active_count = np.count_nonzero(active)
        if active_count < (1 - _FINISHED_SHARE) * len(active):
            number = number[active]
            cell = cell[active]
            crossing = crossing[:, active]
            spacing = spacing[:, active]
            steps = steps[:, active]
            active = active[active]  # fmt: skip
    return hits


def _find_starts(rays: Floats, eye: Vector, size: tuple[int, int, int]) -> tuple[Integers, Floats]:
    """Return (first cell of each ray within the blocks, ``[3, n]``; distance of the ray to this cell, ``[n]``).

    If the eye is inside the blocks, all distances are 0. If a ray misses the blocks, its distance is infinite.

    Args:
        size: number of cells along x, y and z.
    """
    origin = np.array(eye, dtype=np.float32)[:, None]
    bounds = np.array(size, dtype=np.float32)[:, None]
    eye_is_inside = ((origin >= 0) & (origin < bounds)).all()
    if eye_is_inside:
        count = rays.shape[1]
        eye_cell = np.floor(origin).astype(np.int32)
        return np.repeat(eye_cell, count, axis=1), np.zeros(count, np.float32)

    # Slab method: a ray is inside the box from its last entry into the slab of an axis to its first exit from a slab.
    low = -origin / rays
    high = (bounds - origin) / rays
    entry = np.minimum(low, high).max(axis=0)
    leave = np.maximum(low, high).min(axis=0)
    meets_box = (leave > entry) & (leave > 0)
    entry = np.where(meets_box, np.maximum(entry, 0), np.inf).astype(np.float32)

    just_inside = np.where(entry < np.inf, entry + 1e-4, 0)
    cells = np.floor(origin + rays * just_inside)
    return np.clip(cells, 0, bounds - 1).astype(np.int32), entry
