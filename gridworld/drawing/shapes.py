"""Plane shapes as signed distance functions (pure).

The distance to the edge of a shape is negative inside and positive outside of the shape. Distances are in widths of a
cell. x points right, y points down, and the origin is the middle of the cell.

Signed distances give anti-aliased edges at any size without a drawing library, and shapes combine by arithmetic. The
formulas are those of Inigo Quilez, "2D distance functions" (iquilezles.org/articles/distfunctions2d).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Distances: TypeAlias = NDArray[np.float64]
Shape: TypeAlias = Callable[[Distances, Distances], Distances]
"""A function that maps arrays of x and y to the signed distance from the edge; all three arrays have the same shape."""
Point: TypeAlias = tuple[float, float]


def circle(radius: float, at: Point = (0.0, 0.0)) -> Shape:
    """Return a disc around ``at``."""
    middle_x, middle_y = at
    return lambda x, y: np.hypot(x - middle_x, y - middle_y) - radius


def box(half_width: float, half_height: float, *, at: Point = (0.0, 0.0), rounding: float = 0.0) -> Shape:
    """Return an upright rectangle around ``at``; ``rounding`` is the radius of its corners."""

    def distance(x: Distances, y: Distances) -> Distances:
        across = np.abs(x - at[0]) - (half_width - rounding)
        along = np.abs(y - at[1]) - (half_height - rounding)
        outside = np.hypot(np.maximum(across, 0), np.maximum(along, 0))
        return outside + np.minimum(np.maximum(across, along), 0) - rounding

    return distance


def bar(start: Point, end: Point, half_width: float) -> Shape:
    """Return a straight line with round ends."""
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
    """Return a polygon, which may be concave; ``corners`` are in order around its edge."""
    next_corners = (*corners[1:], corners[0])
    edges = list(zip(corners, next_corners, strict=True))

    def distance(x: Distances, y: Distances) -> Distances:
        nearest = np.full(x.shape, np.inf)
        inside = np.zeros(x.shape, dtype=np.bool_)
        for start, end in edges:
            nearest = np.minimum(nearest, bar(start, end, 0.0)(x, y))
            inside ^= _crosses_edge(start, end, x, y)  # even-odd rule
        return np.where(inside, -nearest, nearest)

    return distance


def _crosses_edge(start: Point, end: Point, x: Distances, y: Distances) -> NDArray[np.bool_]:
    """Return for each point whether a ray from the point to the right crosses the edge from ``start`` to ``end``.

    By the even-odd rule, a point is inside of a polygon if its ray crosses an odd number of edges.
    """
    ax, ay = start
    bx, by = end
    if ay == by:
        return np.zeros(x.shape, dtype=np.bool_)
    is_between_ends = (ay > y) != (by > y)
    rise = (bx - ax) * (y - ay)
    crossing = rise / (by - ay) + ax
    crosses: NDArray[np.bool_] = is_between_ends & (x < crossing)
    return crosses


def regular_polygon(sides: int, apothem: float) -> Shape:
    """Return a regular polygon around the origin; the middle of one side is to the right of the origin.

    The polygon is computed as the intersection of half planes. Therefore, distances outside of a corner are too short.

    Args:
        sides: number of sides.
        apothem: distance of each side from the origin.
    """
    angles = [math.tau * side / sides for side in range(sides)]
    normals = [(math.cos(angle), math.sin(angle)) for angle in angles]

    def distance(x: Distances, y: Distances) -> Distances:
        projections = [x * normal_x + y * normal_y for normal_x, normal_y in normals]
        largest: Distances = np.max(projections, axis=0)
        return largest - apothem

    return distance


def wave(height: float, waves: float, half_width: float, *, at: float) -> Shape:
    """Return a line in the form of a horizontal sine curve.

    Args:
        height: amplitude.
        waves: number of periods in the width of a cell.
        half_width: half the width of the line.
        at: y of the middle of the curve.
    """
    rate = math.tau * waves

    def distance(x: Distances, y: Distances) -> Distances:
        slope = height * rate * np.cos(rate * x)
        away = np.abs(y - at - height * np.sin(rate * x))
        # ``away`` is vertical. Divided by the length of the gradient, ``away`` is the true distance near the curve.
        return away / np.sqrt(1 + slope * slope) - half_width

    return distance


def dashes(count: int, share: float, turn: float = 0.0) -> Shape:
    """Return evenly spaced circular sectors of equal angle around the origin.

    Args:
        count: number of sectors.
        share: fraction of the full circle that all sectors together fill, from 0 to 1.
        turn: direction of the middle of one sector, in radians clockwise from the right.
    """

    def distance(x: Distances, y: Distances) -> Distances:
        period = math.tau / count
        angle = np.arctan2(y, x) - turn
        # The angle to the middle of the nearest sector, from 0 to period / 2.
        from_middle = np.abs((angle + period / 2) % period - period / 2)
        return (from_middle - period * share / 2) * np.hypot(x, y)

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
    """Return a shape whose edge is moved outwards by a length; a negative length shrinks the shape."""
    return lambda x, y: shape(x, y) - by


def line(shape: Shape, half_width: float) -> Shape:
    """Return the edge of a shape as a line; the width of the line is twice ``half_width``."""
    return lambda x, y: np.abs(shape(x, y)) - half_width


def transform(shape: Shape, *, at: Point = (0.0, 0.0), turn: float = 0.0, scale: float = 1.0) -> Shape:
    """Return the shape scaled around the origin, then turned clockwise by ``turn`` radians, then moved by ``at``."""
    cosine = math.cos(turn)
    sine = math.sin(turn)

    def distance(x: Distances, y: Distances) -> Distances:
        # The inverse transformation, which maps a point to its place in the original shape.
        across = (x - at[0]) / scale
        along = (y - at[1]) / scale
        turned_x = across * cosine + along * sine
        turned_y = along * cosine - across * sine
        return shape(turned_x, turned_y) * scale

    return distance
