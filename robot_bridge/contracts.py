"""Data types that flow through the bridge; the protocols of its parts are in :mod:`robot_bridge.protocols`.

::

    Robot.observe() -> Observation -> Navigation.update() -> Estimate ─┐
                                                                       ├─> View -> SensorSnapshot -> model
    model -> NavigationDecision -> SafetyExecutor -> Target -> Performer -> Twist ┐
                                                        stop, human, planner ─────┴─> safety chain -> Robot.apply()

Frames follow REP 103 and 105: x forward, y left, angles counter-clockwise. The origin of "map" is where the robot stood
when it was switched on, with the heading it reported there; "odom" is the frame of odometry and drifts. Times are
seconds of the robot's clock, which is the simulated clock in simulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from math import atan2, cos, hypot, pi, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray


def wrap_angle(angle: float) -> float:
    """Return the same angle in [-pi, pi)."""
    return (angle + pi) % (2 * pi) - pi


@dataclass(frozen=True, slots=True)
class Twist:
    """Velocity of the rear axle's middle: m/s forward, rad/s counter-clockwise."""

    linear: float = 0.0
    angular: float = 0.0


REST = Twist()


@dataclass(frozen=True, slots=True)
class Pose:
    """Place in metres and heading in radians of the rear axle's middle."""

    x: float = 0.0
    y: float = 0.0
    heading: float = 0.0

    def distance_to(self, x: float, y: float) -> float:
        return hypot(x - self.x, y - self.y)

    def bearing_to(self, x: float, y: float) -> float:
        """Return the direction to a point relative to the heading, in [-pi, pi)."""
        return wrap_angle(atan2(y - self.y, x - self.x) - self.heading)

    def ahead(self, distance: float, left: float = 0.0) -> tuple[float, float]:
        """Return the point this far ahead and to the left."""
        c = cos(self.heading)
        s = sin(self.heading)
        x = self.x + c * distance - s * left
        y = self.y + s * distance + c * left
        return x, y

    def compose(self, other: Pose) -> Pose:
        """Return ``other``, given relative to this pose, in the frame in which this pose is given."""
        x, y = self.ahead(other.x, other.y)
        return Pose(x, y, wrap_angle(self.heading + other.heading))

    def relative_to(self, other: Pose) -> Pose:
        """Return this pose as seen from ``other``: ``other.compose(result)`` is this pose."""
        dx = self.x - other.x
        dy = self.y - other.y
        c = cos(other.heading)
        s = sin(other.heading)
        ahead = c * dx + s * dy
        left = -s * dx + c * dy
        return Pose(ahead, left, wrap_angle(self.heading - other.heading))


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """One turn of the lidar: ``ranges`` float32 (beams,), metres from the sensor; beam i looks at
    ``angle_min + i * angle_increment`` from straight ahead. As the sensor gave it: NaN, inf and -1 included."""

    stamp: float
    ranges: NDArray[np.float32]
    angle_min: float
    angle_increment: float
    range_min: float
    range_max: float


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """``rgb`` uint8 (height, width, 3); ``depth`` float32 (height, width), metres along the optical axis, 0 where
    nothing was measured; ``focal`` in pixels."""

    stamp: float
    rgb: NDArray[np.uint8]
    depth: NDArray[np.float32]
    focal: float


@dataclass(frozen=True, slots=True)
class Odometry:
    """Pose in the odom frame and the measured velocity."""

    stamp: float
    pose: Pose
    twist: Twist


@dataclass(frozen=True, slots=True)
class Observation:
    """The newest reading of every sensor, None before its first; ``battery`` in volts."""

    scan: Scan | None = None
    frame: Frame | None = None
    odometry: Odometry | None = None
    battery: float | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """The velocity that the chain let through, its source, and why it differs from the command ("" if it does not)."""

    twist: Twist
    source: str
    reason: str = ""


class Direction(StrEnum):
    """Directions of ``move_toward`` and ``check_path_clear``."""

    FORWARD = "forward"
    FORWARD_LEFT = "forward_left"
    LEFT = "left"
    FORWARD_RIGHT = "forward_right"
    RIGHT = "right"
    BACKWARD = "backward"


BEARINGS: Mapping[Direction, float] = {
    Direction.FORWARD: 0.0,
    Direction.FORWARD_LEFT: 45.0,
    Direction.LEFT: 90.0,
    Direction.FORWARD_RIGHT: -45.0,
    Direction.RIGHT: -90.0,
    Direction.BACKWARD: 180.0,
}
"""Degrees counter-clockwise from ahead."""


class Speed(StrEnum):
    """Speeds of ``move_toward``."""

    SLOW = "slow"
    MEDIUM = "medium"
    FAST = "fast"


SPEEDS: Mapping[Speed, float] = {Speed.SLOW: 0.08, Speed.MEDIUM: 0.12, Speed.FAST: 0.18}
"""m/s."""


