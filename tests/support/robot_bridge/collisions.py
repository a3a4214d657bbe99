"""What a simulated robot touched, and whose motion was to blame; obstacles that its lidar does not see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_bridge.contracts import Pose, Twist
from robot_bridge.twin import mjcf
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.world import WALL_HEIGHT, Obstacle

BLAME_SPEED = 0.01
"""m/s of the robot's own motion towards what it touches, from which on a contact is its doing."""
MOVER = "mover"
"""How names begin of what moves by itself; a contact with anything else is always the robot's doing."""
APART = 0.5
"""Seconds without contact after which touching the same thing again is a new collision."""


@dataclass(frozen=True, slots=True)
class Collision:
    """``other`` is the name of what was touched, ``caused_by_robot`` whether the robot drove into it."""

    stamp: float
    other: str
    caused_by_robot: bool


class CollisionLog:
    """Counts a contact that lasts as one collision, and as a second one where the robot comes to blame during it."""

    def __init__(self) -> None:
        self._found: list[Collision] = []
        self._touching: dict[str, tuple[float, bool]] = {}

    @property
    def collisions(self) -> tuple[Collision, ...]:
        return tuple(self._found)

    def touching(self, since: float) -> tuple[str, ...]:
        """What has been touched since then."""
        return tuple(other for other, (stamp, _) in self._touching.items() if stamp >= since)

    def touched(self, stamp: float, other: str, approach: float) -> None:
        """``approach``: how fast the robot itself moves towards the other at the point of contact, m/s."""
        blame = approach > BLAME_SPEED or not other.startswith(MOVER)
        last, blamed = self._touching.get(other, (float("-inf"), False))
        if stamp - last > APART or (blame and not blamed):
            self._found.append(Collision(stamp, other, blame))
            blamed = blame
        self._touching[other] = (stamp, blamed or blame)


def hull_contacts(model: Any, data: Any, hull: int) -> Iterator[tuple[str, Any, Any]]:
    """What the geom ``hull`` touches: the other's name, the place and the direction towards it, in world coordinates.

    A thing's parts are named as one: ``thing3``.
    """
    if data.ncon == 0:
        return
    geoms = data.contact.geom
    for index in np.flatnonzero((geoms == hull).any(axis=1)).tolist():
        contact = data.contact[index]
        first, second = geoms[index].tolist()
        other, sign = (second, 1) if first == hull else (first, -1)
        body = model.body(model.geom_bodyid[other]).name
        name = body if body.startswith("thing") else model.geom(other).name
        yield name, contact.pos[:2], contact.frame[:2] * sign


def approach(pose: Pose, own: Twist, at: Any, towards: Any) -> float:
    """How fast a point of a robot moves in a direction by the robot's own motion, m/s."""
    vx, vy = Pose(0, 0, pose.heading).ahead(own.linear)
    vx, vy = vx - own.angular * (at[1] - pose.y), vy + own.angular * (at[0] - pose.x)
    return float(vx * towards[0] + vy * towards[1])


def watch_collisions(robot: MujocoRobot) -> CollisionLog:
    """Return the log of what a robot touches from now on."""
    twin: Any = robot
    log = CollisionLog()
    hull = twin._model.geom("hull").id
    step = twin._step

    def watched_step() -> None:
        own = twin._wheel_motion()
        step()
        for other, at, towards in hull_contacts(twin._model, twin._data, hull):
            log.touched(robot.time, other, approach(twin._pose(), own, at, towards))

    twin._step = watched_step
    return log


def touched_now(robot: MujocoRobot, log: CollisionLog) -> tuple[str, ...]:
    """Return what the body of a watched robot touches now."""
    return log.touching(robot.time - mjcf.TIMESTEP)


def make_pane(x: float, y: float, half_x: float, half_y: float) -> Obstacle:
    """A sheet of glass, as high as a wall."""
    return Obstacle("pane", "box", x, y, half_x, half_y, WALL_HEIGHT, is_glass=True)


def make_table(x: float, y: float, half_x: float, half_y: float) -> Obstacle:
    """A low table top: above the plane of the default lidar, below the top of the default robot."""
    return Obstacle("table", "box", x, y, half_x, half_y, 0.03, bottom=0.175)


def make_step(x: float, y: float, half_x: float, half_y: float) -> Obstacle:
    """A step up, below the plane of the default lidar and too high to be driven onto."""
    return Obstacle("step", "box", x, y, half_x, half_y, 0.08)
