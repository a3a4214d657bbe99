"""Data types that flow through the bridge; :mod:`robot_bridge.protocols` has the protocols of the bridge's parts.

::

    Robot.observe() -> Observation -> Navigation.update() -> Estimate ─┐
                                                                       ├─> View -> SensorSnapshot -> model
    model -> NavigationDecision -> SafetyExecutor -> Target -> Performer -> Twist ┐
                                                        stop, human, planner ─────┴─> safety chain -> Robot.apply()

Frames follow REP 103 and 105: x forward, y left, angles counter-clockwise. The origin of the frame "map" is where the
robot was switched on, with the heading that the robot reported there. The frame "odom" is the frame of odometry, which
drifts. Times are seconds of the robot's clock, which is the simulated clock in simulation.
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
    """Return the angle, in radians, shifted by whole turns into [-pi, pi)."""
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
        """Return the direction to a point relative to the heading, in radians in [-pi, pi)."""
        return wrap_angle(atan2(y - self.y, x - self.x) - self.heading)

    def ahead(self, distance: float, left: float = 0.0) -> tuple[float, float]:
        """Return the point that lies ``distance`` metres ahead and ``left`` metres to the left of this pose."""
        c = cos(self.heading)
        s = sin(self.heading)
        x = self.x + c * distance - s * left
        y = self.y + s * distance + c * left
        return x, y

    def compose(self, other: Pose) -> Pose:
        """Return ``other``, which is given relative to this pose, in the frame in which this pose is given."""
        x, y = self.ahead(other.x, other.y)
        return Pose(x, y, wrap_angle(self.heading + other.heading))

    def relative_to(self, other: Pose) -> Pose:
        """Return this pose in coordinates relative to ``other``.

        This is the inverse of ``compose``: ``other.compose(result)`` is this pose.
        """
        dx = self.x - other.x
        dy = self.y - other.y
        c = cos(other.heading)
        s = sin(other.heading)
        ahead = c * dx + s * dy
        left = -s * dx + c * dy
        return Pose(ahead, left, wrap_angle(self.heading - other.heading))


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """One full turn of the lidar.

    ``ranges``, float32 (beams,), holds distances from the sensor in metres, exactly as the sensor sent them, including
    NaN, inf and -1. Beam i points ``angle_min + i * angle_increment`` radians counter-clockwise from straight ahead.
    """

    stamp: float
    ranges: NDArray[np.float32]
    angle_min: float
    angle_increment: float
    range_min: float
    range_max: float


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Colour and depth picture.

    ``rgb`` is uint8 (height, width, 3). ``depth`` is float32 (height, width), metres along the optical axis, 0 where
    nothing was measured. ``focal`` is the focal length in pixels.
    """

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
    """Newest reading of every sensor; None until the sensor has sent a reading. ``battery`` is in volts."""

    scan: Scan | None = None
    frame: Frame | None = None
    odometry: Odometry | None = None
    battery: float | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """Velocity that the safety chain let through, with the source of its command.

    ``reason`` says why the velocity differs from the command, "" if both are equal.
    """

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
"""Angle of each direction, in degrees counter-clockwise from straight ahead."""


class Speed(StrEnum):
    """Speeds of ``move_toward``."""

    SLOW = "slow"
    MEDIUM = "medium"
    FAST = "fast"


SPEEDS: Mapping[Speed, float] = {Speed.SLOW: 0.08, Speed.MEDIUM: 0.12, Speed.FAST: 0.18}
"""Value of each speed, in m/s."""


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
    """Stages of the robot's reaction to a model that is late or fails, as the watchdog determines them."""

    CONTINUE = "CONTINUE"
    STOP_WAIT = "STOP_WAIT"
    LOCAL_NAV = "LOCAL_NAV"
    RETURN_HOME = "RETURN_HOME"


class Trigger(StrEnum):
    """Reasons to ask the model before its timer runs out."""

    DOORWAY = "doorway"
    INTERSECTION = "intersection"
    DEAD_END = "dead_end"
    MOVED = "moved"


