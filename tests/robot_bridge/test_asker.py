"""What is news for the model, and what is told when it is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from robot_bridge.asker import Asker
from robot_bridge.asking import AskSettings
from robot_bridge.contracts import ExecutionResult, Frontier, NavGoalTarget, ObserveTarget, Pose, Twist, VelocityTarget
from robot_bridge.exploration_memory import ExplorationMemory
from robot_bridge.host_state import View
from robot_bridge.links import LockstepLink
from robot_bridge.summary import Tally
from robot_bridge.watchdog import NetworkMonitor
from tests.robot_bridge.kinematic import SteppedClock, decision, goal
from tests.robot_bridge.looking import CONFIG, frame, scan, view
from tests.robot_bridge.scripted import FORWARD, STOP, Call, Scripted

TO_GOAL = ExecutionResult(NavGoalTarget(2.0, 0.0), goal(x=2.0, y=0.0), True)
DRIVING = ExecutionResult(VelocityTarget(Twist(0.1), 8.0), decision("move_toward"), True)
LOOKING = ExecutionResult(ObserveTarget("general"), decision("observe_scene"), True)
DEAD_END = scan(lambda angle: 0.8 if abs(angle) < 70 else 1.5)


class Asked:
    """An asker with a clock."""

    def __init__(self, *answers: Call | Exception) -> None:
        self.clock, self.tally, self.memory = SteppedClock(), Tally(), ExplorationMemory()
        self.model = Scripted(*(answers or (FORWARD,)))
        self.notes: list[tuple[str, Mapping[str, Any]]] = []
        self.asker = Asker(
            self.model,
            LockstepLink(self.clock),
            CONFIG,
            AskSettings(),
            self.tally,
            NetworkMonitor(self.clock.now),
            lambda kind, data: self.notes.append((kind, data)),
        )

    def at(self, time: float, seen: View, current: ExecutionResult | None = DRIVING) -> list[str]:
        """One turn of the decision loop; what was noted in it."""
        self.clock.time = time
        self.notes.clear()
        self.asker.listen()
        self.asker.watch_events(seen, self.memory, time)
        self.asker.consider(seen, current, self.memory, time)
        return [kind for kind, _ in self.notes]


def seen(scan_stamp: float, ranges: float = 1.5, x: float = 0.0) -> View:
    return view(replace(scan(ranges), stamp=scan_stamp), frame(), pose=Pose(x, 0.0))


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
    assert [each["reason"] for each in given.memory.state.dead_ends] == ["everything ahead is near"]
    assert given.tally.triggers == {"dead_end": 1}
    assert given.at(3.5, blocked) == []


def test_a_trigger_on_the_way_to_a_goal_is_kept_for_when_it_is_news() -> None:
    given = Asked()
    given.at(0.0, seen(0.0))
    assert given.at(1.0, seen(1.0, x=1.6), TO_GOAL) == ["trigger"]
    assert given.at(4.0, seen(4.0, x=3.3), TO_GOAL) == ["trigger"]
    assert given.at(4.1, seen(4.1, x=3.3)) == ["asked"]
    assert given.tally.asked_for == {"first": 1, "trigger": 1}
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


def test_the_timer_is_let_pass_once_until_the_model_is_asked_again() -> None:
    given = Asked()
    given.at(0.0, seen(0.0))
    notes = [given.at(time, seen(time), TO_GOAL) for time in (4.9, 5.0, 7.0, 10.0, 15.0)]
    assert notes == [[], ["skip"], [], ["asked"], ["skip"]]
    assert given.tally.skips == 2


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
