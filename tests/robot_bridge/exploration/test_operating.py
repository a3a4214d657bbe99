"""A person at the controls of an exploration: what they want comes before the model, and a stop before everything."""

from __future__ import annotations

import pytest

from robot_bridge.contracts import REST, Twist
from robot_bridge.exploration.explorer import Explorer, Orders
from tests.support.robot_bridge.kinematic import decision
from tests.support.robot_bridge.scripted import DONE, FORWARD, SHADOW, Scripted, explorer
from tests.support.tiers import few

BACK = decision("move_toward", direction="backward", speed="slow", duration_s=8.0)
STOP = decision("stop_robot", reason="user_requested")
COMPLETE = decision("stop_robot", reason="exploration_complete")


@pytest.mark.long
@pytest.mark.parametrize("at", few(1, [0.0, -1000.0, 1000.0]))
def test_an_operator_pauses_the_model_and_it_goes_on(at: float) -> None:
    host, _, log = explorer(Scripted(FORWARD), SHADOW)
    host.operate(decision("move_toward", at, direction="backward", speed="slow", duration_s=2.0))
    host.run(0.1)
    directions = [each.decision.parameters["direction"] for each in log.decisions]
    assert directions[:2] == ["backward", "forward"]
    assert log.results[0].success
    kinds = [kind for kind in log.kinds() if kind != "trigger"]
    assert kinds[:3] == ["paused", "resumed", "asked"]


def stepped(host: Explorer, seconds: float) -> None:
    """Both loops for so long."""
    for _ in range(round(seconds * 20)):
        host.controller.tick()
        host.step()


def test_a_stop_waits_for_nothing_that_was_ordered_before() -> None:
    host, robot, log = explorer(Scripted(FORWARD), SHADOW)
    host.operate(BACK)
    host.operate(BACK)
    stepped(host, 1)
    assert robot.commanded.linear < 0
    host.operate(STOP)
    stepped(host, 0.1)
    assert robot.commanded == REST
    assert [each.decision.tool_name for each in log.decisions] == ["move_toward", "stop_robot"]
    assert "broken off" in log.results[0].stopped_reason


def test_a_stop_ends_what_a_person_drove() -> None:
    host, robot, _ = explorer(Scripted(FORWARD), SHADOW)
    host.controller.override(Twist(-0.1), 60.0)
    stepped(host, 1)
    assert robot.commanded.linear < 0
    host.operate(STOP)
    stepped(host, 0.1)
    assert robot.commanded == REST


def test_orders_wait_for_one_another() -> None:
    orders = Orders()
    for each in (BACK, COMPLETE, BACK):
        orders.give(each)
    assert orders.take(is_busy=True) is COMPLETE
    assert orders.take(is_busy=True) is None
    assert orders.take(is_busy=False) is BACK
    assert orders.take(is_busy=False) is None


def test_a_person_who_stops_the_robot_says_nothing_about_the_claim_of_the_model() -> None:
    host, _, _ = explorer(Scripted(DONE, FORWARD), SHADOW)
    stepped(host, 1.5)
    host.operate(STOP)
    stepped(host, 0.5)
    said, stopped = host.memory.state.recent_actions[:2]
    assert (said.params, said.result.success) == ({"reason": "exploration_complete"}, False)
    assert (stopped.params, stopped.result.success) == ({"reason": "user_requested"}, True)


def test_a_person_who_says_that_it_is_complete_has_the_last_word() -> None:
    host, _, _ = explorer(Scripted(FORWARD), SHADOW)
    host.operate(COMPLETE)
    summary = host.run(1)
    assert summary.frontiers_left > 0
    assert summary.ended == "stopped"
    assert summary.minutes < 0.1


def test_a_claim_before_a_person_came_does_not_count() -> None:
    host, _, log = explorer(Scripted(DONE, DONE, FORWARD), SHADOW)
    stepped(host, 1.5)
    host.operate(decision("rotate", degrees=45))
    stepped(host, 8)
    assert [each.decision.tool_name for each in log.decisions][:3] == ["stop_robot", "rotate", "stop_robot"]
    assert host.summary().ended == ""
