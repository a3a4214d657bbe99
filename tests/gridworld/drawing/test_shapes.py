"""Signed distances: zero on edges, negative inside, never growing faster than one moves."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.drawing.shapes import (
    Distances,
    Shape,
    bar,
    box,
    circle,
    grow,
    intersect,
    invert,
    line,
    polygon,
    regular_polygon,
    transform,
    union,
)

SIZES = st.floats(0.05, 0.5)
GRID = np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-1, 1, 41))


def at(shape: Shape, x: float, y: float) -> float:
    return float(shape(np.array([x]), np.array([y]))[0])


def everywhere(shape: Shape) -> Distances:
    return shape(GRID[0], GRID[1])


@given(SIZES, SIZES)
def test_a_rectangle_is_its_polygon(half_width: float, half_height: float) -> None:
    w, h = half_width, half_height
    corners = polygon(((-w, -h), (w, -h), (w, h), (-w, h)))
    assert np.allclose(everywhere(box(w, h)), everywhere(corners))


@given(SIZES)
def test_a_regular_polygon_holds_its_circle_and_touches_it(apothem: float) -> None:
    hexagon, inner = everywhere(regular_polygon(6, apothem)), everywhere(circle(apothem))
    assert (hexagon <= inner + 1e-9).all()
    for side in range(6):
        angle = math.tau * side / 6
        edge = apothem * math.cos(angle), apothem * math.sin(angle)
        assert at(regular_polygon(6, apothem), *edge) == pytest.approx(0, abs=1e-9)
    square, same = everywhere(regular_polygon(4, apothem)), everywhere(box(apothem, apothem))
    assert np.allclose(np.minimum(square, 0), np.minimum(same, 0))


@given(SIZES, st.floats(-0.3, 0.3), st.floats(0, 6), st.floats(0.3, 2))
def test_no_distance_grows_faster_than_one_moves(size: float, place: float, turn: float, scale: float) -> None:
    arrow = polygon(((0.36, 0.0), (-0.28, 0.3), (-0.14, 0.0), (-0.28, -0.3)))
    step = float(GRID[0][0, 1] - GRID[0][0, 0])
    for shape in (
        box(size, 0.2, rounding=0.05),
        bar((place, 0), (size, 0.1), 0.05),
        transform(arrow, at=(place, 0.1), turn=turn, scale=scale),
        union(circle(size), circle(0.2, (place, 0.3))),
        line(intersect(circle(size), invert(circle(0.1))), 0.02),
    ):
        distances = everywhere(shape)
        for axis in (0, 1):
            assert np.abs(np.diff(distances, axis=axis)).max() <= step + 1e-9


def test_a_shape_is_turned_clockwise_scaled_then_moved() -> None:
    tip = transform(circle(0.1, (0.3, 0.0)), at=(0.2, 0.1), turn=math.pi / 2, scale=0.5)
    assert at(tip, 0.2, 0.25) == pytest.approx(-0.05)
    assert at(tip, 0.2, 0.3) == pytest.approx(0)


def test_shapes_combine() -> None:
    one, other = circle(0.3, (-0.2, 0)), circle(0.3, (0.2, 0))
    assert at(union(one, other), 0.4, 0) < 0 < at(intersect(one, other), 0.4, 0)
    assert at(intersect(one, other), 0, 0) < 0 < at(intersect(one, invert(other)), 0, 0)
    assert at(grow(one, 0.1), 0.2, 0) == pytest.approx(0)
    assert at(line(one, 0.05), -0.2, 0) == pytest.approx(0.25)
