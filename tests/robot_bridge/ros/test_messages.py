"""Values of the bridge survive the way through messages, and what is no value is refused."""

from __future__ import annotations

from math import cos, inf, nan, pi, sin
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from robot_bridge.contracts import Odometry, Pose, Scan, Twist, wrap_angle
from robot_bridge.ros import images, messages, types
from tests.support.robot_bridge.strategies import ODOMETRIES, SCANS, TIMES, TWISTS
from tests.support.robot_bridge.strategies import messages as any_message


def sent(message: Any) -> Any:
    return types.decode(types.encode(message), message.__msgtype__)


@given(TWISTS)
def test_a_velocity_survives(twist: Twist) -> None:
    assert messages.twist_from(sent(messages.twist_message(twist))) == twist


@given(ODOMETRIES)
def test_odometry_survives(odometry: Odometry) -> None:
    found = messages.odometry_from(sent(messages.odometry_message(odometry)))
    assert found.twist == odometry.twist
    assert (found.pose.x, found.pose.y) == (odometry.pose.x, odometry.pose.y)
    assert abs(wrap_angle(found.pose.heading - odometry.pose.heading)) < 1e-9
    assert found.stamp == pytest.approx(odometry.stamp, abs=1e-6)


@given(SCANS)
def test_a_scan_survives_with_all_that_is_wrong_with_it(scan: Scan) -> None:
    found = messages.scan_from(sent(messages.scan_message(scan)))
    assert found.ranges.tobytes() == scan.ranges.tobytes()
    assert found.angle_increment == pytest.approx(scan.angle_increment, rel=1e-6)
    assert found.angle_min == pytest.approx(scan.angle_min, rel=1e-6, abs=1e-30)


def test_a_sensor_that_is_mounted_the_other_way_round() -> None:
    scan = Scan(1.0, np.ones(4, dtype=np.float32), 0.0, pi / 2, 0.1, 9.0)
    assert messages.scan_from(messages.scan_message(scan), yaw=pi).angle_min == pytest.approx(pi)


@pytest.mark.parametrize("time", [nan, inf, -inf, -1.0, 1e300])
def test_a_time_that_no_message_holds_is_none(time: float) -> None:
    assert messages.seconds(sent(messages.time_message(time))) == 0.0


@given(TIMES)
def test_times_survive(time: float) -> None:
    assert messages.seconds(sent(messages.time_message(time))) == pytest.approx(time, abs=1e-6)


@given(arrays.arrays(np.uint8, (3, 4, 3)))
def test_colours_survive(rgb: NDArray[np.uint8]) -> None:
    assert (images.image_from(sent(images.image_message(1.0, rgb))) == rgb).all()


@given(arrays.arrays(np.float32, (3, 4), elements=st.floats(0, 60, width=32)))
def test_depth_survives_to_the_millimetre(depth: NDArray[np.float32]) -> None:
    found = images.depth_from(sent(images.depth_message(1.0, depth)))
    assert np.abs(found - depth).max() <= 0.00051


def test_depth_that_cannot_be_told_is_unknown() -> None:
    depth = np.array([[nan, inf, -inf, -1.0, 70.0, 1.5]], dtype=np.float32)
    assert images.depth_from(images.depth_message(1.0, depth))[0] == pytest.approx([0, 0, 0, 0, 0, 1.5])


@pytest.mark.parametrize(("encoding", "pixel"), [("bgr8", [3, 2, 1]), ("rgba8", [1, 2, 3, 9]), ("bgra8", [3, 2, 1, 9])])
def test_pictures_of_other_cameras(encoding: str, pixel: list[int]) -> None:
    message = images.image_message(1.0, np.zeros((2, 2, 3), dtype=np.uint8))
    padding = [0, 0, 0, 0]
    message.encoding, message.step = encoding, 2 * len(pixel) + len(padding)
    message.data = np.array(2 * (2 * pixel + padding), dtype=np.uint8)
    assert (images.image_from(message) == [1, 2, 3]).all()


def test_grey_pictures_have_three_equal_colours_and_what_follows_a_picture_is_left_out() -> None:
    message = images.image_message(1.0, np.zeros((1, 2, 3), dtype=np.uint8))
    message.encoding, message.step, message.data = "mono8", 2, np.array([5, 9, 77, 77], dtype=np.uint8)
    assert images.image_from(message).tolist() == [[[5, 5, 5], [9, 9, 9]]]


