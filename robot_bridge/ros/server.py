"""Serves a robot over DDS in real time, as a ROSMASTER A1 appears: the simulated one for those who have no other.

It publishes what the robot's own drivers would and obeys ``/cmd_vel``; the deadman runs beside it in a process of its
own, as on the robot, so that hosts command it as they will command the real one.
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

_STEP: Final = 0.01
_LATE: Final = 0.5
"""Seconds by which a simulation may fall behind before the time is given up."""
_ENDS_WITHIN: Final = 5.0


class RobotServer:
    """Publishes what a robot observes and applies what it is commanded.

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
        self._pictures = []
        if with_camera:
            self._pictures = [
                bus.publisher(topics.camera, types.CAMERA_INFO),
                bus.publisher(topics.depth, types.IMAGE),
                bus.publisher(topics.image, types.IMAGE),
            ]
        self._served = Observation()

    def step(self) -> None:
        """Obey and publish whatever is new.

        Raises:
            DeviceError: the robot failed.
        """
        for message in self._commands.take():
            self._robot.apply(twist_from(message))
        seen = self._robot.observe()
        before = self._served
        self._served = seen
        if seen.odometry is not None and seen.odometry is not before.odometry:
            for publisher in self._odometry:
                publisher.send(odometry_message(seen.odometry))
        if seen.scan is not None and seen.scan is not before.scan:
            self._scans.send(scan_message(seen.scan))
        if seen.battery is not None and seen.battery != before.battery:
            self._battery.send(number_message(seen.battery))
        if seen.frame is not None and seen.frame is not before.frame and self._pictures:
            self._show(seen.frame)

    def _show(self, frame: Frame) -> None:
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
    """Serve a robot until ``is_over``, then stop it; return how many seconds a simulation fell behind.

    Raises:
        SetupError: the domain cannot be joined.
        DeviceError: the robot failed.
    """
    lost = 0.0
    with Bus(domain) as bus, deadman(domain) if with_deadman else nullcontext():
        server = RobotServer(robot, bus, with_camera)
        ahead = clock.now() - time.monotonic()
        try:
            while not is_over():
                server.step()
                clock.wait_until(clock.now() + _STEP)
                early = clock.now() - time.monotonic() - ahead
                if early > 0:
                    time.sleep(early)
                elif early < -_LATE:
                    ahead = ahead + early
                    lost = lost - early
        finally:
            robot.stop()
    return lost


@contextmanager
def deadman(domain: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run the deadman of this machine in a process of its own, ended at the end."""
    options = ["--transport", "cyclonedds", "--domain", str(domain), "--parent", str(os.getpid())]
    command = [sys.executable, "-m", "robot_bridge.onboard.relay", *options]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
