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
_MAX_DEAD_SHARE = 0.2
_MIN_VALID_SHARE = 0.2
_MAX_LOST_SHARE = 0.2
_HIDDEN_M = 0.05
"""Width that consecutive dead beams may hide, metres."""
_MIN_BEYOND_M = 0.3
"""Metres that the view through a doorway must reach beyond the doorway."""
_DOORWAY_WIDTHS_M = (0.7, 2.0)
"""(least, greatest) width of a doorway, metres."""
_MAX_GAP_DISTANCE_M = 4.0

_SECTORS: tuple[tuple[Direction, float], ...] = (
    (Direction.BACKWARD, -135.0),
    (Direction.RIGHT, -67.5),
    (Direction.FORWARD_RIGHT, -22.5),
    (Direction.FORWARD, 22.5),
    (Direction.FORWARD_LEFT, 67.5),
    (Direction.LEFT, 135.0),
    (Direction.BACKWARD, 180.0),
)
"""The sectors, counter-clockwise from -180 degrees: (direction, end of the sector in degrees from straight ahead)."""


def fault(scan: Scan | None, now: float, config: RobotConfig) -> str:
    """Return why this scan must not be used for motion, or "" if the scan is usable.

    A beam without a return is *dead* (NaN, negative, 0, nearer than ``range_min``, or finite beyond ``range_max``) or
    *empty* (inf). If more than a fifth of the beams are dead, the scan has a fault.

    Empty beams in few stretches are real, because such beams look down a long hall. Scattered empty beams are dropouts.
    If a fraction q of the beams is lost at random, there are q (1 - q) stretches per beam. If there are more stretches
    than for q = 1/5, the lidar is broken. If less than a fifth of the beams return, the scan has too few returns to
    steer by.
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
    """Return a text if the number or the angles of the beams, or ``range_min``, do not fit the lidar, else ""."""
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
    """Return the radius of the circle around the lidar in which the lidar may be blind, metres.

    The circle lies inside the padded footprint.
    """
    body = config.body
    x = config.lidar.x
    inside_body = min(body.half_width, body.front - x, body.rear + x)
    return inside_body + config.zones.padding


def _fault_of_ranges(scan: Scan) -> str:
    """Return why too many beams have no valid return, or ""; see :func:`fault`."""
    ranges = scan.ranges
    beams = scan.ranges.size
    faults = (("NaN", np.isnan(ranges)), ("negative", ranges < 0), ("infinite", np.isposinf(ranges)))
    for name, has_fault in faults:
        if has_fault.all():
            return f"every beam of the scan is {name}"
    is_valid = valid(scan)
    is_dead = ~is_valid & ~np.isposinf(ranges)
    if is_dead.sum() > _MAX_DEAD_SHARE * beams:
        return f"{is_dead.sum() / beams:.0%} of the scan's beams are dead"
    if is_valid.sum() < _MIN_VALID_SHARE * beams:
        return f"only {is_valid.sum() / beams:.0%} of the scan's beams return"
    starts_stretch = is_valid & ~np.roll(is_valid, 1)
    stretches = int(starts_stretch.sum())
    if stretches > _MAX_LOST_SHARE * (1 - _MAX_LOST_SHARE) * beams:
        return f"{(~is_valid).sum() / beams:.0%} of the scan's beams are lost, scattered"
    return ""


def valid(scan: Scan) -> NDArray[np.bool_]:
    """Return which beams have a valid return, (beams,)."""
    with np.errstate(invalid="ignore"):
        is_far_enough = scan.ranges >= max(scan.range_min, 1e-6)
        is_in_range: NDArray[np.bool_] = is_far_enough & (scan.ranges <= scan.range_max)
    return is_in_range & np.isfinite(scan.ranges)


def angles(scan: Scan) -> NDArray[np.float64]:
    """Return the angle of every beam, (beams,), radians counter-clockwise from straight ahead, not wrapped."""
    return scan.angle_min + scan.angle_increment * np.arange(scan.ranges.size, dtype=np.float64)


def returns(scan: Scan, lidar: Lidar) -> NDArray[np.float64]:
    """Return the points of all valid returns, (n, 2) metres in the base frame, in the order of the beams."""
    is_valid = valid(scan)
    ranges = scan.ranges[is_valid].astype(np.float64)
    directions = angles(scan)[is_valid]
    x = lidar.x + ranges * np.cos(directions)
    y = ranges * np.sin(directions)
    return np.column_stack((x, y))


def unseen(scan: Scan, config: RobotConfig) -> NDArray[np.float64]:
    """Return assumed obstacles in blind directions, at the edge of the emergency zone, (n, 2) metres, base frame.

    A few dead beams are dropouts. If a row of dead beams hides at least :data:`_HIDDEN_M` at the edge of the avoidance
    zone, its directions are blind. The cause is a dirty window, the sun or a mast, and obstacles may stand in the
    hidden area. Beams beyond ``range_max`` are not blind.
    """
    with np.errstate(invalid="ignore"):
        is_dead = ~(scan.ranges >= max(scan.range_min, 1e-6))
    min_row = ceil(_HIDDEN_M / config.zones.avoidance / config.lidar.angle_increment)  # beams
    if is_dead.sum() < min_row:
        return np.empty((0, 2))
    # Repeat the scan, so that a row of dead beams across the end of the scan is in one piece.
    two_turns = np.concatenate((is_dead, is_dead))
    edges = np.flatnonzero(np.diff(two_turns, prepend=False, append=False))
    is_in_row = np.zeros(two_turns.size, np.bool_)
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        is_in_row[begin:end] = end - begin >= min_row

    is_blind = is_in_row[: is_dead.size] | is_in_row[is_dead.size :]
    blind_angles = angles(scan)[is_blind]
    distance = config.zones.emergency_stop
    x = config.lidar.x + distance * np.cos(blind_angles)
    y = distance * np.sin(blind_angles)
    return np.column_stack((x, y))


def obstacle_distances(scan: Scan, config: RobotConfig) -> dict[str, float]:
    """Return, for each :class:`Direction` value, the distance from the lidar to the nearest return, metres.

    For a direction without a return, the distance is the lidar's ``range_max``. The six directions divide the whole
    circle. Forward, forward left and forward right cover 45 degrees each, left and right 67.5 each, and backward the
    remaining 90. Every valid beam counts.
    """
    nearest = dict.fromkeys((str(d) for d in Direction), float(config.lidar.range_max))
    is_valid = valid(scan)
    wrapped = (angles(scan)[is_valid] + pi) % (2 * pi) - pi
    ends = [end for _, end in _SECTORS]
    sectors = np.searchsorted(ends, np.degrees(wrapped)).clip(max=len(_SECTORS) - 1)
    for number, (direction, _) in enumerate(_SECTORS):
        in_sector = scan.ranges[is_valid][sectors == number]
        if in_sector.size:
            nearest[direction] = min(nearest[direction], float(in_sector.min()))  # backward has two sectors
    return nearest


def gaps(scan: Scan, config: RobotConfig) -> tuple[Gap, ...]:
    """Return doorways that are 0.7 to 2 m wide and within 4 m, sorted by direction.

    The order is from the right rear to the left rear. The jambs of a doorway are two returns. Every beam between the
    jambs must reach at least 0.3 m beyond the line that joins the jambs. Of several doorways that end at the same jamb,
    the narrowest is returned.
    """
    if np.count_nonzero(valid(scan)) < 2:
        return ()
    points = returns(scan, config.lidar) - (config.lidar.x, 0.0)
    narrowest = dict[int, Gap]()  # index of the end jamb: doorway
    for begin, end in _find_openings(points):
        gap = _doorway_between(points, begin, end)
        jamb = end % len(points)
        if gap is not None and (jamb not in narrowest or gap.width_m < narrowest[jamb].width_m):
            narrowest[jamb] = gap
    return tuple(sorted(narrowest.values(), key=lambda gap: gap.direction_deg))


def _find_openings(points: NDArray[np.float64]) -> Iterator[tuple[int, int]]:
    """Yield pairs (begin, end) of return indices, counter-clockwise, that may be the jambs of a doorway.

    Ranges jump up after ``begin`` and down at ``end``. Of the indices at which ranges jump down, ``end`` is the next
    that is near enough to ``begin``. If a pair spans the end of the scan, ``end`` is at least the number of points, and
    the caller must take the remainder.
    """
    count = len(points)
    ranges = np.hypot(points[:, 0], points[:, 1])
    steps = np.roll(ranges, -1) - ranges
    falls = np.flatnonzero(steps < -_MIN_BEYOND_M) + 1
    for begin in np.flatnonzero(steps > _MIN_BEYOND_M):
        ends = np.where(falls > begin, falls, falls + count)
        offsets = points[ends % count] - points[begin]
        is_near = np.hypot(offsets[:, 0], offsets[:, 1]) <= _DOORWAY_WIDTHS_M[1]
        near_ends = ends[is_near]
        if near_ends.size:
            yield int(begin), int(near_ends.min())


def _doorway_between(points: NDArray[np.float64], begin: int, end: int) -> Gap | None:
    """Return the doorway between two jambs, or None if there is no doorway.

    ``points`` are relative to the lidar. ``begin`` and ``end`` are indices from :func:`_find_openings`.
    """
    first_jamb = points[begin]
    second_jamb = points[end % len(points)]
    dx, dy = second_jamb - first_jamb
    x, y = (first_jamb + second_jamb) / 2
    width = hypot(dx, dy)
    distance = hypot(x, y)
    if width < _DOORWAY_WIDTHS_M[0] or distance > _MAX_GAP_DISTANCE_M:
        return None

    # Distances perpendicular to the line that joins the jambs, positive away from the lidar.
    from_lidar = (x * dy - y * dx) / width
    between = points[np.arange(begin + 1, end) % len(points)] - first_jamb
    beyond = (between[:, 0] * dy - between[:, 1] * dx) / width
    if from_lidar <= 0 or (beyond < _MIN_BEYOND_M).any():
        return None

    direction = degrees(atan2(y, x))
    return Gap(round(direction, 1), round(width, 2), round(distance, 2))
