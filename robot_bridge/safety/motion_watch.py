"""Compare commanded motion with what wheels and lidar measure (pure).

Two questions are asked all the time. Do the wheels turn as commanded? This finds stuck wheels and frozen odometry. Does
the scan move as the wheels turn? This finds slipping wheels and a lidar that repeats old data in any form: every scan
is compared with several earlier ones, as a whole and in parts (:mod:`robot_bridge.safety.scan_motion`).
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

_APART_M = 0.008
_APART_RAD = 0.02
"""Least motion between scans that are kept."""
_MAX_DISTANCE_M = 0.07
_WIDEST_RAD = 0.15
"""Scans farther apart are not compared: they see different things."""
_MAX_HELD = 8
_OLDEST_S = 60.0
_TOLD = 0.2
"""A share counts if its standard deviation is at most this."""
_POOLED = 0.2
"""How much greater the share of all beams together must be than that of a sector: only some may be frozen."""
_PART = 0.3
"""Share of the conclusive sectors that must have stayed put: a person walking ahead fills fewer."""
_STUCK_SLIP_M = 0.02
_SPUN_SLIP_M = 0.06
"""How far odometry may be ahead of the robot by the time stuck or spinning wheels are noticed."""
_MAX_AGE_S = 3.0
_MIN_TURN_RAD = 0.03
_SAME_M = 0.05
_SAME_RAD = 0.1
"""After this much motion, no two real scans are identical beam by beam."""


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """A scan kept for comparison; ``pose`` is the odometry pose when it was taken."""

    stamp: float
    pose: Pose
    ranges: NDArray[np.float32]
    lines: Lines


@dataclass(frozen=True, slots=True)
class Moment:
    """The end of a control period: total metres commanded and measured by odometry until then, signed."""

    time: float
    commanded: float
    rolled: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why measured motion is not what it should be.

    ``is_whole``: all of the motion is in doubt; otherwise only ``sectors`` of the scan, or scattered beams, stayed put.
    ``slip`` is how far odometry may be ahead of the robot, metres.
    """

    reason: str
    is_whole: bool
    sectors: tuple[int, ...] = ()
    slip: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """The scans and periods that motion is compared with; ``pose`` is the last from odometry, ``way`` metres so far."""

    held: tuple[Held, ...] = ()
    moments: tuple[Moment, ...] = (Moment(float("-inf"), 0.0, 0.0),)
    pose: Pose | None = None
    way: float = 0.0

    @property
    def now(self) -> Moment:
        return self.moments[-1]


def follow_period(watch: Watch, linear: float, odometry: Odometry, now: float, config: RobotConfig) -> Watch:
    """Return the watch after a period in which ``linear`` m/s was commanded."""
    last = watch.now
    pose = odometry.pose
    passed = min(max(0.0, now - last.time), config.limits.command_timeout)
    moved = pose.relative_to(watch.pose) if watch.pose else Pose()
    rolled = hypot(moved.x, moved.y) * (1 if moved.x >= 0 else -1)
    new = Moment(now, last.commanded + linear * passed, last.rolled + rolled)
    kept = watch.moments if now > last.time else ()
    # A command is compared only with motion since the robot began to move in that direction.
    recent = tuple(moment for moment in kept if moment.time >= now - _MAX_AGE_S)
    kept = recent if linear else kept[-1:]
    if len(kept) > 1:
        commanded_now = new.commanded - kept[-1].commanded
        commanded_before = kept[-1].commanded - kept[-2].commanded
        if commanded_now * commanded_before < 0:
            kept = kept[-1:]

    return replace(watch, moments=(*kept, new), pose=pose, way=watch.way + abs(rolled))


def wheels(watch: Watch, config: RobotConfig) -> Evidence | None:
    """Return evidence that odometry has not followed the commands, or None."""
    witness = config.witness
    new = watch.now
    for old in reversed(watch.moments[:-1]):
        commanded = new.commanded - old.commanded
        passed = new.time - old.time
        if not passed > 0:
            continue
        enough = witness.least + abs(commanded) / passed * witness.latency
        if abs(commanded) >= enough:
            direction = 1 if commanded > 0 else -1
            rolled = (new.rolled - old.rolled) * direction
            if rolled >= witness.wheels * abs(commanded):
                return None
            reason = f"{abs(commanded):.2f} m were commanded, odometry shows {max(0.0, rolled):.2f} m"
            return Evidence(reason, True, slip=_STUCK_SLIP_M)
    return None


