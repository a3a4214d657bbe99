"""Names of topics: the names that the ROSMASTER A1 and ROS users expect, and this program's own under ``/spca``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

DECISIONS: Final = "/spca/decisions"
SAFETY: Final = "/spca/safety"
ESTIMATES: Final = "/spca/estimates"
OBSERVATIONS: Final = "/spca/observations"
NOTES: Final = "/spca/notes"
"""The five topics above exist only in logs; each std_msgs/String is a record of :mod:`robot_bridge.ros.log.records`."""

DRIVER_COMMANDS: Final = "/cmd_vel"
HOST_COMMANDS: Final = "/spca/cmd_vel"
"""Velocities that the host commands; the deadman on the robot passes them on to ``DRIVER_COMMANDS``."""


@dataclass(frozen=True, slots=True)
class Topics:
    """Topics of a robot. ``/odom_raw`` is the odometry of the driver; ``/odom`` is the output of the robot's filter.

    A picture whose topic ends in ``/compressed...`` is a ``CompressedImage``; any other picture is an ``Image``.
    ``lidar_yaw`` is the angle, radians, from straight ahead to the lidar's zero, positive to the left.
    """

    commands: str = HOST_COMMANDS
    scan: str = "/scan"
    odometry: str = "/odom"
    battery: str = "/voltage"
    imu: str = "/imu/data_raw"
    image: str = "/camera/color/image_raw"
    depth: str = "/camera/depth/image_raw"
    camera: str = "/camera/color/camera_info"
    lidar_yaw: float = 0.0


DRIVER_ODOMETRY: Final = "/odom_raw"
LOGGED_IMAGE: Final = "/camera/image/compressed"
LOGGED_DEPTH: Final = "/camera/depth/compressedDepth"
MAP: Final = "/map"
GOAL: Final = "/goal_pose"
TF: Final = "/tf"
TF_STATIC: Final = "/tf_static"
