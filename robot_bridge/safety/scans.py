"""Check and interpret lidar scans: faults, returns, distances by direction, doorways (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from math import atan2, ceil, degrees, hypot, pi

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Lidar, RobotConfig
from robot_bridge.contracts import Direction, Gap, Scan

AHEAD_OF_TIME = 0.1
"""Seconds that a stamp may lie in the future, because two machines' clocks differ."""
_DEAD_SHARE = 0.2
_LOST_SHARE = 0.2
_HIDDEN_M = 0.05
"""Width that consecutive dead beams may hide, metres."""
_JUMP = 0.3
"""Metres that the view through a doorway must reach beyond it."""
_DOORWAY = (0.7, 2.0)
"""Least and greatest width of a doorway, metres."""
_GAP_RANGE = 4.0

_SECTORS: tuple[tuple[Direction, float], ...] = (
    (Direction.BACKWARD, -135.0),
    (Direction.RIGHT, -67.5),
    (Direction.FORWARD_RIGHT, -22.5),
    (Direction.FORWARD, 22.5),
    (Direction.FORWARD_LEFT, 67.5),
    (Direction.LEFT, 135.0),
    (Direction.BACKWARD, 180.0),
)
"""Directions with the angle at which each ends, degrees from straight ahead."""


def fault(scan: Scan | None, now: float, config: RobotConfig) -> str:
    """Return why this scan must not be used for motion, or "" if it is usable.

    Beams without a return are *dead* (NaN, negative, 0, nearer than ``range_min``, or finite beyond ``range_max``) or
    *empty* (inf). More than a fifth of dead beams is too many. Empty beams in few stretches are real: they look down a
    long hall. Scattered ones are dropouts: a share q lost at random makes q (1 - q) stretches per beam, so more
    stretches than a lost fifth would make mean a broken lidar. If less than a fifth of the beams return, there are too
    few to steer by, however they are spread.
    """
    if scan is None:
        return "no scan has come yet"
    age = now - scan.stamp
    if not age <= config.zones.scan_timeout:
        return f"the last scan is {age:.2f} s old"
    if age < -AHEAD_OF_TIME:
        return f"the scan's stamp lies {-age:.2f} s ahead: the clocks differ"
    return _fault_of_shape(scan, config) or _fault_of_ranges(scan)


def _fault_of_shape(scan: Scan, config: RobotConfig) -> str:
    beams = config.lidar.beams
    step = config.lidar.angle_increment
    if scan.ranges.shape != (beams,):
        return f"the scan has {scan.ranges.size} of {beams} beams"
    if not abs(scan.angle_increment - step) * beams < step:
        return f"the scan covers {degrees(scan.angle_increment * beams):.0f} degrees"
    if not abs(scan.angle_min) <= 2 * pi:
        return f"the scan begins at {degrees(scan.angle_min):.3g} degrees"
    if not scan.range_min <= blind_radius(config):
        return f"the scan has nothing nearer than {scan.range_min:.2f} m: what touches the robot would be missed"
    return ""


def blind_radius(config: RobotConfig) -> float:
    """Return the radius within which the lidar may be blind: it stays inside the padded footprint, metres."""
    body = config.body
    x = config.lidar.x
    inside_body = min(body.half_width, body.front - x, body.rear + x)
    return inside_body + config.zones.padding


def _fault_of_ranges(scan: Scan) -> str:
    ranges = scan.ranges
    beams = scan.ranges.size
    faults = (("NaN", np.isnan(ranges)), ("negative", ranges < 0), ("infinite", np.isposinf(ranges)))
    for name, has_fault in faults:
        if has_fault.all():
            return f"every beam of the scan is {name}"
    good = valid(scan)
    dead = ~good & ~np.isposinf(ranges)
    if dead.sum() > _DEAD_SHARE * beams:
        return f"{dead.sum() / beams:.0%} of the scan's beams are dead"
    if good.sum() < _LOST_SHARE * beams:
        return f"only {good.sum() / beams:.0%} of the scan's beams return"
    stretches = int((good & ~np.roll(good, 1)).sum())
    if stretches > _LOST_SHARE * (1 - _LOST_SHARE) * beams:
        return f"{(~good).sum() / beams:.0%} of the scan's beams are lost, scattered"
    return ""


def valid(scan: Scan) -> NDArray[np.bool_]:
    """Return which beams have a valid return, (beams,)."""
    with np.errstate(invalid="ignore"):
        far_enough = scan.ranges >= max(scan.range_min, 1e-6)
        good: NDArray[np.bool_] = far_enough & (scan.ranges <= scan.range_max)
    return good & np.isfinite(scan.ranges)


def angles(scan: Scan) -> NDArray[np.float64]:
    """Return the angle of every beam, radians counter-clockwise from straight ahead, not wrapped."""
    return scan.angle_min + scan.angle_increment * np.arange(scan.ranges.size, dtype=np.float64)


