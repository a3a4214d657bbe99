"""The only path to the wheels: mux -> rate limit -> zones -> Ackermann clamp -> one publisher.

:func:`filter_command` is pure: the same state, commands, observation and time give the same velocity. A recorded run
can therefore be replayed. :class:`SafetyChain` holds the state and the latch of the emergency stop.

The steering limit is applied twice. The first clamp makes the zones look along the arc that will be driven. The last
clamp guarantees that the robot can drive every velocity sent; tests show that the last clamp changes nothing
(``tests/robot_bridge/safety/test_chain.py``). ``docs/robot_safety.md`` derives the figures.
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
    backing_twist,
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

MIN_SPEED = 0.02
"""Least speed, m/s; if the zones allow less, the robot stops."""
_MAX_STANDING_SPEED = 0.04
"""Greatest speed that odometry may measure while the robot stands, m/s."""
_MIN_ROLLING_SPEED = 0.08
"""Speed, m/s, above which the measured velocity shows the steering angle."""
_ROUNDING = 1e-9
_ARCS_PER_TURN = 3
"""Number of arcs that approximate the path driven while the steering turns."""
_MIN_ARC_M = 0.002
"""Least length of the arcs driven while the steering turns, metres; shorter arcs are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class ChainState:
    """The state of the chain between two steps.

    ``twist`` is the velocity sent at ``stamp``. ``stopped`` is the reason of a latched emergency stop, or "".
    ``steering`` is (least, greatest) possible angle of the front wheels, radians; at first any angle is possible.
    ``memory`` holds the recent lidar returns. ``odometry`` is the last usable reading, ``scanned`` the stamp of the
    last usable scan. ``doubt`` says whether measured motion matches the commands.
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
    """Do one step of the chain; return (new state, velocity that may be driven now).

    ``Applied.source`` is the commanding source in lower case. It is "stop" while the emergency stop is latched, and
    "none" without a command. ``Applied.reason`` is "" exactly when the command is applied unchanged.
    """
    state, sensor_fault = _update_sensors(state, observation, now, config)
    command = choose_command(commands, now)
    if state.stopped:
        applied = Applied(REST, Source.STOP.name.lower(), state.stopped)
    elif command is None:
        applied = Applied(REST, "none")
    elif command.twist == REST and command.source is not Source.STOP:  # rest needs no sensors
        applied = Applied(REST, command.source.name.lower())
    elif observation.odometry is None or sensor_fault or find_refusal(command):
        applied = Applied(REST, command.source.name.lower(), find_refusal(command) or sensor_fault)
    elif state.doubt.phase is not Phase.TRUSTED:
        applied = _act_in_doubt(state, command, observation.odometry, now, config)
        is_hindered = applied.twist == REST and backing_twist(state.doubt, config) != REST
        if is_hindered:
            state = replace(state, doubt=count_hindrance(state.doubt, now, config))
    else:
        applied = _apply_command(state, command, observation.odometry, now, config)
    return replace(state, stamp=now, twist=applied.twist), applied


def _update_sensors(
    state: ChainState, observation: Observation, now: float, config: RobotConfig
) -> tuple[ChainState, str]:
    """Return (state, fault): the state updated from the sensors, and why the robot must not move.

    The fault is "" if the sensors are usable. A scan with the stamp of the last usable scan is not used again for the
    doubt. A jump of odometry clears the memory, because remembered points and trail poses are in the odom frame.
    """
    scan = observation.scan
    odometry = observation.odometry
    reading_fault = odometry_fault(odometry, now, config)
    usable_odometry = None if reading_fault else odometry
    state = replace(state, steering=_bound_steering(state, usable_odometry, now, config))
    if odometry is None or reading_fault:
        return state, fault(scan, now, config) or reading_fault
    jump_fault = jump(state.odometry, odometry, config)
    if jump_fault:
        state = replace(state, memory=(), doubt=restart_after_jump(state.doubt))
    state = replace(state, odometry=odometry)
    sensor_fault = fault(scan, now, config) or jump_fault
    is_scan_new = scan is not None and scan.stamp != state.scanned
    new_scan = scan if is_scan_new and not sensor_fault else None
    doubt = update_doubt(state.doubt, state.twist, odometry, new_scan, now, config)
    if scan is None or sensor_fault:
        return replace(state, doubt=doubt), sensor_fault
    memory = add_look(state.memory, scan, odometry, now, config)
    return replace(state, scanned=scan.stamp, memory=memory, doubt=doubt), ""


def choose_command(commands: Sequence[Command], now: float) -> Command | None:
    """Return the newest unexpired command of the source with the highest priority, or None.

    ``commands`` are in order of arrival. This function is the mux of the chain.
    """
    # The comparison is negated, so that a command with an expiry time of NaN stays: find_refusal rejects this command.
    alive = [command for command in commands if not command.expires <= now]
    return min(reversed(alive), key=lambda command: command.source, default=None)


def find_refusal(command: Command) -> str:
    """Return why a command must be refused whatever the sensors measure, or "" if it is acceptable."""
    if command.source is Source.STOP:
        return "stop commanded"
    numbers = (command.twist.linear, command.twist.angular)
    if not all(isfinite(number) for number in numbers) or isnan(command.expires):
        return "the command is not made of finite numbers"
    if command.twist.linear == 0.0 and command.twist.angular != 0.0:
        return "this robot cannot turn in place"
    return ""


def _apply_command(state: ChainState, command: Command, odometry: Odometry, now: float, config: RobotConfig) -> Applied:
    """Return what the stages of the chain make of a command for motion; the sensors must be usable."""
    feasible = clamp_steering(command.twist, config.body)
    curvature = curvature_of(feasible, config.body)
    steering_reason = "" if feasible == command.twist else "curvature at the steering limit"
    limited, rate_reason = _limit_rate(state, feasible.linear, odometry, now, config)
    speed, zone_reason = _limit_by_zones(state, limited, curvature, odometry, now, config)
    twist = feasible if speed == feasible.linear else clamp_steering(Twist(speed, speed * curvature), config.body)
    return Applied(twist, command.source.name.lower(), zone_reason or rate_reason or steering_reason)


def _act_in_doubt(state: ChainState, command: Command, odometry: Odometry, now: float, config: RobotConfig) -> Applied:
    """Return what to drive while measured motion is in doubt: REST, or a velocity for backing up to find the cause.

    The zones are not applied, because they would keep the robot from backing up along its trail. Only the distance that
    the robot still has to back up must be free.
    """
    doubt = state.doubt
    source = command.source.name.lower()
    wanted = backing_twist(doubt, config)
    if wanted == REST:
        return Applied(REST, source, doubt.reason)
    speed, _ = _limit_rate(state, wanted.linear, odometry, now, config)
    points, padding = points_around(state.memory, odometry, now, speed, config)
    curvature = curvature_of(wanted, config.body)
    left = doubt.limit - metres_backed(doubt) + RESERVE_M
    if free_distance(points, curvature, wanted.linear > 0, config.body, padding, left) < left:
        return Applied(REST, source, f"{doubt.reason}; something is in the way of that")
    return Applied(clamp_steering(Twist(speed, speed * curvature), config.body), source, doubt.reason)


def _limit_rate(
    state: ChainState, wanted: float, odometry: Odometry, now: float, config: RobotConfig
) -> tuple[float, str]:
    """Return (speed, reason): the signed speed that may be commanded now, and why it is not the wanted speed.

    The reason is "" if the wanted speed may be commanded. Only speeding up is limited; the robot may stop at any rate.
    """
    limits = config.limits
    capped = max(-limits.reverse_speed, min(limits.speed, wanted))
    last = state.twist.linear
    passed = max(0.0, now - state.stamp)
    if passed > limits.command_timeout:
        last = 0.0
        passed = 1 / config.control_rate
    rolling = odometry.twist.linear if abs(odometry.twist.linear) > _MAX_STANDING_SPEED else 0.0
    if capped * last < 0 or capped * rolling < 0:
        return 0.0, "braking before the direction changes"
    reachable = abs(last) + limits.acceleration * passed
    if abs(capped) > reachable + _ROUNDING:
        return copysign(reachable, capped), f"speeding up, {reachable:.2f} m/s"
    return capped, "" if capped == wanted else f"at most {abs(capped):.2f} m/s"


def _limit_by_zones(
    state: ChainState, wanted: float, curvature: float, odometry: Odometry, now: float, config: RobotConfig
) -> tuple[float, str]:
    """Return (speed, reason): the signed speed that obstacles on the path allow, and a text about the nearest obstacle.

    The reason is "" if the wanted speed is allowed. The path depends on the speed, because the steering turns while the
    robot drives. Therefore the allowed speed is checked again on its own path. If this check fails, the slowest speed
    is checked.
    """
    fastest = max(abs(wanted), abs(odometry.twist.linear))
    points, padding = points_around(state.memory, odometry, now, fastest, config)
    unseen = unseen_points(state.doubt, odometry)
    # The padding is cut, as for still points in points_around, so that motion away from the obstacle stays possible.
    unseen_padding = np.minimum(config.zones.padding, clearance(unseen, config.body) - TOUCH_M)
    seen_count = len(points)
    points = np.concatenate((points, unseen))
    padding = np.concatenate((padding, unseen_padding))
    forward = wanted > 0
    offset = config.overhang(forward=forward) + config.zones.padding

    def distance(speed: float, count: int | None = None) -> float:
        """Return the distance, along possible paths, from the lidar to the nearest of the first ``count`` points."""
        possible_ways = ways(state, curvature, abs(speed), config)
        return offset + min(
            _free_length(points[:count], padding[:count], way, forward, config) for way in possible_ways
        )

    nearest = distance(wanted)
    allowed = max_speed_at(nearest, forward, config)
    if abs(wanted) <= allowed:
        return wanted, ""
    where = "ahead" if forward else "behind"
    is_unseen_nearest = len(unseen) > 0 and distance(wanted, seen_count) > nearest
    what = BLOCKED_UNSEEN if is_unseen_nearest else "obstacle"
    slowest = min(MIN_SPEED, abs(wanted))
    for speed in (allowed, slowest):
        if speed >= slowest and speed <= max_speed_at(distance(speed), forward, config):
            return copysign(speed, wanted), f"{what} {nearest:.2f} m {where}: slowed to {speed:.2f} m/s"
    return 0.0, f"{what} {nearest:.2f} m {where}: stopped"


def ways(state: ChainState, curvature: float, speed: float, config: RobotConfig) -> list[list[tuple[float, float]]]:
    """Return the possible paths at ``speed`` while the steering turns from its present angle to ``curvature``.

    The present angle is known only within bounds, and each bound gives a path. A path is a list of arcs (curvature,
    length), in 1/m and metres. The last arc has the target curvature and infinite length.
    """
    body = config.body
    rate = config.limits.steering_rate
    target = atan(body.wheelbase * curvature)
    possible_ways = []
    for angle in dict.fromkeys(state.steering):  # drops the second bound if both are equal
        start = max(-body.steering_limit, min(body.steering_limit, angle))
        length = abs(target - start) / rate * speed / _ARCS_PER_TURN
        shares = [(piece + 0.5) / _ARCS_PER_TURN for piece in range(_ARCS_PER_TURN)]
        turning = [(tan(start + share * (target - start)) / body.wheelbase, length) for share in shares]
        possible_ways.append([*(turning if length > _MIN_ARC_M else ()), (curvature, inf)])
    return possible_ways


def _free_length(
    points: NDArray[np.float64],
    padding: NDArray[np.float64],
    way: list[tuple[float, float]],
    forward: bool,
    config: RobotConfig,
) -> float:
    """Return how far a path of consecutive arcs is free, metres, at most :func:`reach`."""
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
    """Return the bounds (least, greatest) of the present angle of the front wheels, radians.

    The wheels turn towards the angle of the last command. If the last command was rest, the wheels may stay or
    straighten, depending on the driver. After a pause longer than the command timeout, the wheels may stand anywhere
    between the earlier angles, the commanded angle and straight ahead. Measured motion widens the bounds.
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
    if odometry is not None and abs(odometry.twist.linear) > _MIN_ROLLING_SPEED:
        measured = atan(body.wheelbase * odometry.twist.angular / odometry.twist.linear)
        measured = max(-limit, min(limit, measured))
        low = min(low, measured)
        high = max(high, measured)
    return low, high


