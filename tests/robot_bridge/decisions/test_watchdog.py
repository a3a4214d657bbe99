"""The watchdog's tiers, and what the network monitor makes of the last calls."""

from __future__ import annotations

import pytest

from robot_bridge.contracts import Tier
from robot_bridge.decisions.watchdog import LLMWatchdog, NetworkMonitor


@pytest.mark.parametrize(
    ("elapsed", "tier"),
    [
        (0.0, Tier.CONTINUE),
        (2.99, Tier.CONTINUE),
        (3.0, Tier.STOP_WAIT),
        (9.99, Tier.STOP_WAIT),
        (10.0, Tier.LOCAL_NAV),
        (30.0, Tier.LOCAL_NAV),
        (30.01, Tier.RETURN_HOME),
    ],
)
def test_tiers(elapsed: float, tier: Tier) -> None:
    assert LLMWatchdog().evaluate(elapsed) is tier


def test_thresholds_can_be_chosen() -> None:
    assert LLMWatchdog(1, 2, 3).evaluate(2.5) is Tier.LOCAL_NAV


def test_the_pace_falls_to_half_until_the_robot_waits() -> None:
    watchdog = LLMWatchdog()
    assert [watchdog.pace(age) for age in (0.0, 1.5, 3.0, 9.0)] == [1.0, 0.75, 0.5, 0.5]


class Monitored:
    def __init__(self) -> None:
        self.time = 0.0
        self.monitor = NetworkMonitor(lambda: self.time)

    def tier_at(self, time: float) -> int:
        self.time = time
        return self.monitor.current_tier


def test_silence_between_healthy_calls_is_no_outage() -> None:
    given = Monitored()
    given.monitor.record_call(800, True)
    assert given.tier_at(500.0) == 0


def test_slow_answers_are_tier_1() -> None:
    given = Monitored()
    for latency in (2000, 5000):
        given.monitor.record_call(latency, True)
    assert given.tier_at(1.0) == 1


def test_failures_count_from_when_the_first_of_them_was_asked() -> None:
    given = Monitored()
    given.time = 8.0
    given.monitor.record_call(8000, False)
    assert [given.tier_at(time) for time in (9.9, 10.0, 29.9, 30.0)] == [0, 2, 2, 3]
    given.monitor.record_call(500, True)
    assert given.tier_at(31.0) == 0


def test_only_the_last_twenty_calls_count() -> None:
    given = Monitored()
    for number in range(40):
        given.monitor.record_call(100 if number >= 20 else 5000, True)
    assert given.monitor.average_latency_ms == 100
