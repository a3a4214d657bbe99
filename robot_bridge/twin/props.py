"""What moves in the simulated world besides the robot: things that are carried and doors that open, and movers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import hypot
from typing import Any

from robot_bridge.config import Body
from robot_bridge.contracts import Pose
from robot_bridge.twin import mjcf
from robot_bridge.twin.worlds.world import Obstacle, Thing, TwinWorld

_PARKED = -5.0
"""Height of what is not in the world: below the floor, where no ray and no camera looks."""
_PATIENCE = 1.0
"""Seconds that a mover stands still when it touched the robot, before it turns back."""


class Things:
    """The things of a world as they are now, kept in step with their bodies in the model."""

    def __init__(self, model: Any, data: Any, world: TwinWorld) -> None:
        self._model = model
        self._data = data
        self._now = list(world.things)
        for index in range(len(self._now)):
            self._place(index)

    @property
    def now(self) -> tuple[Thing, ...]:
        """In the order of the world, as they are."""
        return tuple(self._now)

    def change(self, index: int, **fields: Any) -> None:
        """Give a thing another ``x``, ``y``, ``state`` or presence.

        Raises:
            IndexError: there is no such thing.
            ValueError: it cannot be in that state.
        """
        thing = replace(self._now[index], **fields)
        if thing.state not in thing.states:
            raise ValueError(f"a {thing.kind} cannot be {thing.state!r}")
        self._now[index] = thing
        self._place(index)

    def _place(self, index: int) -> None:
        thing = self._now[index]
        is_aside = thing.kind == "door" and thing.state == "open"
        self._put(f"thing{index}", thing, thing.is_present and not is_aside)
        shown = [f"tag{index}"]
        if thing.kind == "door":
            self._put(f"sign{index}", thing, thing.is_present)
            shown.append(f"above{index}")
        material = self._model.material(mjcf.name_tag(thing.kind, thing.color, thing.state)).id
        for name in shown:
            self._model.geom(name).matid = material

    def _put(self, name: str, thing: Thing, is_here: bool) -> None:
        body = int(self._model.body(name).mocapid[0])
        half = Pose(heading=thing.heading / 2).ahead(1.0)
        self._data.mocap_pos[body] = thing.x, thing.y, 0.0 if is_here else _PARKED
        self._data.mocap_quat[body] = half[0], 0, 0, half[1]


@dataclass(slots=True)
class _Walk:
    """``way`` is how many metres a mover has gone, ``sign`` in which sense, ``rests_until`` while it stands still."""

    obstacle: Obstacle
    body: int
    way: float = 0.0
    sign: int = 1
    rests_until: float = 0.0


class Movers:
    """The obstacles that walk. They do not avoid the robot, but stop on touching it."""

    def __init__(self, model: Any, data: Any, world: TwinWorld, body: Body) -> None:
        self._data = data
        self._body = body
        self._near = max(body.front, body.rear) + body.half_width
        self._walks = []
        for index, obstacle in enumerate(world.obstacles):
            if obstacle.path:
                mocap = int(model.body(f"obstacle{index}").mocapid[0])
                self._walks.append(_Walk(obstacle, mocap))

    def step(self, now: float, dt: float, robot: Callable[[], Pose]) -> None:
        """Let all walk for ``dt`` seconds; ``robot`` tells where its rear axle is, in world coordinates."""
        if not self._walks:
            return
        pose = robot()
        for walk in self._walks:
            if now >= walk.rests_until:
                self._advance(walk, now, dt, pose)

    def _advance(self, walk: _Walk, now: float, dt: float, pose: Pose) -> None:
        obstacle = walk.obstacle
        way = walk.way + walk.sign * walk.obstacle.speed * dt
        x, y = obstacle.position_at(way)
        near = self._near + obstacle.half_x
        if abs(x - pose.x) < near and abs(y - pose.y) < near:
            gap = self._gap(*obstacle.position_at(walk.way), pose)
            # Only a step that comes nearer is stopped: what touches the robot can always walk away.
            if gap < obstacle.half_x and self._gap(x, y, pose) < gap:
                walk.sign = -walk.sign
                walk.rests_until = now + _PATIENCE
                return
        walk.way = way
        self._data.mocap_pos[walk.body, :2] = x, y

    def _gap(self, x: float, y: float, pose: Pose) -> float:
        """Return the metres from the robot's footprint to a point."""
        local = Pose(x, y).relative_to(pose)
        behind_rear = -self._body.rear - local.x
        beyond_front = local.x - self._body.front
        ahead = max(behind_rear, beyond_front, 0.0)
        beside = max(abs(local.y) - self._body.half_width, 0.0)
        return hypot(ahead, beside)
