"""Compare commanded motion with what wheels and lidar measure (pure).

Two checks run all the time. :func:`check_wheels` compares odometry with the commands, and finds stuck wheels and frozen
odometry. :func:`check_scan_motion` compares scans with odometry, and finds slipping wheels and a lidar that repeats old
data in any form. For this check, every scan is compared with several earlier scans, as a whole and in parts
(:mod:`robot_bridge.safety.scan_motion`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import hypot

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Odometry, Pose, Scan
from robot_bridge.safety.obstacles import pose_at
from robot_bridge.safety.scan_motion import (
    SECTORS,
    Lines,
    compare_scans,
    fit_travelled_share,
    groups_of,
    lines_of,
    shares,
)

_MIN_STEP_M = 0.008
_MIN_STEP_RAD = 0.02
"""Least motion between two scans that are kept for comparison: at least this distance or at least this angle."""
_MAX_DISTANCE_M = 0.07
_MAX_TURN_RAD = 0.15
"""Greatest motion between compared scans; scans farther apart see different things."""
_MAX_HELD = 8
_MAX_HELD_AGE_S = 60.0
_MAX_SHARE_DEVIATION = 0.2
"""Greatest standard deviation at which a measured fraction of motion is conclusive."""
_POOLED_MARGIN = 0.2
"""Difference between the fractions of motion that are required of all beams together and of one sector.

More is required of all beams together, because their fraction stays high if only some beams are frozen.
"""
_MIN_FROZEN_SHARE = 0.3
"""Least fraction of the conclusive sectors that must have stayed put.

A person who walks ahead of the robot fills fewer sectors.
"""
_STUCK_SLIP_M = 0.02
_SPUN_SLIP_M = 0.06
"""How far odometry may be ahead of the robot, metres, when stuck wheels or spinning wheels are noticed."""
_MAX_MOMENT_AGE_S = 3.0
_MIN_TURN_RAD = 0.03
_MIN_DIFFERENT_M = 0.05
_MIN_DIFFERENT_RAD = 0.1
"""After this much motion, two real scans are never identical beam by beam."""


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A scan kept for comparison; ``pose`` is the odometry pose at the time of the scan."""

    stamp: float
    pose: Pose
    ranges: NDArray[np.float32]
    lines: Lines


@dataclass(frozen=True, slots=True)
class Moment:
    """The end of a control period, with running totals in signed metres.

    ``commanded`` is the total of all commands until ``time``, ``rolled`` the total that odometry measured.
    """

    time: float
    commanded: float
    rolled: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """The reason why measured motion is in doubt.

    If ``is_whole`` is True, all of the motion is in doubt. Otherwise, only ``sectors`` of the scan, or scattered beams,
    stayed put. ``slip`` is how far odometry may be ahead of the robot, metres.
    """

    reason: str
    is_whole: bool
    sectors: tuple[int, ...] = ()
    slip: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """The scans and periods that new measurements are compared with.

    ``held`` and ``moments`` are sorted by time, the oldest first. ``pose`` is the last odometry pose. ``way`` is the
    total unsigned distance that odometry has measured, metres.
    """

    held: tuple[Held, ...] = ()
    moments: tuple[Moment, ...] = (Moment(float("-inf"), 0.0, 0.0),)
    pose: Pose | None = None
    way: float = 0.0

    @property
    def now(self) -> Moment:
        """Return the newest moment."""
        return self.moments[-1]


def follow_period(watch: Watch, linear: float, odometry: Odometry, now: float, config: RobotConfig) -> Watch:
    """Return the watch with one more moment, for a period in which ``linear`` m/s was commanded."""
    last = watch.now
    pose = odometry.pose
    passed = min(max(0.0, now - last.time), config.limits.command_timeout)
    moved = pose.relative_to(watch.pose) if watch.pose else Pose()
    direction = 1 if moved.x >= 0 else -1
    rolled = hypot(moved.x, moved.y) * direction
    new = Moment(now, last.commanded + linear * passed, last.rolled + rolled)
    kept = watch.moments if now > last.time else ()
    # A command is compared only with motion since the robot began to move in the commanded direction. Therefore older
    # moments are dropped when the command is zero and when the direction of the command changes.
    recent = tuple(moment for moment in kept if moment.time >= now - _MAX_MOMENT_AGE_S)
    kept = recent if linear else kept[-1:]
    if len(kept) > 1:
        commanded_now = new.commanded - kept[-1].commanded
        commanded_before = kept[-1].commanded - kept[-2].commanded
        if commanded_now * commanded_before < 0:
            kept = kept[-1:]

    return replace(watch, moments=(*kept, new), pose=pose, way=watch.way + abs(rolled))


def check_wheels(watch: Watch, config: RobotConfig) -> Evidence | None:
    """Return evidence that odometry has not followed the commands, or None without evidence.

    Commands are compared with odometry over the shortest time up to now in which the commanded distance is long enough.
    """
    witness = config.witness
    new = watch.now
    for old in reversed(watch.moments[:-1]):
        commanded = new.commanded - old.commanded
        passed = new.time - old.time
        if not passed > 0:
            continue
        commanded_speed = abs(commanded) / passed
        enough_to_judge = witness.least + commanded_speed * witness.latency
        if abs(commanded) >= enough_to_judge:
            direction = 1 if commanded > 0 else -1
            rolled = (new.rolled - old.rolled) * direction
            if rolled >= witness.wheels * abs(commanded):
                return None
            reason = f"{abs(commanded):.2f} m were commanded, odometry shows {max(0.0, rolled):.2f} m"
            return Evidence(reason, True, slip=_STUCK_SLIP_M)
    return None


