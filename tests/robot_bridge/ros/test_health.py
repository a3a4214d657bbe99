"""Rates and ages of what comes."""

from __future__ import annotations

from math import inf

import pytest

from robot_bridge.ros.timing import Rate


def test_the_rate_is_that_of_the_last_few_and_the_age_that_of_the_last() -> None:
    rate = Rate()
    assert (rate.hertz, rate.age(3.0), rate.count) == (0.0, inf, 0)
    rate.came(1.0)
    assert (rate.hertz, rate.age(3.0), rate.count) == (0.0, 2.0, 1)
    for number in range(100):
        rate.came(10.0 + number / 20)
    assert rate.hertz == pytest.approx(20)
    assert rate.count == 101
    assert rate.age(15.0) == pytest.approx(0.05)
