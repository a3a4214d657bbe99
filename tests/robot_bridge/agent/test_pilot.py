"""The pilot of an agent: what it decides is what is driven, and what it says of it."""

from __future__ import annotations

from math import pi, radians
from typing import Any

import pytest

from robot_bridge.agent.pilot import TOLERANCE, Pilot
from robot_bridge.contracts import ExecutionResult, NavGoalTarget
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.safety_executor import SafetyExecutor, turn
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


@pytest.mark.long
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


@pytest.mark.long
def test_where_no_way_leads_it_turns_first() -> None:
    made, log = pilot()
    assert not made.go(CENTRE, 50.0, pi / 2)
    assert decided(log)[:2] == ["navigate_to_goal", "rotate"]
    assert log.results[1].turned_deg == pytest.approx(90, abs=15)


class Kept(SafetyExecutor):
    """An executor that keeps what it checked."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.checked: list[ExecutionResult] = []

    def execute_decision(self, *given: Any) -> ExecutionResult:
        self.checked.append(super().execute_decision(*given))
        return self.checked[-1]

    def execute_pose(self, *given: Any) -> ExecutionResult:
        self.checked.append(super().execute_pose(*given))
        return self.checked[-1]


def test_what_the_executor_checked_is_what_is_driven() -> None:
    controller, _, log = rig()
    executor = Kept(controller.clock.now, CONFIG)
    made = Pilot(controller, executor, ExplorationMemory(), lambda: None)
    made.wait(lambda: False, 2.0)
    assert made.go(CENTRE + 1.0, 0.0, 0.0)
    assert made.go(CENTRE + 1.0, 0.0, pi / 2)
    made.look()
    assert [id(each) for each in log.decisions] == [id(each) for each in executor.checked]
    assert [each.target for each in log.decisions[:2]] == [
        NavGoalTarget(CENTRE + 1.0, 0.0, 0.0, TOLERANCE),
        NavGoalTarget(CENTRE + 1.0, 0.0, pi / 2, TOLERANCE),
    ]
