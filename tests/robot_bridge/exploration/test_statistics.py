"""What is counted of a model's calls."""

from __future__ import annotations

from robot_bridge.contracts import Applied, Tier, Trigger, Twist
from robot_bridge.exploration.schedule import Choice
from robot_bridge.exploration.statistics import Tally, stepped_in
from robot_bridge.safety.chain import Interventions


def test_the_average_is_that_of_the_answers_and_not_of_what_is_pending_or_forgotten() -> None:
    tally = Tally()
    for choice in (Choice.FIRST, Choice.TRIGGER, Choice.TIMER, Choice.TRIGGER):
        tally.asked(choice)
    tally.described()
    tally.answered(2.0, True)
    tally.answered(1.0, True)
    tally.answered(8.0, False)
    assert (tally.calls, tally.descriptions, tally.failed_calls, tally.average_latency_ms) == (5, 1, 1, 1500.0)
    assert tally.asked_for == {"first": 1, "trigger": 2, "timer": 1}


def test_a_minute_counts_from_the_last_one() -> None:
    tally = Tally()
    assert tally.minute(60.0, Tier.CONTINUE, 0)["avg_latency_ms"] == 0
    tally.asked(Choice.TRIGGER)
    tally.answered(1.0, True)
    tally.minute(60.0, Tier.CONTINUE, 0)
    tally.skips += 2
    for choice in (Choice.TRIGGER, Choice.TIMER, Choice.TIMER):
        tally.asked(choice)
        tally.answered(3.0, True)
    assert tally.minute(30.0, Tier.LOCAL_NAV, 2) == {
        "calls_per_min": 6.0,
        "triggered": 1,
        "skipped": 2,
        "avg_latency_ms": 3000,
        "tier": "LOCAL_NAV",
        "network_tier": 2,
    }


def test_time_and_triggers_add_up() -> None:
    tally = Tally()
    tally.triggered([Trigger.DOORWAY, Trigger.MOVED])
    tally.triggered([Trigger.MOVED])
    for tier, seconds in ((Tier.CONTINUE, 1.5), (Tier.STOP_WAIT, 2.0), (Tier.CONTINUE, 0.5)):
        tally.spent(tier, seconds)
    assert tally.triggers == {"doorway": 1, "moved": 2}
    assert tally.tiers == {"CONTINUE": 2.0, "STOP_WAIT": 2.0}


def test_an_intervention_is_counted_when_it_begins_whatever_its_figures() -> None:
    found = Interventions()
    for reason in ("", "obstacle 0.41 m ahead: stopped", "obstacle 0.40 m ahead: stopped", "", "speeding up, 0.05 m/s"):
        found.applied(Applied(Twist(), "model", reason))
    found.applied(Applied(Twist(), "model", "obstacle -0.40 m ahead: stopped"))
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
    assert list(stepped_in(counts).items()) == [
        ("obstacle ahead: stopped", 5),
        ("the last scan is too old", 3),
        ("obstacle behind: slowed", 2),
        ("only …% of the scan's beams return", 1),
    ]