class Source(IntEnum):
    """Sources of commands; a smaller number has priority."""

    STOP = 0
    HUMAN = 1
    MODEL = 2
    PLANNER = 3


@dataclass(frozen=True, slots=True)
class Gap:
    """Doorway seen by the lidar; ``direction_deg`` is counter-clockwise from straight ahead."""

    direction_deg: float
    width_m: float
    distance_m: float


@dataclass(frozen=True, slots=True)
class Frontier:
    """Border between known free space and unknown space; ``id`` stays the same while the frontier exists.

    ``x``, ``y`` is a free place in the map frame from which the frontier can be seen. ``width_m`` is the length of the
    frontier.
    """

    id: int
    x: float
    y: float
    width_m: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated pose in the map frame and velocity; ``is_sure`` says whether scans match the map."""

    stamp: float
    pose: Pose
    twist: Twist
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class NavigationDecision:
    """Decision in the form of a tool call, made by a model or by another caller.

    ``parameters`` are untrusted until :mod:`robot_bridge.decisions.tools` has read them. ``reasoning`` is logged but
    never executed.
    """

    tool_name: str
    parameters: Mapping[str, Any]
    reasoning: str = ""
    timestamp: float = 0.0
    raw_response: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VelocityTarget:
    """Target to drive at a velocity for a time."""

    twist: Twist
    duration_s: float


@dataclass(frozen=True, slots=True)
class TurnTarget:
    """Target to turn counter-clockwise by an angle, with an arc or a multi-point turn, depending on the free room."""

    radians: float


@dataclass(frozen=True, slots=True)
class NavGoalTarget:
    """Target to drive the footprint's middle to a place in the map frame.

    If ``heading`` is not None, the robot must also have this heading at the end. ``tolerance`` is the allowed distance
    of the footprint's middle from the place, in metres.
    """

    x: float
    y: float
    heading: float | None = None
    tolerance: float = 0.25


@dataclass(frozen=True, slots=True)
class ObserveTarget:
    """Target to stand still and look."""

    focus: str


@dataclass(frozen=True, slots=True)
class StopTarget:
    """Target to stand still."""

    reason: str


Target = VelocityTarget | TurnTarget | NavGoalTarget | ObserveTarget | StopTarget


@dataclass(frozen=True, slots=True)
class ExecutionResult:
    """Result of the executor's check of a decision.

    ``decision`` is the decision to carry out, after changes such as a lower speed. If the decision was refused or
    blocked, ``is_valid`` is False, ``target`` is a stop and ``reason`` says why. ``data`` is the answer if the decision
    asked a question (``check_path_clear``).
    """

    target: Target
    decision: NavigationDecision
    is_valid: bool
    reason: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ActionResult:
    """Measured result of a decision; ``success`` comes from odometry, never from the command sent.

    ``stopped_reason`` says why the motion ended early, or "". ``data`` holds the findings of a decision that looks or
    asks.
    """

    tool_name: str
    success: bool
    actual_distance_m: float
    turned_deg: float
    stopped_reason: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A model's answer; ``calls`` holds (tool name, unchecked arguments) in the order of the calls.

    ``latency_s`` is how long the answer took on the robot's clock; if None, the real time counts.
    """

    text: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    latency_s: float | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """Current command of a source, valid until the source withdraws it or until ``expires`` on the robot's clock."""

    twist: Twist
    source: Source
    expires: float


@dataclass(frozen=True, slots=True)
class EffectResult:
    """Result of a change to the world; on failure, ``reason`` says why the change did not happen.

    ``kind``, ``color`` and ``state`` describe the thing after the change: the key in hand, or the door in its new
    state.
    """

    success: bool
    reason: str = ""
    kind: str = ""
    color: str = ""
    state: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Thing that the camera recognised; ``state`` is "closed", "locked" or "open" for a door, else "".

    ``forward`` and ``left`` are the coordinates of the thing's middle in the base frame, in metres.
    """

    kind: str
    color: str
    state: str
    forward: float
    left: float
