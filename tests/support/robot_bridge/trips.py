"""A robot of pure geometry among boxes: noisy scans, drifting odometry, slow steering, the real safety chain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import atan, tan

import numpy as np

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Command, Observation, Odometry, Pose, Source, Twist, wrap_angle
from robot_bridge.navigation.driving import NavStatus
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.safety.geometry import along, clamp_steering, clearance, transform_to_frame
from tests.support.robot_bridge.rooms import Box, scan

CONFIG = RobotConfig()
PERIOD = 0.05


def walls(x0: float, y0: float, x1: float, y1: float) -> list[Box]:
    """Of a closed room with this inside."""
    return [(x0 - 1, y0 - 1, x0, y1 + 1), (x1, y0 - 1, x1 + 1, y1 + 1), (x0, y0 - 1, x1, y0), (x0, y1, x1, y1 + 1)]


class Trip:
    """Drives a :class:`Navigation` in lock-step. ``truth`` is where the robot is, ``nearest`` how near it came to a
    corner of any box, ``error`` what the last estimate was off, metres and radians."""

    def __init__(self, world: list[Box], start: Pose, *, scale: float = 1.02, drift: float = 0.015) -> None:
        self.world, self.truth, self.now = world, start, 0.0
        self.navigation = Navigation(CONFIG, start)
        self.nearest, self.error = 9.0, (0.0, 0.0)
        self._odometry, self._scale, self._drift = Pose(7.0, -3.0, 2.0), scale, drift
        self._steering, self._twist = 0.0, REST
        self._chain, self._rng = SafetyChain(CONFIG), np.random.default_rng(5)
        self._scan = scan(world, start, self._rng)

    def tick(self, twist: Twist | None = None) -> None:
        """One period; ``twist`` is driven instead of what navigation wants."""
        if round(self.now / PERIOD) % 2 == 0:
            self._scan = replace(scan(self.world, self.truth, self._rng), stamp=self.now)
        observation = Observation(self._scan, None, Odometry(self.now, self._odometry, self._twist))
        pose = self.navigation.update(observation).pose
        self.error = self.truth.distance_to(pose.x, pose.y), abs(wrap_angle(pose.heading - self.truth.heading))
        wanted = self.navigation.twist(self.now)
        commands = [Command(twist or wanted, Source.PLANNER, self.now + 0.2)]
        self._drive(self._chain.step(commands, observation, self.now).twist)
        self.now = round(self.now + PERIOD, 6)

    def run(self, seconds: float, until: Callable[[], bool] | None = None) -> NavStatus:
        """Until the goal is left, or for so long."""
        end = self.now + seconds
        while self.now < end and self.navigation.status is NavStatus.DRIVING and not (until and until()):
            self.tick()
        return self.navigation.status

    def carry_to(self, pose: Pose) -> None:
        """Lift the robot somewhere else; odometry does not notice."""
        self.truth = pose

    def _drive(self, twist: Twist) -> None:
        self._twist = twist = clamp_steering(twist, CONFIG.body)
        body, most = CONFIG.body, CONFIG.limits.steering_rate * PERIOD
        if twist.linear:
            wanted = atan(twist.angular / twist.linear * body.wheelbase)
            self._steering += min(most, max(-most, wanted - self._steering))
        curvature, distance = tan(self._steering) / body.wheelbase, twist.linear * PERIOD
        self.truth = self.truth.compose(along(curvature, distance))
        drifted = curvature + self._drift * (1 if distance > 0 else -1)
        self._odometry = self._odometry.compose(along(drifted, distance * self._scale))
        points = np.array([(x, y) for x0, y0, x1, y1 in self.world for x in (x0, x1) for y in (y0, y1)])
        self.nearest = min(self.nearest, float(clearance(transform_to_frame(points, self.truth), body).min()))
