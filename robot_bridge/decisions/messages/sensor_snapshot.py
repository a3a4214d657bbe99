"""Snapshot of all sensors for a model: an annotated picture, the LiDAR in words, and the robot's state.

All functions are pure. The LiDAR summary is only for a model, because its tenth percentile hides a thin pole. The
safety code looks at every beam instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import degrees, isnan
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_bridge.contracts import ActionResult, Direction, Gap, Scan, wrap_angle
from robot_bridge.control.state import View
from robot_bridge.decisions.messages.annotate import annotate_image, cardinal, is_image, sample_depth

SECTOR_DEG: Final = 30
SECTORS: Final = (
    "front",
    "front-left",
    "left-front",
    "left",
    "left-back",
    "back-left",
    "back",
    "back-right",
    "right-back",
    "right",
    "right-front",
    "front-right",
)
"""Sectors counter-clockwise from ahead; their middles are 30 degrees apart."""
LABELS: Final = ((0.5, "WALL"), (1.0, "OBSTACLE"), (2.0, "NEAR"))
"""Pairs of a limit, in metres, and the label of distances below the limit, in growing order. Greater distances are
CLEAR.
"""
_PERCENTILE: Final = 10
_BLOCKED_M = 0.5
"""Up to this distance, a direction gets ``_MIN_SCORE``."""
_FREE_M = 2.0
"""From this distance on, a direction gets the score 1."""
_MIN_SCORE = 0.1
_SMALL: Final = (160, 120)
"""Width and height at which pictures are compared as a whole."""
_PATCHES: Final = (32, 24)
"""Number of patches in a row and in a column of a picture."""
_PATCH_CHANGE: Final = 0.03
"""Change of a patch, as a fraction of a colour's range, that counts as a change of the picture. The value is above
camera noise and below the change that a ball at 5 m makes in its patch.
"""


@dataclass(frozen=True)
class SensorSnapshot:
    """Sensor data at one moment.

    Attributes:
        timestamp: time on the robot's clock.
        annotated_image_b64: JPEG of 640x480 in base64, "" without a camera.
        lidar_summary: see :func:`build_lidar_summary`.
        doorway_gaps: doorways with ``direction_deg`` (counter-clockwise from ahead), ``width_m`` and ``distance_m``.
        robot_state: ``x`` and ``y`` (metres, map frame), ``heading_deg`` (0 to 360, counter-clockwise from east),
            ``heading_cardinal``, ``speed_mps`` (negative backwards), ``distance_traveled_m``, ``explore_time_s`` and
            ``battery_v`` (None if unknown).
        affordance_scores: how feasible each direction is, 0.1 to 1.
        previous_action_result: the fields of :class:`robot_bridge.contracts.ActionResult`, or None.
    """

    timestamp: float
    annotated_image_b64: str
    lidar_summary: str
    doorway_gaps: list[dict[str, float]]
    robot_state: dict[str, Any]
    affordance_scores: dict[str, float]
    previous_action_result: dict[str, Any] | None


class SensorSnapshotBuilder:
    """Builder of snapshots from ``vm``, the control loop's state (the voice mapper of the original code).

    The owner of the builder replaces ``vm`` whenever the state changes.
    """

    def __init__(self, vm: View) -> None:
        self.vm = vm

    def capture(self) -> SensorSnapshot:
        """Return a snapshot of the present state; takes a few milliseconds, mostly for the picture."""
        vm = self.vm
        state = _robot_state(vm)
        image = vm.latest_image
        picture = ""
        if image is not None and is_image(image):
            points = sample_depth(vm.latest_depth)
            picture = annotate_image(image, points, state["heading_deg"], state["heading_cardinal"])
        summary = _scan_summary(vm.latest_scan, vm.detected_gaps)
        gaps = [_round_gap(gap) for gap in vm.detected_gaps]
        scores = compute_affordance_scores(vm.obstacle_distances)
        result = vm.previous_action_result
        return SensorSnapshot(
            timestamp=vm.now,
            annotated_image_b64=picture,
            lidar_summary=summary,
            doorway_gaps=gaps,
            robot_state=state,
            affordance_scores=scores,
            previous_action_result=None if result is None else _round_result(result),
        )


def _robot_state(vm: View) -> dict[str, Any]:
    """Return the fields of ``robot_state`` in :class:`SensorSnapshot`."""
    pose = vm.current_position
    # The second modulo turns 360.0, which rounding can yield, into 0.0.
    heading = round(degrees(wrap_angle(pose.heading)) % 360, 1) % 360
    twist = vm.latest_odom.twist if vm.latest_odom else None
    speed = round(twist.linear, 2) if twist else 0.0
    battery = vm.observation.battery
    volts = None if battery is None else round(battery, 1)
    travelled = round(vm.distance_traveled_m, 2)
    return {
        "x": round(pose.x, 2),
        "y": round(pose.y, 2),
        "heading_deg": heading,
        "heading_cardinal": cardinal(heading),
        "speed_mps": speed,
        "distance_traveled_m": travelled,
        "explore_time_s": round(vm.explore_time_s, 1),
        "battery_v": volts,
    }


def _round_gap(gap: Gap) -> dict[str, float]:
    return {
        "direction_deg": round(gap.direction_deg),
        "width_m": round(gap.width_m, 2),
        "distance_m": round(gap.distance_m, 2),
    }


def _round_result(result: ActionResult) -> dict[str, Any]:
    rounded = replace(
        result,
        actual_distance_m=round(result.actual_distance_m, 2),
        turned_deg=round(result.turned_deg),
        data=dict(result.data),
    )
    return asdict(rounded)


def _scan_summary(scan: Scan | None, gaps: Sequence[Gap]) -> str:
    if scan is None:
        return build_lidar_summary((), 0.0, 0.0)
    return build_lidar_summary(scan.ranges, scan.angle_min, scan.angle_increment, gaps, scan.range_min, scan.range_max)


def build_lidar_summary(
    ranges: ArrayLike,
    angle_min: float,
    angle_inc: float,
    gaps: Sequence[Gap] = (),
    range_min: float = 0.0,
    range_max: float = np.inf,
) -> str:
    """Return twelve lines such as ``000° front: 2.9m CLEAR``, and a line with the doorways if there are any.

    The distance of a sector is the tenth percentile of its valid ranges. A sector without valid ranges reads
    ``-- UNKNOWN``. ``ranges`` is (beams,) in metres; angles are in radians, counter-clockwise from ahead.
    """
    distances = np.asarray(ranges, np.float64).ravel()
    angles = np.degrees(angle_min + angle_inc * np.arange(distances.size))
    sector_numbers = np.floor((angles + SECTOR_DEG / 2) / SECTOR_DEG)
    sectors = sector_numbers.astype(np.int64) % len(SECTORS)
    is_in_range = (distances >= range_min) & (distances <= range_max)
    valid = np.isfinite(distances) & (distances > 0) & is_in_range

    lines = []
    for index in range(len(SECTORS)):
        in_sector = valid & (sectors == index)
        lines.append(_format_sector(index, distances[in_sector]))
    if gaps:
        nearest = sorted(gaps, key=lambda gap: gap.distance_m)[:4]
        lines.append("doorways: " + "; ".join(map(_format_doorway, nearest)))
    return "\n".join(lines)


def _format_sector(index: int, distances: NDArray[np.float64]) -> str:
    """Return the line of a sector, given the valid ranges in the sector."""
    name = f"{index * SECTOR_DEG:03d}° {SECTORS[index]}"
    if not distances.size:
        return f"{name}: -- UNKNOWN"
    near = float(np.percentile(distances, _PERCENTILE))
    label = next((label for limit, label in LABELS if near < limit), "CLEAR")
    return f"{name}: {near:.1f}m {label}"


def _format_doorway(gap: Gap) -> str:
    direction = f"{round(gap.direction_deg):+d}°"
    return f"{direction} {gap.width_m:.1f}m wide at {gap.distance_m:.1f}m"


def compute_affordance_scores(obstacle_distances: Mapping[str, float]) -> dict[str, float]:
    """Return how feasible each of the six directions is, given the distances to the nearest obstacles in metres.

    The score is 0.1 up to 0.5 m, 1 from 2 m on, and linear between. An unknown direction counts as blocked.
    """
    scores = {}
    for direction in Direction:
        scores[direction.value] = _score_distance(obstacle_distances.get(direction.value, 0.0))
    return scores


def _score_distance(distance: float) -> float:
    if isnan(distance):
        return _MIN_SCORE
    share = (distance - _BLOCKED_M) / (_FREE_M - _BLOCKED_M)
    clipped = min(max(share, 0.0), 1.0)
    return round(_MIN_SCORE + (1 - _MIN_SCORE) * clipped, 2)


def compute_frame_similarity(frame_a: NDArray[np.uint8] | None, frame_b: NDArray[np.uint8] | None) -> float:
    """Return the similarity of two RGB frames (height, width, 3) of any size.

    The similarity is 1 minus the mean absolute difference of the frames at 160x120 in grey. It is 1 for identical
    frames, and 0 for a black frame and a white frame. If a picture is missing, the similarity is 0.
    """
    if frame_a is None or frame_b is None or not is_image(frame_a) or not is_image(frame_b):
        return 0.0
    difference = _grey(frame_a).astype(np.int16) - _grey(frame_b)
    return 1.0 - float(np.abs(difference).mean()) / 255


def has_local_change(frame_a: NDArray[np.uint8] | None, frame_b: NDArray[np.uint8] | None) -> bool:
    """Return whether the mean colour of any patch differs between two RGB frames; True if a picture is missing.

    A patch is 1/32 of the frame's width wide. A small thing that appears changes a patch, but hardly the mean of the
    whole picture.
    """
    if frame_a is None or frame_b is None or not is_image(frame_a) or not is_image(frame_b):
        return True
    difference = np.abs(_patches(frame_a) - _patches(frame_b))
    return float(difference.max()) > _PATCH_CHANGE * 255


def _patches(frame: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the mean colour of every patch, (24, 32, 3)."""
    return np.asarray(cv2.resize(frame, _PATCHES, interpolation=cv2.INTER_AREA), np.float32)


def _grey(frame: NDArray[np.uint8]) -> NDArray[np.uint8]:
    small = cv2.resize(frame, _SMALL, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), np.uint8)


def nearest_obstacle(obstacle_distances: Mapping[str, float]) -> float:
    """Return the least of the distances, or 0 if no distance is known; NaN counts as 0."""
    known = (0.0 if isnan(distance) else distance for distance in obstacle_distances.values())
    return min(known, default=0.0)