class Tool(StrEnum):
    """The seven tools of the model."""

    MOVE_TOWARD = "move_toward"
    NAVIGATE_TO_GOAL = "navigate_to_goal"
    ROTATE = "rotate"
    STOP_ROBOT = "stop_robot"
    OBSERVE_SCENE = "observe_scene"
    CHECK_PATH_CLEAR = "check_path_clear"
    REPORT_DISCOVERY = "report_discovery"


class StopReason(StrEnum):
    """Reasons of ``stop_robot``."""

    OBSTACLE_DETECTED = "obstacle_detected"
    EXPLORATION_COMPLETE = "exploration_complete"
    NEED_TO_OBSERVE = "need_to_observe"
    USER_REQUESTED = "user_requested"
    UNCERTAIN = "uncertain"


class Tier(StrEnum):
    """The watchdog's verdict on a model that is late or fails."""

    CONTINUE = "CONTINUE"
    STOP_WAIT = "STOP_WAIT"
    LOCAL_NAV = "LOCAL_NAV"
    RETURN_HOME = "RETURN_HOME"


class Trigger(StrEnum):
    """Why the model is asked before its timer."""

    DOORWAY = "doorway"
    INTERSECTION = "intersection"
    DEAD_END = "dead_end"
    MOVED = "moved"


class Source(IntEnum):
    """Sources of commands, the highest priority first."""

    STOP = 0
    HUMAN = 1
    MODEL = 2
    PLANNER = 3


@dataclass(frozen=True, slots=True)
class Gap:
    """A doorway seen by the lidar; ``direction_deg`` counter-clockwise from straight ahead."""

    direction_deg: float
    width_m: float
    distance_m: float


@dataclass(frozen=True, slots=True)
class Frontier:
    """Where known free space meets the unknown; ``id`` stays the same while the frontier does.

    ``x``, ``y`` is a free place from which it can be seen, in the map frame; ``width_m`` how long it is.
    """

    id: int
    x: float
    y: float
    width_m: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """Where the robot is believed to be, in the map frame; ``is_sure`` while scans match the map."""

    stamp: float
    pose: Pose
    twist: Twist
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class NavigationDecision:
    """A tool call of a model, or of another caller in the same form.

    ``parameters`` are untrusted until :mod:`robot_bridge.decisions.tools` has read them; ``reasoning`` is logged,
    never executed.
    """

    tool_name: str
    parameters: Mapping[str, Any]
    reasoning: str = ""
    timestamp: float = 0.0
    raw_response: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VelocityTarget:
    """Drive at a velocity for a time."""

    twist: Twist
    duration_s: float


@dataclass(frozen=True, slots=True)
class TurnTarget:
    """Turn by an angle (counter-clockwise), by arcs or a multi-point turn as there is room."""

    radians: float


@dataclass(frozen=True, slots=True)
class NavGoalTarget:
    """Drive to a place in the map frame; with a heading, to that pose of the footprint's middle.

    ``tolerance`` is for the footprint's middle, metres.
    """

    x: float
    y: float
    heading: float | None = None
    tolerance: float = 0.25


@dataclass(frozen=True, slots=True)
class ObserveTarget:
    """Stand still and look."""

    focus: str


@dataclass(frozen=True, slots=True)
class StopTarget:
    """Stand still."""

    reason: str


Target = VelocityTarget | TurnTarget | NavGoalTarget | ObserveTarget | StopTarget


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """The executor's result of a decision.

    ``decision`` is the one carried out, after changes such as slowing down; ``is_valid`` is False if it was refused or
    blocked: then the target is a stop and ``reason`` says why. ``data`` is the answer to a question
    (``check_path_clear``).
    """

    target: Target
    decision: NavigationDecision
    is_valid: bool
    reason: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The measured result of a decision: success comes from odometry, never from the command sent.

    ``stopped_reason`` says why motion ended early, or ""; ``data`` is what looking or asking found out.
    """

    tool_name: str
    success: bool
    actual_distance_m: float
    turned_deg: float
    stopped_reason: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A model's answer: its words and the tools it called, in order, arguments unchecked.

    ``latency_s`` is how long it took on the robot's clock; None means the real time it took.
    """

    text: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    latency_s: float | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A source's current command, valid until it is withdrawn or ``expires`` (robot's clock)."""

    twist: Twist
    source: Source
    expires: float


@dataclass(frozen=True, slots=True)
class EffectResult:
    """The result of a change to the world; ``reason`` says why it did not happen, for the agent and the log.

    ``kind``, ``color``, ``state`` describe the thing after the change: the key in hand, the door as it is now.
    """

    success: bool
    reason: str = ""
    kind: str = ""
    color: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A thing that the camera recognised: ``state`` as in the twin's level ("closed", "locked", "open", "").

    ``forward``, ``left`` place its middle in the base frame, metres.
    """

    kind: str
    color: str
    state: str
    forward: float
    left: float
