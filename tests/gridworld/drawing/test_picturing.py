"""Observations as pictures: where cells are, and that nothing else decides what they show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.drawing import picture
from gridworld.drawing.stamps import Stamp, geometry, stamp
from gridworld.errors import BackendError
from gridworld.rules.observation import CODES, LOOKS, UNSEEN, Look, Observation
from gridworld.rules.tilings import TILINGS

FLOOR = CODES[Look("floor")]


def observation(codes: Any, tiling: str = "square", **changes: Any) -> Observation:
    """Of these codes, all visible, the agent in the corner."""
    grid = np.array(codes, dtype=np.uint8)
    fields = {"visible": np.ones(grid.shape, dtype=bool), "position": (0, 0), "heading": 0, "carrying": None}
    return Observation(**{"codes": grid, **fields, "tiling": tiling, "mission": "", **changes})


@st.composite
def observations(draw: st.DrawFn) -> Observation:
    rows, columns = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    tiling = draw(st.sampled_from(sorted(TILINGS)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return observation(
        rng.integers(0, len(LOOKS), (rows, columns)),
        tiling,
        visible=rng.random((rows, columns)) < 0.6,
        position=(int(rng.integers(columns)), int(rng.integers(rows))),
        heading=int(rng.integers(TILINGS[tiling].headings)),
        carrying=draw(st.sampled_from([None, "red", "grey"])),
    )


@given(observations(), st.sampled_from([8, 15, 16]))
def test_every_cell_shows_its_own_look(seen: Observation, size: int) -> None:
    before = seen.codes.copy()
    image = picture(seen, size)
    form = geometry(seen.tiling, size)
    rows, columns = seen.codes.shape
    assert image.dtype == np.uint8
    assert image.shape == ((rows - 1) * form.pitch + form.height, columns * form.width + form.shift, 3)
    for row in range(rows):
        for column in range(columns):
            what = Stamp(int(seen.codes[row, column]), bool(seen.visible[row, column]))
            if (column, row) == seen.position:
                what = what._replace(heading=seen.heading, carrying=seen.carrying)
            top, left = row * form.pitch, column * form.width + row % 2 * form.shift
            cell = image[top : top + form.height, left : left + form.width]
            own = form.cover == 8
            near = np.abs(cell[own].astype(int) - stamp(seen.tiling, size, what)[own])
            assert near.max() <= (0 if row % 2 or seen.tiling == "square" else 64)
            assert (near.max(axis=1) == 0).mean() > 0.95
    assert np.array_equal(before, seen.codes)
    assert np.array_equal(image, picture(seen, size))


def test_a_square_picture_has_as_many_pixels_as_its_cells() -> None:
    assert picture(observation([[FLOOR] * 5] * 3), 20).shape == (60, 100, 3)


@pytest.mark.parametrize(("size", "shape"), [(32, (94, 112, 3)), (31, (94, 112, 3)), (64, (188, 224, 3))])
def test_a_hexagonal_picture_has_the_documented_size(size: int, shape: tuple[int, ...]) -> None:
    image = picture(observation([[FLOOR] * 3] * 3, "hex"), size)
    assert np.abs(np.array(image.shape) - shape).max() <= 2


def test_a_hexagonal_floor_has_no_seams() -> None:
    image = picture(observation([[FLOOR] * 6] * 6, "hex", position=(0, 0)), 24)
    assert image[30:-30, 40:-30].min() > 190
    assert image[0, 0].tolist() == stamp("square", 8, Stamp(UNSEEN))[0, 0].tolist()


def test_only_the_marked_cell_is_framed() -> None:
    seen = observation([[FLOOR] * 4] * 3)
    different = (picture(seen, 16) != picture(seen, 16, marked=[(2, 1)])).any(axis=2)
    assert different[16:32, 32:48].any()
    different[16:32, 32:48] = False
    assert not different.any()


@pytest.mark.parametrize("size", [7, 257, 0, -1, 32.0, "32", None, True])
def test_a_size_that_cannot_be_drawn_is_named(size: Any) -> None:
    with pytest.raises(BackendError, match="whole number of pixels from 8 to 256"):
        picture(observation([[FLOOR]]), size)
