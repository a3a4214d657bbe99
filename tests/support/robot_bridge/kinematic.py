"""A robot of pure geometry in a room with posts: exact, fast, and all that the control loop needs of a body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import hypot, inf
from typing import Any

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    REST,
    ActionResult,
    Applied,
    Command,
    ExecutionResult,
    Frame,
    NavigationDecision,
    Observation,
    Odometry,
    Pose,
    Scan,
    Twist,
)
from robot_bridge.control.controller import Controller
from robot_bridge.errors import DeviceError
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.protocols import Journal
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.safety.geometry import along, clamp_steering, curvature_of
from tests.support.robot_bridge.rays import CONFIG, Post, scan_of


class SteppedClock:
    """Time that passes when it is waited for, and moves a robot with it; somebody may press Ctrl-C meanwhile."""

    def __init__(self) -> None:
        self.time = 0.0
        self.robot: KinematicRobot | None = None
        self.interrupts_at = inf

    def now(self) -> float:
        return self.time

    def wait_until(self, time: float) -> None:
        if time > self.interrupts_at:
            self.interrupts_at = inf
            raise KeyboardInterrupt
        if self.robot is not None:
            self.robot.drive(time - self.time)
        self.time = max(self.time, time)


class KinematicRobot:
    """Drives exactly as it is told; its lidar turns at its own rate.

    ``frame`` is the last picture of its camera, the newest at any time while ``is_filming``.
    """

    def __init__(self, clock: SteppedClock, posts: Sequence[Post] = (), room: float = 3.0) -> None:
        self.clock, self.posts, self.room = clock, list(posts), room
        self.pose, self.commanded, self.frame = Pose(), REST, None
        self.is_broken = self.is_stuck = self.is_filming = False
        self.stops = 0
        self._scan: Scan | None = None
        clock.robot = self

    frame: Frame | None

    @property
    def config(self) -> RobotConfig:
        return CONFIG

    def drive(self, seconds: float) -> None:
        distance = 0.0 if self.is_stuck else self.commanded.linear * seconds
        if distance:
            self.pose = self.pose.compose(along(curvature_of(self.commanded, CONFIG.body), distance))

    def observe(self) -> Observation:
        if self.is_broken:
            raise DeviceError("the cable is out")
        now = self.clock.now()
        if self._scan is None or now - self._scan.stamp > 0.99 / CONFIG.lidar.rate:
            self._scan = scan_of(self.posts, pose=self.pose, stamp=now, room=self.room)
        if self.is_filming and self.frame is not None:
            self.frame = replace(self.frame, stamp=now)
        return Observation(self._scan, self.frame, Odometry(now, self.pose, self.commanded), 12.0)

    def apply(self, twist: Twist) -> Twist:
        self.commanded = clamp_steering(twist, CONFIG.body)
        return self.commanded

    def stop(self) -> None:
        self.stops += 1
        self.commanded = REST

    def close(self) -> None:
        self.stop()

    @property
    def moved(self) -> float:
        return hypot(self.pose.x, self.pose.y)


class Log(Journal):
    """A journal that keeps what a test asks about."""

    def __init__(self) -> None:
        self.applied: list[Applied] = []
        self.decisions: list[ExecutionResult] = []
        self.results: list[ActionResult] = []
        self.notes: list[tuple[float, str, Mapping[str, Any]]] = []

    def record_command(self, now: float, commands: Sequence[Command], applied: Applied) -> None:
        del now, commands
        self.applied.append(applied)

    def record_decision(self, now: float, result: ExecutionResult) -> None:
        del now
        self.decisions.append(result)

    def record_action(self, now: float, result: ActionResult) -> None:
        del now
        self.results.append(result)

    def record_note(self, now: float, kind: str, data: Mapping[str, Any]) -> None:
        self.notes.append((now, kind, data))

    def kinds(self) -> list[str]:
        return [kind for _, kind, _ in self.notes]

    def tiers(self) -> list[str]:
        return [data["tier"] for _, kind, data in self.notes if kind == "tier"]


def rig(posts: Sequence[Post] = (), room: float = 3.0) -> tuple[Controller, KinematicRobot, Log]:
    """A controller over real navigation and the real chain, in a square room around the origin."""
    clock = SteppedClock()
    robot, log = KinematicRobot(clock, posts, room), Log()
    controller = Controller(robot, clock, Navigation(CONFIG, Pose()), SafetyChain(CONFIG))
    controller.journals = (log,)
    return controller, robot, log


def decision(tool: str, at: float = 0.0, **parameters: object) -> NavigationDecision:
    return NavigationDecision(tool, parameters, "a test", at)


def goal(at: float = 0.0, **given: object) -> NavigationDecision:
    """``navigate_to_goal`` with what is not given null."""
    parameters = {"goal_type": "coordinates", "frontier_id": None, "x": None, "y": None, "reason": "", **given}
    return NavigationDecision("navigate_to_goal", parameters, "a test", at)
