"""What runs on the robot: only its own files, the standard library and rclpy, and the Python of ROS 2 Humble."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from robot_bridge.contracts import Twist
from robot_bridge.onboard import relay
from robot_bridge.onboard.relay_dds import DdsTransport
from robot_bridge.ros import topics, types
from robot_bridge.ros.dds import LAST_DOMAIN, Bus, wait_until
from robot_bridge.ros.messages import twist_message
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[3]
FOLDER = "robot_bridge/onboard"
FILES = (f"{FOLDER}/__init__.py", f"{FOLDER}/deadman.py", f"{FOLDER}/relay.py")
ROS = {"rclpy", "geometry_msgs", "std_msgs"}
OFF_ROBOT = {"robot_bridge.errors", "robot_bridge.onboard.relay_dds"}
"""Imported only where there is no rclpy."""


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


@pytest.mark.parametrize("name", FILES)
def test_it_is_python_3_10_and_needs_nothing_else(name: str) -> None:
    tree = ast.parse((ROOT / name).read_text(encoding="utf-8"), feature_version=(3, 10))
    ours = {file.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for file in FILES}
    for module in imported(tree):
        top = module.split(".", 1)[0]
        assert top in sys.stdlib_module_names or top in ROS or module in ours | OFF_ROBOT, module


def test_every_name_of_the_standard_library_is_in_3_10() -> None:
    """The stubs of mypy know since when each is there."""
    python = ["--python-version", "3.10", "--explicit-package-bases", "--cache-dir", "/dev/null"]
    only_these = ["--config-file", "/dev/null", "--follow-imports", "skip", "--ignore-missing-imports"]
    command = [sys.executable, "-m", "mypy", *python, *only_these, *FILES]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr


def test_it_runs_under_python_3_10(tmp_path: Path) -> None:
    python = shutil.which("python3.10")
    if python is None or subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
        pytest.skip("no python3.10 here: checked by its grammar and the stubs of mypy only")
    shutil.copytree(ROOT / FOLDER, tmp_path / FOLDER)
    code = (
        "from robot_bridge.onboard.deadman import Deadman; d = Deadman(); d.command(0.0, 9.0, 0.0);"
        "print(d.output(0.1), d.output(1.0))"
    )
    told = subprocess.run([python, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert told.stdout == "(0.3, 0.0) (0.0, 0.0)\n"
    shown = subprocess.run(
        [python, "-m", "robot_bridge.onboard.relay", "--help"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert "--transport {rclpy,cyclonedds}" in shown.stdout


def test_host_and_robot_name_the_same_topics_and_domains() -> None:
    assert (relay.COMMANDS, relay.DRIVER) == (topics.HOST_COMMANDS, topics.DRIVER_COMMANDS)
    assert relay.LAST_DOMAIN == LAST_DOMAIN


@pytest.mark.parametrize("options", [["--timeout", "0"], ["--speed", "nan"], ["--transport", "pigeon"]])
def test_a_mistake_is_told_before_anything_moves(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        relay.main(options)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_of_commands_that_came_late_the_newest_is_passed_on_and_a_stop_wins(domain: int) -> None:
    names = ("/late_commands", "/late_stop")
    transport = DdsTransport(domain, names[0], "/late_driver", names[1])
    with Bus(domain) as host:
        senders = [host.publisher(name, kind) for name, kind in zip(names, (types.TWIST, types.BOOL), strict=True)]
        arrived = [
            host.subscription(name, kind, reliable=True, depth=9)
            for name, kind in zip(names, (types.TWIST, types.BOOL), strict=True)
        ]

        def are_connected() -> bool:
            return all(s.listeners == 2 for s in senders) and all(a.publishers for a in arrived)

        assert wait_until(are_connected, PATIENCE)
        for number in range(1, 6):
            senders[0].send(twist_message(Twist(number / 100)))
        senders[1].send(types.make(types.BOOL, data=True))
        counts = [0, 0]

        def have_come() -> bool:
            counts[:] = [count + len(each.take()) for count, each in zip(counts, arrived, strict=True)]
            return counts == [5, 1]

        assert wait_until(have_come, PATIENCE)
        time.sleep(0.1)  # the other reader of each has it by now, too
        assert transport.receive(10.0) == [(0.05, 0.0), True]
    transport.close()


@pytest.mark.parametrize("transport", ["rclpy", "cyclonedds"])
@pytest.mark.parametrize("number", ["999", "233", "-1", "x", "1" * 5000])
def test_a_domain_that_is_none_is_a_mistake(
    number: str, transport: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for options, environ, source in (([f"--domain={number}"], "7", ""), ([], number, " (ROS_DOMAIN_ID)")):
        monkeypatch.setenv("ROS_DOMAIN_ID", environ)
        with pytest.raises(SystemExit) as ended:
            relay.main(["--transport", transport, *options])
        assert ended.value.code == 2
        told = f"error: there is no ROS domain {number!r}{source}: choose one from 0 to 232\n"
        assert capsys.readouterr().err == told


@pytest.mark.parametrize(
    ("given", "environ", "chosen"), [("5", "7", 5), ("0", "7", 0), (None, "7", 7), (None, "", 61), (None, None, 61)]
)
def test_the_domain_is_what_is_asked_for_else_that_of_ros_else_the_a1_s(
    given: str | None, environ: str | None, chosen: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ROS_DOMAIN_ID", raising=False)
    if environ is not None:
        monkeypatch.setenv("ROS_DOMAIN_ID", environ)
    assert relay.resolve_domain(given) == chosen


@pytest.mark.parametrize("missing", ["rclpy", "geometry_msgs.msg"])
def test_without_ros_the_line_of_the_unit_says_what_to_do(
    missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("rclpy", "rclpy.signals", "geometry_msgs", "std_msgs", "std_msgs.msg", "geometry_msgs.msg"):
        monkeypatch.setitem(sys.modules, name, MagicMock(__spec__=None))
    monkeypatch.setattr(relay, "find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(SystemExit) as ended:
        relay.main(["--transport", "rclpy"])
    assert ended.value.code == 2
    told = f"error: {missing} is missing: source the ROS 2 set-up first (/opt/ros/humble/setup.bash)\n"
    assert capsys.readouterr().err == told


def test_without_rclpy_and_cyclonedds_ros_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the rest of this project is."""
    monkeypatch.setitem(sys.modules, "cyclonedds.core", None)
    with pytest.raises(SystemExit) as ended:
        relay.main(["--transport", "cyclonedds", "--domain", "60"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: rclpy is missing: source the ROS 2 set-up first")
