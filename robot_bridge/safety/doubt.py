"""Respond when measured motion differs from the command: stand, back up a little, and find the cause (pure).

::

    trusted ──evidence──> standing ──0.5 s──> backing ──the scan moves──> trusted, an unseen obstacle is marked
                              │                  │
                              └──no known ground─┴──anything else──> unusable, until it is released

A *doubt* is a value of :class:`MotionMismatch`. A scan has *stayed put* if it shows no motion although odometry does.

The robot backs up at most 10 cm, and only over ground that its footprint has covered, because the lidar may be the
faulty sensor. A robot that has just turned round has not covered the ground behind its body. Such a robot leaves in the
other direction, along its trail.

If scan and odometry agree while the robot backs up, an obstacle that the lidar does not see was in the way. There is
one exception: if only part of the scan had stayed put and this part moves now, no obstacle was in the way.
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
    check_scan_motion,
    check_wheels,
    follow_period,
    has_scan_moved,
)
from robot_bridge.safety.touching import find_touched

MIN_BACKED_M = 0.03
"""Least distance to back up, metres.

Over a shorter distance, a frozen lidar cannot be distinguished from a lidar that sees through glass.
"""
BLOCKED_UNSEEN = "blocked by something unseen"
_STAND_S = 0.5
_MAX_STANDING_SPEED = 0.04
"""Greatest speed that odometry may measure while the robot stands, m/s."""
_MIN_AGREEING_SCANS = 2
"""Least number of consecutive scans that must agree before the phase changes."""
_TRAIL_STEP_M = 0.02
_TRAIL_STEP_RAD = 0.05
_MAX_TRAIL_POSES = 100
_LOOK_BACK_M = 0.12
_ROUNDING = 1e-6
_GROUND_STEP_M = 0.01
"""Distance between the places along an arc at which the ground is checked, metres."""
_ARCS = 13
_MAX_TRIES = 3
_MIN_ARC_DIFFERENCE = 0.9
"""Number of arcs to choose from, greatest number of arcs tried, and least difference in curvature of two arcs, 1/m."""
_MAX_TRIES_AHEAD = 2
"""Greatest number of arcs tried ahead; on the first arc, the front wheels are still turning."""
_WAIT_FOR_SCAN_S = 0.4
"""Seconds to wait for the last scan after the robot has backed up to the limit."""
_LIMIT_TOLERANCE_M = 0.005
_MAX_HINDERED_PERIODS = 10
"""If the robot could not back up in more periods than this, backing ends with the scans so far."""
_MAX_HINDERED_S = 5.0
_FORGET_AFTER_M = 5.0
"""Distance driven, metres, after which the chain forgets an unseen obstacle, because odometry drifts.

The map does not forget the obstacle.
"""


class Phase(StrEnum):
    """Phases of a doubt; the module's docstring shows the transitions."""

    TRUSTED = "trusted"
    STANDING = "standing"
    BACKING = "backing"
    UNUSABLE = "unusable"


@dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """An obstacle that the lidar does not see.

    ``points`` (n, 2), in the odom frame, are where the robot touched the obstacle. ``way`` is the total distance that
    the robot had driven when it touched the obstacle, metres.
    """

    stamp: float
    points: NDArray[np.float64]
    way: float