def add_reference_scan(watch: Watch, scan: Scan, odometry: Odometry, config: RobotConfig) -> tuple[Watch, Held]:
    """Return (watch, new): the watch with the scan added for later comparisons, and the scan with its pose and lines.

    Held scans that are too old or too far from the new pose are dropped. If the robot has hardly moved since the last
    held scan, the new scan is not added. A held scan at exactly the same pose is replaced.
    """
    pose = pose_at(odometry, scan.stamp)
    new = Held(scan.stamp, pose, scan.ranges, lines_of(scan, config.lidar))
    recent = [held for held in watch.held if 0 < scan.stamp - held.stamp <= _MAX_HELD_AGE_S]
    kept = [held for held in recent if not _is_beyond(held.pose, pose, _MAX_DISTANCE_M, _MAX_TURN_RAD)]
    if kept and kept[-1].pose == pose:
        kept.pop()
    if not kept or _is_beyond(kept[-1].pose, pose, _MIN_STEP_M, _MIN_STEP_RAD):
        kept.append(new)
    return replace(watch, held=tuple(kept[-_MAX_HELD:])), new


def _is_beyond(earlier: Pose, later: Pose, metres: float, radians: float) -> bool:
    """Return whether two poses are at least ``metres`` or at least ``radians`` apart."""
    step = later.relative_to(earlier)
    return hypot(step.x, step.y) >= metres or abs(step.heading) >= radians


def check_scan_motion(held: tuple[Held, ...], new: Held, config: RobotConfig) -> Evidence | None:
    """Return evidence that a scan, or a part of it, stayed put although odometry moved; None without evidence."""
    for old in reversed(held):
        evidence = _compare_with(old, new, config)
        if evidence is not None:
            return evidence
    return None


def _compare_with(old: Held, new: Held, config: RobotConfig) -> Evidence | None:
    """Return evidence that the new scan, or a part of it, stayed put since an old scan; None without evidence.

    Three checks follow one another: the motion of the whole scan, equality of all ranges, and the motion of each group
    of beams. The groups are the sectors, the even beams, the odd beams and all beams.
    """
    step = new.pose.relative_to(old.pose)
    distance = hypot(step.x, step.y)
    if new.stamp <= old.stamp or len(old.lines.points) != len(new.lines.points):
        return None
    if distance < config.witness.least and abs(step.heading) < _MIN_TURN_RAD:
        return None
    comparison = compare_scans(old.lines, new.lines, step, config.lidar)
    min_share = config.witness.scan
    share, deviation = fit_travelled_share(comparison, step)
    is_conclusive = deviation <= _MAX_SHARE_DEVIATION and distance >= config.witness.least
    if is_conclusive and share + 2 * deviation < min_share + _POOLED_MARGIN:
        lidar_moved = max(0.0, share) * distance
        reason = f"odometry moved {distance:.3f} m, the lidar {lidar_moved:.3f} m"
        return Evidence(reason, True, slip=_SPUN_SLIP_M)
    is_apart = _is_beyond(old.pose, new.pose, _MIN_DIFFERENT_M, _MIN_DIFFERENT_RAD)
    if is_apart and np.array_equal(old.ranges, new.ranges, equal_nan=True):
        return Evidence(f"the lidar repeats itself: the same scan again after {distance:.3f} m", False)
    group_shares, deviations = shares(comparison, groups_of(len(new.lines.points)))
    with np.errstate(invalid="ignore"):
        conclusive = deviations <= _MAX_SHARE_DEVIATION
        upper_bounds = group_shares + 2 * deviations
        frozen = conclusive & (upper_bounds < min_share)
        pooled = conclusive & (upper_bounds < min_share + _POOLED_MARGIN)
        frozen[SECTORS:] |= pooled[SECTORS:]  # the groups after the sectors are spread over the whole scan

    conclusive_sectors = int(conclusive[:SECTORS].sum())
    sectors = tuple(np.flatnonzero(frozen[:SECTORS]).tolist())
    are_enough_frozen = len(sectors) >= max(1.0, _MIN_FROZEN_SHARE * conclusive_sectors)
    if not frozen[SECTORS:].any() and not are_enough_frozen:
        return None
    part = f"{len(sectors)} of {SECTORS} sectors of the scan" if sectors else "part of the scan's beams"
    return Evidence(f"{part} stayed put while odometry moved {distance:.3f} m", False, sectors)


def has_scan_moved(old: Held, new: Held, doubted: tuple[int, ...], config: RobotConfig) -> bool:
    """Return whether the whole scan and the doubted sectors have moved since an earlier scan as odometry says."""
    step = new.pose.relative_to(old.pose)
    comparison = compare_scans(old.lines, new.lines, step, config.lidar)
    share, deviation = fit_travelled_share(comparison, step)
    if deviation > _MAX_SHARE_DEVIATION or share - 2 * deviation < config.witness.scan:
        return False
    group_shares, deviations = shares(comparison, groups_of(len(new.lines.points)))
    conclusive = [sector for sector in doubted if deviations[sector] <= _MAX_SHARE_DEVIATION]
    if doubted and not conclusive:
        return False

    lower_bounds = group_shares[conclusive] - 2 * deviations[conclusive]
    return bool((lower_bounds >= config.witness.scan).all())