class SafetyChain:
    """The chain with its state.

    Any thread may call ``stop`` at any time; only one thread may call ``step``.

    Raises:
        SetupError: the configuration is impossible or unsafe.
    """

    def __init__(self, config: RobotConfig) -> None:
        self._config = require_valid(config)
        self._state = ChainState()
        # Kept beside the state, which step replaces, so that a stop from another thread during a step is not lost.
        self._stopped = ""
        self._is_trust_requested = False

    @property
    def state(self) -> ChainState:
        """Return the state after the last step, including stops and releases that have come since that step."""
        doubt = trust_again(self._state.doubt) if self._is_trust_requested else self._state.doubt
        return replace(self._state, stopped=self._stopped, doubt=doubt)

    def step(self, commands: Sequence[Command], observation: Observation, now: float) -> Applied:
        """Return the velocity that may be driven now; see :func:`filter_command`."""
        if self._is_trust_requested:
            self._is_trust_requested = False
            self._state = replace(self._state, doubt=trust_again(self._state.doubt))
        self._state, applied = filter_command(self.state, commands, observation, now, self._config)
        if self._stopped and applied.twist != REST:  # another thread called stop meanwhile
            applied = Applied(REST, Source.STOP.name.lower(), self._stopped)
            self._state = replace(self._state, twist=REST)
        return applied

    def stop(self, reason: str) -> None:
        """Latch the emergency stop: the robot stands until :meth:`release`. While latched, the first reason stays."""
        self._stopped = self._stopped or reason or "emergency stop"

    def release(self) -> None:
        """Undo :meth:`stop` and trust unusable sensors again; commands that are still fresh are applied again."""
        self._stopped = ""
        self._is_trust_requested = True


def strip_figures(reason: str) -> str:
    """Return the reason with every number replaced by "#"; interventions are counted under this key."""
    return re.sub(r"-?\d+(\.\d+)?", "#", reason)


class Interventions:
    """Counts interventions by reason; a reason that lasts many steps counts once."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self._last = ""

    def count_result(self, applied: Applied) -> None:
        """Count the reason of one step's result, unless the step before had the same reason."""
        kind = strip_figures(applied.reason)
        if kind and kind != self._last:
            self.counts[kind] += 1
        self._last = kind
