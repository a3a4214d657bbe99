"""A robot at the other end of ROS 2, over DDS and without ROS on this machine.

Sensors are received in a thread of their own; what is observed is the newest of each, of pictures at most
``camera.rate`` a second: cameras send many more than anybody looks at, and all that is observed is logged. Stamps are
translated to the clock of :class:`robot_bridge.control.realtime.MonotonicClock` (:mod:`robot_bridge.ros.timing`).
Commands go to a topic of the host's own, which the deadman on the robot passes on to the driver; what it sends, zeros
included, shows that it is there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Frame, Observation, Twist
from robot_bridge.errors import DeviceError, SetupError
from robot_bridge.ros import images, types
from robot_bridge.ros.dds import Bus, Subscription, wait_until
from robot_bridge.ros.messages import odometry_from, scan_from, seconds, twist_message
from robot_bridge.ros.timing import Arrivals, Pace, StampTranslator
from robot_bridge.ros.topics import DRIVER_COMMANDS, HOST_COMMANDS, Topics
from robot_bridge.twin.drive import feasible

_SILENT: Final = 1.0
"""Seconds for which nothing may come from the deadman, which sends 20 times a second."""
_TOGETHER: Final = 0.15
"""Seconds between a picture and the depth that belongs to it."""
_PERIOD: Final = 0.1

Handler = Callable[[Any, float], None]
"""Takes a message and when it was received."""


class Ros2Robot:
    """See the module.

    Args:
        domain: ``ROS_DOMAIN_ID``; the ROSMASTER A1's is 61.
        config: what is known of the robot.
        with_camera: whether pictures are wanted.
        topics: where it publishes and listens.
        patience: seconds for which sensors and deadman may take to appear.
        must_answer: False takes it as it is then.

    Attributes:
        arrivals: for every subscribed topic, how many messages came.

    Raises:
        SetupError: nothing answers in that domain, or nobody listens for commands, but for one that need not.
    """

    def __init__(
        self,
        domain: int = 61,
        config: RobotConfig | None = None,
        with_camera: bool = True,
        topics: Topics | None = None,
        patience: float = 10.0,
        must_answer: bool = True,
    ) -> None:
        self.config = config or RobotConfig()
        self._topics = topics or Topics()
        self._bus = Bus(domain)
        self._commands = self._bus.publisher(self._topics.commands, types.TWIST)
        self._stamps = StampTranslator()
        self._seen = Observation()
        self._rgb: tuple[float, NDArray[np.uint8]] | None = None
        self._depth: tuple[float, NDArray[np.float32]] | None = None
        self._focal = self.config.camera.focal
        self._pace = Pace(self.config.camera.rate)
        self._last_echo = float("-inf")
        self.arrivals: dict[str, Arrivals] = {}
        self._fault = ""
        self._is_closed = False
        self._handlers: list[tuple[Subscription, Handler]] = []
        self._listen(with_camera)
        self._thread = threading.Thread(target=self._receive, name="ros2", daemon=True)
        self._thread.start()
        try:
            self._await(patience)
        except SetupError:
            if must_answer:
                self.close()
                raise

    def _listen(self, with_camera: bool) -> None:
        topics = self._topics
        self._subscribe(topics.scan, types.SCAN, self._receive_scan)
        self._subscribe(topics.odometry, types.ODOMETRY, self._receive_odometry)
        self._subscribe(topics.battery, types.FLOAT32, self._receive_battery)
        self._subscribe(topics.imu, types.IMU, lambda message, received: None)  # noqa: ARG005  # its rate is of interest
        if topics.commands == HOST_COMMANDS:
            self._subscribe(DRIVER_COMMANDS, types.TWIST, self._receive_echo)
        if with_camera:
            self._subscribe(topics.image, _picture_type(topics.image), self._receive_image, depth=1)
            self._subscribe(topics.depth, _picture_type(topics.depth), self._receive_depth, depth=1)
            self._subscribe(topics.camera, types.CAMERA_INFO, self._receive_calibration, depth=1)

    def _subscribe(self, topic: str, kind: str, handler: Handler, depth: int = 5) -> None:
        subscription = self._bus.subscription(topic, kind, depth=depth)
        self._handlers.append((subscription, handler))
        self.arrivals[topic] = Arrivals()

    def _await(self, patience: float) -> None:
        domain = self._bus.domain
        topics = self._topics
        if not self._appears(lambda: self._seen.scan and self._seen.odometry, patience):
            missing = topics.odometry if self._seen.scan else topics.scan
            raise SetupError(
                f"nothing comes on {missing} in ROS domain {domain}: start the robot's drivers, or name its --domain"
            )
        if not self._appears(lambda: self._commands.listeners and not self._is_unguarded, patience):
            raise SetupError(
                f"nobody passes {topics.commands} on in ROS domain {domain}: start the deadman on the robot"
            )

    def _appears(self, condition: Callable[[], object], patience: float) -> bool:
        came = wait_until(lambda: self._fault or condition(), patience)
        if self._fault:
            raise SetupError(self._fault)
        return came

    @property
    def _is_unguarded(self) -> bool:
        """Whether the deadman has gone silent."""
        return self._topics.commands == HOST_COMMANDS and time.monotonic() - self._last_echo > _SILENT

    def account(self, topic: str) -> str:
        """Return in words what has come on a topic, for whoever misses something."""
        subscription = next(each for each, _ in self._handlers if each.topic == topic)
        arrivals = self.arrivals[topic]
        if not subscription.publishers and not arrivals.count:
            return f"nobody publishes {topic} as {subscription.kind}"
        text = f"{arrivals.count} came on {topic}"
        refused = arrivals.refused + subscription.refused
        if refused:
            text += f", {refused} more could not be read"
        return text

    def observe(self) -> Observation:
        self._check()
        return self._seen

    def apply(self, twist: Twist) -> Twist:
        """See :class:`robot_bridge.protocols.Robot`.

        Raises:
            DeviceError: also where the deadman has gone silent.
        """
        self._check()
        possible = feasible(twist, self.config.body, self.config.limits)
        self._commands.send(twist_message(possible))
        if self._is_unguarded:
            raise DeviceError(f"the deadman sends nothing on {DRIVER_COMMANDS}: it has ended, or is out of reach")
        return possible

    def stop(self) -> None:
        if self._is_closed:
            raise DeviceError("the connection to the robot is closed")
        self._commands.send(twist_message(REST))
        if not self._commands.listeners:
            raise DeviceError(f"nobody listens on {self._topics.commands}: the robot cannot be told to stop")

    def close(self) -> None:
        if self._is_closed:
            return
        with suppress(DeviceError):
            self._commands.send(twist_message(REST))
        self._is_closed = True
        self._thread.join()
        self._bus.close()

    def _check(self) -> None:
        if self._is_closed:
            raise DeviceError("the connection to the robot is closed")
        if self._fault:
            raise DeviceError(self._fault)

    def _receive(self) -> None:
        try:
            while not self._is_closed:
                self._bus.wait(_PERIOD)
                for subscription, handler in self._handlers:
                    messages = subscription.take()
                    # Not before: what comes while others are handled would seem to have come before it was sent.
                    received = time.monotonic()
                    for message in messages:
                        self._take(subscription.topic, handler, message, received)
        except Exception as error:  # the boundary of a thread: raised again by whatever is called next
            self._fault = f"the connection to the robot is lost: {' '.join(str(error).split())}"

    def _take(self, topic: str, handler: Handler, message: Any, received: float) -> None:
        try:
            handler(message, received)
        except ValueError:
            self.arrivals[topic].refused += 1
        else:
            self.arrivals[topic].count += 1

    def _receive_scan(self, message: Any, received: float) -> None:
        stamp = self._stamp(self._topics.scan, message, received)
        self._seen = replace(self._seen, scan=scan_from(message, stamp, self._topics.lidar_yaw))

    def _receive_odometry(self, message: Any, received: float) -> None:
        stamp = self._stamp(self._topics.odometry, message, received)
        self._seen = replace(self._seen, odometry=odometry_from(message, stamp))

    def _receive_battery(self, message: Any, received: float) -> None:  # noqa: ARG002
        volts = float(message.data)
        if not isfinite(volts):
            raise ValueError("a voltage that is no number")
        self._seen = replace(self._seen, battery=volts)

    def _receive_echo(self, message: Any, received: float) -> None:  # noqa: ARG002
        self._last_echo = received

    def _receive_calibration(self, message: Any, received: float) -> None:  # noqa: ARG002
        focal = float(message.k[0])
        if not isfinite(focal):
            raise ValueError("a focal length that is no number")
        if focal > 0:
            self._focal = focal

    def _receive_image(self, message: Any, received: float) -> None:
        stamp = self._stamp(self._topics.image, message, received)
        if self._pace.is_due(stamp):
            self._rgb = stamp, _picture(message)
            self._pair()

    def _receive_depth(self, message: Any, received: float) -> None:
        stamp = self._stamp(self._topics.depth, message, received)
        if self._pace.is_due(stamp):
            self._depth = stamp, _depth(message)
            self._pair()

    def _pair(self) -> None:
        """Make a frame of a picture and the depth that was measured with it."""
        if self._rgb is None or self._depth is None:
            return
        stamp, rgb = self._rgb
        measured, depth = self._depth
        is_together = abs(stamp - measured) <= _TOGETHER
        if is_together and rgb.shape[:2] == depth.shape:
            self._pace.count_taken(stamp)
            self._seen = replace(self._seen, frame=Frame(stamp, rgb, depth, self._focal))

    def _stamp(self, topic: str, message: Any, received: float) -> float:
        return self._stamps.translate(topic, seconds(message.header.stamp), received)


def _picture_type(topic: str) -> str:
    last = topic.rsplit("/", 1)[-1]
    return types.COMPRESSED_IMAGE if last.startswith("compressed") else types.IMAGE


def _picture(message: Any) -> NDArray[np.uint8]:
    if message.__msgtype__ == types.IMAGE:
        return images.image_from(message)
    return images.picture(message.data.tobytes())


def _depth(message: Any) -> NDArray[np.float32]:
    if message.__msgtype__ == types.IMAGE:
        return images.depth_from(message)
    return images.depth(message.data.tobytes(), message.format)
