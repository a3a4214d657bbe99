"""The only path to the wheels: mux -> rate limit -> zones -> Ackermann clamp -> one publisher.

:func:`filter_command` is pure: the same state, commands, observation and time give the same velocity.
A recorded run can therefore be replayed. :class:`SafetyChain` holds the state and the latch of the emergency stop.

The steering limit is applied first, so that the zones look along the arc that will be driven, and last, so that every
velocity sent can be driven. The last clamp changes nothing (``tests/robot_bridge/safety/test_chain.py``).
``docs/robot_safety.md`` derives the figures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import atan, copysign, inf, isfinite, isnan, tan

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Applied, Command, Observation, Odometry, Source, Twist
from robot_bridge.safety.config_check import require_valid
from robot_bridge.safety.doubt import (
    BLOCKED_UNSEEN,
    MotionMismatch,
    Phase,
    backing,
    count_hindrance,
    metres_backed,
    restart_after_jump,
    trust_again,
    unseen_points,
    update_doubt,
)
from robot_bridge.safety.geometry import (
    along,
    clamp_steering,
    clearance,
    curvature_of,
    free_distance,
    transform_to_frame,
)
from robot_bridge.safety.obstacles import TOUCH_M, Memory, add_look, points_around
from robot_bridge.safety.odometry import jump, odometry_fault
from robot_bridge.safety.scans import fault
from robot_bridge.safety.stop_distance import RESERVE_M, max_speed_at, reach

CREEP = 0.02
"""m/s: if the zones allow less than this, the robot stops."""
_STANDING = 0.04
"""m/s: the most that odometry may show while the robot stands."""
_ROLLING = 0.08
"""m/s: above this, measured velocity shows where the wheels point."""
_ROUNDING = 1e-9
_PIECES = 3
"""Number of arcs that approximate the way driven while the steering turns."""
_TURNING_M = 0.002
"""Shorter arcs are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class ChainState:
    """What the chain remembers from one step to the next.

    ``twist`` is the velocity sent at ``stamp``; ``stopped`` the reason of a latched emergency stop, or "";
    ``steering`` the least and greatest possible angle of the front wheels, radians (at first any angle);
    ``odometry`` the last usable reading, ``scanned`` the stamp of the last usable scan; ``doubt`` whether
    measured motion matches the commands.
    """

    stamp: float = -inf
    twist: Twist = REST
    stopped: str = ""
    steering: tuple[float, float] = (-inf, inf)
    memory: Memory = ()
    odometry: Odometry | None = None
    scanned: float = -inf
    doubt: MotionMismatch = field(default_factory=MotionMismatch)


def filter_command(
    state: ChainState, commands: Sequence[Command], observation: Observation, now: float, config: RobotConfig
) -> tuple[ChainState, Applied]:
    """Do one step: return the new state and the velocity that may be driven now.

    ``Applied.source`` is the commanding source in lower case, "stop" while the emergency stop is latched, "none"
    without a command. ``Applied.reason`` is "" exactly when the command is applied unchanged.
    """
    state, faulty = _update_sensors(state, observation, now, config)
    command = choose_command(commands, now)
    if state.stopped:
        applied = Applied(REST, Source.STOP.name.lower(), state.stopped)
    elif command is None:
        applied = Applied(REST, "none")
    elif command.twist == REST and command.source is not Source.STOP:
        applied = Applied(REST, command.source.name.lower())
    elif observation.odometry is None or faulty or find_refusal(command):
        applied = Applied(REST, command.source.name.lower(), find_refusal(command) or faulty)
    elif state.doubt.phase is not Phase.TRUSTED:
        applied = _act_in_doubt(state, command, observation.odometry, now, config)
        if applied.twist == REST and backing(state.doubt, config) != REST:
            state = replace(state, doubt=count_hindrance(state.doubt, now, config))
    else:
        applied = _apply_command(state, command, observation.odometry, now, config)
    return replace(state, stamp=now, twist=applied.twist), applied


def _update_sensors(
    state: ChainState, observation: Observation, now: float, config: RobotConfig
) -> tuple[ChainState, str]:
    """Return the state updated from the sensors, and why nothing may move, or "" if motion is allowed."""
    scan = observation.scan
    odometry = observation.odometry
    faulty = odometry_fault(odometry, now, config)
    state = replace(state, steering=_bound_steering(state, None if faulty else odometry, now, config))
    if odometry is None or faulty:
        return state, fault(scan, now, config) or faulty
    faulty = jump(state.odometry, odometry, config)
    if faulty:
        state = replace(state, memory=(), doubt=restart_after_jump(state.doubt))
    state = replace(state, odometry=odometry)
    faulty = fault(scan, now, config) or faulty
    usable = None if faulty or scan is None or scan.stamp == state.scanned else scan
    doubt = update_doubt(state.doubt, state.twist, odometry, usable, now, config)
    if scan is None or faulty:
        return replace(state, doubt=doubt), faulty
    memory = add_look(state.memory, scan, odometry, now, config)
    return replace(state, scanned=scan.stamp, memory=memory, doubt=doubt), ""


