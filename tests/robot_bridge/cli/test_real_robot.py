"""What the commands do for a real robot before they are connected: its domain, and the priority of who drives it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from robot_bridge.cli import explore, main, robots
from robot_bridge.cli.options import DEFAULT_WORLD, AnyRobotOptions, ExploreOptions, RobotOptions
from robot_bridge.contracts import Pose
from robot_bridge.control.realtime import Lockstep, describe_priority, real_time
from robot_bridge.errors import SetupError
from robot_bridge.exploration.asker import LockstepLink
from robot_bridge.ros import robot as ros2_robot
from tests.support.contracts.executing import methods
from tests.support.robot_bridge.command_line import parse_options
from tests.support.robot_bridge.kinematic import KinematicRobot, SteppedClock

ROS2 = ("--robot", "ros2")
AGENT = methods("""
    def turn(self, agent):
        yield 1
""")


@pytest.mark.parametrize(
    ("arguments", "environ", "domain"),
    [
        (("explore", *ROS2), "7", 7),
        (("explore", *ROS2, "--domain", "5"), "7", 5),
        (("explore", *ROS2, "--domain", "5"), "x", 5),
        (("doctor", *ROS2), "", 61),
        (("act", "[turn(a1)]", *ROS2), "0", 0),
        (("twin",), "9", 9),
    ],
)
def test_the_domain_is_chosen_as_the_deadman_chooses_it(
    arguments: tuple[str, ...], environ: str, domain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", environ)
    options = parse_options(arguments)
    robot = options if isinstance(options, RobotOptions) else options.robot
    assert robot.choose_domain() == domain


def test_a_domain_of_the_environment_that_is_none_is_a_mistake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "x")
    assert parse_options(("explore",)).robot.describe_place() == {"world": DEFAULT_WORLD, "seed": 1}
    line = "error: there is no ROS domain 'x' (ROS_DOMAIN_ID): choose one from 0 to 232\n"
    for command in (("explore", *ROS2), ("doctor", *ROS2), ("twin",)):
        assert main(command) == 2
        assert capsys.readouterr().err == line


def scheduled(pid: int = 0) -> int:
    """Its policy."""
    return os.sched_getscheduler(pid)


def children() -> list[int]:
    """Processes that threads of this one have started."""
    lists = (path / "children" for path in Path("/proc/self/task").iterdir())
    return [int(pid) for each in lists for pid in each.read_text().split()]


def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, list[int]]]:
    """Where a robot is connected to: the policy of this thread and those of this process's children; nobody answers."""
    found: list[tuple[int, list[int]]] = []

    def connect(*_arguments: object, **_options: object) -> None:
        found.append((scheduled(), [scheduled(pid) for pid in children()]))
        raise SetupError("nobody answers")

    monkeypatch.setattr(ros2_robot, "Ros2Robot", connect)
    return found


@pytest.fixture
def agent(tmp_path: Path) -> str:
    (tmp_path / "agent.py").write_text(AGENT.text, encoding="utf-8")
    return str(tmp_path / "agent.py")


@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="Linux only")
def test_who_drives_is_real_time_and_what_runs_the_agent_is_not(agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with real_time():
        expected = scheduled()
    ordinary, found = scheduled(), seen(monkeypatch)
    before = len(children())
    assert main(["act", "[turn(a1)]", "--agent", agent, *ROS2, "--domain", "7"]) == 2
    assert main(["explore", "--model", "none", *ROS2, "--domain", "7"]) == 2
    assert [policy for policy, _ in found] == [expected, expected]
    assert len(found[0][1]) > before, "the wall's process"
    assert {policy for _, policies in found for policy in policies} <= {ordinary}
    assert scheduled() == ordinary


def refused(*_: object) -> None:
    raise PermissionError(1, "Operation not permitted")


def test_an_exploration_tells_of_a_priority_that_was_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    robot = KinematicRobot(SteppedClock())
    body = robots.ReadyRobot(
        robot,
        robot.clock,
        Pose(),
        "",
        None,
        lambda each: Lockstep(each.tick),
        lambda: LockstepLink(robot.clock, None),
        "no",
    )
    explore._greet(ExploreOptions(robot=AnyRobotOptions(robot="ros2")), body, tmp_path)
    assert f"priority: {describe_priority('no')}\n" in capsys.readouterr().out


def test_a_plan_tells_of_a_priority_that_is_refused(
    agent: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    seen(monkeypatch)
    monkeypatch.setattr(os, "sched_setscheduler", refused)
    assert main(["act", "[turn(a1)]", "--agent", agent, *ROS2, "--domain", "7"]) == 2
    assert capsys.readouterr().out == f"priority: {describe_priority('Operation not permitted')}\n"
