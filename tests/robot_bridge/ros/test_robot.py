"""The robot over ROS 2 is a Robot: the suite of all, on a twin that is served by processes of its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from robot_bridge.control.realtime import MonotonicClock, real_time
from robot_bridge.errors import DeviceError, SetupError
from robot_bridge.protocols import Clock
from robot_bridge.ros import images, types
from robot_bridge.ros.dds import Bus, wait_until
from robot_bridge.ros.robot import Ros2Robot
from robot_bridge.ros.topics import Topics
from robot_bridge.testing import RobotSuite
from robot_bridge.testing import observe_all as complete
from tests.support.robot_bridge.loopback import started
from tests.support.robot_bridge.served_twin import CONFIG
from tests.support.waiting import PATIENCE


@pytest.fixture(scope="module")
def served(domain: int) -> Iterator[int]:
    """A twin with camera and deadman; in real time, as is this process, where that is allowed."""
    options = (str(domain), "--camera", "--deadman")
    with real_time(), started("tests.support.robot_bridge.served_twin", *options, wait_for="ready") as twin:
        yield domain
        twin.terminate()
        assert twin.wait(PATIENCE) == 0


@pytest.fixture(scope="module")
def connected(served: int) -> Iterator[Ros2Robot]:
    robot = Ros2Robot(served, CONFIG)
    yield robot
    robot.close()


@pytest.mark.usefixtures("drawing")
class TestRos2Robot(RobotSuite):
    """Three processes: this one, the deadman, the twin."""

    latency = 0.2
    tries = 5

    @pytest.fixture
    def robot(self, connected: Ros2Robot) -> Ros2Robot:
        return connected

    @pytest.fixture
    def clock(self) -> Clock:
        return MonotonicClock()

    @pytest.fixture
    def closable(self, served: int) -> Ros2Robot:
        return Ros2Robot(served, CONFIG, with_camera=False)


@pytest.mark.long
@pytest.mark.usefixtures("drawing")
def test_what_is_heard_is_counted(connected: Ros2Robot) -> None:
    clock, arrivals = MonotonicClock(), connected.arrivals
    for topic, hertz in (("/scan", 10), ("/odom", 50)):
        began, count = clock.now(), arrivals[topic].count
        assert wait_until(lambda: arrivals[topic].count > count + 20, PATIENCE)  # noqa: B023
        came = arrivals[topic].count - count
        assert came / (clock.now() - began) < 1.3 * hertz, "a busy machine makes it slower"
    assert arrivals["/imu/data_raw"].count == 0


@pytest.mark.usefixtures("drawing")
def test_a_picture_that_is_none_does_not_end_the_connection(connected: Ros2Robot, domain: int) -> None:
    with Bus(domain) as bus:
        publisher = bus.publisher(Topics().image, types.IMAGE)
        assert wait_until(lambda: publisher.listeners, PATIENCE)
        message = images.image_message(0.0, complete_picture(connected))  # without a stamp
        message.encoding = "yuv422"

        def is_refused() -> bool:
            publisher.send(message)  # again: what comes soon after a picture is not looked at
            return connected.arrivals[Topics().image].refused > 0

        assert wait_until(is_refused, PATIENCE)
    assert connected.observe().scan is not None


def complete_picture(robot: Ros2Robot) -> NDArray[np.uint8]:
    found = complete(robot, MonotonicClock(), with_frame=True).frame
    assert found is not None
    return found.rgb


def test_where_nobody_is_there_is_no_robot(domain: int) -> None:
    with pytest.raises(
        SetupError, match=f"nothing comes on /nowhere in ROS domain {domain}: start the robot's drivers"
    ):
        Ros2Robot(domain, CONFIG, with_camera=False, topics=Topics(scan="/nowhere"), patience=0.2)


def test_where_nobody_listens_there_is_no_robot(served: int) -> None:
    """Whose sensors are there, which may take a while."""
    told = ""
    for patience in (0.5, 2.0, 8.0):
        with pytest.raises(SetupError) as raised:
            Ros2Robot(served, CONFIG, with_camera=False, topics=Topics(commands="/nobody"), patience=patience)
        told = str(raised.value)
        if "nothing comes" not in told:
            break
    assert told == f"nobody passes /nobody on in ROS domain {served}: start the deadman on the robot"


def test_a_stop_that_nobody_hears_is_told(served: int) -> None:
    """The only listener leaves."""
    with Bus(served) as bus:
        listener = bus.subscription("/only", types.TWIST, reliable=True)
        robot = Ros2Robot(served, CONFIG, with_camera=False, topics=Topics(commands="/only"))
        robot.stop()
        listener.close()
    assert wait_until(lambda: not _stops(robot), PATIENCE)
    robot.close()


def _stops(robot: Ros2Robot) -> bool:
    try:
        robot.stop()
    except DeviceError:
        return False
    return True
