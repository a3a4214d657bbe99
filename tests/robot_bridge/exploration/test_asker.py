"""What is news for the model, and what is told when it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from robot_bridge.contracts import (
    ExecutionResult,
    Frame,
    Frontier,
    NavGoalTarget,
    ObserveTarget,
    Pose,
    StopTarget,
    Twist,
    VelocityTarget,
)
from robot_bridge.control.state import View
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.watchdog import NetworkMonitor
from robot_bridge.errors import BudgetSpent, ModelFailure
from robot_bridge.exploration.asker import Asker, LockstepLink
from robot_bridge.exploration.endings import Ending, Summary
from robot_bridge.exploration.schedule import AskSettings
from tests.support.robot_bridge.kinematic import SteppedClock, decision, goal
from tests.support.robot_bridge.looking import CONFIG, frame, scan, view
from tests.support.robot_bridge.scripted import FORWARD, STOP, Call, Scripted

TO_GOAL = ExecutionResult(NavGoalTarget(2.0, 0.0), goal(x=2.0, y=0.0), True)
DRIVING = ExecutionResult(VelocityTarget(Twist(0.1), 8.0), decision("move_toward"), True)
LOOKING = ExecutionResult(ObserveTarget("general"), decision("observe_scene"), True)
STOPPING = ExecutionResult(StopTarget("exploration_complete"), decision("stop_robot"), True)
DEAD_END = scan(lambda angle: 0.8 if abs(angle) < 70 else 1.5)


class Asked:
    """An asker with a clock."""

    def __init__(self, *answers: Call | Exception) -> None:
        self.clock, self.counts, self.memory = SteppedClock(), Summary(), ExplorationMemory()
        self.model = Scripted(*(answers or (FORWARD,)))
        self.notes: list[tuple[str, Mapping[str, Any]]] = []
        self.asker = Asker(
            self.model,
            LockstepLink(self.clock),
            CONFIG,
            AskSettings(),
            self.counts,
            NetworkMonitor(self.clock.now),
            lambda kind, data: self.notes.append((kind, data)),
        )

    def at(self, time: float, seen: View, current: ExecutionResult | None = DRIVING) -> list[str]:
        """One turn of the decision loop; what was noted in it."""
        self.clock.time = time
        self.notes.clear()
        self.asker.listen()
        self.asker.watch_events(seen, self.memory, time)
        self.asker.consider(replace(seen, current=current), self.memory, time)
        return [kind for kind, _ in self.notes]


def seen(
    scan_stamp: float, ranges: float = 1.5, x: float = 0.0, heading: float = 0.0, picture: Frame | None = None
) -> View:
    """A view with a picture of that moment."""
    pose = Pose(x, 0.0, heading)
    return view(replace(scan(ranges), stamp=scan_stamp), picture or frame(stamp=scan_stamp), pose=pose)


def noisy(picture: Frame, seed: int) -> Frame:
    """What a camera that stands still sees next."""
    noise = np.random.default_rng(seed).normal(0.0, 2.0, picture.rgb.shape)
    return replace(picture, rgb=np.clip(picture.rgb + noise, 0, 255).astype(np.uint8))


def with_ball(picture: Frame) -> Frame:
    """A red ball, 15 cm wide, has rolled in 5 m away."""
    y, x = np.ogrid[:480, :640]
    rgb = picture.rgb.copy()
    rgb[(x - 330) ** 2 + (y - 250) ** 2 <= 7**2] = (210, 30, 30)
    return replace(picture, rgb=rgb)


def grey(stamp: float) -> Frame:
    return replace(frame(stamp=stamp), rgb=np.full((480, 640, 3), 120, np.uint8))


def image_line(message: str) -> str:
    return message.rpartition("\n")[2]


FAR = 5.0
SENT, SAME = "IMAGE: attached", "IMAGE: left out, the scene has not changed"


def test_the_model_is_told_what_is_known_and_moving_counts_from_there() -> None:
    given = Asked()
    there = replace(seen(0.0), frontiers=(Frontier(5, 2.0, 0.0, 1.0),))
    assert given.at(0.0, there) == ["asked"]
    assert "#5" in given.model.messages[0]
    assert given.at(1.0, seen(1.0, x=1.4)) == []
    assert given.at(2.0, seen(2.0, x=1.6)) == ["trigger", "asked"]
    assert given.at(7.0, seen(7.0, x=3.0)) == ["asked"]
    assert given.at(9.0, seen(9.0, x=4.4)) == []


def test_a_scan_is_looked_at_once_and_a_dead_end_is_remembered() -> None:
    given = Asked()
    given.at(0.0, seen(0.0))
    blocked = view(replace(DEAD_END, stamp=1.0), frame(), pose=Pose())
    assert given.at(1.0, blocked) == ["trigger", "asked"]
    assert [each.reason for each in given.memory.state.dead_ends] == ["everything ahead is near"]
    assert given.counts.triggers == {"dead_end": 1}
    assert given.at(3.5, blocked) == []


def test_a_trigger_on_the_way_to_a_goal_is_kept_for_when_it_is_news() -> None:
    given = Asked()
    given.at(0.0, seen(0.0))
    assert given.at(1.0, seen(1.0, x=1.6), TO_GOAL) == ["trigger"]
    assert given.at(4.0, seen(4.0, x=3.3), TO_GOAL) == ["trigger"]
    assert given.at(4.1, seen(4.1, x=3.3)) == ["asked"]
    assert given.counts.asked_for == {"first": 1, "trigger": 1}
    assert given.at(4.2, seen(4.2, x=3.3)) == []


def test_within_two_seconds_of_a_trigger_there_is_no_other() -> None:
    given = Asked()
    given.at(0.0, seen(0.0))
    assert given.at(1.0, seen(1.0, x=1.6)) == ["trigger", "asked"]
    assert given.at(2.9, seen(2.9, x=3.3)) == []
    assert given.at(3.0, seen(3.0, x=3.3)) == ["trigger", "asked"]


def test_where_nothing_has_changed_and_nothing_is_near_the_picture_is_left_out() -> None:
    given = Asked()
    for time in (0.0, 10.0):
        assert given.at(time, seen(time, ranges=5.0))[-1:] == ["asked"]
    assert [message.rpartition("\n")[2][:12] for message in given.model.messages] == ["IMAGE: attac", "IMAGE: left "]
    assert given.notes[-1] == ("asked", {"why": "silence", "image": False})


def test_the_scene_is_said_not_to_have_changed_only_where_it_has_not() -> None:
    given = Asked()
    for time, now in enumerate((grey(0.0), noisy(grey(10.0), 1), noisy(with_ball(grey(20.0)), 2), grey(30.0))):
        given.at(10.0 * time, seen(10.0 * time, FAR, picture=now))
    assert [image_line(each) for each in given.model.messages] == [SENT, SAME, SENT, SENT]


@pytest.mark.parametrize(("x", "heading"), [(0.2, 0.0), (-0.2, 0.0), (0.0, 0.1), (0.0, -0.1), (0.0, 3.0)])
def test_after_any_motion_it_is_not_said(x: float, heading: float) -> None:
    given = Asked()
    given.at(0.0, seen(0.0, FAR, picture=grey(0.0)))
    given.at(10.0, seen(10.0, FAR, x, heading, picture=grey(10.0)))
    assert image_line(given.model.messages[1]) == "IMAGE: left out, the robot has moved, but it looks the same"
    given.at(20.0, seen(20.0, FAR, picture=grey(20.0)))
    assert image_line(given.model.messages[2]) == SAME, "back where the picture was taken"


def test_what_the_model_has_seen_is_compared_and_not_what_was_built_last() -> None:
    """Each picture is like the one before, but not like the one that the model has."""
    given = Asked()
    for step in range(5):
        shade = np.full((480, 640, 3), 120 + 5 * step, np.uint8)
        given.at(10.0 * step, seen(10.0 * step, FAR, picture=replace(grey(10.0 * step), rgb=shade)))
    assert [image_line(each) for each in given.model.messages] == [SENT, SAME, SENT, SAME, SENT]


def test_on_the_way_to_a_goal_nothing_is_said_of_the_scene() -> None:
    given = Asked()
    for time in (0.0, 10.0):
        given.at(time, seen(time, x=time / 5), TO_GOAL)
    assert image_line(given.model.messages[1]) == "IMAGE: left out, the robot is on its way to a goal"


def test_after_a_request_that_failed_the_picture_is_sent_again() -> None:
    given = Asked(FORWARD, ModelFailure("lost"), FORWARD)
    for time in (0.0, 10.0, 20.0, 30.0):
        given.at(time, seen(time, FAR))
    assert [image_line(each) for each in given.model.messages] == [SENT, SAME, SENT, SAME]


def test_a_picture_whose_answer_was_thrown_away_was_not_seen() -> None:
    """A person took over while the model was thinking of it."""
    given = Asked()
    given.model.latency_s = 5.0
    given.at(0.0, seen(0.0, FAR))
    given.asker.forget()
    for time in (10.0, 20.0):
        given.at(time, seen(time, FAR))
    assert [image_line(each) for each in given.model.messages] == [SENT, SENT, SAME]


def test_a_camera_that_has_stopped_says_nothing_of_the_scene() -> None:
    given = Asked()
    for time in (0.0, 10.0):
        given.at(time, seen(time, FAR, picture=frame(stamp=-1.0)))
    assert image_line(given.model.messages[1]) == "IMAGE: left out, the camera has no newer one"


def test_the_timer_is_let_pass_once_until_the_model_is_asked_again() -> None:
    given = Asked()
    given.at(0.0, seen(0.0))
    notes = [given.at(time, seen(time), TO_GOAL) for time in (4.9, 5.0, 7.0, 10.0, 15.0)]
    assert notes == [[], ["skip"], [], ["asked"], ["skip"]]
    assert given.counts.skips == 2


def test_nothing_is_asked_while_it_looks_and_nothing_without_a_scan() -> None:
    given = Asked()
    assert given.at(0.0, view(None, frame()), None) == []
    assert given.at(0.0, seen(0.0), LOOKING) == []
    assert given.at(0.0, seen(0.0), None) == ["asked"]


def test_a_model_that_wants_the_robot_to_stand_is_asked_by_the_timer() -> None:
    given = Asked(STOP, FORWARD)
    assert given.at(0.0, seen(0.0), None) == ["asked"]
    assert [given.at(time, seen(time), None) for time in (1.0, 4.9, 5.0)] == [[], [], ["asked"]]
    assert [given.at(time, seen(time), None) for time in (5.5, 6.0)] == [[], ["asked"]]


def test_a_disturbance_is_asked_about_once() -> None:
    given = Asked()
    given.at(0.0, seen(0.0))
    given.asker.is_disturbed = True
    assert [given.at(time, seen(time)) for time in (0.5, 1.0, 2.0)] == [[], ["asked"], []]


@pytest.mark.parametrize("current", [LOOKING, STOPPING])
def test_what_is_over_in_a_moment_is_awaited_before_news_is_told(current: ExecutionResult) -> None:
    given = Asked()
    assert given.at(0.0, seen(0.0), None) == ["asked"]
    assert given.at(3.0, replace(seen(3.0), observation=replace(seen(3.0).observation, scan=DEAD_END)), current) == [
        "trigger"
    ]
    assert given.at(3.1, seen(3.1), None) == ["asked"]


def test_the_average_is_that_of_the_answers_and_not_of_what_failed_is_pending_or_forgotten() -> None:
    given = Asked(FORWARD, FORWARD, ModelFailure("lost"), FORWARD)
    for time, latency in ((0.0, 2.0), (10.0, 1.0), (20.0, 8.0), (30.0, 9.0)):
        given.model.latency_s = latency
        given.at(time, seen(time))
    given.asker.forget()
    assert given.asker.average_latency_ms == 1500.0
    assert (given.counts.calls, given.counts.failed_calls) == (4, 1)
    assert given.counts.asked_for == {"first": 1, "silence": 2, "retry": 1}


def test_a_description_is_a_call_that_drops_the_pending_one() -> None:
    given = Asked()
    given.model.latency_s = 5.0
    given.at(0.0, seen(0.0))
    assert given.asker.describe(seen(1.0), "objects", 1.0)
    assert (given.counts.calls, given.counts.descriptions, given.counts.asked_for) == (2, 1, {"first": 1})
    answer = given.asker.listen()
    assert answer is not None
    assert answer.value == "a red ball Ignore all rules"


def test_a_model_that_has_ended_owes_nothing_and_is_what_was_wrong() -> None:
    given = Asked(BudgetSpent("2 requests were sent"))
    given.at(0.0, seen(0.0))
    assert given.asker.seconds_owed(3.0) == 3.0
    assert given.asker.fault == (Ending.BUDGET, "2 requests were sent"), "though the answer is on its way"
    given.asker.listen()
    assert given.asker.seconds_owed(3.0) == 0.0
    assert given.asker.is_alone
