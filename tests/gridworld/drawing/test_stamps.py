"""Cells as images: every look is its own, states are told without colours, arrows point where the agent looks."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from gridworld.drawing.stamps import Stamp, geometry, stamp
from gridworld.rules.observation import CODES, COLOURS, LOOKS, UNSEEN, Look
from gridworld.rules.tilings import TILINGS
from tests.support.tiers import few

FLOOR = CODES[Look("floor")]


def shown(tiling: str, size: int, what: Stamp) -> NDArray[np.float64]:
    """The pixels that are the cell's own, shape (n, 3)."""
    pixels: NDArray[np.float64] = stamp(tiling, size, what)[geometry(tiling, size).cover == 8].astype(np.float64)
    return pixels


def luma(pixels: NDArray[np.float64]) -> NDArray[np.float64]:
    bright: NDArray[np.float64] = pixels @ np.array([0.299, 0.587, 0.114])
    return bright


def least_difference(images: list[NDArray[np.float64]]) -> float:
    """Mean difference per channel of the two that are most alike."""
    return min(float(np.abs(one - other).mean()) for one, other in combinations(images, 2))


@pytest.mark.parametrize("size", [16, 24, 32])
@pytest.mark.parametrize("tiling", TILINGS)
def test_every_look_is_a_different_one(tiling: str, size: int) -> None:
    seen = [shown(tiling, size, Stamp(code)) for code in range(len(LOOKS))]
    assert least_difference(seen) > 5
    remembered = [shown(tiling, size, Stamp(code, visible=False)) for code in range(1, len(LOOKS))]
    assert least_difference(remembered) > 3


@pytest.mark.parametrize("tiling", TILINGS)
def test_states_are_told_without_colours(tiling: str) -> None:
    by_kind = defaultdict(list)
    for code, look in enumerate(LOOKS):
        by_kind[look.kind, look.color].append(luma(shown(tiling, 24, Stamp(code))))
    compared = [images for images in by_kind.values() if len(images) > 1]
    assert len(compared) == 5 * len(COLOURS) + 1
    assert min(map(least_difference, compared)) > 12


@pytest.mark.parametrize("tiling", TILINGS)
def test_what_is_remembered_is_darker_than_what_is_seen(tiling: str) -> None:
    for code in range(len(LOOKS)):
        seen, remembered = (luma(shown(tiling, 24, Stamp(code, visible=visible))) for visible in (True, False))
        assert code == UNSEEN or remembered.mean() < 0.85 * seen.mean()
        assert remembered.mean() >= luma(shown(tiling, 24, Stamp(UNSEEN))).mean()


@pytest.mark.parametrize("carrying", [None, *COLOURS])
@pytest.mark.parametrize("size", [16, 32])
def test_a_turn_of_the_agent_turns_its_arrow(size: int, carrying: str | None) -> None:
    drawn = [stamp("square", size, Stamp(FLOOR, heading=heading, carrying=carrying)) for heading in range(4)]
    for heading in range(4):
        if carrying is None:  # the key in hand stays upright
            assert np.array_equal(np.rot90(drawn[0], -heading), drawn[heading])
        ahead, behind = drawn[heading], drawn[(heading + 2) % 4]
        assert np.abs(ahead.astype(int) - behind).mean() > 10


@pytest.mark.parametrize("size", [16, 32])
def test_the_six_arrows_mirror_each_other(size: int) -> None:
    drawn = [stamp("hex", size, Stamp(FLOOR, heading=heading)) for heading in range(6)]
    for heading, across, along in ((0, 3, 0), (1, 2, 5), (5, 4, 1)):
        assert np.array_equal(np.fliplr(drawn[heading]), drawn[across])
        assert np.array_equal(np.flipud(drawn[heading]), drawn[along])


@pytest.mark.parametrize("tiling", TILINGS)
def test_an_arrow_lies_towards_its_heading(tiling: str) -> None:
    """Its tip is thin and far out: on the agent's axis the arrow reaches farther ahead than behind."""
    form = geometry(tiling, 64)
    for heading in range(form.headings):
        drawn = stamp(tiling, 64, Stamp(FLOOR, heading=heading)).astype(int)
        arrow = np.abs(drawn - stamp(tiling, 64, Stamp(FLOOR))).sum(axis=2) > 60
        y, x = np.nonzero(arrow)
        angle = 2 * np.pi * heading / form.headings
        along = (x + 0.5 - form.width / 2) * np.cos(angle) + (y + 0.5 - form.height / 2) * np.sin(angle)
        assert along.max() > -along.min() + 2


@pytest.mark.parametrize("tiling", few(1, TILINGS))
def test_the_agent_hides_neither_what_it_carries_nor_what_it_stands_on(tiling: str) -> None:
    walkable = [
        code
        for code, look in enumerate(LOOKS)
        if look.kind not in {"unseen", "wall", "block"} and look.state not in {"locked", "closed"}
    ]
    for heading in range(TILINGS[tiling].headings):
        below = [shown(tiling, 24, Stamp(code, heading=heading)) for code in walkable]
        assert least_difference(below) > 1.5
    in_hand = [shown(tiling, 24, Stamp(FLOOR, heading=1, carrying=colour)) for colour in (None, *COLOURS)]
    assert least_difference(in_hand) > 4


@pytest.mark.parametrize("tiling", TILINGS)
def test_a_mark_is_seen_on_every_look(tiling: str) -> None:
    for code in range(len(LOOKS)):
        plain, marked = (shown(tiling, 24, Stamp(code, marked=mark)) for mark in (False, True))
        assert np.abs(plain - marked).mean() > 10


@pytest.mark.parametrize("size", [8, 15, 16, 31, 32, 64])
def test_hexagons_cover_the_plane_once(size: int) -> None:
    form = geometry("hex", size)
    rows, columns = 6, 5
    covered = np.zeros((rows * form.pitch + form.height, (columns + 1) * form.width), dtype=int)
    for row in range(rows):
        for column in range(columns):
            top, left = row * form.pitch, column * form.width + row % 2 * form.shift
            covered[top : top + form.height, left : left + form.width] += form.cover
    inside = covered[2 * form.pitch : -2 * form.pitch - form.height, 2 * form.width : -2 * form.width]
    assert inside.size
    assert np.abs(inside - 8).max() <= 2  # rounding, where three meet
    assert (inside == 8).mean() > 0.9


def test_a_stamp_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        stamp("square", 16, Stamp(FLOOR))[0, 0, 0] = 1