def returns(scan: Scan, lidar: Lidar) -> NDArray[np.float64]:
    """Return the points of all valid returns, (n, 2) metres in the base frame, in the order of the beams."""
    good = valid(scan)
    ranges = scan.ranges[good].astype(np.float64)
    directions = angles(scan)[good]
    x = lidar.x + ranges * np.cos(directions)
    y = ranges * np.sin(directions)
    return np.column_stack((x, y))


def unseen(scan: Scan, config: RobotConfig) -> NDArray[np.float64]:
    """Return assumed obstacles in blind directions, at the edge of the emergency zone, (n, 2) metres, base frame.

    A few dead beams are dropouts. A row of them that hides :data:`_HIDDEN_M` at the edge of the avoidance zone is a
    dirty window, the sun or a mast, and what stands behind is unknown. Beams beyond ``range_max`` are not blind.
    """
    with np.errstate(invalid="ignore"):
        dead = ~(scan.ranges >= max(scan.range_min, 1e-6))
    least = ceil(_HIDDEN_M / config.zones.avoidance / config.lidar.angle_increment)
    if dead.sum() < least:
        return np.empty((0, 2))
    around = np.concatenate((dead, dead))
    edges = np.flatnonzero(np.diff(around, prepend=False, append=False))
    in_row = np.zeros(around.size, np.bool_)
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        in_row[begin:end] = end - begin >= least

    is_blind = in_row[: dead.size] | in_row[dead.size :]
    blind = angles(scan)[is_blind]
    distance = config.zones.emergency_stop
    x = config.lidar.x + distance * np.cos(blind)
    y = distance * np.sin(blind)
    return np.column_stack((x, y))


def obstacle_distances(scan: Scan, config: RobotConfig) -> dict[str, float]:
    """Return metres from the lidar to the nearest return by :class:`Direction` value, ``range_max`` without a return.

    The six directions share the whole circle: forward and its two neighbours cover 45 degrees each, left and right
    67.5, backward the rest. Every valid beam counts.
    """
    found = dict.fromkeys((str(d) for d in Direction), float(config.lidar.range_max))
    good = valid(scan)
    wrapped = (angles(scan)[good] + pi) % (2 * pi) - pi
    ends = [end for _, end in _SECTORS]
    sectors = np.searchsorted(ends, np.degrees(wrapped)).clip(max=len(_SECTORS) - 1)
    for number, (direction, _) in enumerate(_SECTORS):
        within = scan.ranges[good][sectors == number]
        if within.size:
            found[direction] = min(found[direction], float(within.min()))
    return found


def gaps(scan: Scan, config: RobotConfig) -> tuple[Gap, ...]:
    """Return doorways 0.7 to 2 m wide within 4 m, sorted by direction from the right rear to the left rear.

    A doorway lies between two returns, its jambs, if every beam between them reaches at least 0.3 m beyond the line
    that joins them.
    """
    good = np.flatnonzero(valid(scan))
    if len(good) < 2:
        return ()
    points = returns(scan, config.lidar) - (config.lidar.x, 0.0)
    narrowest = dict[int, Gap]()
    for begin, end in _openings(points):
        gap = _gap(points, begin, end)
        jamb = end % len(points)
        if gap is not None and (jamb not in narrowest or gap.width_m < narrowest[jamb].width_m):
            narrowest[jamb] = gap
    return tuple(sorted(narrowest.values(), key=lambda gap: gap.direction_deg))


def _openings(points: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    """Yield pairs of return indices, counter-clockwise: ranges jump up after the first and down at the second.

    If a pair spans the end of the scan, its second index counts on past the end.
    """
    count = len(points)
    ranges = np.hypot(points[:, 0], points[:, 1])
    steps = np.roll(ranges, -1) - ranges
    falls = np.flatnonzero(steps < -_JUMP) + 1
    for begin in np.flatnonzero(steps > _JUMP):
        ends = np.where(falls > begin, falls, falls + count)
        away = points[ends % count] - points[begin]
        is_near = np.hypot(away[:, 0], away[:, 1]) <= _DOORWAY[1]
        near = ends[is_near]
        if near.size:
            yield int(begin), int(near.min())


def _gap(points: NDArray[np.float64], begin: int, end: int) -> Gap | None:
    """Return the doorway between two jambs, or None if there is no doorway. Points are relative to the lidar."""
    first = points[begin]
    last = points[end % len(points)]
    dx, dy = last - first
    x, y = (first + last) / 2
    width = hypot(dx, dy)
    distance = hypot(x, y)
    if width < _DOORWAY[0] or distance > _GAP_RANGE:
        return None

    facing = (x * dy - y * dx) / width
    between = points[np.arange(begin + 1, end) % len(points)] - first
    beyond = (between[:, 0] * dy - between[:, 1] * dx) / width
    if facing <= 0 or (beyond < _JUMP).any():
        return None

    direction = degrees(atan2(y, x))
    return Gap(round(direction, 1), round(width, 2), round(distance, 2))
