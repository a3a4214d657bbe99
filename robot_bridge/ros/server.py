"""Serve a robot, usually the simulated robot, over DDS in real time under the topics of a ROSMASTER A1.

The server publishes the same messages as the drivers of the real robot and obeys ``/cmd_vel``. As on the real robot,
the deadman runs in a separate process. Hosts therefore command the served robot and the real robot in the same way.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Final

from robot_bridge.contracts import Frame, Observation
from robot_bridge.protocols import Clock, Robot
from robot_bridge.ros import images, types
from robot_bridge.ros.dds import Bus
from robot_bridge.ros.messages import number_message, odometry_message, scan_message, twist_from
from robot_bridge.ros.topics import DRIVER_COMMANDS, DRIVER_ODOMETRY, Topics

_STEP_S: Final = 0.01
_MAX_LAG_S: Final = 0.5
"""Greatest lag of a simulation behind real time, seconds, that the server tries to catch up."""
_END_TIMEOUT_S: Final = 5.0


class RobotServer:
    """Publishes a robot's observations and applies the commands that come for the robot.

    Raises:
        SetupError: the domain cannot be joined.
    """

    def __init__(self, robot: Robot, bus: Bus, with_camera: bool = True) -> None:
        self._robot = robot
        topics = Topics()
        self._commands = bus.subscription(DRIVER_COMMANDS, types.TWIST, reliable=True, depth=1)
        self._scans = bus.publisher(topics.scan, types.SCAN, reliable=False)
        self._battery = bus.publisher(topics.battery, types.FLOAT32, reliable=False)
        odometry = (DRIVER_ODOMETRY, topics.odometry)
        self._odometry = [bus.publisher(topic, types.ODOMETRY, reliable=False) for topic in odometry]
        self._pictures = []  # publishers of calibration, depth and colour, in this order
        if with_camera:
            self._pictures = [
                bus.publisher(topics.camera, types.CAMERA_INFO),
                bus.publisher(topics.depth, types.IMAGE),
                bus.publisher(topics.image, types.IMAGE),
            ]
        self._last_served = Observation()

    def step(self) -> None:
        """Apply the commands that have come and publish the observed values that have changed.

        Raises:
            DeviceError: the robot failed.
        """
        for message in self._commands.take():
            self._robot.apply(twist_from(message))
        new = self._robot.observe()
        last = self._last_served
        self._last_served = new
        if new.odometry is not None and new.odometry is not last.odometry:
            for publisher in self._odometry:
                publisher.send(odometry_message(new.odometry))
        if new.scan is not None and new.scan is not last.scan:
            self._scans.send(scan_message(new.scan))
        if new.battery is not None and new.battery != last.battery:
            self._battery.send(number_message(new.battery))
        is_frame_new = new.frame is not last.frame
        if new.frame is not None and is_frame_new and self._pictures:
            self._publish_frame(new.frame)

    def _publish_frame(self, frame: Frame) -> None:
        """Publish calibration, depth and colour of a frame."""
        height, width, _ = frame.rgb.shape
        camera, depth, image = self._pictures
        camera.send(images.camera_message(frame.stamp, width, height, frame.focal))
        depth.send(images.depth_message(frame.stamp, frame.depth))
        image.send(images.image_message(frame.stamp, frame.rgb))


def serve(
    robot: Robot,
    clock: Clock,
    domain: int = 61,
    is_over: Callable[[], bool] = lambda: False,
    with_deadman: bool = True,
    with_camera: bool = True,
) -> float:
    """Serve a robot until ``is_over`` returns True, then stop the robot; return the total lag given up, seconds.

    If a simulation lags behind real time by more than ``_MAX_LAG_S``, the server gives this lag up instead of catching
    up.

    Raises:
        SetupError: the domain cannot be joined.
        DeviceError: the robot failed.
    """
    lost = 0.0
    with Bus(domain) as bus, deadman(domain) if with_deadman else nullcontext():
        server = RobotServer(robot, bus, with_camera)
        offset = clock.now() - time.monotonic()
        try:
            while not is_over():
                server.step()
                clock.wait_until(clock.now() + _STEP_S)
                lead = clock.now() - time.monotonic() - offset  # negative if the clock of the robot lags behind
                if lead > 0:
                    time.sleep(lead)
                elif lead < -_MAX_LAG_S:
                    offset += lead
                    lost -= lead
        finally:
            robot.stop()
    return lost


@contextmanager
def deadman(domain: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run the deadman in a separate process on this machine while the context is open; yield the process."""
    options = ["--transport", "cyclonedds", "--domain", str(domain), "--parent", str(os.getpid())]
    command = [sys.executable, "-m", "robot_bridge.onboard.relay", *options]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
