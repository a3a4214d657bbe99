"""What a terminal is told, and the trail that is kept."""

from __future__ import annotations

import subprocess
import sys

from robot_bridge.cli.journals import Narrator, Trail
from robot_bridge.contracts import ActionResult, Applied, Estimate, ExecutionResult, Pose, StopTarget, Twist
from robot_bridge.exploration.endings import count_interventions
from robot_bridge.safety.chain import Interventions
from tests.support.robot_bridge.kinematic import decision


def applied(reason: str) -> Applied:
    return Applied(Twist(), "model", reason)


def test_an_intervention_is_told_again_only_when_it_has_been_quiet_for_a_while() -> None:
    told: list[str] = []
    narrator = Narrator(told.append, began=10.0)
    for now, reason in (
        (12.0, "obstacle 0.41 m ahead: stopped"),
        (13.0, "obstacle 0.40 m ahead: stopped"),
        (13.5, ""),
        (14.0, "speeding up, 0.05 m/s"),
        (17.9, "obstacle 0.39 m ahead: stopped"),
        (22.9, "obstacle 0.38 m ahead: stopped"),
    ):
        narrator.record_command(now, (), applied(reason))
    assert told == [
        "  0:02.0  safety   obstacle 0.41 m ahead: stopped",
        "  0:12.9  safety   obstacle 0.38 m ahead: stopped",
    ]


def test_decisions_and_outcomes_are_told_without_what_controls_a_terminal() -> None:
    told: list[str] = []
    narrator = Narrator(told.append)
    wild = decision("fly\x1b[2J", direction="up", speed=None, far=1.23456)
    narrator.record_decision(61.0, ExecutionResult(StopTarget("no"), wild, False, "unknown\ntool"))
    narrator.record_action(62.0, ActionResult("rotate", False, 0.123, 44.6, "blocked"))
    narrator.record_note(63.0, "tier", {"tier": "LOCAL_NAV", "owed_s": 10.04})
    assert told == [
        "  1:01.0  refused  fly␛[2J(direction=up, far=1.23): unknown tool",
        "  1:02.0  failed   turn, 0.12 m, 45 degrees to the left: blocked",
        "  1:03.0  model    no answer for 10 s: the robot explores by itself",
    ]


def test_a_trail_has_a_point_every_few_centimetres() -> None:
    trail = Trail()
    for x in (0.0, 0.02, 0.05, 0.09, 0.1):
        trail.record_estimate(Estimate(0.0, Pose(x), Twist()))
    assert [pose.x for pose in trail.poses] == [0.0, 0.05, 0.1]


def test_interventions_count_once_and_ordinary_ones_not() -> None:
    interventions = Interventions()
    for reason in ("speeding up, 0.02 m/s", "at most 0.25 m/s", "at most 0.25 m/s", "", "at most 0.12 m/s"):
        interventions.count_result(applied(reason))
    assert count_interventions(interventions.counts) == {"at most … m/s": 2}


def test_every_line_is_out_at_once_whatever_it_is_written_to() -> None:
    code = (
        "from robot_bridge.cli.journals import Narrator\n"
        "import os\n"
        "Narrator().record_note(0.0, 'paused', {})\n"
        "os._exit(0)"  # as if it were killed: what is buffered is lost
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    assert done.stdout == "  0:00.0  model    is not asked: a person decides\n"
