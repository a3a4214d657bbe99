"""Counts and ages of what comes."""

from __future__ import annotations

from math import inf

import pytest

from robot_bridge.ros.timing import Arrivals


def test_the_age_is_that_of_the_last() -> None:
    arrivals = Arrivals()
    assert (arrivals.age(3.0), arrivals.count) == (inf, 0)
    arrivals.came(1.0)
    assert (arrivals.age(3.0), arrivals.count) == (2.0, 1)
    for number in range(100):
        arrivals.came(10.0 + number / 20)
    assert arrivals.count == 101
    assert arrivals.age(15.0) == pytest.approx(0.05)