def add_reference_scan(watch: Watch, scan: Scan, odometry: Odometry, config: RobotConfig) -> tuple[Watch, Held]:
    """Add a scan to compare later ones with; return the watch and that scan."""
    pose = pose_at(odometry, scan.stamp)
    new = Held(scan.stamp, pose, scan.ranges, lines_of(scan, config.lidar))
    recent = [held for held in watch.held if 0 < scan.stamp - held.stamp <= _OLDEST_S]
    kept = [held for held in recent if not _is_beyond(held.pose, pose, _MAX_DISTANCE_M, _WIDEST_RAD)]
    if kept and kept[-1].pose == pose:
        kept.pop()
    if not kept or _is_beyond(kept[-1].pose, pose, _APART_M, _APART_RAD):
        kept.append(new)
    return replace(watch, held=tuple(kept[-_MAX_HELD:])), new


def _is_beyond(earlier: Pose, later: Pose, metres: float, radians: float) -> bool:
    step = later.relative_to(earlier)
    return hypot(step.x, step.y) >= metres or abs(step.heading) >= radians


def stays_put(held: tuple[Held, ...], new: Held, config: RobotConfig) -> Evidence | None:
    """Return evidence that a scan, or part of it, stayed put although odometry moved, or None."""
    for old in reversed(held):
        found = _stays_put_since(old, new, config)
        if found is not None:
            return found
    return None


def _stays_put_since(old: Held, new: Held, config: RobotConfig) -> Evidence | None:
    step = new.pose.relative_to(old.pose)
    distance = hypot(step.x, step.y)
    if new.stamp <= old.stamp or len(old.lines.points) != len(new.lines.points):
        return None
    if distance < config.witness.least and abs(step.heading) < _MIN_TURN_RAD:
        return None
    found = compare_scans(old.lines, new.lines, step, config.lidar)
    least = config.witness.scan
    share, spread = fit_travelled_share(found, step)
    is_conclusive = spread <= _TOLD and distance >= config.witness.least
    if is_conclusive and share + 2 * spread < least + _POOLED:
        lidar_moved = max(0.0, share) * distance
        reason = f"odometry moved {distance:.3f} m, the lidar {lidar_moved:.3f} m"
        return Evidence(reason, True, slip=_SPUN_SLIP_M)
    is_apart = _is_beyond(old.pose, new.pose, _SAME_M, _SAME_RAD)
    if is_apart and np.array_equal(old.ranges, new.ranges, equal_nan=True):
        return Evidence(f"the lidar repeats itself: the same scan again after {distance:.3f} m", False)
    each, spreads = shares(found, groups_of(len(new.lines.points)))
    with np.errstate(invalid="ignore"):
        conclusive = spreads <= _TOLD
        most = each + 2 * spreads
        frozen = conclusive & (most < least)
        pooled = conclusive & (most < least + _POOLED)
        frozen[SECTORS:] |= pooled[SECTORS:]

    conclusive_sectors = int(conclusive[:SECTORS].sum())
    sectors = tuple(np.flatnonzero(frozen[:SECTORS]).tolist())
    is_part = len(sectors) >= max(1.0, _PART * conclusive_sectors)
    if not frozen[SECTORS:].any() and not is_part:
        return None
    part = f"{len(sectors)} of {SECTORS} sectors of the scan" if sectors else "part of the scan's beams"
    return Evidence(f"{part} stayed put while odometry moved {distance:.3f} m", False, sectors)


def moves(old: Held, new: Held, doubted: tuple[int, ...], config: RobotConfig) -> bool:
    """Return whether the scan has moved since an earlier one as odometry says, including the doubted sectors."""
    step = new.pose.relative_to(old.pose)
    found = compare_scans(old.lines, new.lines, step, config.lidar)
    share, spread = fit_travelled_share(found, step)
    if spread > _TOLD or share - 2 * spread < config.witness.scan:
        return False
    each, spreads = shares(found, groups_of(len(new.lines.points)))
    conclusive = [number for number in doubted if spreads[number] <= _TOLD]
    if doubted and not conclusive:
        return False

    least = each[conclusive] - 2 * spreads[conclusive]
    return bool((least >= config.witness.scan).all())
