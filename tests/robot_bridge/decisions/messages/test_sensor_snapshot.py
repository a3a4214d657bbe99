"""Figures and words of a snapshot, with sensors missing or wrong."""

from __future__ import annotations

import base64
from dataclasses import FrozenInstanceError
from math import inf, nan, pi, radians

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.contracts import ActionResult, Direction, Frame, Gap, Pose
from robot_bridge.decisions.messages.sensor_snapshot import (
    SECTORS,
    SensorSnapshotBuilder,
    build_lidar_summary,
    compute_affordance_scores,
    compute_frame_similarity,
    nearest_obstacle,
)
from tests.support.robot_bridge.looking import frame, scan, view

DEGREE = radians(1)


def summary(ranges: list[float], start_deg: float = -180) -> list[str]:
    return build_lidar_summary(ranges, radians(start_deg), DEGREE).splitlines()


def test_twelve_sectors_with_tenth_percentiles_and_labels() -> None:
    lines = build_lidar_summary(scan(lambda angle: 2.9 if abs(angle) <= 15 else 0.4).ranges, -pi, DEGREE).splitlines()
    assert lines[0] == "000° front: 2.9m CLEAR"
    assert lines[1] == "030° front-left: 0.4m WALL"
    assert [line.split("° ")[1].split(":")[0] for line in lines] == list(SECTORS)
    assert [summary([distance] * 360)[0].split()[-1] for distance in (0.49, 0.5, 1.0, 2.0)] == [
        "WALL",
        "OBSTACLE",
        "NEAR",
        "CLEAR",
    ]


def test_left_is_counter_clockwise_whatever_the_scan_begins_with() -> None:
    for start in (-180, 0, 90):
        ranges = [0.7 if 76 <= (start + beam) % 360 <= 104 else 5.0 for beam in range(360)]
        assert summary(ranges, start)[3] == "090° left: 0.7m OBSTACLE"
        assert summary(ranges, start)[9] == "270° right: 5.0m CLEAR"


def test_one_thin_return_in_thirty_is_not_the_tenth_percentile() -> None:
    assert summary([0.35 if beam == 180 else 5.9 for beam in range(360)])[0] == "000° front: 5.9m CLEAR"


def test_invalid_returns_do_not_count_and_nothing_is_not_clear() -> None:
    odd = [(nan, inf, -1.0, 0.0, 20.0)[beam % 5] for beam in range(360)]
    assert build_lidar_summary(odd, -pi, DEGREE, range_max=12.0).count("-- UNKNOWN") == 12
    mixed = [1.5 if beam % 5 == 0 else odd[beam] for beam in range(360)]
    assert build_lidar_summary(mixed, -pi, DEGREE, range_max=12.0).count("1.5m NEAR") == 12
    assert build_lidar_summary([], 0.0, 0.0).count("UNKNOWN") == 12


def test_doorways_are_listed_nearest_first() -> None:
    text = build_lidar_summary([5.0] * 360, -pi, DEGREE, [Gap(-90, 0.8, 3.04), Gap(35.4, 0.92, 2.1)])
    assert text.splitlines()[12] == "doorways: +35° 0.9m wide at 2.1m; -90° 0.8m wide at 3.0m"


@given(st.floats(allow_nan=True))
def test_affordances_are_bounded_and_grow_with_the_distance(distance: float) -> None:
    scores = compute_affordance_scores(dict.fromkeys(Direction, distance))
    assert set(scores) == set(Direction)
    assert all(0.1 <= score <= 1.0 for score in scores.values())
    further = compute_affordance_scores(dict.fromkeys(Direction, distance + 0.1))
    assert further["left"] >= scores["left"]


def test_affordances_at_the_figures() -> None:
    given_distances = {"forward": 0.5, "left": 1.25, "right": 2.0, "backward": inf, "forward_left": nan}
    assert compute_affordance_scores(given_distances) == {
        "forward": 0.1,
        "forward_left": 0.1,
        "left": 0.55,
        "forward_right": 0.1,
        "right": 1.0,
        "backward": 1.0,
    }
    assert nearest_obstacle({"forward": 2.0, "left": 0.4}) == 0.4
    assert nearest_obstacle({}) == nearest_obstacle({"forward": nan}) == 0.0


def test_similarity_is_one_minus_the_mean_absolute_difference() -> None:
    black, white = np.zeros((480, 640, 3), np.uint8), np.full((240, 320, 3), 255, np.uint8)
    grey = np.full((48, 64, 3), 51, np.uint8)
    assert compute_frame_similarity(black, black) == 1.0
    assert compute_frame_similarity(black, white) == 0.0
    assert compute_frame_similarity(black, grey) == pytest.approx(0.8)
    assert compute_frame_similarity(None, black) == compute_frame_similarity(black, black[:, :, 0]) == 0.0
    first, second = frame(0).rgb, frame(1).rgb
    assert compute_frame_similarity(first, second) == compute_frame_similarity(second, first) < 0.92


def test_capture_has_all_fields() -> None:
    result = ActionResult("rotate", False, 0.1234, 88.6, "emergency stop", {"clear": True})
    snapshot = SensorSnapshotBuilder(view(scan(5.0), frame(), result=result)).capture()
    assert snapshot.timestamp == 7.0
    assert snapshot.robot_state == {
        "x": 1.0,
        "y": 2.0,
        "heading_deg": 90.0,
        "heading_cardinal": "N",
        "speed_mps": 0.12,
        "distance_traveled_m": 3.0,
        "explore_time_s": 75.0,
        "battery_v": 11.9,
    }
    assert snapshot.previous_action_result == {
        "tool_name": "rotate",
        "success": False,
        "actual_distance_m": 0.12,
        "turned_deg": 89,
        "stopped_reason": "emergency stop",
        "data": {"clear": True},
    }
    assert snapshot.affordance_scores["forward"] == 1.0
    image = cv2.imdecode(np.frombuffer(base64.b64decode(snapshot.annotated_image_b64), np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert image.shape == (480, 640, 3)
    with pytest.raises(FrozenInstanceError):
        snapshot.timestamp = 0.0  # type: ignore[misc]


def test_without_sensors_a_snapshot_says_so() -> None:
    snapshot = SensorSnapshotBuilder(view(battery=None)).capture()
    assert snapshot.annotated_image_b64 == ""
    assert snapshot.lidar_summary.count("-- UNKNOWN") == 12
    assert set(snapshot.affordance_scores.values()) == {0.1}
    assert snapshot.robot_state["battery_v"] is None
    assert snapshot.previous_action_result is None
    odd = Frame(0.0, np.zeros((0, 640, 3), np.uint8), np.zeros((0, 640), np.float32), 1.0)
    assert SensorSnapshotBuilder(view(picture=odd)).capture().annotated_image_b64 == ""


@given(st.floats(-20, 20))
def test_headings_are_degrees_from_east(heading: float) -> None:
    state = SensorSnapshotBuilder(view(pose=Pose(0, 0, heading))).capture().robot_state
    assert 0 <= state["heading_deg"] < 360
    assert abs((state["heading_deg"] - heading * 180 / pi + 180) % 360 - 180) < 0.06
