"""Respond when measured motion differs from the command: stand, back up a little, and find the cause (pure).

::

    trusted ──evidence──> standing ──0.5 s──> backing ──the scan moves──> trusted, an unseen obstacle is marked
                              │                  │
                              └──no known ground─┴──anything else──> unusable, until it is released

The robot backs up at most 10 cm, and only over ground its own footprint has covered, because the lidar may be the
faulty sensor. A robot that has just turned round has not covered the ground behind it; it then leaves in the other
direction, the way it came. If scan and odometry now move with the robot, an obstacle invisible to the lidar was in the
way. If only part of the scan had stayed put and it moves now, nothing was in the way.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from math import hypot
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Odometry, Pose, Scan, Twist, wrap_angle
from robot_bridge.safety.geometry import along, transform_from_frame, transform_to_frame
from robot_bridge.safety.motion_watch import (
    Evidence,
    Held,
    Watch,
    add_reference_scan,
    follow_period,
    moves,
    stays_put,
    wheels,
)
from robot_bridge.safety.touching import find_touched

MIN_BACKED_M = 0.03
"""Backing less than this cannot distinguish a frozen lidar from one that sees through glass."""
BLOCKED_UNSEEN = "blocked by something unseen"
_STANDS_S = 0.5
_STANDING = 0.04
"""m/s: the most that odometry may show while the robot stands."""
_RUNNING = 2
"""Number of consecutive scans that must agree."""
_TRAIL_M = 0.02
_TRAIL_RAD = 0.05
_TRAIL = 100
_CAME_M = 0.12
_ROUNDING = 1e-6
_STEP_M = 0.01
"""Step in which the ground to back over is measured."""
_ARCS = 13
_TRIES = 3
_OTHER_ARC = 0.9
"""Maximum number of ways tried, and the least difference in curvature between them, 1/m."""
_AHEAD = 2
"""How many of these may lead on ahead; on the first one the front wheels are still turning."""
_WAITS_S = 0.4
"""How long to wait for the last scan when there is no room left to back up."""
_NEARLY_M = 0.005
_HINDERED = 10
"""After this many periods without being able to back, the findings so far are enough."""
_HINDERED_S = 5.0
_FORGOTTEN_M = 5.0
"""Odometry drifts: after this distance the chain forgets where the unseen obstacle was; the map still has it."""


class Phase(StrEnum):
    """Phase of a doubt."""

    TRUSTED = "trusted"
    STANDING = "standing"
    BACKING = "backing"
    UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """An obstacle that the lidar does not see.

    ``points`` is where the robot touched it, (n, 2) in the odom frame; ``way`` the metres driven until then."""

    stamp: float
    points: NDArray[np.float64]
    way: float


@dataclass(frozen=True, slots=True, eq=False)
class MotionMismatch:
    """Whether measured motion is believed, and what is being done about it.

    ``watch`` holds the data for judging motion, ``trail`` where the robot has been, as poses in the odom frame. Once in
    doubt: ``evidence`` is the cause, ``since`` when this phase began, ``forward`` and ``curvature`` describe the motion
    that was stopped, ``begin`` is the scan at which backing starts, ``limit`` how far it may go. ``running`` counts
    consecutive scans that agree, ``hindered`` the periods in which the robot could not back. ``tried`` lists the ways
    tried, each as 1 (ahead) or -1 and its curvature; the last is the current one.
    ``unseen`` lists the obstacles found, the newest last.
    """

    phase: Phase = Phase.TRUSTED
    watch: Watch = field(default_factory=Watch)
    trail: tuple[Pose, ...] = ()
    running: int = 0
    hindered: int = 0
    tried: tuple[tuple[int, float], ...] = ()
    evidence: Evidence | None = None
    since: float = 0.0
    forward: bool = True
    curvature: float = 0.0
    begin: Held | None = None
    began: tuple[float, float] = (0.0, 0.0)
    limit: float = 0.0
    unseen: tuple[Unseen, ...] = ()

    @property
    def reason(self) -> str:
        """Return why motion does not follow commands, or "" if it does."""
        if self.phase is Phase.TRUSTED or self.evidence is None:
            return ""
        if self.phase is Phase.UNUSABLE:
            return f"a sensor is unusable: {self.evidence.reason}"
        return f"{self.evidence.reason}: backing to find out why"


def trust_again(doubt: MotionMismatch) -> MotionMismatch:
    """Return the doubt after somebody has fixed the sensors."""
    return MotionMismatch(unseen=doubt.unseen) if doubt.phase is Phase.UNUSABLE else doubt


def restart_after_jump(doubt: MotionMismatch) -> MotionMismatch:
    """Return the doubt after a jump in odometry: earlier data is not comparable any more."""
    return replace(doubt, watch=Watch(), trail=(), running=0, unseen=())


def update_doubt(
    doubt: MotionMismatch, driven: Twist, odometry: Odometry, scan: Scan | None, now: float, config: RobotConfig
) -> MotionMismatch:
    """Return the doubt one period later.

    Args:
        doubt: the doubt before.
        driven: the velocity commanded in the period.
        odometry: a usable reading.
        scan: a usable scan, or None if there is no new one.
        now: the time, seconds.
        config: the robot's configuration.
    """
    watch = follow_period(doubt.watch, driven.linear, odometry, now, config)
    new: Held | None = None
    before = watch.held
    if scan is not None:
        watch, new = add_reference_scan(watch, scan, odometry, config)
    doubt = replace(doubt, watch=watch)
    if doubt.phase is Phase.TRUSTED:
        return _look_for_evidence(doubt, driven, before, new, now, config)
    if doubt.phase is Phase.STANDING and new is not None and now - doubt.since >= _STANDS_S:
        return _begin_backing(doubt, new, odometry, now, config)
    if doubt.phase is Phase.BACKING:
        return _judge_backing(doubt, before, new, now, config)
    return doubt


def _look_for_evidence(
    doubt: MotionMismatch, driven: Twist, before: tuple[Held, ...], new: Held | None, now: float, config: RobotConfig
) -> MotionMismatch:
    """Look for evidence against measured motion while it is trusted."""
    stuck = wheels(doubt.watch, config)
    seen = stays_put(before, new, config) if new is not None else doubt.evidence
    running = doubt.running
    if new is not None:
        running = running + 1 if seen else 0
    evidence = stuck or (seen if running >= _RUNNING else None)
    if evidence is None:
        pose = doubt.watch.pose
        trail = doubt.trail if pose is None or running else _extend_trail(doubt.trail, pose)
        kept = tuple(each for each in doubt.unseen if doubt.watch.way - each.way <= _FORGOTTEN_M)
        return replace(doubt, trail=trail, running=running, evidence=seen, unseen=kept)
    forward = driven.linear > 0 or (driven.linear == 0 and _rolls_forward(doubt.watch))
    curvature = driven.angular / driven.linear if driven.linear else 0.0
    return replace(
        doubt,
        phase=Phase.STANDING,
        tried=(),
        evidence=evidence,
        since=now,
        forward=forward,
        curvature=curvature,
        running=0,
        hindered=0,
    )


def _rolls_forward(watch: Watch) -> bool:
    return watch.moments[-1].rolled >= watch.moments[0].rolled


def _extend_trail(trail: tuple[Pose, ...], pose: Pose) -> tuple[Pose, ...]:
    if trail:
        last = trail[-1]
        is_near = last.distance_to(pose.x, pose.y) < _TRAIL_M
        if is_near and abs(wrap_angle(pose.heading - last.heading)) < _TRAIL_RAD:
            return trail
    return (*trail, pose)[-_TRAIL:]


def _begin_backing(
    doubt: MotionMismatch, new: Held, odometry: Odometry, now: float, config: RobotConfig
) -> MotionMismatch:
    """Begin to back up after standing long enough, if there is known ground for it."""
    if abs(odometry.twist.linear) > _STANDING:
        reason = f"odometry shows {odometry.twist.linear:.2f} m/s of a robot that was told to stand"
        return replace(doubt, phase=Phase.UNUSABLE, evidence=Evidence(reason, True), since=now)
    evidence = doubt.evidence or Evidence("", False)
    most = config.witness.backing + evidence.slip
    ground, way = _find_way_out(doubt, evidence, odometry.pose, most, config)
    limit = ground - evidence.slip
    if limit < MIN_BACKED_M - _ROUNDING:
        return replace(doubt, phase=Phase.UNUSABLE, since=now)
    tried = (*doubt.tried, way)
    moment = doubt.watch.now
    watch = replace(doubt.watch, held=(new,), moments=(moment,))
    began = moment.commanded, moment.rolled
    return replace(
        doubt,
        phase=Phase.BACKING,
        since=now,
        begin=new,
        began=began,
        limit=limit,
        watch=watch,
        running=0,
        tried=tried,
    )


def _find_way_out(
    doubt: MotionMismatch, evidence: Evidence, pose: Pose, most: float, config: RobotConfig
) -> tuple[float, tuple[int, float]]:
    """Return how far the robot can go over ground its footprint has covered, at most ``most`` metres, and the way.

    The way leads back as the robot came, or on any arc that leads farther. If none leads far enough it leads ahead, but
    not often: what is seen there may be out of date."""
    limit = config.body.curvature_limit
    stopped = 1 if doubt.forward else -1
    came = [been for been in doubt.trail if _CAME_M < pose.distance_to(been.x, been.y) < 2 * _CAME_M]
    steps = [pose.relative_to(been) for been in came[-1:]]
    before = (*doubt.tried, (stopped, doubt.curvature))

    def is_new(sign: int, curvature: float) -> bool:
        return all(sign != old or abs(curvature - arc) > _OTHER_ARC for old, arc in before)

    def farthest(sign: int) -> tuple[float, tuple[int, float]]:
        as_it_came = [-sign * step.heading / hypot(step.x, step.y) for step in steps]
        fan = np.linspace(-limit, limit, _ARCS).tolist()
        arcs = [max(-limit, min(limit, arc)) for arc in (doubt.curvature, *as_it_came, *fan)]

        found = []
        for arc in arcs:
            if is_new(sign, arc):
                way = (sign, arc)
                found.append((_measure_known_ground(doubt, pose, way, most, config), way))
        return max(found, key=itemgetter(0), default=(0.0, before[-1]))

    back = farthest(-stopped)
    is_enough = back[0] >= MIN_BACKED_M + evidence.slip - _ROUNDING
    tries_ahead = sum(sign == stopped for sign, _ in doubt.tried)
    may_go_on = evidence.is_whole and tries_ahead < _AHEAD
    return back if is_enough or not may_go_on else farthest(stopped)


def _measure_known_ground(
    doubt: MotionMismatch, pose: Pose, way: tuple[int, float], most: float, config: RobotConfig
) -> float:
    """Return how far a way leads over ground the footprint has covered, metres.

    The zones have kept their padding free beside that ground."""
    sign, curvature = way
    body = config.body
    poses = (*doubt.trail, pose)
    been = np.array([(place.x, place.y, place.heading) for place in poses])
    c = np.cos(been[:, 2:])
    s = np.sin(been[:, 2:])
    sides = np.linspace(-body.half_width, body.half_width, 5)
    beside = config.zones.padding + _ROUNDING
    across = (-body.rear, body.centre, body.front)
    outline = np.array([(x, y) for x in across for y in sides])
    for number in range(1, round(most / _STEP_M) + 1):
        gone = number * _STEP_M
        points = transform_from_frame(outline, pose.compose(along(curvature, sign * gone)))
        x = points[:, 0] - been[:, :1]
        y = points[:, 1] - been[:, 1:2]
        ahead = c * x + s * y
        left = c * y - s * x
        within = (ahead <= body.front + beside) & (ahead >= -body.rear - beside)
        within &= np.abs(left) <= body.half_width + beside
        if not within.any(axis=0).all():
            return gone - _STEP_M
    return most


def _judge_backing(
    doubt: MotionMismatch, before: tuple[Held, ...], new: Held | None, now: float, config: RobotConfig
) -> MotionMismatch:
    """Decide, while backing, whether the wheels, odometry or the lidar is wrong."""
    begin = doubt.begin
    evidence = doubt.evidence
    stuck = wheels(doubt.watch, config)
    is_far = metres_backed(doubt) >= doubt.limit - _NEARLY_M or doubt.hindered > _HINDERED
    if begin is not None and doubt.running >= _RUNNING and (stuck is not None or is_far):
        return _trust_again(doubt, begin, now, config)
    if stuck is not None and len(doubt.tried) < _TRIES:  # perhaps wedged: another arc may free it
        return replace(doubt, phase=Phase.STANDING, since=now)
    if stuck is not None:
        return replace(doubt, phase=Phase.UNUSABLE, evidence=stuck, since=now)
    if new is not None and begin is not None and evidence is not None:
        again = stays_put(before, new, config)
        if again is not None:
            doubt = replace(doubt, running=min(doubt.running, 0) - 1, since=now)
            if doubt.running <= -_RUNNING:
                return replace(doubt, phase=Phase.UNUSABLE, evidence=again, since=now)
        elif metres_backed(doubt) >= MIN_BACKED_M - _NEARLY_M and moves(begin, new, evidence.sectors, config):
            doubt = replace(doubt, running=max(doubt.running, 0) + 1)
    if metres_backed(doubt) < doubt.limit - _NEARLY_M:
        return replace(doubt, since=now)
    return replace(doubt, phase=Phase.UNUSABLE, since=now) if now - doubt.since > _WAITS_S else doubt


def metres_backed(doubt: MotionMismatch) -> float:
    """Return the metres backed, commanded or measured, whichever is more."""
    now = doubt.watch.now
    commanded, rolled = doubt.began
    return max(abs(now.commanded - commanded), abs(now.rolled - rolled))


def _trust_again(doubt: MotionMismatch, begin: Held, now: float, config: RobotConfig) -> MotionMismatch:
    """Trust the sensors again, as everything moves; mark an unseen obstacle if the evidence was of the whole scan."""
    watch = replace(doubt.watch, held=(), moments=(doubt.watch.now,))
    unseen = doubt.unseen
    if doubt.evidence is not None and doubt.evidence.is_whole:
        points = find_touched(begin.pose, doubt.forward, doubt.curvature, doubt.trail, config.body)
        unseen = (*unseen, Unseen(now, points, doubt.watch.way))
    return replace(doubt, phase=Phase.TRUSTED, evidence=None, running=0, since=now, watch=watch, unseen=unseen)


def unseen_points(doubt: MotionMismatch, odometry: Odometry) -> NDArray[np.float64]:
    """Return the points of all unseen obstacles, (n, 2) metres in the base frame."""
    every = [each.points for each in doubt.unseen]
    return transform_to_frame(np.concatenate((np.empty((0, 2)), *every)), odometry.pose)


def count_hindrance(doubt: MotionMismatch, now: float, config: RobotConfig) -> MotionMismatch:
    """Count a period in which the robot should have backed but could not; after too many, a sensor is unusable."""
    doubt = replace(doubt, hindered=doubt.hindered + 1)
    is_over = doubt.hindered > _HINDERED_S * config.control_rate
    return replace(doubt, phase=Phase.UNUSABLE, since=now) if is_over else doubt


def backing(doubt: MotionMismatch, config: RobotConfig) -> Twist:
    """Return the velocity for backing up; rest once the limit is reached or outside that phase."""
    if doubt.phase is not Phase.BACKING or metres_backed(doubt) >= doubt.limit - _NEARLY_M:
        return Twist()
    sign, curvature = doubt.tried[-1]
    speed = sign * config.witness.backing_speed
    return Twist(speed, speed * curvature)
