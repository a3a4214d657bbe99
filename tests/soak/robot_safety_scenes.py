"""Where the gates of ``scripts/soak robot-safety`` take place, who watches, and who commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import hypot, inf, nan, pi

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Applied, Command, Observation, Pose, Scan, Source, Twist
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.safety.geometry import curvature_of, free_distance, transform_to_frame
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.world import Obstacle, Thing, TwinWorld, Wall
from tests.support.robot_bridge.collisions import watch_collisions

CONFIG = RobotConfig()
PERIOD = 1 / CONFIG.control_rate
ROLLS_ON_S = 0.35
"""Longer than the robot needs from full speed to rest."""


class Witness(SafetyChain):
    """A chain that counts what it changes, and looks at every collision when it happens.

    ``touched`` counts those for which the simulation blames the other, ``excused`` those for which it blames the robot
    though it had been told to stand for long enough.
    """

    def __init__(self, robot: MujocoRobot, name: str) -> None:
        super().__init__(robot.config)
        self._log = watch_collisions(robot)
        self._name = name
        self._judged = 0
        self._moved, self._kind = -inf, ""
        self.interventions = Counter[str]()
        self.wrong = list[str]()
        self.touched = self.excused = 0

    def step(self, commands: Sequence[Command], observation: Observation, now: float) -> Applied:
        self.judge()
        applied = super().step(commands, observation, now)
        if applied.twist != REST:
            self._moved = now
        kind = what_it_was(applied)
        if kind and kind != self._kind:
            self.interventions[kind] += 1
        self._kind = kind
        return applied

    def judge(self) -> None:
        """Blame the robot, or not, for what has happened since."""
        for hit in self._log.collisions[self._judged :]:
            if hit.caused_by_robot and hit.stamp - self._moved <= ROLLS_ON_S:
                self.wrong.append(f"{self._name}: drove into {hit.other} at {hit.stamp:.2f} s")
            self.touched += not hit.caused_by_robot
            self.excused += hit.caused_by_robot and hit.stamp - self._moved > ROLLS_ON_S
        self._judged = len(self._log.collisions)


def what_it_was(applied: Applied) -> str:
    """The kind of an intervention, "" for none and for what only takes its time."""
    reason = applied.reason
    kinds = ("obstacle", "scan", "odometry", "command", "turn in place", "curvature", "braking", "at most")
    kind = next((kind for kind in kinds if kind in reason), "")
    return f"{kind}, stopped" if kind == "obstacle" and applied.twist == REST else kind


def bursts(rng: np.random.Generator) -> Iterator[tuple[list[Command], bool]]:
    """What is commanded in each period, for ever; whether the lidar is broken. Times count from now."""
    while True:
        sources = rng.choice(list(Source)[1:], size=int(rng.integers(1, 4)), replace=False)
        commands = [Command(wild(rng), Source(source), float(rng.uniform(-0.1, 3))) for source in sources]
        flips, is_blind = rng.random() < 0.1, rng.random() < 0.03
        for number in range(int(rng.integers(1, 80))):
            sign = -1.0 if flips and number % 2 else 1.0
            turned = [replace(c, twist=Twist(sign * c.twist.linear, c.twist.angular)) for c in commands]
            yield turned, bool(is_blind)


def wild(rng: np.random.Generator) -> Twist:
    """A velocity that somebody might command who means harm."""
    linear = rng.choice([rng.uniform(-0.3, 0.3), rng.choice([0.0, 1e9, -1e9, nan, inf, 0.25, -0.12])], p=[0.85, 0.15])
    angular = rng.choice([rng.uniform(-1, 1), 0.0, rng.choice([1e9, -1e9, nan, -inf])], p=[0.6, 0.35, 0.05])
    return Twist(float(linear), float(angular))


def timed(commands: list[Command], now: float) -> list[Command]:
    """The commands on the robot's clock."""
    return [replace(command, expires=now + command.expires) for command in commands]