@dataclass(frozen=True, slots=True, eq=False)
class MotionMismatch:
    """The doubt about measured motion: whether motion is trusted, and the search for the cause if it is not.

    In every phase, ``watch`` holds the data for judging motion. ``trail`` holds the poses, in the odom frame, where the
    robot has been, the newest last. ``unseen`` holds the unseen obstacles found, the newest last. ``agreeing_scans``
    counts consecutive scans with evidence. While backing, the count is positive for consecutive scans that moved and
    negative for consecutive scans that stayed put.

    In doubt, ``evidence`` is the cause, and ``since`` is the time from which a wait in the phase counts. ``forward``
    and ``curvature`` describe the motion that was stopped. ``tried`` lists the arcs tried as (1 ahead or -1 back,
    curvature); the last is the current arc.

    While backing, ``first_scan`` is the scan at the start of backing, and ``first_totals`` are the totals (commanded,
    rolled) at the start, metres. ``limit`` is how far to back up, metres. ``hindered_periods`` counts the control
    periods in which the robot could not back up.
    """

    phase: Phase = Phase.TRUSTED
    watch: Watch = field(default_factory=Watch)
    trail: tuple[Pose, ...] = ()
    agreeing_scans: int = 0
    hindered_periods: int = 0
    tried: tuple[tuple[int, float], ...] = ()
    evidence: Evidence | None = None
    since: float = 0.0
    forward: bool = True
    curvature: float = 0.0
    first_scan: Held | None = None
    first_totals: tuple[float, float] = (0.0, 0.0)
    limit: float = 0.0
    unseen: tuple[Unseen, ...] = ()

    @property
    def reason(self) -> str:
        """Return why motion is in doubt, or "" while motion is trusted."""
        if self.phase is Phase.TRUSTED or self.evidence is None:
            return ""
        if self.phase is Phase.UNUSABLE:
            return f"a sensor is unusable: {self.evidence.reason}"
        return f"{self.evidence.reason}: backing to find out why"


def trust_again(doubt: MotionMismatch) -> MotionMismatch:
    """Return the doubt after the sensors have been fixed: trusted if a sensor was unusable, else unchanged."""
    return MotionMismatch(unseen=doubt.unseen) if doubt.phase is Phase.UNUSABLE else doubt


def restart_after_jump(doubt: MotionMismatch) -> MotionMismatch:
    """Return the doubt without data from before a jump in odometry, because new data cannot be compared with them."""
    return replace(doubt, watch=Watch(), trail=(), agreeing_scans=0, unseen=())


