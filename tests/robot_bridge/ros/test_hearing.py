"""What a robot over ROS 2 makes of what it hears: drivers played by hand, some of them hostile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from robot_bridge.config import Camera, RobotConfig
from robot_bridge.contracts import Frame, Scan
from robot_bridge.errors import DeviceError, SetupError
from robot_bridge.ros import images, messages
from robot_bridge.ros import robot as ros2_robot
from robot_bridge.ros.dds import Bus, Publisher, Subscription, wait_until
from robot_bridge.ros.robot import Ros2Robot
from robot_bridge.ros.topics import Topics
from tests.support.waiting import PATIENCE

CONFIG = RobotConfig(camera=Camera(width=4, height=3, rate=5.0))
TOPICS = Topics(
    commands="/heard/commands",
    scan="/heard/scan",
    odometry="/heard/odometry",
    battery="/heard/battery",
    imu="/heard/imu",
    image="/heard/image",
    depth="/heard/depth",
    camera="/heard/camera",
)
RGB, DEPTH = np.full((3, 4, 3), 7, dtype=np.uint8), np.full((3, 4), 1.5, dtype=np.float32)


class Drivers:
    """Publish whatever they are told, once they are heard."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._publishers: dict[str, Publisher] = {}

    def send(self, topic: str, message: Any) -> None:
        if topic not in self._publishers:
            self._publishers[topic] = self._bus.publisher(topic, message.__msgtype__)
        publisher = self._publishers[topic]
        assert wait_until(lambda: publisher.listeners, PATIENCE)
        publisher.send(message)


@pytest.fixture
def drivers(domain: int) -> Iterator[Drivers]:
    with Bus(domain) as bus:
        yield Drivers(bus)


@pytest.fixture
def robot(domain: int) -> Iterator[Ros2Robot]:
    """That takes them as they are."""
    made = Ros2Robot(domain, CONFIG, topics=TOPICS, patience=0.0, must_answer=False)
    yield made
    made.close()


def scanned(stamp: float) -> Any:
    return messages.scan_message(Scan(stamp, np.ones(8, dtype=np.float32), -np.pi, np.pi / 4, 0.1, 9.0))