@pytest.mark.parametrize("encoding", ["16UC1", "mono16"])
@pytest.mark.parametrize("big", [False, True])
def test_depth_in_millimetres_of_either_byte_order(big: bool, encoding: str) -> None:
    message = images.depth_message(1.0, np.zeros((1, 2), dtype=np.float32))
    message.encoding, message.is_bigendian = encoding, big
    message.data = np.frombuffer(np.array([1500, 20], dtype=">u2" if big else "<u2").tobytes(), dtype=np.uint8)
    assert images.depth_from(message)[0] == pytest.approx([1.5, 0.02])


@pytest.mark.parametrize("big", [False, True])
def test_depth_in_metres_of_either_byte_order(big: bool) -> None:
    message = images.depth_message(1.0, np.zeros((1, 2), dtype=np.float32))
    message.encoding, message.step, message.width, message.is_bigendian = "32FC1", 16, 4, big
    message.data = np.frombuffer(
        np.array([1.5, nan, -2.0, inf], dtype=">f4" if big else "<f4").tobytes(), dtype=np.uint8
    )
    assert images.depth_from(message).tolist() == [[1.5, 0.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("encoding", "yuv422"),
        ("step", 2),
        ("height", 9),
        ("width", 9),
        ("data", np.zeros(3, "u1")),
        ("height", 0),
        ("width", 0),
    ],
)
def test_a_picture_that_is_none_is_refused(field: str, value: object) -> None:
    for message, read in (
        (images.image_message(1.0, np.zeros((2, 2, 3), dtype=np.uint8)), images.image_from),
        (images.depth_message(1.0, np.zeros((2, 2), dtype=np.float32)), images.depth_from),
    ):
        setattr(message, field, value)
        with pytest.raises(ValueError, match=r"picture|depth"):
            read(message)


def test_a_map_survives() -> None:
    codes = np.array([[-1, 0, 100], [50, 1, 99]], dtype=np.int8)
    found, resolution, x, y = messages.grid_from(sent(messages.grid_message(1.0, codes, 0.05, -1.5, 2.0)))
    assert (found == codes).all()
    assert (resolution, x, y) == (0.05, -1.5, 2.0)


def test_a_map_that_is_none_is_refused() -> None:
    message = messages.grid_message(1.0, np.zeros((2, 3), dtype=np.int8), 0.05, 0.0, 0.0)
    message.info.width = 4
    with pytest.raises(ValueError, match="4 x 2 with 6 cells"):
        messages.grid_from(message)


def test_a_camera_looks_ahead() -> None:
    """Optical z is ahead, optical x to the right: the rotation of REP 103."""
    q = messages.optical_transform(0.0, "base_link", "camera", 0.2, 0.18).transform.rotation
    ahead = 2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)
    right = 1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y)
    assert (ahead, right) == ((1, 0, 0), (0, -1, 0))


def test_headings_do_not_depend_on_the_sign_of_the_quaternion() -> None:
    message = messages.pose_message(Pose(0.0, 0.0, 2.0))
    q = message.orientation
    q.z, q.w = -q.z, -q.w
    assert messages.pose_from(message).heading == pytest.approx(2.0)


def test_headings_do_not_depend_on_the_length_of_the_quaternion() -> None:
    message = messages.pose_message(Pose(0.0, 0.0, 2.0))
    q = message.orientation
    q.z, q.w = 3 * q.z, 3 * q.w
    assert messages.pose_from(message).heading == pytest.approx(2.0)
    q.z = q.w = 0.0
    assert messages.pose_from(message).heading == 0.0


def test_headings_are_those_of_a_robot_that_leans() -> None:
    """Yaw 2, pitch 0.3, roll 0.2 (rad)."""
    (cy, sy), (cp, sp), (cr, sr) = ((cos(angle / 2), sin(angle / 2)) for angle in (2.0, 0.3, 0.2))
    message = messages.pose_message(Pose())
    q = message.orientation
    q.w, q.x = cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy
    q.y, q.z = cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy
    assert messages.pose_from(message).heading == pytest.approx(2.0)


@given(any_message(types.SCAN))
def test_every_scan_that_can_come_can_be_logged(message: Any) -> None:
    scan = messages.scan_from(message, yaw=pi)
    found = messages.scan_from(sent(messages.scan_message(scan)))
    assert found.ranges.tobytes() == message.ranges.tobytes()


def test_a_scan_of_enormous_angles_can_be_logged() -> None:
    scan = Scan(1.0, np.ones(3, dtype=np.float32), 0.0, 3e38, 0.1, 9.0)
    assert sent(messages.scan_message(scan)).angle_max == inf


@given(any_message(types.ODOMETRY))
def test_all_odometry_that_can_come_can_be_logged(message: Any) -> None:
    sent(messages.odometry_message(messages.odometry_from(message)))
