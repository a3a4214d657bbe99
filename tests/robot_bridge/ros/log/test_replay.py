"""The chain is held against what it did: the same log agrees, a changed one does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Applied, Command, Estimate, Observation, Odometry, Pose, Source, Twist
from robot_bridge.ros.log.playback import Log, read_log
from robot_bridge.ros.log.recorder import BagRecorder
from robot_bridge.ros.log.replay import ChainCheck
from robot_bridge.safety.chain import SafetyChain
from tests.support.robot_bridge.rays import CONFIG, scan_of


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Log:
    """20 s to and fro, with an emergency stop, a person, and a lidar that fails for a while and freezes in the end."""
    path = tmp_path_factory.mktemp("logs") / "bag"
    chain, recorder, random = SafetyChain(CONFIG), BagRecorder(path, CONFIG), np.random.default_rng(3)
    pose, twist, scan, frozen_at = Pose(), Twist(), None, Pose()
    for tick in range(400):
        now = tick * 0.05
        pose = pose.compose(Pose(twist.linear * 0.05, 0.0, twist.angular * 0.05))
        if tick % 2 == 0 and not 150 < tick < 160:
            seen_from = pose if tick < 300 else frozen_at
            scan = scan_of([(0.8, 0.0, 0.1)], pose=seen_from, stamp=now, room=1.6, noise=0.002, rng=random)
        frozen_at = pose if tick < 300 else frozen_at
        seen = Observation(scan, None, Odometry(now, pose, twist), 12.0)
        source = Source.HUMAN if tick % 97 < 5 else Source.MODEL
        commands = (Command(Twist(0.2 * np.cos(now / 3), 0.1 * np.sin(now)), source, now + 0.1),)
        if tick == 200:
            chain.stop("a person says so")
            recorder.record_note(now, "emergency_stop", {"reason": "a person says so"})
        if tick == 230:
            chain.release()
            recorder.record_note(now, "release", {})
        applied = chain.step(commands, seen, now)
        twist = applied.twist
        recorder.record_observation(seen)
        recorder.record_estimate(Estimate(now, pose, twist))
        recorder.record_command(now, commands, applied)
    recorder.close()
    return read_log(path)


class Counted(ChainCheck):
    """What happened, besides."""

    def __init__(self, config: RobotConfig) -> None:
        super().__init__(config)
        self.reasons: set[str] = set()
        self.kinds: list[str] = []

    def record_command(self, now: float, commands: Sequence[Command], applied: Applied) -> None:
        super().record_command(now, commands, applied)
        self.reasons.add(applied.reason)

    def record_note(self, now: float, kind: str, data: Mapping[str, Any]) -> None:
        super().record_note(now, kind, data)
        self.kinds.append(kind)


@pytest.mark.long
def test_the_chain_does_the_same_again(log: Log) -> None:
    check = Counted(log.config)
    log.tell(check)
    assert check.first is None
    assert check.verdict() == "safety chain: the same in all 400 steps"
    assert "a person says so" in check.reasons
    assert any("old" in reason for reason in check.reasons)
    assert any("obstacle" in reason for reason in check.reasons)
    assert any("backing to find out why" in reason for reason in check.reasons)
    assert any("a sensor is unusable" in reason for reason in check.reasons)
    assert check.kinds == ["emergency_stop", "release"]


class Tampered(ChainCheck):
    """One step of the log is another."""

    def record_command(self, now: float, commands: Sequence[Command], applied: Applied) -> None:
        if self.steps == 123:
            applied = replace(applied, twist=Twist(applied.twist.linear + 1e-12, applied.twist.angular))
        super().record_command(now, commands, applied)


def test_a_step_that_differs_in_the_last_digits_is_told(log: Log) -> None:
    check = Tampered(log.config)
    log.tell(check)
    assert (check.steps, check.different) == (400, 1)
    assert check.first is not None
    assert check.first.time == pytest.approx(6.15)
    assert "1 of 400 steps differ, first at 6.15 s: recorded model" in check.verdict()


def test_a_stop_in_the_middle_of_a_step_is_no_difference() -> None:
    """It is noted after the step in which it was latched."""
    check = ChainCheck(CONFIG)
    check.record_command(1.0, (Command(Twist(0.1), Source.MODEL, 2.0),), Applied(Twist(), "stop", "a person says so"))
    check.record_note(1.01, "emergency_stop", {"reason": "a person says so"})
    check.record_command(1.05, (), Applied(Twist(), "stop", "a person says so"))
    check.record_note(1.1, "release", {})
    check.record_command(1.15, (), Applied(Twist(), "none"))
    assert (check.steps, check.first) == (3, None)
