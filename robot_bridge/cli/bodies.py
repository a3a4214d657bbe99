"""The robot that a command is about, simulated or real, and its clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_bridge.cli.parser import Settings
from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Pose
from robot_bridge.control.controller import Controller
from robot_bridge.control.realtime import Lockstep, MonotonicClock, RealTimeLoop, Runner, real_time
from robot_bridge.errors import SetupError
from robot_bridge.exploration.asker import Link, LockstepLink, ThreadedLink
from robot_bridge.protocols import Clock, Robot
from robot_bridge.ros.topics import Topics
from robot_bridge.twin.worlds.world import TwinWorld

CLUTTERED: Final = "cluttered"
"""``--world`` that is no level: a random flat with poles, chairs and people."""


@dataclass(frozen=True, slots=True)
class Body:
    """A robot that is ready to be driven.

    ``start`` is its pose in the map frame; ``top_view`` draws it from above, None where nobody can;
    ``runner`` keeps a controller going and ``link`` a model being asked, both in the time of this robot.
    ``priority_fault`` is why this process has no real-time priority, "" where it has, or needs none.
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
def opened(
    settings: Settings, config: RobotConfig, topics: Topics | None = None, *, must_answer: bool = True
) -> Iterator[Body]:
    """The robot of the settings until the block ends; it stands then.

    For a real one the process has real-time priority in the block, where that is allowed.

    Args:
        settings, config, topics: which robot, and what is known of it.
        must_answer: False takes a real one as it is, though sensors or the deadman be silent.

    Raises:
        SetupError: there is no such world, or no robot answers.
    """
    with ExitStack() as stack:
        if settings.robot == "mujoco":
            body = _simulated(settings, config)
        else:
            fault = stack.enter_context(real_time())  # before there are threads, which inherit it
            body = _real(settings, config, topics, must_answer, fault)
        stack.enter_context(closing(body.robot))
        yield body


def world_of(settings: Settings, config: RobotConfig) -> TwinWorld:
    """What a simulated robot stands in.

    Raises:
        SetupError: there is no such level.
    """
    if settings.world == CLUTTERED:
        from robot_bridge.twin.worlds.random_worlds import cluttered

        return cluttered(settings.seed)
    from robot_bridge.twin.worlds.levels import level_world

    return level_world(settings.world, settings.seed, config=config).world


def _simulated(settings: Settings, config: RobotConfig) -> Body:
    from robot_bridge.twin.robot import MujocoRobot

    world = world_of(settings, config)
    robot = MujocoRobot(world, config=config, seed=settings.seed, with_camera=settings.camera)
    start = Pose(0.0, 0.0, world.start.heading)
    fault = robot.camera_fault if settings.camera else ""
    top_view = None if robot.camera_fault else robot.top_view
    clock = robot.clock
    return Body(
        robot, clock, start, fault, top_view, lambda each: Lockstep(each.tick), lambda: LockstepLink(clock, None)
    )


def _real(settings: Settings, config: RobotConfig, topics: Topics | None, must_answer: bool, fault: str) -> Body:
    if settings.film:
        raise SetupError("--film is for the simulated robot: look at the log of a real one with a viewer of bags")
    from robot_bridge.ros.robot import Ros2Robot

    clock = MonotonicClock()
    robot = Ros2Robot(settings.domain, config, settings.camera, topics, must_answer=must_answer)
    return Body(robot, clock, Pose(), "", None, RealTimeLoop, lambda: ThreadedLink(clock), fault)