@pytest.mark.long
def test_what_comes_while_a_picture_is_read_has_not_come_before_it_was_sent(
    robot: Ros2Robot, drivers: Drivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else every age is too great from then on."""
    drivers.send(TOPICS.depth, images.depth_message(time.monotonic(), DEPTH))
    assert wait_until(lambda: robot.arrivals[TOPICS.depth].count == 1, PATIENCE)

    def slow(_: object) -> None:
        drivers.send(TOPICS.depth, images.depth_message(time.monotonic(), DEPTH))
        time.sleep(0.2)
        raise ValueError("no picture")

    monkeypatch.setattr(ros2_robot, "_picture", slow)
    drivers.send(TOPICS.image, images.image_message(time.monotonic(), RGB))
    assert wait_until(lambda: robot.arrivals[TOPICS.depth].count == 2, PATIENCE)
    sent = time.monotonic()
    drivers.send(TOPICS.scan, scanned(sent))
    assert wait_until(lambda: robot.observe().scan, PATIENCE)
    scan = robot.observe().scan
    assert scan is not None
    assert scan.stamp >= sent - 1e-6


def test_of_many_pictures_no_more_are_observed_than_are_wanted(robot: Ros2Robot, drivers: Drivers) -> None:
    found = list[Frame]()
    end = time.monotonic() + PATIENCE
    while len(found) < 5:
        assert time.monotonic() < end
        now = time.monotonic()
        drivers.send(TOPICS.image, images.image_message(now, RGB))
        drivers.send(TOPICS.depth, images.depth_message(now, DEPTH))
        time.sleep(0.02)
        frame = robot.observe().frame
        if frame is not None and (not found or frame is not found[-1]):
            found.append(frame)
    assert found[-1].stamp - found[0].stamp >= (len(found) - 1.5) / CONFIG.camera.rate - 1e-6
    assert (found[0].rgb == RGB).all()
    assert found[0].depth == pytest.approx(DEPTH)
    assert robot.arrivals[TOPICS.image].count > len(found)


def ordinary(topic: str) -> Any:
    """A message that can be read."""
    return {
        TOPICS.image: lambda: images.image_message(1.0, RGB),
        TOPICS.depth: lambda: images.depth_message(1.0, DEPTH),
        TOPICS.camera: lambda: images.camera_message(1.0, 4, 3, 50.0),
        TOPICS.battery: lambda: messages.number_message(11.5),
    }[topic]()


EMPTY = {"width": 0, "height": 0, "step": 0, "data": np.zeros(0, np.uint8)}
HUGE = dict.fromkeys(("width", "height", "step"), 2**32 - 1)
HOSTILE = [
    *((topic, changes) for topic in (TOPICS.image, TOPICS.depth) for changes in (EMPTY, HUGE, {"encoding": "rgb16"})),
    (TOPICS.depth, {"encoding": "32FC1"}),
    *((TOPICS.camera, {"k": np.full(9, focal)}) for focal in (nan, inf)),
    *((TOPICS.battery, {"data": volts}) for volts in (nan, inf)),
]


@pytest.mark.parametrize(("topic", "changes"), HOSTILE)
def test_what_cannot_be_read_is_counted_and_changes_nothing(
    topic: str, changes: dict[str, Any], robot: Ros2Robot, drivers: Drivers
) -> None:
    drivers.send(topic, replace(ordinary(topic), **changes))
    assert wait_until(lambda: robot.arrivals[topic].refused, PATIENCE)
    assert robot.account(topic) == f"0 came on {topic}, 1 more could not be read"
    for each in (TOPICS.battery, TOPICS.image, TOPICS.depth):
        drivers.send(each, ordinary(each))
    assert wait_until(lambda: robot.observe().battery and robot.observe().frame, PATIENCE)
    seen = robot.observe()
    assert seen.frame is not None
    assert (seen.battery, seen.frame.focal) == (11.5, CONFIG.camera.focal)


def test_pictures_may_come_compressed(domain: int, drivers: Drivers) -> None:
    """And the focal length of a camera that is calibrated."""
    topics = replace(TOPICS, image="/heard/image/compressed", depth="/heard/depth/compressedDepth")
    robot = Ros2Robot(domain, CONFIG, topics=topics, patience=0.0, must_answer=False)
    try:
        drivers.send(topics.camera, images.camera_message(1.0, 4, 3, 123.0))
        assert wait_until(lambda: robot.arrivals[topics.camera].count, PATIENCE)
        image = images.make_compressed_message(1.0, images.JPEG, images.jpeg(RGB))
        drivers.send(topics.image, image)
        png = images.depth_png(DEPTH)
        drivers.send(topics.depth, images.make_compressed_message(1.0, "8UC1; compressedDepth png", png))
        assert wait_until(lambda: robot.arrivals[topics.depth].refused, PATIENCE)
        drivers.send(topics.depth, images.make_compressed_message(1.0, images.DEPTH, png))
        assert wait_until(lambda: robot.observe().frame, PATIENCE)
        frame = robot.observe().frame
        assert frame is not None
        assert frame.focal == 123.0
        assert frame.depth == pytest.approx(DEPTH)
    finally:
        robot.close()


def test_a_connection_that_is_lost_at_once_is_told_as_it_is(domain: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(_: Subscription) -> list[Any]:
        raise DeviceError("/scan cannot be received: no memory")

    monkeypatch.setattr(Subscription, "take", lost)
    with pytest.raises(SetupError, match=r"^the connection to the robot is lost: /scan cannot be received: no memory$"):
        Ros2Robot(domain, CONFIG, topics=TOPICS, patience=PATIENCE)