def choose_command(commands: Sequence[Command], now: float) -> Command | None:
    """Return the newest unexpired command of the source with the highest priority, or None (the mux)."""
    alive = [command for command in commands if not command.expires <= now]
    return min(reversed(alive), key=lambda command: command.source, default=None)


def find_refusal(command: Command) -> str:
    """Return why a command is refused whatever the sensors say, or ""."""
    if command.source is Source.STOP:
        return "stop commanded"
    numbers = (command.twist.linear, command.twist.angular)
    if not all(isfinite(number) for number in numbers) or isnan(command.expires):
        return "the command is not made of finite numbers"
    if command.twist.linear == 0.0 and command.twist.angular != 0.0:
        return "this robot cannot turn in place"
    return ""


def _apply_command(state: ChainState, command: Command, odometry: Odometry, now: float, config: RobotConfig) -> Applied:
    """Pass a command for motion through all stages; the sensors are usable."""
    feasible = clamp_steering(command.twist, config.body)
    curvature = curvature_of(feasible, config.body)
    tight = "" if feasible == command.twist else "curvature at the steering limit"
    limited, slowly = _rate_limited(state, feasible.linear, odometry, now, config)
    speed, blocked = _zone_limited(state, limited, curvature, odometry, now, config)
    twist = feasible if speed == feasible.linear else clamp_steering(Twist(speed, speed * curvature), config.body)
    return Applied(twist, command.source.name.lower(), blocked or slowly or tight)


def _act_in_doubt(state: ChainState, command: Command, odometry: Odometry, now: float, config: RobotConfig) -> Applied:
    """Stand, or back up to find the cause, while measured motion is in doubt.

    The zones would keep the robot from backing where it came from; here only the way that is left must be free.
    """
    doubt = state.doubt
    source = command.source.name.lower()
    wanted = backing(doubt, config)
    if wanted == REST:
        return Applied(REST, source, doubt.reason)
    speed, _ = _rate_limited(state, wanted.linear, odometry, now, config)
    points, padding = points_around(state.memory, odometry, now, speed, config)
    curvature = curvature_of(wanted, config.body)
    left = doubt.limit - metres_backed(doubt) + RESERVE_M
    if free_distance(points, curvature, wanted.linear > 0, config.body, padding, left) < left:
        return Applied(REST, source, f"{doubt.reason}; something is in the way of that")
    return Applied(clamp_steering(Twist(speed, speed * curvature), config.body), source, doubt.reason)


def _rate_limited(
    state: ChainState, wanted: float, odometry: Odometry, now: float, config: RobotConfig
) -> tuple[float, str]:
    """Return the speed that may be commanded now, and why it differs from the wanted one. Stopping has no limit."""
    limits = config.limits
    capped = max(-limits.reverse_speed, min(limits.speed, wanted))
    last = state.twist.linear
    passed = max(0.0, now - state.stamp)
    if passed > limits.command_timeout:
        last = 0.0
        passed = 1 / config.control_rate
    rolling = odometry.twist.linear if abs(odometry.twist.linear) > _STANDING else 0.0
    if capped * last < 0 or capped * rolling < 0:
        return 0.0, "braking before the direction changes"
    most = abs(last) + limits.acceleration * passed
    if abs(capped) > most + _ROUNDING:
        return copysign(most, capped), f"speeding up, {most:.2f} m/s"
    return capped, "" if capped == wanted else f"at most {abs(capped):.2f} m/s"


def _zone_limited(
    state: ChainState, wanted: float, curvature: float, odometry: Odometry, now: float, config: RobotConfig
) -> tuple[float, str]:
    """Return the speed that obstacles on the path allow, and the obstacle that limits it."""
    fastest = max(abs(wanted), abs(odometry.twist.linear))
    points, padding = points_around(state.memory, odometry, now, fastest, config)
    hidden = unseen_points(state.doubt, odometry)
    beside = np.minimum(config.zones.padding, clearance(hidden, config.body) - TOUCH_M)
    known = len(points)
    points = np.concatenate((points, hidden))
    padding = np.concatenate((padding, beside))
    forward = wanted > 0
    offset = config.overhang(forward=forward) + config.zones.padding

    def distance(speed: float, count: int | None = None) -> float:
        """Return the distance from the lidar to the nearest of the first ``count`` obstacles along the way."""
        arcs = ways(state, curvature, abs(speed), config)
        return offset + min(_free_way(points[:count], padding[:count], way, forward, config) for way in arcs)

    first = distance(wanted)
    allowed = max_speed_at(first, forward, config)
    if abs(wanted) <= allowed:
        return wanted, ""
    where = "ahead" if forward else "behind"
    what = BLOCKED_UNSEEN if len(hidden) and distance(wanted, known) > first else "obstacle"
    for speed in (allowed, min(CREEP, abs(wanted))):
        if speed >= min(CREEP, abs(wanted)) and speed <= max_speed_at(distance(speed), forward, config):
            return copysign(speed, wanted), f"{what} {first:.2f} m {where}: slowed to {speed:.2f} m/s"
    return 0.0, f"{what} {first:.2f} m {where}: stopped"


