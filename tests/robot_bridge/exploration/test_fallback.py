"""What the robot does while its model makes it wait, and what becomes of that when a person comes."""

from __future__ import annotations

from robot_bridge.contracts import Pose, Tier
from robot_bridge.control.controller import Controller
from robot_bridge.decisions.watchdog import LLMWatchdog
from robot_bridge.exploration.fallback import Fallback, LocalExploration
from tests.support.robot_bridge.kinematic import Log, rig


def fallback(home: Pose = Pose()) -> tuple[Fallback, Controller, Log]:  # noqa: B008  # frozen
    controller, _, log = rig()
    return Fallback(controller, LLMWatchdog(), LocalExploration(home)), controller, log


def test_slower_then_standing_then_by_itself_then_home() -> None:
    alone, controller, log = fallback()
    paces = []
    for owed in (0.0, 1.5, 2.99, 3.0, 10.0):
        assert alone.watch(owed, owed, is_alone=False) is None
        paces.append(round(controller.pace, 2))
    home = alone.watch(30.1, 30.1, is_alone=False)
    assert paces == [1.0, 0.75, 0.5, 1.0, 1.0]
    assert log.tiers() == ["STOP_WAIT", "LOCAL_NAV", "RETURN_HOME"]
    assert home is not None
    assert home.parameters["goal_type"] == "retrace"


def test_nothing_is_owed_while_a_person_has_the_robot() -> None:
    waiting, _, log = fallback()
    waiting.watch(5.0, 5.0, is_alone=False)
    waiting.rest()
    waiting.rest()
    assert waiting.tier is Tier.CONTINUE
    assert log.tiers() == ["STOP_WAIT", "CONTINUE"]


def test_the_way_home_is_begun_again_after_a_person_had_the_robot() -> None:
    alone, _, _ = fallback(home=Pose(2.0, 0.0))
    goals = [alone.watch(0.0, now, is_alone=True) for now in (0.0, 10.0)]
    alone.rest()
    goals += [alone.watch(0.0, now, is_alone=True) for now in (11.0, 21.0)]
    assert [goal is not None for goal in goals] == [False, True, False, True]
    assert not alone.local.is_over
    alone.watch(0.0, 22.0, is_alone=True)
    assert alone.local.is_over
