"""Convert the values of the bridge to ROS 2 messages and back, as in REP 103 and 105 (pure).

The conversion loses what messages cannot hold: times are rounded to nanoseconds, the limits of a scan to float32, and
depth to millimetres.

Messages come from other programs. If a message cannot be converted, ValueError is raised with a text of one line.
"""

from __future__ import annotations

from math import atan2, cos, isfinite, sin
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robot_bridge.contracts import Odometry, Pose, Scan, Twist
from robot_bridge.ros import types

MAP_FRAME: Final = "map"
ODOM_FRAME: Final = "odom"
BASE_FRAME: Final = "base_link"
LIDAR_FRAME: Final = "laser"
CAMERA_FRAME: Final = "camera_color_optical_frame"


def nanoseconds(time: float) -> int:
    """Return a time in seconds as nanoseconds, or 0 if a message cannot hold the time."""
    if not (isfinite(time) and 0 <= time < 2**31):
        return 0
    return round(time * 1e9)


def seconds(stamp: Any) -> float:
    """Return a ``builtin_interfaces/Time`` in seconds."""
    return float((stamp.sec * 10**9 + stamp.nanosec) / 10**9)


def time_message(time: float) -> Any:
    """Return a ``builtin_interfaces/Time``."""
    sec, nanosec = divmod(nanoseconds(time), 10**9)
    return types.make("builtin_interfaces/msg/Time", sec=sec, nanosec=nanosec)


def header(time: float, frame: str) -> Any:
    """Return a ``std_msgs/Header``."""
    return types.make("std_msgs/msg/Header", stamp=time_message(time), frame_id=frame)


def text_message(text: str) -> Any:
    """Return a ``std_msgs/String``."""
    return types.make(types.STRING, data=text)


def number_message(value: float) -> Any:
    """Return a ``std_msgs/Float32``."""
    return types.make(types.FLOAT32, data=value)


def twist_message(twist: Twist) -> Any:
    """Return a ``geometry_msgs/Twist``."""
    linear = _vector(twist.linear, 0.0)
    angular = _vector(0.0, 0.0, twist.angular)
    return types.make(types.TWIST, linear=linear, angular=angular)


def twist_from(message: Any) -> Twist:
    """Return the forward and turning velocity of a ``geometry_msgs/Twist``.

    The other velocities are ignored, because an Ackermann robot does not have them.
    """
    return Twist(float(message.linear.x), float(message.angular.z))


def odometry_message(odometry: Odometry) -> Any:
    """Return a ``nav_msgs/Odometry``; the covariances are zero, which means unknown."""
    unknown = np.zeros(36)
    pose = types.make("geometry_msgs/msg/PoseWithCovariance", pose=pose_message(odometry.pose), covariance=unknown)
    twist = types.make("geometry_msgs/msg/TwistWithCovariance", twist=twist_message(odometry.twist), covariance=unknown)
    return types.make(
        types.ODOMETRY,
        header=header(odometry.stamp, ODOM_FRAME),
        child_frame_id=BASE_FRAME,
        pose=pose,
        twist=twist,
    )


def odometry_from(message: Any, stamp: float | None = None) -> Odometry:
    """Return the odometry in a ``nav_msgs/Odometry``.

    If ``stamp`` is given, it replaces the message's stamp; ``stamp`` is on this machine's clock.
    """
    time = seconds(message.header.stamp) if stamp is None else stamp
    return Odometry(time, pose_from(message.pose.pose), twist_from(message.twist.twist))


def pose_message(pose: Pose) -> Any:
    """Return a pose on the floor as a ``geometry_msgs/Pose``."""
    point = types.make("geometry_msgs/msg/Point", x=pose.x, y=pose.y, z=0.0)
    return types.make("geometry_msgs/msg/Pose", position=point, orientation=_quaternion(pose.heading))


def pose_from(message: Any) -> Pose:
    """Return the pose on the floor of a ``geometry_msgs/Pose``.

    The quaternion may have any length; a quaternion of length 0 means heading 0.
    """
    q = message.orientation
    sine = 2 * (q.w * q.z + q.x * q.y)
    cosine = q.w * q.w + q.x * q.x - q.y * q.y - q.z * q.z
    heading = float(atan2(sine, cosine))
    return Pose(float(message.position.x), float(message.position.y), heading)


