"""Events ask the model once each."""

from __future__ import annotations

from math import pi

import pytest

from robot_bridge.contracts import Direction, Gap, Pose, Trigger
from robot_bridge.decisions.triggers import EventTrigger, is_dead_end, is_intersection

CLOSED: dict[str, float] = dict.fromkeys(Direction, 1.5)
"""Neither a crossing nor a dead end."""


def distances(**given: float) -> dict[str, float]:
    return {**CLOSED, **given}


@pytest.mark.parametrize(
    ("open_ones", "is_one"),
    [
        (("left", "forward_left", "forward"), True),
        (("right", "backward", "left"), True),
        (("left", "forward", "right"), False),
        (("forward", "forward_left"), False),
        (tuple(Direction), True),
    ],
)
def test_three_open_directions_side_by_side_are_a_crossing(open_ones: tuple[str, ...], is_one: bool) -> None:
    assert is_intersection(distances(**dict.fromkeys(open_ones, 2.0))) is is_one


def test_a_dead_end_is_blocked_ahead_on_all_three_sides() -> None:
    ahead = {"forward": 0.9, "forward_left": 0.99, "forward_right": 0.5}
    assert is_dead_end(distances(**ahead))
    assert not is_dead_end(distances(**ahead | {"forward": 1.0}))
    assert not is_dead_end({})


def test_a_doorway_is_told_once_and_another_again() -> None:
    trigger, gap = EventTrigger(), Gap(0, 0.9, 2.0)
    assert trigger.check_triggers(CLOSED, [gap], Pose(), None, 0.0) == [Trigger.DOORWAY]
    assert trigger.check_triggers(CLOSED, [Gap(0, 0.9, 1.0)], Pose(1.0, 0), 0.0, 5.0) == []
    assert trigger.check_triggers(CLOSED, [Gap(90, 0.9, 2.0)], Pose(1.0, 0), 0.0, 6.0) == [Trigger.DOORWAY]
    assert trigger.check_triggers(CLOSED, [Gap(0, 0.9, 2.0)], Pose(1.0, 0, pi / 2), 6.0, 9.0) == []


def test_the_same_doorway_seen_at_a_slant_is_no_other() -> None:
    trigger = EventTrigger()
    assert trigger.check_triggers(CLOSED, [Gap(0, 0.9, 2.0)], Pose(), None, 0.0) == [Trigger.DOORWAY]
    assert trigger.check_triggers(CLOSED, [Gap(30, 1.4, 2.7)], Pose(), 0.0, 5.0) == []
    assert trigger.check_triggers(CLOSED, [Gap(45, 1.4, 2.0)], Pose(), 0.0, 6.0) == [Trigger.DOORWAY]


@pytest.mark.parametrize("gap", [Gap(0, 0.69, 1.0), Gap(0, 0.9, 3.1)])
def test_narrow_and_distant_gaps_are_no_reason(gap: Gap) -> None:
    assert EventTrigger().check_triggers(CLOSED, [gap], Pose(), None, 0.0) == []


def test_the_cooldown_puts_off_and_loses_nothing() -> None:
    trigger = EventTrigger()
    crossing: dict[str, float] = dict.fromkeys(Direction, 5.0)
    assert trigger.check_triggers(crossing, [], Pose(), 1.0, 2.9) == []
    assert trigger.check_triggers(crossing, [], Pose(), 1.0, 3.0) == [Trigger.INTERSECTION]
    assert trigger.check_triggers(crossing, [], Pose(), 3.0, 9.0) == []


def test_what_begins_again_elsewhere_is_told_again() -> None:
    trigger = EventTrigger()
    blocked: dict[str, float] = dict.fromkeys(Direction, 0.6)
    assert trigger.check_triggers(blocked, [], Pose(), None, 0.0) == [Trigger.DEAD_END]
    assert trigger.check_triggers(CLOSED, [], Pose(), 0.0, 3.0) == []
    assert trigger.check_triggers(blocked, [], Pose(0.2, 0), 0.0, 4.0) == []
    assert trigger.check_triggers(CLOSED, [], Pose(), 0.0, 5.0) == []
    assert trigger.check_triggers(blocked, [], Pose(1.2, 0), 0.0, 6.0) == [Trigger.DEAD_END]


def test_moving_counts_from_where_the_model_was_asked() -> None:
    trigger = EventTrigger()
    assert trigger.check_triggers(CLOSED, [], Pose(), None, 0.0) == []
    assert trigger.check_triggers(CLOSED, [], Pose(1.4, 0), None, 1.0) == []
    trigger.note_asked(Pose(1.4, 0))
    assert trigger.check_triggers(CLOSED, [], Pose(2.8, 0), None, 2.0) == []
    assert trigger.check_triggers(CLOSED, [], Pose(2.95, 0), None, 3.0) == [Trigger.MOVED]
    assert trigger.check_triggers(CLOSED, [], Pose(2.95, 0), 3.0, 9.0) == []
