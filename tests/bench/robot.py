"""The robot bridge: a snapshot for the model, the simulation against real time, the control loop's jitter under load.

Meant: a snapshot in under 30 ms (median), the period of the 20 Hz loop within 20 ms of its own (99th percentile) while
a model is asked and other processes keep the processors busy, the simulation faster than real time on two cores.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import Final

from robot_bridge.cli.options import AnyRobotOptions
from robot_bridge.cli.robots import ReadyRobot, open_robot
from robot_bridge.config import RobotConfig
from robot_bridge.control.realtime import RealTimeLoop, describe_priority
from robot_bridge.decisions.messages.sensor_snapshot import SensorSnapshotBuilder
from robot_bridge.decisions.navigators.reference_navigator import ReferenceNavigator
from robot_bridge.exploration.explorer import Explorer
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.protocols import DecisionModel
from robot_bridge.safety.chain import SafetyChain
from tests.support.robot_bridge.jitter import TimedController
from tests.support.robot_bridge.loopback import CONFIGURATION, own_domain

CONFIG = RobotConfig()
_BUSY: Final = "import os; os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))\nwhile True: pass"
"""At ordinary priority, whatever it inherits."""


def controller_of(body: ReadyRobot) -> TimedController:
    return TimedController(body.robot, body.clock, Navigation(CONFIG, body.start), SafetyChain(CONFIG))


def snapshots(count: int) -> None:
    """What a snapshot costs where the robot has looked around."""
    with open_robot(AnyRobotOptions(), CONFIG) as body:
        controller = controller_of(body)
        while body.clock.now() < 5.0:
            controller.tick()
        builder, spent = SensorSnapshotBuilder(controller.view), list[float]()
        for _ in range(count):
            began = time.perf_counter()
            builder.capture()
            spent.append(1000 * (time.perf_counter() - began))
    tenths = statistics.quantiles(spent, n=10)
    print(f"snapshot: median {tenths[4]:.1f} ms, tenths {tenths[0]:.1f} to {tenths[8]:.1f}; budget 30")


def simulation(seconds: float) -> None:
    """Seconds of an exploration in the twin for one of real time, everything included."""
    sides: tuple[tuple[str, AnyRobotOptions, DecisionModel | None], ...] = (
        ("lidar only", AnyRobotOptions(no_camera=True), None),
        ("1 Hz RGB-D and reference/navigator", AnyRobotOptions(), ReferenceNavigator()),
    )
    for name, options, model in sides:
        with open_robot(options, CONFIG) as body:
            controller = controller_of(body)
            explorer = Explorer(controller, model, body.link(), runner=body.runner(controller))
            began = time.perf_counter()
            explorer.run(seconds / 60)
            took, passed = time.perf_counter() - began, body.clock.now()
        print(f"simulation, {name}: {passed / took:.1f} x real time ({passed:.0f} s in {took:.1f} s)")


def jitter(seconds: float, busy: int) -> None:
    """Of the control loop of a host over DDS, with so many processes that do nothing but compute."""
    with ExitStack() as stack:
        domain = stack.enter_context(own_domain())
        stack.enter_context(_process("-m", "robot_bridge", "twin", "--domain", str(domain)))
        body = stack.enter_context(open_robot(AnyRobotOptions(robot="ros2", domain=domain), CONFIG))
        for _ in range(busy):
            stack.enter_context(_process("-c", _BUSY))
        controller = stack.enter_context(closing(controller_of(body)))
        loop = RealTimeLoop(controller)
        explorer = Explorer(controller, ReferenceNavigator(), body.link(), runner=loop)
        explorer.run(seconds / 60)
        found = controller.jitter
    print(
        f"control loop, {busy} busy processes beside it: period {found.p50_ms:.1f} ms (median), "
        f"within {found.deviation_p99_ms:.1f} ms of 50 (99 %), {found.periods} periods; budget 20; "
        f"priority {describe_priority(body.priority_fault)}"
    )


@contextmanager
def _process(*arguments: str) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="scripts/bench robot", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--snapshots", type=int, default=200)
    options = parser.parse_args(argv)
    os.environ["CYCLONEDDS_URI"] = CONFIGURATION  # nothing leaves this machine
    snapshots(options.snapshots)
    simulation(options.seconds)
    for busy in (0, 2):
        jitter(options.seconds, busy)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
