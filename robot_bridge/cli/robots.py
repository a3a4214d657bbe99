"""Open the robot that a command's options name, simulated or real."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_bridge.cli.options import CLUTTERED, AnyRobotOptions
from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Pose
from robot_bridge.control.controller import Controller
from robot_bridge.control.realtime import Lockstep, MonotonicClock, RealTimeLoop, Runner, real_time
from robot_bridge.exploration.asker import Link, LockstepLink, ThreadedLink
from robot_bridge.protocols import Clock, Robot
from robot_bridge.ros.topics import Topics
from robot_bridge.twin.worlds.world import TwinWorld


@dataclass(frozen=True, slots=True)
class ReadyRobot:
    """Robot that is ready to be driven.

    ``start`` is its pose in the map frame. ``camera_fault`` says why the simulation cannot draw pictures, or is "".
    ``top_view`` draws the robot from above, given a width in pixels, or is None. ``runner`` makes the loop that ticks a
    controller, and ``link`` makes the connection to a model; both follow the robot's clock. ``priority_fault`` says why
    this process lacks the real-time priority that a real robot needs, or is "".
    """

    robot: Robot
    clock: Clock
    start: Pose
    camera_fault: str
    top_view: Callable[[int], NDArray[np.uint8]] | None
    runner: Callable[[Controller], Runner]
    link: Callable[[], Link]
    priority_fault: str = ""


@contextmanager
def open_robot(
    options: AnyRobotOptions, config: RobotConfig, topics: Topics | None = None, *, must_answer: bool = True
) -> Iterator[ReadyRobot]:
    """Yield the robot that the options name, and stop and close the robot after the block.

    For a real robot, the process has real-time priority within the block if the system allows this.

    Args:
        options: says which robot.
        config: the robot's configuration.
        topics: topics of a real robot; None for the defaults.
        must_answer: whether a real robot with a silent sensor or deadman is an error.

    Raises:
        SetupError: the world does not exist, or no robot answers.
    """
    with ExitStack() as stack:
        if options.is_simulated:
            body = _make_simulated(options, config)
        else:
            fault = stack.enter_context(real_time())  # before threads start, because threads inherit the priority
            body = _connect_real(options, config, topics, must_answer, fault)
        stack.enter_context(closing(body.robot))
        yield body


def build_world(options: AnyRobotOptions, config: RobotConfig) -> TwinWorld:
    """Return the world of a simulated robot.

    Raises:
        SetupError: the level that the options name does not exist.
    """
    if options.world == CLUTTERED:
        from robot_bridge.twin.worlds.random_worlds import make_cluttered

        return make_cluttered(options.seed)
    from robot_bridge.twin.worlds.levels import level_world

    return level_world(options.world, options.seed, config=config).world


def _make_simulated(options: AnyRobotOptions, config: RobotConfig) -> ReadyRobot:
    from robot_bridge.twin.robot import MujocoRobot

    world = build_world(options, config)
    robot = MujocoRobot(world, config=config, seed=options.seed, with_camera=not options.no_camera)
    start = Pose(0.0, 0.0, world.start.heading)
    # Without a camera by choice, there is no fault to report.
    camera_fault = "" if options.no_camera else robot.camera_fault
    top_view = None if robot.camera_fault else robot.top_view
    return ReadyRobot(
        robot=robot,
        clock=robot.clock,
        start=start,
        camera_fault=camera_fault,
        top_view=top_view,
        runner=lambda controller: Lockstep(controller.tick),
        link=lambda: LockstepLink(robot.clock, None),
    )


def _connect_real(
    options: AnyRobotOptions, config: RobotConfig, topics: Topics | None, must_answer: bool, fault: str
) -> ReadyRobot:
    from robot_bridge.ros.robot import Ros2Robot

    clock = MonotonicClock()
    robot = Ros2Robot(options.choose_domain(), config, not options.no_camera, topics, must_answer=must_answer)
    return ReadyRobot(
        robot=robot,
        clock=clock,
        start=Pose(),
        camera_fault="",
        top_view=None,
        runner=RealTimeLoop,
        link=lambda: ThreadedLink(clock),
        priority_fault=fault,
    )
