"""A robot at the other end of ROS 2, over DDS and without ROS on this machine.

A thread receives the messages of the sensors. An observation holds the newest message of each sensor. At most
``camera.rate`` pictures a second are used, because cameras send more than the program needs and every observation is
logged. Stamps are translated to the clock of :class:`robot_bridge.control.realtime.MonotonicClock`
(:mod:`robot_bridge.ros.timing`).

Commands go to a topic of the host. The deadman on the robot passes the commands on to the topic of the driver. The
deadman sends at least zeros. Therefore this program listens on the driver's topic, too: as long as messages come there,
the deadman runs.
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

_MAX_SILENCE_S: Final = 1.0
"""Seconds after which a silent deadman counts as missing; the deadman sends 20 times a second."""
_MAX_PAIR_GAP_S: Final = 0.15
"""Greatest number of seconds between a picture and the depth that belongs to the picture."""
_WAIT_S: Final = 0.1

Handler = Callable[[Any, float], None]
"""Function that takes a message and the time of its arrival."""


class Ros2Robot:
    """A robot reached over DDS; the module's docstring describes the topics.

    Args:
        domain: ``ROS_DOMAIN_ID``; the ROSMASTER A1's is 61.
        config: the robot's configuration.
        with_camera: whether to receive pictures.
        topics: the robot's topics.
        patience: seconds to wait for the sensors and for the deadman.
        must_answer: whether a robot without sensors or deadman is an error.

    Attributes:
        arrivals: for every subscribed topic, how many messages came.

    Raises:
        SetupError: ``must_answer`` is True, and no sensor data come in the domain or no deadman listens for commands.
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
        self._observation = Observation()
        # The newest picture and the newest depth, each with its stamp.
        self._rgb: tuple[float, NDArray[np.uint8]] | None = None
        self._depth: tuple[float, NDArray[np.float32]] | None = None
        self._focal = self.config.camera.focal
        self._pace = Pace(self.config.camera.rate)
        self._last_echo = float("-inf")  # time of the last message from the deadman
        self.arrivals: dict[str, Arrivals] = {}
        self._fault = ""
        self._is_closed = False
        self._handlers: list[tuple[Subscription, Handler]] = []
        self._subscribe_all(with_camera)
        self._thread = threading.Thread(target=self._receive, name="ros2", daemon=True)
        self._thread.start()
        try:
            self._require_answer(patience)
        except SetupError:
            if must_answer:
                self.close()
                raise

    def _subscribe_all(self, with_camera: bool) -> None:
        """Subscribe to the sensors, and to the driver's topic if a deadman passes commands on."""
        topics = self._topics
        self._subscribe(topics.scan, types.SCAN, self._receive_scan)
        self._subscribe(topics.odometry, types.ODOMETRY, self._receive_odometry)
        self._subscribe(topics.battery, types.FLOAT32, self._receive_battery)
        self._subscribe(topics.imu, types.IMU, lambda message, received: None)  # noqa: ARG005  # only counted
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

    def _require_answer(self, patience: float) -> None:
        """Wait for scan and odometry, then for the deadman; raise SetupError if a sensor or the deadman is missing."""
        domain = self._bus.domain
        topics = self._topics
        if not self._wait_until(lambda: self._observation.scan and self._observation.odometry, patience):
            missing = topics.odometry if self._observation.scan else topics.scan
            raise SetupError(
                f"nothing comes on {missing} in ROS domain {domain}: start the robot's drivers, or name its --domain"
            )
        if not self._wait_until(lambda: self._commands.listeners and not self._is_unguarded, patience):
            raise SetupError(
                f"nobody passes {topics.commands} on in ROS domain {domain}: start the deadman on the robot"
            )

    def _wait_until(self, condition: Callable[[], object], patience: float) -> bool:
        """Wait until the condition holds and return True; after ``patience`` seconds, return False.

        Raises:
            SetupError: the receiving thread has failed.
        """
        holds = wait_until(lambda: self._fault or condition(), patience)
        if self._fault:
            raise SetupError(self._fault)
        return holds

    @property
    def _is_unguarded(self) -> bool:
        """Whether the deadman has gone silent; always False if commands go to the driver without a deadman."""
        is_silent = time.monotonic() - self._last_echo > _MAX_SILENCE_S
        return self._topics.commands == HOST_COMMANDS and is_silent

    def account(self, topic: str) -> str:
        """Return a text for users that says how many messages have come on a subscribed topic."""
        subscription = next(subscription for subscription, _ in self._handlers if subscription.topic == topic)
        arrivals = self.arrivals[topic]
        if not subscription.publishers and not arrivals.count:
            return f"nobody publishes {topic} as {subscription.kind}"
        text = f"{arrivals.count} came on {topic}"
        refused = arrivals.refused + subscription.refused
        if refused:
            text += f", {refused} more could not be read"
        return text

    def observe(self) -> Observation:
        self._require_open()
        return self._observation

    def apply(self, twist: Twist) -> Twist:
        """See :class:`robot_bridge.protocols.Robot`.

        Raises:
            DeviceError: the connection is lost, or the deadman has gone silent. In the second case, the command was
                sent.
        """
        self._require_open()
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

    def _require_open(self) -> None:
        """Raise DeviceError if the connection is closed or lost."""
        if self._is_closed:
            raise DeviceError("the connection to the robot is closed")
        if self._fault:
            raise DeviceError(self._fault)

    def _receive(self) -> None:
        """Receive messages until the robot is closed; the receiving thread runs this method."""
        try:
            while not self._is_closed:
                self._bus.wait(_WAIT_S)
                for subscription, handler in self._handlers:
                    messages = subscription.take()
                    # Read the clock after take(). With an earlier time, a message that came while other messages were
                    # handled would seem to have arrived before it was sent.
                    received = time.monotonic()
                    for message in messages:
                        self._handle_message(subscription.topic, handler, message, received)
        except Exception as error:  # the boundary of a thread: the next call of a public method raises the fault
            self._fault = f"the connection to the robot is lost: {' '.join(str(error).split())}"

    def _handle_message(self, topic: str, handler: Handler, message: Any, received: float) -> None:
        """Call the handler and count the message as received, or as refused if the handler raises ValueError."""
        try:
            handler(message, received)
        except ValueError:
            self.arrivals[topic].refused += 1
        else:
            self.arrivals[topic].count += 1

    def _receive_scan(self, message: Any, received: float) -> None:
        stamp = self._translated_stamp(self._topics.scan, message, received)
        self._observation = replace(self._observation, scan=scan_from(message, stamp, self._topics.lidar_yaw))

    def _receive_odometry(self, message: Any, received: float) -> None:
        stamp = self._translated_stamp(self._topics.odometry, message, received)
        self._observation = replace(self._observation, odometry=odometry_from(message, stamp))

    def _receive_battery(self, message: Any, received: float) -> None:  # noqa: ARG002
        volts = float(message.data)
        if not isfinite(volts):
            raise ValueError("a voltage that is no number")
        self._observation = replace(self._observation, battery=volts)

    def _receive_echo(self, message: Any, received: float) -> None:  # noqa: ARG002
        self._last_echo = received

    def _receive_calibration(self, message: Any, received: float) -> None:  # noqa: ARG002
        focal = float(message.k[0])
        if not isfinite(focal):
            raise ValueError("a focal length that is no number")
        if focal > 0:
            self._focal = focal

    def _receive_image(self, message: Any, received: float) -> None:
        """Decode and store a picture if the next picture is due; otherwise ignore it."""
        stamp = self._translated_stamp(self._topics.image, message, received)
        if self._pace.is_due(stamp):
            self._rgb = stamp, _picture(message)
            self._update_frame()

    def _receive_depth(self, message: Any, received: float) -> None:
        """Decode and store depth if the next depth is due; otherwise ignore it."""
        stamp = self._translated_stamp(self._topics.depth, message, received)
        if self._pace.is_due(stamp):
            self._depth = stamp, _depth(message)
            self._update_frame()

    def _update_frame(self) -> None:
        """Put a new frame into the observation if the newest picture and the newest depth belong together."""
        if self._rgb is None or self._depth is None:
            return
        rgb_stamp, rgb = self._rgb
        depth_stamp, depth = self._depth
        is_pair = abs(rgb_stamp - depth_stamp) <= _MAX_PAIR_GAP_S
        if is_pair and rgb.shape[:2] == depth.shape:
            self._pace.count_taken(rgb_stamp)
            self._observation = replace(self._observation, frame=Frame(rgb_stamp, rgb, depth, self._focal))

    def _translated_stamp(self, topic: str, message: Any, received: float) -> float:
        return self._stamps.translate(topic, seconds(message.header.stamp), received)


def _picture_type(topic: str) -> str:
    """Return the message type of a topic with pictures or depth, which follows from the name of the topic."""
    last_part = topic.rsplit("/", 1)[-1]
    return types.COMPRESSED_IMAGE if last_part.startswith("compressed") else types.IMAGE


def _picture(message: Any) -> NDArray[np.uint8]:
    """Return a plain or compressed picture as red, green and blue: uint8 (height, width, 3)."""
    if message.__msgtype__ == types.IMAGE:
        return images.image_from(message)
    return images.picture(message.data.tobytes())


def _depth(message: Any) -> NDArray[np.float32]:
    """Return plain or compressed depth in metres, float32 (height, width); 0 where it is unknown."""
    if message.__msgtype__ == types.IMAGE:
        return images.depth_from(message)
    return images.depth(message.data.tobytes(), message.format)