def broken(scan: Scan | None, rng: np.random.Generator) -> Scan | None:
    """The scan as a broken lidar would give it."""
    if scan is None or rng.random() < 0.2:
        return None
    ranges = scan.ranges.copy()
    kind = int(rng.integers(4))
    if kind == 0:
        return replace(scan, ranges=ranges[: int(rng.integers(len(ranges)))])
    if kind == 1:
        return replace(scan, stamp=scan.stamp - 1.0)
    ranges[:] = rng.choice([nan, inf, -inf, -1.0, 0.0])
    if kind == 2:
        return replace(scan, ranges=ranges)
    return replace(scan, ranges=np.where(rng.random(len(ranges)) < 0.4, np.float32(inf), scan.ranges))


def still(world: TwinWorld) -> TwinWorld:
    """The world without anything that walks."""
    return replace(world, obstacles=tuple(obstacle for obstacle in world.obstacles if not obstacle.path))


def surfaces(world: TwinWorld) -> NDArray[np.float64]:
    """Points on everything that a lidar can see and that stands still, (n, 2) in world coordinates, 1 cm apart."""
    edges: list[NDArray[np.float64]] = []
    for wall in world.walls:
        edges.append(rectangle(wall.x0, wall.y0, wall.x1, wall.y1))
    for thing in world.obstacles:
        if thing.shape == "box":
            edges.append(
                rectangle(
                    thing.x - thing.half_x, thing.y - thing.half_y, thing.x + thing.half_x, thing.y + thing.half_y
                )
            )
        else:
            turn = np.linspace(0, 2 * pi, 3 + round(700 * thing.half_x))
            edges.append(
                np.column_stack((thing.x + thing.half_x * np.cos(turn), thing.y + thing.half_x * np.sin(turn)))
            )
    return np.concatenate(edges)


def rectangle(x0: float, y0: float, x1: float, y1: float) -> NDArray[np.float64]:
    """Points on its outline."""
    xs, ys = np.arange(x0, x1, 0.01), np.arange(y0, y1, 0.01)
    sides = [(xs, np.full_like(xs, y)) for y in (y0, y1)] + [(np.full_like(ys, x), ys) for x in (x0, x1)]
    return np.concatenate([np.column_stack(side) for side in sides])


def true_distance(robot: MujocoRobot, points: NDArray[np.float64], twist: Twist) -> float:
    """From the lidar along the arc of ``twist`` to the nearest of the points (world coordinates), metres."""
    truth, start, body = robot.truth, robot.world.start, robot.config.body
    pose = Pose(truth.x + start.x, truth.y + start.y, truth.heading)
    near = points[np.hypot(points[:, 0] - pose.x, points[:, 1] - pose.y) < 2]
    forward = twist.linear > 0
    padding = robot.config.zones.padding
    free = free_distance(transform_to_frame(near, pose), curvature_of(twist, body), forward, body, padding, 1.0)
    return free + padding + (body.front - robot.config.lidar.x if forward else body.rear + robot.config.lidar.x)


def hall(start: Pose, things: Sequence[Thing] = (), obstacles: Sequence[Obstacle] = ()) -> TwinWorld:
    """An empty room of 12 x 12 m around the origin."""
    sides = (Wall(-6.1, -6.1, 6.1, -6), Wall(-6.1, 6, 6.1, 6.1), Wall(-6.1, -6, -6, 6), Wall(6, -6, 6.1, 6))
    return TwinWorld(sides, tuple(things), tuple(obstacles), start, "hall")


class Trial:
    """Somebody drives through a hall and wants nothing but one velocity."""

    def __init__(self, world: TwinWorld, seed: int, twist: Twist, name: str) -> None:
        self.robot = MujocoRobot(world, seed=seed, with_camera=False)
        self.chain = Witness(self.robot, name)
        self.twist = twist
        self.last = self.robot.truth
        self.speed = 0.0

    def tick(self, change: Callable[[Observation], Observation] = lambda seen: seen) -> Applied:
        """One period; ``change`` is done to what the sensors say."""
        now = self.robot.time
        command = Command(self.twist, Source.MODEL, now + 1)
        applied = self.chain.step([command], change(self.robot.observe()), now)
        self.robot.apply(applied.twist)
        self.robot.wait_until(now + PERIOD)
        truth = self.robot.truth
        self.speed = hypot(truth.x - self.last.x, truth.y - self.last.y) / PERIOD
        self.last = truth
        return applied

    def until(self, seconds: float, change: Callable[[Observation], Observation] = lambda seen: seen) -> None:
        """Ticks for so long."""
        for _ in range(round(seconds / PERIOD)):
            self.tick(change)
