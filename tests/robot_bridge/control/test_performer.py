"""One decision at a time, a period at a time, over a navigation that says what is asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from robot_bridge.contracts import (
    REST,
    Applied,
    ExecutionResult,
    Frontier,
    NavGoalTarget,
    Observation,
    Pose,
    TurnTarget,
    Twist,
    VelocityTarget,
)
from robot_bridge.control.actions import Finished, Verdict
from robot_bridge.control.performer import Performer
from robot_bridge.navigation.driving import NavStatus
from robot_bridge.navigation.navigation import Navigation
from tests.support.robot_bridge.kinematic import decision, goal
from tests.support.robot_bridge.rays import CONFIG

TURN = ExecutionResult(TurnTarget(1.5), decision("rotate", degrees=90), True)
MOVE = ExecutionResult(VelocityTarget(Twist(0.1), 2.0), decision("move_toward"), True)
SEEN = Frontier(3, 2.0, 0.0, 1.0)


class Ways(Navigation):
    """All ways are free, and none ends."""

    def __init__(self) -> None:
        super().__init__(CONFIG, Pose())
        self.asked: list[object] = []

    @property
    def status(self) -> NavStatus:
        return NavStatus.DRIVING

    def go_to(self, goal: NavGoalTarget) -> bool:
        self.asked.append(goal)
        return True

    def turn(self, radians: float) -> bool:
        self.asked.append(radians)
        return True

    def cancel(self) -> None:
        self.asked.append("cancel")


def to_frontier(x: float, heading: float | None = None) -> ExecutionResult:
    made = goal(goal_type="frontier", frontier_id=SEEN.id)
    return ExecutionResult(NavGoalTarget(x, 0.0, heading), made, True)


def performer() -> tuple[Performer, Ways, list[Finished]]:
    ways, told = Ways(), list[Finished]()
    return Performer(CONFIG, ways, told.append), ways, told


def judged(made: Performer, frontiers: Sequence[Frontier], periods: int) -> None:
    for _ in range(periods):
        made.judge(0.0, Applied(REST, "planner"), Observation(), frontiers, 0.0)


@pytest.mark.parametrize(("begun", "anew"), [(TURN, 1.1), (to_frontier(2.0), NavGoalTarget(2.0, 0.0)), (MOVE, None)])
def test_after_half_a_second_in_other_hands_a_way_is_planned_anew(begun: ExecutionResult, anew: object) -> None:
    made, ways, _ = performer()
    made.begin(begun)
    made.record_motion(0.0, 0.4)
    ways.asked.clear()
    for periods, expected in ((10, []), (6, []), (11, [] if anew is None else [anew]), (1, [])):
        for _ in range(periods):
            made.hold()
        made.next_velocity(0.0)
        assert ways.asked == expected
        ways.asked.clear()


def test_what_was_held_before_it_began_does_not_count() -> None:
    made, ways, _ = performer()
    for _ in range(20):
        made.hold()
    made.begin(TURN)
    made.next_velocity(0.0)
    assert ways.asked == [1.5]


def test_a_frontier_is_driven_to_where_it_was_until_it_has_moved_far() -> None:
    made, ways, told = performer()
    for x in (2.0, 2.9, 3.1, 3.9):
        made.begin(to_frontier(x))
    assert ways.asked == [NavGoalTarget(2.0, 0.0), NavGoalTarget(3.1, 0.0)]
    assert [each.result.stopped_reason for each in told] == ["still under way"] * 3


def test_another_heading_is_another_goal() -> None:
    made, ways, told = performer()
    made.begin(to_frontier(2.0))
    made.begin(to_frontier(2.0, heading=1.0))
    assert ways.asked == [NavGoalTarget(2.0, 0.0), "cancel", NavGoalTarget(2.0, 0.0, 1.0)]
    assert told[0].result.stopped_reason == "broken off for navigate_to_goal"


def test_what_ends_is_told_once_and_gives_its_goal_up() -> None:
    made, ways, told = performer()
    made.begin(MOVE)
    made.end(Verdict(False, "enough"))
    assert ways.asked == []
    made.begin(TURN)
    made.end(Verdict(False, "enough"))
    made.end(Verdict(False, "enough"))
    assert ways.asked == [1.5, "cancel"]
    assert [each.execution for each in told] == [MOVE, TURN]
    assert (made.current, made.next_velocity(0.0), made.so_far()) == (None, None, None)


def test_a_frontier_that_shows_again_is_not_gone() -> None:
    made, _, told = performer()
    made.begin(to_frontier(2.0))
    judged(made, [], 3)
    judged(made, [SEEN], 1)
    judged(made, [replace(SEEN, id=4)], 3)
    assert told == []
    judged(made, [], 1)
    assert [each.result.data for each in told] == [{"status": "the frontier has been seen"}]


def test_before_its_first_period_there_is_nothing_to_tell_of_it() -> None:
    made, _, _ = performer()
    made.begin(MOVE)
    assert made.so_far() is None
    judged(made, [], 1)
    told = made.so_far()
    assert told is not None
    assert told.stopped_reason == "still under way"
