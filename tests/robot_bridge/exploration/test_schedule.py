"""When the model is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.contracts import Trigger
from robot_bridge.decisions.messages.message import LeftOut
from robot_bridge.exploration.schedule import AskSettings, Choice, Situation, choose, why_leave_out

ADAPTIVE, FIXED = AskSettings(), AskSettings(is_adaptive=False)
DRIVING = Situation(2.0, is_idle=False, similarity=0.5, nearest_m=1.0)
SAME_VIEW = replace(DRIVING, similarity=0.93, nearest_m=2.1)
ON_THE_WAY = replace(DRIVING, drives_to_goal=True)


@pytest.mark.parametrize(
    ("situation", "choice"),
    [
        (Situation(None), Choice.FIRST),
        (DRIVING, Choice.WAIT),
        (replace(DRIVING, since_asked=5.0), Choice.TIMER),
        (replace(DRIVING, triggers=(Trigger.MOVED,)), Choice.TRIGGER),
        (replace(DRIVING, triggers=(Trigger.DEAD_END,)), Choice.TRIGGER),
        (replace(ON_THE_WAY, triggers=(Trigger.MOVED, Trigger.DEAD_END, Trigger.INTERSECTION)), Choice.WAIT),
        (replace(ON_THE_WAY, triggers=(Trigger.DOORWAY,)), Choice.TRIGGER),
        (replace(ON_THE_WAY, since_asked=5.0), Choice.SKIP),
        (replace(ON_THE_WAY, since_asked=10.0), Choice.SILENCE),
        (replace(SAME_VIEW, since_asked=5.0), Choice.SKIP),
        (replace(SAME_VIEW, since_asked=10.0), Choice.SILENCE),
        (replace(SAME_VIEW, since_asked=5.0, nearest_m=1.9), Choice.TIMER),
        (replace(SAME_VIEW, since_asked=5.0, similarity=0.92), Choice.TIMER),
        (replace(DRIVING, is_idle=True), Choice.IDLE),
        (replace(DRIVING, is_idle=True, since_asked=0.5), Choice.WAIT),
        (replace(DRIVING, is_idle=True, rests=True, since_asked=4.9), Choice.WAIT),
        (replace(DRIVING, is_idle=True, rests=True, since_asked=5.0), Choice.TIMER),
        (replace(DRIVING, was_disturbed=True), Choice.DISTURBED),
        (replace(DRIVING, failures=1, since_asked=1.0), Choice.RETRY),
        (replace(DRIVING, failures=3, since_asked=3.9), Choice.WAIT),
        (replace(DRIVING, failures=30, since_asked=8.0), Choice.RETRY),
    ],
)
def test_adaptive(situation: Situation, choice: Choice) -> None:
    assert choose(situation, ADAPTIVE) is choice


@pytest.mark.parametrize(("since", "choice"), [(None, Choice.FIRST), (4.9, Choice.WAIT), (5.0, Choice.TIMER)])
def test_the_fixed_timer_knows_nothing_but_time(since: float | None, choice: Choice) -> None:
    for situation in (DRIVING, SAME_VIEW, ON_THE_WAY, replace(DRIVING, triggers=(Trigger.DOORWAY,), is_idle=True)):
        assert choose(replace(situation, since_asked=since), FIXED) is choice


@given(
    since=st.floats(10.0, 1e6),
    triggers=st.sets(st.sampled_from(Trigger)),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    failures=st.integers(0, 50),
    similarity=st.floats(0, 1),
    nearest=st.floats(0, 12),
)
def test_never_past_ten_seconds(
    since: float,
    triggers: set[Trigger],
    flags: tuple[bool, bool, bool],
    failures: int,
    similarity: float,
    nearest: float,
) -> None:
    situation = Situation(since, triggers, *flags, failures, similarity, nearest)
    assert choose(situation, ADAPTIVE).is_call


SAME = LeftOut.UNCHANGED
STATIC = replace(DRIVING, similarity=0.96, nearest_m=3.1)


def test_the_picture_is_left_out_where_nothing_has_changed_and_nothing_is_near() -> None:
    assert why_leave_out(Choice.TIMER, STATIC, ADAPTIVE, SAME) is SAME
    for other in (replace(STATIC, nearest_m=3.0), replace(STATIC, similarity=0.95), replace(STATIC, has_changed=True)):
        assert why_leave_out(Choice.TIMER, other, ADAPTIVE, SAME) is None
    assert why_leave_out(Choice.TIMER, STATIC, FIXED, SAME) is None


def test_the_picture_is_left_out_on_the_way_without_news() -> None:
    assert why_leave_out(Choice.SILENCE, ON_THE_WAY, ADAPTIVE, SAME) is LeftOut.ON_THE_WAY
    assert why_leave_out(Choice.SILENCE, DRIVING, ADAPTIVE, SAME) is None
    assert why_leave_out(Choice.TRIGGER, ON_THE_WAY, ADAPTIVE, SAME) is None


def test_the_reason_for_leaving_it_out_is_the_sameness_only_where_it_is_the_same() -> None:
    static = replace(STATIC, drives_to_goal=True)
    assert why_leave_out(Choice.SILENCE, static, ADAPTIVE, SAME) is SAME
    for other in (ON_THE_WAY, replace(static, has_changed=True), replace(static, nearest_m=1.0)):
        assert why_leave_out(Choice.SILENCE, other, ADAPTIVE, SAME) is LeftOut.ON_THE_WAY
    assert why_leave_out(Choice.SILENCE, static, ADAPTIVE, None) is LeftOut.ON_THE_WAY
