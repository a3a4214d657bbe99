"""The moving parts of the simulated world besides the robot: things that are carried, doors, and movers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import hypot
from typing import Any

from robot_bridge.config import Body
from robot_bridge.contracts import Pose
from robot_bridge.twin import mjcf
from robot_bridge.twin.worlds.world import Obstacle, Thing, TwinWorld

_PARKED_Z = -5.0
"""Height of bodies that are not in the world, metres: below the floor, where no ray and no camera looks."""
_REST_S = 1.0
"""Seconds that a mover stands still after touching the robot, before the mover turns back."""


class Things:
    """The things of a world in their present state; the bodies in the model always agree with this state."""

    def __init__(self, model: Any, data: Any, world: TwinWorld) -> None:
        self._model = model
        self._data = data
        self._things = list(world.things)
        for index in range(len(self._things)):
            self._update_bodies(index)

    @property
    def now(self) -> tuple[Thing, ...]:
        """The things in their present state, in the order of the world."""
        return tuple(self._things)

    def change(self, index: int, **fields: Any) -> None:
        """Change fields of a thing: ``x``, ``y``, ``state`` or ``is_present``.

        Raises:
            IndexError: no thing has this index.
            ValueError: the thing cannot be in this state.
        """
        thing = replace(self._things[index], **fields)
        if thing.state not in thing.states:
            raise ValueError(f"a {thing.kind} cannot be {thing.state!r}")
        self._things[index] = thing
        self._update_bodies(index)

    def _update_bodies(self, index: int) -> None:
        """Move the bodies of a thing to their places and show the tag of the thing's state.

        The panel of an open door is parked below the floor; the sign above the door stays.
        """
        thing = self._things[index]
        is_open_door = thing.kind == "door" and thing.state == "open"
        self._place_body(f"thing{index}", thing, thing.is_present and not is_open_door)
        tag_geoms = [f"tag{index}"]
        if thing.kind == "door":
            self._place_body(f"sign{index}", thing, thing.is_present)
            tag_geoms.append(f"above{index}")
        material = self._model.material(mjcf.name_tag(thing.kind, thing.color, thing.state)).id
        for name in tag_geoms:
            self._model.geom(name).matid = material

    def _place_body(self, name: str, thing: Thing, is_here: bool) -> None:
        """Move a body to the place and heading of a thing; if ``is_here`` is False, park the body below the floor."""
        body = int(self._model.body(name).mocapid[0])
        cos_half, sin_half = Pose(heading=thing.heading / 2).ahead(1.0)
        self._data.mocap_pos[body] = thing.x, thing.y, 0.0 if is_here else _PARKED_Z
        self._data.mocap_quat[body] = cos_half, 0, 0, sin_half


@dataclass(slots=True)
class _Walk:
    """The state of a mover.

    ``way`` is the distance walked along the path and back, metres. ``sign`` is 1, or -1 while the mover walks
    backwards. The mover stands still until the time ``rests_until``. ``body`` is the mocap index of the mover's body.
    """

    obstacle: Obstacle
    body: int
    way: float = 0.0
    sign: int = 1
    rests_until: float = 0.0


class Movers:
    """The obstacles that walk. A mover does not avoid the robot, but stops when it touches the robot."""

    def __init__(self, model: Any, data: Any, world: TwinWorld, body: Body) -> None:
        self._data = data
        self._body = body
        self._reach = max(body.front, body.rear) + body.half_width
        self._walks = []
        for index, obstacle in enumerate(world.obstacles):
            if obstacle.path:
                mocap = int(model.body(f"obstacle{index}").mocapid[0])
                self._walks.append(_Walk(obstacle, mocap))

    def step(self, now: float, dt: float, robot: Callable[[], Pose]) -> None:
        """Let all movers walk for ``dt`` seconds; ``robot`` returns the pose of the rear axle in world coordinates."""
        if not self._walks:
            return
        pose = robot()
        for walk in self._walks:
            if now >= walk.rests_until:
                self._advance(walk, now, dt, pose)

    def _advance(self, walk: _Walk, now: float, dt: float, pose: Pose) -> None:
        """Move a mover by one step.

        If the mover touches the robot and the step would lead nearer to the robot, turn the mover round and let it rest
        instead.
        """
        obstacle = walk.obstacle
        way = walk.way + walk.sign * walk.obstacle.speed * dt
        x, y = obstacle.position_at(way)
        reach = self._reach + obstacle.half_x
        is_near = abs(x - pose.x) < reach and abs(y - pose.y) < reach
        if is_near:
            gap = self._gap(*obstacle.position_at(walk.way), pose)
            # Steps away from the robot are allowed, so that a mover that touches the robot can always leave.
            if gap < obstacle.half_x and self._gap(x, y, pose) < gap:
                walk.sign = -walk.sign
                walk.rests_until = now + _REST_S
                return
        walk.way = way
        self._data.mocap_pos[walk.body, :2] = x, y

    def _gap(self, x: float, y: float, pose: Pose) -> float:
        """Return the distance from the robot's footprint to a point, metres; 0 inside the footprint."""
        local = Pose(x, y).relative_to(pose)
        behind_rear = -self._body.rear - local.x
        beyond_front = local.x - self._body.front
        ahead = max(behind_rear, beyond_front, 0.0)
        beside = max(abs(local.y) - self._body.half_width, 0.0)
        return hypot(ahead, beside)
