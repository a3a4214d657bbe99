"""Exploration without a model."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from robot_bridge.contracts import REST, Estimate, Frontier, Pose, Tier
from robot_bridge.control.state import View
from robot_bridge.decisions.memory.memory_state import KnownFrontier
from robot_bridge.exploration.fallback import LocalExploration, WayTo, redirect_to_frontier
from tests.support.robot_bridge.kinematic import goal
from tests.support.robot_bridge.looking import CONFIG

NEAR, FAR, BEHIND = Frontier(1, 2.0, 0.0, 1.0), Frontier(2, 6.0, 0.0, 1.0), Frontier(3, -2.0, 0.0, 1.0)
HERE = Pose()


def at(frontiers: Sequence[Frontier], pose: Pose) -> View:
    """The state of a robot there that knows of these frontiers."""
    return View(0.0, CONFIG, estimate=Estimate(0.0, pose, REST), frontiers=frontiers)


def chosen(frontiers: Sequence[Frontier], way_to: WayTo | None = None) -> object:
    """The id of the frontier that is next."""
    made = LocalExploration(HERE).decide(at(frontiers, HERE), Tier.CONTINUE, is_idle=True, now=0.0, way_to=way_to)
    assert made is not None
    return made.parameters["frontier_id"]


def test_the_nearest_one_ahead_is_next() -> None:
    made = LocalExploration(HERE).decide(at([FAR, BEHIND, NEAR], HERE), Tier.CONTINUE, is_idle=True, now=5.0)
    assert made is not None
    assert (made.parameters["frontier_id"], made.timestamp) == (1, 5.0)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (BEHIND, Frontier(9, 2.2, 0.0, 1.0), 9),
        (Frontier(1, 2.0, 0.0, 0.5), Frontier(9, 2.3, 0.0, 3.0), 9),
        (Frontier(1, 2.0, 0.0, 0.5), Frontier(9, 3.6, 0.0, 10.0), 1),
    ],
)
def test_turning_costs_and_width_pays_up_to_a_point(first: Frontier, second: Frontier, expected: int) -> None:
    assert chosen([first, second]) == expected


def test_a_way_round_a_wall_counts_in_full() -> None:
    ways = {NEAR.x: 9.0, FAR.x: 6.0}
    assert chosen([FAR, NEAR], lambda x, _: ways[x]) == FAR.id


def test_what_could_not_be_reached_is_left_alone_and_then_given_up() -> None:
    local = LocalExploration(HERE)
    local.record_failure(NEAR.x, NEAR.y, 0.0)
    times = (10.0, 20.0, 29.0, 30.0)
    made = [local.decide(at([NEAR], HERE), Tier.CONTINUE, is_idle=True, now=now) for now in times]
    assert [each is not None for each in made] == [False, False, False, True]
    local.record_failure(NEAR.x + 0.1, NEAR.y, 30.0)
    local.record_failure(NEAR.x, NEAR.y + 0.1, 60.0)
    assert local.decide(at([NEAR], HERE), Tier.CONTINUE, is_idle=True, now=1000.0) is None
    assert not local.is_over
    assert local.decide(at([NEAR], HERE), Tier.CONTINUE, is_idle=True, now=1010.0) is None
    assert local.is_over


def test_home_when_nothing_has_been_left_for_ten_seconds_and_over_there() -> None:
    local, away = LocalExploration(HERE), Pose(3.0, 0.0)
    times = [local.decide(at([], away), Tier.CONTINUE, is_idle=True, now=now) for now in (0.0, 9.9, 10.0)]
    assert times[:2] == [None, None]
    assert times[2] is not None
    assert times[2].parameters["goal_type"] == "retrace"
    local.decide(at([], away), Tier.CONTINUE, is_idle=False, now=11.0)
    assert not local.is_over
    local.decide(at([], HERE), Tier.CONTINUE, is_idle=True, now=30.0)
    assert local.is_over


def test_a_frontier_that_shows_on_the_way_home_is_driven_to() -> None:
    local, away = LocalExploration(HERE), Pose(3.0, 0.0)
    made = [local.decide(at([], away), Tier.CONTINUE, is_idle=True, now=now) for now in (0.0, 10.0)]
    assert made[1] is not None
    assert local.decide(at([FAR], away), Tier.CONTINUE, is_idle=False, now=15.0) is None
    then = local.decide(at([FAR], HERE), Tier.CONTINUE, is_idle=True, now=20.0)
    assert then is not None
    assert then.parameters["goal_type"] == "frontier"
    assert not local.is_over


def test_a_frontier_that_shows_again_goes_on() -> None:
    local = LocalExploration(HERE)
    assert local.decide(at([], HERE), Tier.CONTINUE, is_idle=True, now=0.0) is None
    assert local.decide(at([FAR], HERE), Tier.CONTINUE, is_idle=True, now=9.0) is not None
    assert local.decide(at([], HERE), Tier.CONTINUE, is_idle=True, now=12.0) is None
    assert not local.is_over


def test_a_long_outage_drives_home_once_and_explores_then() -> None:
    local = LocalExploration(HERE)
    first = local.decide(at([NEAR], HERE), Tier.RETURN_HOME, is_idle=False, now=31.0)
    assert first is not None
    assert first.parameters["goal_type"] == "retrace"
    then = local.decide(at([NEAR], HERE), Tier.RETURN_HOME, is_idle=True, now=50.0)
    assert then is not None
    assert then.parameters["goal_type"] == "frontier"
    local.start_over()
    again = local.decide(at([NEAR], HERE), Tier.RETURN_HOME, is_idle=True, now=90.0)
    assert again is not None
    assert again.parameters["goal_type"] == "retrace"


def test_a_frontier_that_was_renamed_while_the_model_thought_is_found_again() -> None:
    made = goal(goal_type="frontier", frontier_id=9)
    told = [KnownFrontier(9, 0, 2.5, "open", 1.0, [2.5, 0.5]), KnownFrontier(8, 0, 9.0, "open", 1.0, [9.0, 9.0])]
    assert redirect_to_frontier(made, told, [FAR, NEAR]).parameters["frontier_id"] == NEAR.id
    assert redirect_to_frontier(made, told, []) is made
    assert redirect_to_frontier(made, told[1:], [NEAR]) is made
    assert redirect_to_frontier(goal(x=1.0, y=2.0), told, [NEAR]).parameters["frontier_id"] is None
