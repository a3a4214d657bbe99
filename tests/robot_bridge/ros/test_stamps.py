"""The robot's times on our clock: old stays old, whatever the two clocks and the network do."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.ros.timing import StampTranslator

DELAYS = st.lists(st.floats(0.0, 2.0), min_size=1, max_size=40)


@given(st.floats(1.0, 2e9), st.floats(0.0, 1e6), DELAYS)
def test_ages_are_those_beyond_the_shortest_way(robot: float, host: float, delays: list[float]) -> None:
    stamps = StampTranslator()
    arrivals = sorted((0.1 * number + delay, 0.1 * number) for number, delay in enumerate(delays))
    shortest = inf
    for arrived, sent in arrivals:
        shortest = min(shortest, arrived - sent)
        # One topic each: the network may change the order between topics, never within one.
        found = stamps.translate(f"/{sent}", robot + sent, host + arrived)
        age = host + arrived - found
        assert -1e-6 <= age <= arrived - sent - shortest + 1e-6
        assert age >= arrived - sent - shortest - 1e-4 * (arrived + 1) - 1e-6


def test_a_frozen_sensor_grows_old() -> None:
    stamps = StampTranslator()
    for tick in range(100):
        stamps.translate("/odom", 1000.0 + tick * 0.05, tick * 0.05)
        assert stamps.translate("/scan", 1000.0, tick * 0.05) == pytest.approx(0.0, abs=1e-3)


def test_a_clock_that_is_set_back_is_followed() -> None:
    stamps = StampTranslator()
    stamps.translate("/scan", 5000.0, 1.0)
    stamps.translate("/odom", 5000.0, 1.0)
    assert stamps.translate("/scan", 100.0, 1.1) == pytest.approx(1.1)
    assert stamps.translate("/odom", 100.1, 1.2) == pytest.approx(1.2)


def test_a_clock_is_set_back_once_for_all_topics() -> None:
    stamps = StampTranslator()
    stamps.translate("/scan", 5000.0, 1.0)
    stamps.translate("/odom", 5000.0, 1.0)
    stamps.translate("/scan", 100.0, 1.1)
    assert stamps.translate("/odom", 100.0, 1.3) == pytest.approx(1.1, abs=1e-3), "it was 0.2 s on its way"


@pytest.mark.parametrize("step", [0.06, 0.3])
def test_a_clock_that_is_set_back_a_little_makes_nothing_old_for_long(step: float) -> None:
    """Else every age would be too great by that, for an hour."""
    stamps = StampTranslator()
    stamps.translate("/scan", 100.0, 1.0)
    stamps.translate("/odom", 100.0, 1.0)
    stamps.translate("/scan", 100.0 - step, 1.0)
    for tick in range(1, 5):
        assert stamps.translate("/scan", 100.0 - step + 0.1 * tick, 1.0 + 0.1 * tick) == pytest.approx(1.0 + 0.1 * tick)
        assert stamps.translate("/odom", 100.0 - step + 0.1 * tick, 1.0 + 0.1 * tick) == pytest.approx(1.0 + 0.1 * tick)


def test_stamps_that_come_a_little_out_of_order_are_as_old_as_they_are() -> None:
    stamps = StampTranslator()
    stamps.translate("/odom", 100.0, 1.0)
    assert stamps.translate("/odom", 99.96, 1.01) == pytest.approx(0.96, abs=1e-3)


def test_one_stamp_from_the_future_does_not_make_everything_old() -> None:
    stamps = StampTranslator()
    stamps.translate("/scan", 100.0, 1.0)
    stamps.translate("/scan", 1e6, 1.1)
    assert stamps.translate("/scan", 100.2, 1.2) == pytest.approx(1.2)


def test_clocks_that_drift_apart_are_followed() -> None:
    stamps = StampTranslator()
    for second in range(10_000):
        found = stamps.translate("/scan", 100.0 + second * (1 - 5e-5), float(second))
    assert second - found < 1e-3


@pytest.mark.parametrize("stamp", [0.0, -1.0, nan, inf])
def test_what_is_no_stamp_is_the_arrival(stamp: float) -> None:
    assert StampTranslator().translate("/scan", stamp, 7.0) == 7.0
