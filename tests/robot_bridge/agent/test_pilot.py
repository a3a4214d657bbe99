"""The pilot of an agent: what it decides is what is driven, and what it says of it."""

from __future__ import annotations

from math import pi, radians

import pytest

from robot_bridge.agent.pilot import Pilot, turn
from robot_bridge.decisions.exploration_memory import ExplorationMemory
from robot_bridge.decisions.safety_executor import SafetyExecutor
from tests.support.robot_bridge.kinematic import Log, rig
from tests.support.robot_bridge.rays import CONFIG

CENTRE = CONFIG.body.centre


def pilot() -> tuple[Pilot, Log]:
    """One that has seen the room."""
    controller, _, log = rig()
    made = Pilot(controller, SafetyExecutor(controller.clock.now, CONFIG), ExplorationMemory(), lambda: None)
    made.wait(lambda: False, 2.0)
    return made, log


def decided(log: Log) -> list[str]:
    return [each.decision.tool_name for each in log.decisions]


@pytest.mark.parametrize(
    ("by", "said"), [(90, 90), (-90, -90), (50, 45), (16, 45), (-16, -45), (-100, -90), (170, 180), (350, -45)]
)
def test_a_turn_is_said_to_the_side_to_which_it_is(by: float, said: int) -> None:
    assert turn(radians(by), "why", 0.0).parameters == {"degrees": said}


def test_it_drives_to_a_pose() -> None:
    made, log = pilot()
    assert made.go(CENTRE + 1.0, 0.0, 0.0)
    assert decided(log) == ["navigate_to_goal"]
    assert made.go(CENTRE + 1.0, 0.0, pi / 2)
    assert decided(log)[1:] == ["rotate"]
    assert log.decisions[-1].decision.parameters == {"degrees": 90}
    assert log.results[-1].success
    assert log.results[-1].turned_deg == pytest.approx(90, abs=15)


def test_where_no_way_leads_it_does_not_turn_to_where_it_faces_already() -> None:
    made, log = pilot()
    assert not made.go(CENTRE, 50.0, 0.0)
    assert set(decided(log)) == {"navigate_to_goal"}
    assert not any(result.success for result in log.results)


def test_where_no_way_leads_it_turns_first() -> None:
    made, log = pilot()
    assert not made.go(CENTRE, 50.0, pi / 2)
    assert decided(log)[:2] == ["navigate_to_goal", "rotate"]
    assert log.results[1].turned_deg == pytest.approx(90, abs=15)