def transform_message(time: float, parent: str, child: str, pose: Pose, z: float = 0.0) -> Any:
    """Return a ``geometry_msgs/TransformStamped`` from the frame ``parent`` to the frame ``child``.

    ``pose`` and the height ``z``, metres, are those of ``child`` in ``parent``.
    """
    translation = _vector(pose.x, pose.y, z)
    rotation = _quaternion(pose.heading)
    transform = types.make("geometry_msgs/msg/Transform", translation=translation, rotation=rotation)
    return types.make(
        "geometry_msgs/msg/TransformStamped", header=header(time, parent), child_frame_id=child, transform=transform
    )


def optical_transform(time: float, parent: str, child: str, x: float, z: float) -> Any:
    """Return the transform from the frame ``parent`` to the frame ``child`` of a camera that looks ahead.

    ``x`` and ``z`` are the camera's place in ``parent``, metres. In the camera frame, z points ahead and x to the right
    (REP 103).
    """
    message = transform_message(time, parent, child, Pose(x), z)
    message.transform.rotation = types.make("geometry_msgs/msg/Quaternion", x=-0.5, y=0.5, z=-0.5, w=0.5)
    return message


def tf_message(*transforms: Any) -> Any:
    """Return a ``tf2_msgs/TFMessage``."""
    return types.make(types.TF, transforms=list(transforms))


def scan_message(scan: Scan) -> Any:
    """Return a ``sensor_msgs/LaserScan``."""
    steps = max(len(scan.ranges) - 1, 0)
    with np.errstate(over="ignore"):  # the increment of a scan may be so large that the last angle is infinite
        last_angle = float(np.float32(scan.angle_min + scan.angle_increment * steps))
    return types.make(
        types.SCAN,
        header=header(scan.stamp, LIDAR_FRAME),
        angle_min=scan.angle_min,
        angle_max=last_angle,
        angle_increment=scan.angle_increment,
        time_increment=0.0,
        scan_time=0.0,
        range_min=scan.range_min,
        range_max=scan.range_max,
        ranges=np.ascontiguousarray(scan.ranges, dtype=np.float32),
        intensities=np.zeros(0, dtype=np.float32),
    )


def scan_from(message: Any, stamp: float | None = None, yaw: float = 0.0) -> Scan:
    """Return the scan in a ``sensor_msgs/LaserScan``.

    If ``stamp`` is given, it replaces the message's stamp. ``yaw`` is the angle, radians, from straight ahead to the
    sensor's zero, positive to the left.
    """
    time = seconds(message.header.stamp) if stamp is None else stamp
    return Scan(
        time,
        np.array(message.ranges, dtype=np.float32),
        float(message.angle_min) + yaw,
        float(message.angle_increment),
        float(message.range_min),
        float(message.range_max),
    )


def grid_message(time: float, codes: NDArray[np.int8], resolution: float, x: float, y: float) -> Any:
    """Return a map as a ``nav_msgs/OccupancyGrid``.

    ``x``, ``y`` is the lower left corner. Row 0 of ``codes`` is the lowest row.
    """
    info = types.make(
        "nav_msgs/msg/MapMetaData",
        map_load_time=time_message(0.0),
        resolution=resolution,
        width=codes.shape[1],
        height=codes.shape[0],
        origin=pose_message(Pose(x, y)),
    )
    cells = np.ascontiguousarray(codes, dtype=np.int8).ravel()
    return types.make(types.OCCUPANCY_GRID, header=header(time, MAP_FRAME), info=info, data=cells)


def grid_from(message: Any) -> tuple[NDArray[np.int8], float, float, float]:
    """Return (codes, resolution, x, y) from a ``nav_msgs/OccupancyGrid``.

    The codes are (rows, columns), the resolution is in metres per cell, and ``x``, ``y`` is the lower left corner.
    """
    info = message.info
    cells = len(message.data)
    if cells != info.width * info.height:
        raise ValueError(f"a map of {info.width} x {info.height} with {cells} cells")
    codes = np.array(message.data, dtype=np.int8).reshape(info.height, info.width)
    # The message holds a float32. The shortest decimal number turns 0.05000000074505806 back into 0.05.
    resolution = float(np.format_float_positional(np.float32(info.resolution)))
    corner = info.origin.position
    return codes, resolution, float(corner.x), float(corner.y)


def _vector(x: float, y: float, z: float = 0.0) -> Any:
    return types.make("geometry_msgs/msg/Vector3", x=x, y=y, z=z)


def _quaternion(heading: float) -> Any:
    half = heading / 2
    return types.make("geometry_msgs/msg/Quaternion", x=0.0, y=0.0, z=sin(half), w=cos(half))
