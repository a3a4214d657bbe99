"""What is counted while a robot explores."""

from __future__ import annotations

import pytest

from robot_bridge.contracts import Applied, Twist
from robot_bridge.exploration.endings import count_interventions
from robot_bridge.exploration.explorer import ExplorerSettings
from robot_bridge.safety.chain import Interventions
from tests.support.robot_bridge.scripted import FORWARD, SHADOW, STOP, Scripted, explorer


def test_statistics_count_from_the_last_ones() -> None:
    model = Scripted(FORWARD, STOP, latency_s=1.0)
    host, _, log = explorer(model, SHADOW, ExplorerSettings(report_s=6.0))
    summary = host.run(0.21)
    (first_at, first), (second_at, second) = [(at, data) for at, kind, data in log.notes if kind == "statistics"]
    asked = [(at, data["why"]) for at, kind, data in log.notes if kind == "asked"]
    for report, begin, end in ((first, 0.0, first_at), (second, first_at, second_at)):
        reasons = [why for at, why in asked if begin < at <= end]
        assert report["calls_per_min"] == pytest.approx(10.0 * len(reasons), rel=0.02)
        assert report["triggered"] == reasons.count("trigger")
        assert (report["avg_latency_ms"], report["tier"], report["network_tier"]) == (1000, "CONTINUE", 0)
    assert first["skipped"] + second["skipped"] == summary.skips
    assert summary.average_latency_ms == 1000.0


def test_the_time_in_each_tier_adds_up() -> None:
    host, _, log = explorer(Scripted(FORWARD, latency_s=5.0), SHADOW)
    summary = host.run(0.2)
    (stopped_at, _, _), (went_on_at, _, _) = [note for note in log.notes if note[1] == "tier"][:2]
    assert 60 * summary.minutes - sum(summary.tiers.values()) < 0.1
    assert summary.tiers["STOP_WAIT"] >= went_on_at - stopped_at - 0.1


def test_an_intervention_is_counted_when_it_begins_whatever_its_figures() -> None:
    found = Interventions()
    for reason in ("", "obstacle 0.41 m ahead: stopped", "obstacle 0.40 m ahead: stopped", "", "speeding up, 0.05 m/s"):
        found.count_result(Applied(Twist(), "model", reason))
    found.count_result(Applied(Twist(), "model", "obstacle -0.40 m ahead: stopped"))
    assert found.counts == {"obstacle # m ahead: stopped": 2, "speeding up, # m/s": 1}


def test_the_safety_chain_steps_in_where_it_is_no_ordinary_limit_and_reasons_read_without_figures() -> None:
    counts = {
        "speeding up, # m/s": 99,
        "braking before the direction changes": 9,
        "obstacle # m behind: slowed to # m/s": 2,
        "obstacle # m ahead: stopped": 5,
        "the last scan is # s old": 3,
        "only #% of the scan's beams return": 1,
    }
    assert list(count_interventions(counts).items()) == [
        ("obstacle ahead: stopped", 5),
        ("the last scan is too old", 3),
        ("obstacle behind: slowed", 2),
        ("only …% of the scan's beams return", 1),
    ]