def update_doubt(
    doubt: MotionMismatch, driven: Twist, odometry: Odometry, scan: Scan | None, now: float, config: RobotConfig
) -> MotionMismatch:
    """Return the doubt after one more control period.

    Args:
        doubt: the doubt before the period.
        driven: the velocity commanded in the period.
        odometry: a usable reading.
        scan: a usable scan, or None if no new scan has come.
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
        return _update_while_trusted(doubt, driven, before, new, now, config)
    if doubt.phase is Phase.STANDING and new is not None and now - doubt.since >= _STAND_S:
        return _begin_backing(doubt, new, odometry, now, config)
    if doubt.phase is Phase.BACKING:
        return _update_while_backing(doubt, before, new, now, config)
    return doubt


def _update_while_trusted(
    doubt: MotionMismatch, driven: Twist, before: tuple[Held, ...], new: Held | None, now: float, config: RobotConfig
) -> MotionMismatch:
    """Return the doubt after a period in the phase TRUSTED; the phase becomes STANDING if evidence is found.

    Evidence from the wheels counts at once; evidence from scans must come from consecutive scans. ``before`` are the
    scans held before ``new``. ``new`` is None if no new scan has come.
    """
    wheel_evidence = check_wheels(doubt.watch, config)
    scan_evidence = check_scan_motion(before, new, config) if new is not None else doubt.evidence
    agreeing_scans = doubt.agreeing_scans
    if new is not None:
        agreeing_scans = agreeing_scans + 1 if scan_evidence else 0
    confirmed_scan_evidence = scan_evidence if agreeing_scans >= _MIN_AGREEING_SCANS else None
    evidence = wheel_evidence or confirmed_scan_evidence
    if evidence is None:
        pose = doubt.watch.pose
        trail = doubt.trail if pose is None or agreeing_scans else _extend_trail(doubt.trail, pose)
        kept = tuple(obstacle for obstacle in doubt.unseen if doubt.watch.way - obstacle.way <= _FORGET_AFTER_M)
        return replace(doubt, trail=trail, agreeing_scans=agreeing_scans, evidence=scan_evidence, unseen=kept)
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
        agreeing_scans=0,
        hindered_periods=0,
    )


def _rolls_forward(watch: Watch) -> bool:
    """Return whether odometry has moved forward, or not at all, since the oldest moment of the watch."""
    return watch.moments[-1].rolled >= watch.moments[0].rolled


def _extend_trail(trail: tuple[Pose, ...], pose: Pose) -> tuple[Pose, ...]:
    """Return the trail with the pose added, unless the pose is near the last pose of the trail.

    If the trail becomes too long, the oldest pose is dropped.
    """
    if trail:
        last = trail[-1]
        is_near = last.distance_to(pose.x, pose.y) < _TRAIL_STEP_M
        if is_near and abs(wrap_angle(pose.heading - last.heading)) < _TRAIL_STEP_RAD:
            return trail
    return (*trail, pose)[-_MAX_TRAIL_POSES:]


def _begin_backing(
    doubt: MotionMismatch, new: Held, odometry: Odometry, now: float, config: RobotConfig
) -> MotionMismatch:
    """Return the doubt in the phase BACKING, or in the phase UNUSABLE if the robot cannot back up.

    The robot cannot back up if it still rolls, or if there is too little known ground to back over. Odometry may be
    ahead of the robot by the slip of the evidence, so the known ground is shorter by this distance.
    """
    if abs(odometry.twist.linear) > _MAX_STANDING_SPEED:
        reason = f"odometry shows {odometry.twist.linear:.2f} m/s of a robot that was told to stand"
        return replace(doubt, phase=Phase.UNUSABLE, evidence=Evidence(reason, True), since=now)
    evidence = doubt.evidence or Evidence("", False)
    max_ground = config.witness.backing + evidence.slip
    ground, way = _find_way_out(doubt, evidence, odometry.pose, max_ground, config)
    limit = ground - evidence.slip
    if limit < MIN_BACKED_M - _ROUNDING:
        return replace(doubt, phase=Phase.UNUSABLE, since=now)
    tried = (*doubt.tried, way)
    moment = doubt.watch.now
    watch = replace(doubt.watch, held=(new,), moments=(moment,))
    first_totals = moment.commanded, moment.rolled
    return replace(
        doubt,
        phase=Phase.BACKING,
        since=now,
        first_scan=new,
        first_totals=first_totals,
        limit=limit,
        watch=watch,
        agreeing_scans=0,
        tried=tried,
    )


def _find_way_out(
    doubt: MotionMismatch, evidence: Evidence, pose: Pose, max_m: float, config: RobotConfig
) -> tuple[float, tuple[int, float]]:
    """Return (distance, arc): how far the robot can leave over known ground, metres, and along which arc.

    *Known ground* is ground that the footprint has covered. The distance is at most ``max_m``. The arc is (1 ahead or
    -1 back, curvature).

    Arcs against the direction of the stopped motion are preferred: the stopped arc, the arc of the last poses, or a fan
    of arcs. If all of the motion is in doubt and these arcs are too short, a few arcs in the direction of the stopped
    motion may be tried. More tries are not allowed, because scans of the ground ahead may be out of date.
    """
    limit = config.body.curvature_limit
    stopped_sign = 1 if doubt.forward else -1
    near_poses = [
        earlier for earlier in doubt.trail if _LOOK_BACK_M < pose.distance_to(earlier.x, earlier.y) < 2 * _LOOK_BACK_M
    ]
    steps = [pose.relative_to(earlier) for earlier in near_poses[-1:]]  # from the latest near pose, if any
    earlier_ways = (*doubt.tried, (stopped_sign, doubt.curvature))

    def is_new(sign: int, curvature: float) -> bool:
        return all(
            sign != earlier_sign or abs(curvature - earlier_curvature) > _MIN_ARC_DIFFERENCE
            for earlier_sign, earlier_curvature in earlier_ways
        )

    def find_farthest(sign: int) -> tuple[float, tuple[int, float]]:
        """Return (distance, arc) of the new arc that leads farthest in this direction.

        If no arc is new, return 0 and an old arc.
        """
        arcs_of_trail = [-sign * step.heading / hypot(step.x, step.y) for step in steps]
        fan = np.linspace(-limit, limit, _ARCS).tolist()
        arcs = [max(-limit, min(limit, arc)) for arc in (doubt.curvature, *arcs_of_trail, *fan)]

        candidates = []
        for arc in arcs:
            if is_new(sign, arc):
                way = (sign, arc)
                candidates.append((_measure_known_ground(doubt, pose, way, max_m, config), way))
        return max(candidates, key=itemgetter(0), default=(0.0, earlier_ways[-1]))

    back = find_farthest(-stopped_sign)
    is_far_enough = back[0] >= MIN_BACKED_M + evidence.slip - _ROUNDING
    tries_ahead = sum(sign == stopped_sign for sign, _ in doubt.tried)
    may_go_ahead = evidence.is_whole and tries_ahead < _MAX_TRIES_AHEAD
    return back if is_far_enough or not may_go_ahead else find_farthest(stopped_sign)


def _measure_known_ground(
    doubt: MotionMismatch, pose: Pose, way: tuple[int, float], max_m: float, config: RobotConfig
) -> float:
    """Return how far an arc leads over ground that the padded footprint has covered, metres, at most ``max_m``.

    The padding counts because the zones have kept it free beside the footprint. At every step of the arc, each point of
    the footprint must lie in the padded footprint of an earlier pose. ``way`` is the arc.
    """
    sign, curvature = way
    body = config.body
    poses = np.array([(earlier.x, earlier.y, earlier.heading) for earlier in (*doubt.trail, pose)])
    c = np.cos(poses[:, 2:])
    s = np.sin(poses[:, 2:])
    sides = np.linspace(-body.half_width, body.half_width, 5)
    padding = config.zones.padding + _ROUNDING
    lengthwise = (-body.rear, body.centre, body.front)
    footprint = np.array([(x, y) for x in lengthwise for y in sides])
    for number in range(1, round(max_m / _GROUND_STEP_M) + 1):
        distance = number * _GROUND_STEP_M
        points = transform_from_frame(footprint, pose.compose(along(curvature, sign * distance)))
        # Rotate the points into the frame of every pose of the trail: arrays are (poses, points).
        x = points[:, 0] - poses[:, :1]
        y = points[:, 1] - poses[:, 1:2]
        ahead = c * x + s * y
        left = c * y - s * x
        is_covered = (ahead <= body.front + padding) & (ahead >= -body.rear - padding)
        is_covered &= np.abs(left) <= body.half_width + padding
        if not is_covered.any(axis=0).all():
            return distance - _GROUND_STEP_M
    return max_m


def _update_while_backing(
    doubt: MotionMismatch, before: tuple[Held, ...], new: Held | None, now: float, config: RobotConfig
) -> MotionMismatch:
    """Return the doubt after a period in the phase BACKING.

    The phase becomes TRUSTED if enough scans moved and the robot cannot or need not back up farther. If the wheels are
    stuck, the phase becomes STANDING, so that another arc is tried. The phase becomes UNUSABLE in three cases: too many
    arcs were tried, scans stayed put, or the limit was reached without enough scans that moved.
    """
    first_scan = doubt.first_scan
    evidence = doubt.evidence
    wheel_evidence = check_wheels(doubt.watch, config)
    backed = metres_backed(doubt)
    limit = doubt.limit - _LIMIT_TOLERANCE_M
    is_hindered = doubt.hindered_periods > _MAX_HINDERED_PERIODS
    is_backing_over = wheel_evidence is not None or backed >= limit or is_hindered
    have_scans_moved = doubt.agreeing_scans >= _MIN_AGREEING_SCANS
    if first_scan is not None and have_scans_moved and is_backing_over:
        return _end_doubt(doubt, first_scan, now, config)
    if wheel_evidence is not None and len(doubt.tried) < _MAX_TRIES:  # a wedged robot may get free on another arc
        return replace(doubt, phase=Phase.STANDING, since=now)
    if wheel_evidence is not None:
        return replace(doubt, phase=Phase.UNUSABLE, evidence=wheel_evidence, since=now)
    if new is not None and first_scan is not None and evidence is not None:
        scan_evidence = check_scan_motion(before, new, config)
        is_conclusive = backed >= MIN_BACKED_M - _LIMIT_TOLERANCE_M
        if scan_evidence is not None:
            doubt = replace(doubt, agreeing_scans=min(doubt.agreeing_scans, 0) - 1, since=now)
            if doubt.agreeing_scans <= -_MIN_AGREEING_SCANS:
                return replace(doubt, phase=Phase.UNUSABLE, evidence=scan_evidence, since=now)
        elif is_conclusive and has_scan_moved(first_scan, new, evidence.sectors, config):
            doubt = replace(doubt, agreeing_scans=max(doubt.agreeing_scans, 0) + 1)
    if backed < limit:
        return replace(doubt, since=now)  # the wait for the last scan starts when the limit is reached
    has_waited = now - doubt.since > _WAIT_FOR_SCAN_S
    return replace(doubt, phase=Phase.UNUSABLE, since=now) if has_waited else doubt


def metres_backed(doubt: MotionMismatch) -> float:
    """Return how far the robot has backed up, metres: the commanded or the measured distance, whichever is greater."""
    now = doubt.watch.now
    commanded, rolled = doubt.first_totals
    return max(abs(now.commanded - commanded), abs(now.rolled - rolled))


def _end_doubt(doubt: MotionMismatch, first_scan: Held, now: float, config: RobotConfig) -> MotionMismatch:
    """Return the doubt in the phase TRUSTED; if all of the motion was in doubt, add an unseen obstacle."""
    watch = replace(doubt.watch, held=(), moments=(doubt.watch.now,))
    unseen = doubt.unseen
    if doubt.evidence is not None and doubt.evidence.is_whole:
        points = find_touched(first_scan.pose, doubt.forward, doubt.curvature, doubt.trail, config.body)
        unseen = (*unseen, Unseen(now, points, doubt.watch.way))
    return replace(doubt, phase=Phase.TRUSTED, evidence=None, agreeing_scans=0, since=now, watch=watch, unseen=unseen)


def unseen_points(doubt: MotionMismatch, odometry: Odometry) -> NDArray[np.float64]:
    """Return the points of all unseen obstacles, (n, 2) metres in the base frame."""
    parts = [obstacle.points for obstacle in doubt.unseen]
    in_odom = np.concatenate((np.empty((0, 2)), *parts))
    return transform_to_frame(in_odom, odometry.pose)


def count_hindrance(doubt: MotionMismatch, now: float, config: RobotConfig) -> MotionMismatch:
    """Return the doubt after a period in which the robot should have backed up but could not.

    After too many such periods, the phase becomes UNUSABLE.
    """
    doubt = replace(doubt, hindered_periods=doubt.hindered_periods + 1)
    is_over = doubt.hindered_periods > _MAX_HINDERED_S * config.control_rate
    return replace(doubt, phase=Phase.UNUSABLE, since=now) if is_over else doubt


def backing_twist(doubt: MotionMismatch, config: RobotConfig) -> Twist:
    """Return the velocity for backing up: rest outside the phase BACKING, and after the limit is reached."""
    if doubt.phase is not Phase.BACKING or metres_backed(doubt) >= doubt.limit - _LIMIT_TOLERANCE_M:
        return Twist()
    sign, curvature = doubt.tried[-1]
    speed = sign * config.witness.backing_speed
    return Twist(speed, speed * curvature)
