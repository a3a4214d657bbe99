"""The exit codes of ``explore``, and what is written where the robot fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from robot_bridge.cli import main, robots
from robot_bridge.contracts import Pose
from robot_bridge.control.realtime import Lockstep
from robot_bridge.exploration.asker import LockstepLink
from robot_bridge.exploration.endings import Ending
from tests.support.robot_bridge.kinematic import KinematicRobot, SteppedClock


class Failing(KinematicRobot):
    """Its connection breaks after two seconds, and then it cannot be told to stop either."""

    def drive(self, seconds: float) -> None:
        super().drive(seconds)
        self.is_broken = self.clock.now() > 2.0


def test_a_robot_that_fails_is_an_ending_with_all_that_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def open_robot(*_: object) -> Iterator[robots.ReadyRobot]:
        robot = Failing(SteppedClock())
        clock = robot.clock
        yield robots.ReadyRobot(
            robot, clock, Pose(), "", None, lambda each: Lockstep(each.tick), lambda: LockstepLink(clock, None)
        )

    monkeypatch.setattr(robots, "open_robot", open_robot)
    assert main(["explore", "--model", "none", "--quiet", "--output", str(tmp_path / "run")]) == 1
    said = capsys.readouterr()
    assert said.err == "error: the cable is out\n"
    assert said.out.startswith("ended: failed (the cable is out); ")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["ended"], summary["because"]) == ("failed", "the cable is out")
    assert {"map.png", "memory.yaml", "log"} <= {path.name for path in (tmp_path / "run").iterdir()}


def test_help_lists_every_ending_with_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--help"]) == 0
    told = capsys.readouterr().out.splitlines()
    for ending in set(Ending) - {Ending.STOPPED}:
        assert f"  {ending.exit_code:>3}  {ending.value:<15}  {ending.sentence}" in told


def test_the_docs_list_every_ending_with_its_exit_code() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "robot.md").read_text(encoding="utf-8")
    for ending in set(Ending) - {Ending.STOPPED}:
        assert f"| `{ending.value}` | {ending.exit_code} |" in text
