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
    """Return a disc."""
    middle_x, middle_y = at
    return lambda x, y: np.hypot(x - middle_x, y - middle_y) - radius


def box(half_width: float, half_height: float, *, at: Point = (0.0, 0.0), rounding: float = 0.0) -> Shape:
    """Return an upright rectangle, its corners rounded by a radius."""

    def distance(x: Distances, y: Distances) -> Distances:
        across = np.abs(x - at[0]) - (half_width - rounding)
        along = np.abs(y - at[1]) - (half_height - rounding)
        outside = np.hypot(np.maximum(across, 0), np.maximum(along, 0))
        return outside + np.minimum(np.maximum(across, along), 0) - rounding

    return distance


def bar(start: Point, end: Point, half_width: float) -> Shape:
    """Return a line with round ends."""
    ax, ay = start
    bx, by = end
    dx = bx - ax
    dy = by - ay
    length = dx * dx + dy * dy

    def distance(x: Distances, y: Distances) -> Distances:
        projection = (x - ax) * dx + (y - ay) * dy
        along = np.clip(projection / length, 0, 1)
        away_x = x - ax - along * dx
        away_y = y - ay - along * dy
        return np.hypot(away_x, away_y) - half_width

    return distance


def polygon(corners: Sequence[Point]) -> Shape:
    """Return the inside of a closed line, convex or not."""
    edges = list(zip(corners, (*corners[1:], corners[0]), strict=True))

    def distance(x: Distances, y: Distances) -> Distances:
        nearest = np.full(x.shape, np.inf)
        inside = np.zeros(x.shape, dtype=np.bool_)
        for start, end in edges:
            nearest = np.minimum(nearest, bar(start, end, 0.0)(x, y))
            inside ^= _lies_left(start, end, x, y)
        return np.where(inside, -nearest, nearest)

    return distance


def _lies_left(start: Point, end: Point, x: Distances, y: Distances) -> NDArray[np.bool_]:
    """Return where a ray to the right crosses an edge; an odd number of crossings means inside."""
    ax, ay = start
    bx, by = end
    if ay == by:
        return np.zeros(x.shape, dtype=np.bool_)
    spans = (ay > y) != (by > y)
    crossing = (bx - ax) * (y - ay) / (by - ay) + ax
    crosses: NDArray[np.bool_] = spans & (x < crossing)
    return crosses


def regular_polygon(sides: int, apothem: float) -> Shape:
    """Return a polygon with equal sides, the first to the right; distances outside of corners are too short."""
    angles = [math.tau * side / sides for side in range(sides)]
    normals = [(math.cos(angle), math.sin(angle)) for angle in angles]

    def distance(x: Distances, y: Distances) -> Distances:
        heights = [x * across + y * along for across, along in normals]
        highest: Distances = np.max(heights, axis=0)
        return highest - apothem

    return distance


def wave(height: float, waves: float, half_width: float, *, at: float) -> Shape:
    """Return a sine curve from left to right around y = ``at``, with ``waves`` periods in a cell."""
    rate = math.tau * waves

    def distance(x: Distances, y: Distances) -> Distances:
        slope = height * rate * np.cos(rate * x)
        away = np.abs(y - at - height * np.sin(rate * x))
        # Along the vertical; near the curve, dividing by the length of the gradient gives the true distance.
        return away / np.sqrt(1 + slope * slope) - half_width

    return distance


def dashes(count: int, share: float, turn: float = 0.0) -> Shape:
    """Return ``count`` sectors around the middle, which fill a share of the circle."""

    def distance(x: Distances, y: Distances) -> Distances:
        period = math.tau / count
        angle = np.arctan2(y, x) - turn
        away = np.abs((angle + period / 2) % period - period / 2)
        return (away - period * share / 2) * np.hypot(x, y)

    return distance


def union(*shapes: Shape) -> Shape:
    """Return the union of shapes."""
    return lambda x, y: np.min([shape(x, y) for shape in shapes], axis=0)


def intersect(*shapes: Shape) -> Shape:
    """Return the intersection of shapes."""
    return lambda x, y: np.max([shape(x, y) for shape in shapes], axis=0)


def invert(shape: Shape) -> Shape:
    """Return the complement of a shape."""
    return lambda x, y: -shape(x, y)


def grow(shape: Shape, by: float) -> Shape:
    """Return the shape with a margin; a negative one shrinks it."""
    return lambda x, y: shape(x, y) - by


def line(shape: Shape, half_width: float) -> Shape:
    """Return the edge of a shape, as a line."""
    return lambda x, y: np.abs(shape(x, y)) - half_width


def transform(shape: Shape, *, at: Point = (0.0, 0.0), turn: float = 0.0, scale: float = 1.0) -> Shape:
    """Return the shape scaled, turned clockwise by radians and moved."""
    cosine = math.cos(turn)
    sine = math.sin(turn)

    def distance(x: Distances, y: Distances) -> Distances:
        across = (x - at[0]) / scale
        along = (y - at[1]) / scale
        turned_x = across * cosine + along * sine
        turned_y = along * cosine - across * sine
        return shape(turned_x, turned_y) * scale

    return distance
