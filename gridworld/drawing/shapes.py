"""Plane shapes as signed distance functions: negative inside, in units of a cell's width (pure).

Distances give anti-aliased edges at any size without a drawing library, and shapes combine by arithmetic. Formulas
after Inigo Quilez, "2D distance functions" (iquilezles.org/articles/distfunctions2d). x points right, y down, the
origin is the middle of the cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Distances: TypeAlias = NDArray[np.float64]
Shape: TypeAlias = Callable[[Distances, Distances], Distances]
"""(x, y) -> distance to the edge, arrays of one shape."""
Point: TypeAlias = tuple[float, float]


def circle(radius: float, at: Point = (0.0, 0.0)) -> Shape:
    """A disc."""
    return lambda x, y: np.hypot(x - at[0], y - at[1]) - radius


def box(half_width: float, half_height: float, *, at: Point = (0.0, 0.0), rounding: float = 0.0) -> Shape:
    """An upright rectangle, its corners rounded by a radius."""

    def distance(x: Distances, y: Distances) -> Distances:
        across = np.abs(x - at[0]) - (half_width - rounding)
        along = np.abs(y - at[1]) - (half_height - rounding)
        outside = np.hypot(np.maximum(across, 0), np.maximum(along, 0))
        return outside + np.minimum(np.maximum(across, along), 0) - rounding

    return distance


def bar(start: Point, end: Point, half_width: float) -> Shape:
    """A line with round ends."""
    ax, ay = start
    bx, by = end
    dx = bx - ax
    dy = by - ay
    length = dx * dx + dy * dy

    def distance(x: Distances, y: Distances) -> Distances:
        along = np.clip(((x - ax) * dx + (y - ay) * dy) / length, 0, 1)
        return np.hypot(x - ax - along * dx, y - ay - along * dy) - half_width

    return distance


def polygon(corners: Sequence[Point]) -> Shape:
    """The inside of a closed line, convex or not."""

    def distance(x: Distances, y: Distances) -> Distances:
        nearest = np.full(x.shape, np.inf)
        inside = np.zeros(x.shape, dtype=np.bool_)
        for (ax, ay), (bx, by) in zip(corners, (*corners[1:], corners[0]), strict=True):
            nearest = np.minimum(nearest, bar((ax, ay), (bx, by), 0.0)(x, y))
            if ay != by:
                inside ^= ((ay > y) != (by > y)) & (x < (bx - ax) * (y - ay) / (by - ay) + ax)
        return np.where(inside, -nearest, nearest)

    return distance


def regular_polygon(sides: int, apothem: float) -> Shape:
    """Equal sides at a distance from the middle, the first to the right; distances outside of corners are too short."""
    normals = [(math.cos(math.tau * side / sides), math.sin(math.tau * side / sides)) for side in range(sides)]
    return lambda x, y: np.max([x * across + y * along for across, along in normals], axis=0) - apothem


def wave(height: float, waves: float, half_width: float, *, at: float) -> Shape:
    """A sine curve from left to right around y = ``at``, of so many waves in a cell."""
    rate = math.tau * waves

    def distance(x: Distances, y: Distances) -> Distances:
        slope = height * rate * np.cos(rate * x)
        return np.abs(y - at - height * np.sin(rate * x)) / np.sqrt(1 + slope * slope) - half_width

    return distance


def dashes(count: int, share: float, turn: float = 0.0) -> Shape:
    """So many sectors around the middle, which fill a share of the circle."""

    def distance(x: Distances, y: Distances) -> Distances:
        period = math.tau / count
        away = np.abs((np.arctan2(y, x) - turn + period / 2) % period - period / 2)
        return (away - period * share / 2) * np.hypot(x, y)

    return distance


def union(*shapes: Shape) -> Shape:
    """What any of them covers."""
    return lambda x, y: np.min([shape(x, y) for shape in shapes], axis=0)


def common(*shapes: Shape) -> Shape:
    """What all of them cover."""
    return lambda x, y: np.max([shape(x, y) for shape in shapes], axis=0)


def outside(shape: Shape) -> Shape:
    """Everything else."""
    return lambda x, y: -shape(x, y)


def grown(shape: Shape, by: float) -> Shape:
    """The shape with a margin; a negative one shrinks it."""
    return lambda x, y: shape(x, y) - by


def line(shape: Shape, half_width: float) -> Shape:
    """The edge of a shape, as a line."""
    return lambda x, y: np.abs(shape(x, y)) - half_width


def placed(shape: Shape, *, at: Point = (0.0, 0.0), turn: float = 0.0, scale: float = 1.0) -> Shape:
    """The shape scaled, turned clockwise by radians and moved."""
    cosine = math.cos(turn)
    sine = math.sin(turn)

    def distance(x: Distances, y: Distances) -> Distances:
        across = (x - at[0]) / scale
        along = (y - at[1]) / scale
        return shape(across * cosine + along * sine, along * cosine - across * sine) * scale

    return distance