def ways(state: ChainState, curvature: float, speed: float, config: RobotConfig) -> list[list[tuple[float, float]]]:
    """Return the possible ways from where the wheels may stand now: arcs as (curvature, length), the last endless."""
    body = config.body
    rate = config.limits.steering_rate
    target = atan(body.wheelbase * curvature)
    found = []
    for angle in dict.fromkeys(state.steering):
        start = max(-body.steering_limit, min(body.steering_limit, angle))
        length = abs(target - start) / rate * speed / _PIECES
        shares = [(piece + 0.5) / _PIECES for piece in range(_PIECES)]
        turning = [(tan(start + share * (target - start)) / body.wheelbase, length) for share in shares]
        found.append([*(turning if length > _TURNING_M else ()), (curvature, inf)])
    return found


def _free_way(
    points: NDArray[np.float64],
    padding: NDArray[np.float64],
    way: list[tuple[float, float]],
    forward: bool,
    config: RobotConfig,
) -> float:
    """Return how far consecutive arcs are free, at most :func:`reach`, metres."""
    covered = 0.0
    horizon = reach(config)
    for curvature, arc in way:
        length = min(arc, horizon - covered)
        free = free_distance(points, curvature, forward, config.body, padding, length)
        if free < length:
            return covered + free
        covered += length
        points = transform_to_frame(points, along(curvature, length if forward else -length))
    return covered


def _bound_steering(
    state: ChainState, odometry: Odometry | None, now: float, config: RobotConfig
) -> tuple[float, float]:
    """Return the least and greatest angle at which the front wheels may stand now, radians.

    They turn towards the last command; without motion they may stay or straighten, depending on the driver. After a
    pause longer than the command timeout, nobody knows how far they turned.
    """
    body = config.body
    limit = config.body.steering_limit
    low, high = (max(-limit, min(limit, angle)) for angle in state.steering)
    passed = max(0.0, now - state.stamp)
    turned = config.limits.steering_rate * passed
    target = atan(body.wheelbase * curvature_of(state.twist, body))
    if state.twist.linear == 0.0:
        low = min(low, max(0.0, low - turned))
        high = max(high, min(0.0, high + turned))
    elif passed > config.limits.command_timeout:
        low = min(low, target, 0.0)
        high = max(high, target, 0.0)
    else:
        low, high = (angle + max(-turned, min(turned, target - angle)) for angle in (low, high))
    if odometry is not None and abs(odometry.twist.linear) > _ROLLING:
        measured = atan(body.wheelbase * odometry.twist.angular / odometry.twist.linear)
        measured = max(-limit, min(limit, measured))
        low = min(low, measured)
        high = max(high, measured)
    return low, high


class SafetyChain:
    """The chain with its state. Any thread may call ``stop`` at any time; only one may call ``step``.

    Raises:
        SetupError: the configuration is impossible or unsafe.
    """

    def __init__(self, config: RobotConfig) -> None:
        self._config = require_valid(config)
        self._state = ChainState()
        self._stopped = ""
        self._is_believed = False

    @property
    def state(self) -> ChainState:
        """Return the state after the last step, with the current latch."""
        doubt = trust_again(self._state.doubt) if self._is_believed else self._state.doubt
        return replace(self._state, stopped=self._stopped, doubt=doubt)

    def step(self, commands: Sequence[Command], observation: Observation, now: float) -> Applied:
        """Return the velocity that may be driven now; see :func:`filter_command`."""
        if self._is_believed:
            self._is_believed = False
            self._state = replace(self._state, doubt=trust_again(self._state.doubt))
        self._state, applied = filter_command(self.state, commands, observation, now, self._config)
        if self._stopped and applied.twist != REST:  # another thread called stop meanwhile
            applied = Applied(REST, Source.STOP.name.lower(), self._stopped)
            self._state = replace(self._state, twist=REST)
        return applied

    def stop(self, reason: str) -> None:
        """Latch the emergency stop: nothing moves until :meth:`release`. The first reason is kept."""
        self._stopped = self._stopped or reason or "emergency stop"

    def release(self) -> None:
        """Undo :meth:`stop` and trust unusable sensors again; sources that still command resume."""
        self._stopped = ""
        self._is_believed = True


def kind_of(reason: str) -> str:
    """Return a reason without its figures: the key by which interventions are counted."""
    return re.sub(r"-?\d+(\.\d+)?", "#", reason)


class Interventions:
    """Count interventions by onset: a reason that lasts many ticks counts once."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self._last = ""

    def count_result(self, applied: Applied) -> None:
        """Take in the result of one step."""
        kind = kind_of(applied.reason)
        if kind and kind != self._last:
            self.counts[kind] += 1
        self._last = kind
