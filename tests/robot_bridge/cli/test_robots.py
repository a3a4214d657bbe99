"""The commands that need a robot and no model: twin and act."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from robot_bridge.cli import main
from robot_bridge.ros import types
from robot_bridge.ros.dds import Bus
from tests.support.contracts.executing import methods

SMALLEST = ("--world", "MiniGrid-Empty-5x5-v0")
AGENT = methods("""
    def turn(self, agent):
        yield 1
""")


def test_the_twin_is_served_for_as_long_as_was_asked(domain: int, capsys: pytest.CaptureFixture[str]) -> None:
    with Bus(domain) as bus:
        heard = bus.subscription("/scan", types.SCAN)
        assert main(["twin", "--minutes", "0.02", "--no-camera", "--domain", str(domain), *SMALLEST]) == 0
        assert heard.take()
    assert f"is served in ROS 2 domain {domain} without a camera for 0.02 minutes" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.usefixtures("drawing")
def test_a_plan_is_carried_out_and_filmed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import av

    (tmp_path / "agent.py").write_text(AGENT.text, encoding="utf-8")
    (tmp_path / "robot.yaml").write_text("camera: {width: 320, height: 240}", encoding="utf-8")
    given = ("--agent", str(tmp_path / "agent.py"), "--config", str(tmp_path / "robot.yaml"), "--film", "--quiet")
    assert main(["act", "[turn(a1)]", *SMALLEST, *given, "--output", str(tmp_path / "run")]) == 1
    told = capsys.readouterr().out
    assert told.startswith("mission: get to the green goal square\n")
    assert "; 1 primitives\n" in told
    kept = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert (kept["status"], kept["primitives"]) == ("goal_not_reached", [1])
    assert {path.name for path in (tmp_path / "run").iterdir()} == {"log", "map.png", "summary.json", "film.mp4"}
    with av.open(str(tmp_path / "run" / "film.mp4")) as film:
        pictures = [picture.to_ndarray(format="rgb24") for picture in film.decode(video=0)]
    assert len(pictures) > 5
    assert pictures[0].shape == (540, 1600, 3)
    assert np.abs(pictures[-1].astype(int) - pictures[0]).max() > 100, "it shows that something moves"


@pytest.mark.parametrize("name", ["yaml", "gymnasium"])
def test_what_is_not_installed_is_told_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "robot.yaml").touch()
    monkeypatch.setitem(sys.modules, name, None)
    assert main(["twin", "--config", str(tmp_path / "robot.yaml"), "--minutes", "0.001"]) == 2
    told = capsys.readouterr().err
    assert told == f"error: {name} is missing: {sys.executable} -m pip install -r requirements/robot.txt\n"
