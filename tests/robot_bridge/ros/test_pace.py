"""What is let through of what comes often, and of what does not."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.ros.timing import Pace


def taken(rate: float, stamps: list[float]) -> list[float]:
    pace, found = Pace(rate), []
    for stamp in stamps:
        if pace.is_due(stamp):
            pace.count_taken(stamp)
            found.append(stamp)
    return found


@given(st.floats(0.1, 50), st.lists(st.floats(0, 10), min_size=1, max_size=200))
def test_no_more_than_the_rate_are_let_through(rate: float, stamps: list[float]) -> None:
    found = taken(rate, sorted(stamps))
    assert found[0] == min(stamps)
    assert found[-1] - found[0] >= (len(found) - 1.5) / rate - 1e-9
    assert all(after - before >= 0.5 / rate - 1e-9 for before, after in pairwise(found))


@pytest.mark.parametrize("offered", [30.0, 7.0, 1.5, 1.01])
def test_of_many_as_many_as_are_wanted(offered: float) -> None:
    assert len(taken(1.0, [number / offered for number in range(round(100 * offered))])) == pytest.approx(100, abs=2)


@given(st.lists(st.floats(-0.24, 0.24), min_size=2, max_size=50))
def test_of_what_comes_as_often_as_is_wanted_nothing_is_lost(early: list[float]) -> None:
    stamps = [number + each for number, each in enumerate(early)]
    assert taken(1.0, stamps) == stamps


def test_after_a_silence_there_is_no_rush() -> None:
    assert taken(1.0, [0.0, 60.0, 60.1, 60.4, 60.6, 60.9, 61.7]) == [0.0, 60.0, 60.6, 61.7]
