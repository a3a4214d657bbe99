"""The loop in a thread of its own: keeps time, ends cleanly, and tells what went wrong."""

from __future__ import annotations

import threading

import pytest

from robot_bridge.contracts import REST, ExecutionResult, Twist, VelocityTarget
from robot_bridge.control.realtime import MonotonicClock, RealTimeLoop, real_time
from robot_bridge.errors import DeviceError
from tests.support.robot_bridge.jitter import TimedController
from tests.support.robot_bridge.kinematic import KinematicRobot, SteppedClock, decision, rig
from tests.support.waiting import is_punctual


class RealClock(SteppedClock):
    """As :class:`SteppedClock`, but time passes by itself."""

    def __init__(self) -> None:
        super().__init__()
        self._real = MonotonicClock()
        self._began = self._real.now()

    def now(self) -> float:
        return self._real.now() - self._began

    def wait_until(self, time: float) -> None:
        self._real.wait_until(self._began + time)
        super().wait_until(time)


def real_rig() -> tuple[TimedController, KinematicRobot]:
    made, robot, _ = rig()
    clock = RealClock()
    clock.robot = robot
    robot.clock = clock
    return TimedController(robot, clock, made.navigation, made.chain), robot


@pytest.mark.long
def test_it_ticks_at_the_rate_and_leaves_no_thread() -> None:
    """In real time where that is allowed; a machine that is late with any wait is late with these."""
    was_punctual = False
    for _ in range(5):
        controller, robot = real_rig()
        before = threading.active_count()
        with real_time(), RealTimeLoop(controller) as loop:
            controller.begin(ExecutionResult(VelocityTarget(Twist(0.1), 5.0), decision("move_toward"), True))
            while (jitter := controller.jitter).periods < 9:
                loop.advance()
        assert threading.active_count() == before
        assert robot.moved > 0.01
        assert robot.commanded == REST
        assert jitter.p99_ms >= jitter.p50_ms
        if jitter.p50_ms == pytest.approx(50, abs=5):
            return
        was_punctual |= is_punctual()
    if not was_punctual:
        pytest.skip("this machine is too busy to measure a period")
    pytest.fail(f"the median of its periods is {jitter.p50_ms:.1f} ms")


def test_what_goes_wrong_in_the_thread_stops_the_robot_and_surfaces() -> None:
    controller, robot = real_rig()
    with RealTimeLoop(controller) as loop:
        loop.advance()
        robot.is_broken = True
        with pytest.raises(DeviceError, match="cable"):
            _advanced_for_ever(loop)
    assert robot.stops >= 1


def test_it_may_be_entered_again_after_it_has_failed() -> None:
    controller, robot = real_rig()
    loop = RealTimeLoop(controller)
    robot.is_broken = True
    with loop, pytest.raises(DeviceError):
        _advanced_for_ever(loop)
    robot.is_broken = False
    with loop:
        while controller.jitter.periods < 1:
            loop.advance()


def _advanced_for_ever(loop: RealTimeLoop) -> None:
    while True:
        loop.advance()
