"""A robot described in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_bridge.cli import config_file
from robot_bridge.config import RobotConfig
from robot_bridge.errors import SetupError
from robot_bridge.ros.topics import Topics


def test_without_a_file_the_default_robot() -> None:
    assert config_file.read(None) == (RobotConfig(), Topics())


def test_only_what_is_given_differs(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text("body: {wheelbase: 0.135, steering_limit: 0.7}\nlidar:\n  beams: 720\ncontrol_rate: 10\n")
    config, _ = config_file.read(path)
    assert (config.body.wheelbase, config.body.steering_limit, config.lidar.beams) == (0.135, 0.7, 720)
    assert (config.control_rate, config.body.front, config.camera) == (
        10,
        RobotConfig().body.front,
        RobotConfig().camera,
    )


def test_topics_and_the_way_the_lidar_looks(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text("topics: {odometry: /odom_raw, lidar_yaw: 3.14}")
    assert config_file.read(path) == (RobotConfig(), Topics(odometry="/odom_raw", lidar_yaw=3.14))


def test_an_empty_file_is_the_default_robot(tmp_path: Path) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text("# nothing\n")
    assert config_file.read(path) == (RobotConfig(), Topics())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("body: {wheels: 6}", "there is no 'body.wheels': known are wheelbase, "),
        ("weight: 3", "there is no 'weight': known are body, limits"),
        ("body: 3", "body must hold names and values"),
        ("- 3", "the file must hold names and values"),
        ("body: {wheelbase: long}", "body.wheelbase must be a number, not 'long'"),
        ("body: {wheelbase: .inf}", "body.wheelbase must be a number, not inf"),
        ("body: {wheelbase: true}", "body.wheelbase must be a number, not True"),
        ("body: {wheelbase: -0.1}", "body.wheelbase must be above 0, not -0.1"),
        ("lidar: {beams: 3.5}", "lidar.beams must be a whole number, not 3.5"),
        ("topics: {scan: 3}", "topics.scan must be the name of a topic, such as /scan, not 3"),
        ("a: [", "is not YAML: "),
        ("a: !!python/object/apply:os.system [ls]", "is not YAML: "),
    ],
)
def test_what_no_robot_has_is_named(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "robot.yaml"
    path.write_text(text)
    with pytest.raises(SetupError) as caught:
        config_file.read(path)
    assert str(caught.value).startswith(f"{path}")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"absent\.yaml cannot be read: No such file"):
        config_file.read(tmp_path / "absent.yaml")
