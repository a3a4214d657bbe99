"""``act``: what is refused before a robot is there, and what is left however it ends."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from robot_bridge.agent import plan as agent_plan
from robot_bridge.agent.rigs import Rig, twin_rig
from robot_bridge.cli import act, main
from robot_bridge.errors import DeviceError, SetupError
from robot_bridge.ros import robot as ros2_robot
from spca.contracts import AgentSource
from spca.reference import coder
from tests.support.bodies.grid import merge
from tests.support.contracts.executing import methods
from tests.support.tiers import long

ROOT = Path(__file__).resolve().parents[3]
SMALLEST = ("--world", "MiniGrid-Empty-5x5-v0")
TURNS = methods("""
    def turn(self, agent):
        yield 1
""")
_PLAN = re.compile(r'"(\[[a-z_]+\([^"]*\])"')


@pytest.fixture
def given(tmp_path: Path) -> tuple[str, ...]:
    """Options: an agent that turns, and small pictures."""
    (tmp_path / "agent.py").write_text(TURNS.text, encoding="utf-8")
    (tmp_path / "robot.yaml").write_text("camera: {width: 320, height: 240}", encoding="utf-8")
    return (*SMALLEST, "--agent", str(tmp_path / "agent.py"), "--config", str(tmp_path / "robot.yaml"))


def embedded_agent() -> AgentSource:
    """With every action that the embedded coder can write."""
    actions = [name for name in coder.library() if not name.startswith("_")]
    return AgentSource(merge((ROOT / "agent.py").read_text(encoding="utf-8"), coder.write(actions)).text)


@pytest.mark.parametrize("robot", ["mujoco", "ros2"])
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("[fly(a1)]",), "fly(a1): --agent agent.py has no action fly: it has turn(agent)"),
        (("[turn()]",), "turn(): turn(agent) takes 1 argument, not 0"),
        (("[]",), "the plan is empty"),
        (("turn",), "a plan is written [action(arg, ...), ...], not 'turn'"),
        (("[turn(goal_gren)]",), "did you mean goal_green?"),
        (("[turn(a1)]", "--agent", "prose.md"), "--agent prose.md cannot be run: syntax error at line 1, column 9: "),
    ],
)
def test_what_cannot_be_carried_out_is_refused_before_there_is_a_robot(
    robot: str,
    arguments: tuple[str, ...],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(act, "_make_rig", lambda *_: pytest.fail("a robot was made"))
    Path("agent.py").write_text(TURNS.text, encoding="utf-8")
    Path("prose.md").write_text("learned agent", encoding="utf-8")
    assert main(["act", "--agent", "agent.py", "--robot", robot, *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert told in said.err
    assert {path.name for path in tmp_path.iterdir()} == {"agent.py", "prose.md"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--world", "cluttered"), "error: --world cluttered: act needs a level, such as MiniGrid-Empty-5x5-v0\n"),
        (("--robot", "ros2", "--film"), "error: --film is for the simulated robot: look at the log of a real one "),
    ],
)
def test_what_an_agent_cannot_act_in_is_said(
    arguments: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["act", "[turn(a1)]", *arguments]) == 2
    assert capsys.readouterr().err.startswith(told)


def test_help_offers_an_agent_only_what_it_can_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["act", "--help"]) == 0
    told = capsys.readouterr().out
    assert "--world" in told
    assert "cluttered" not in told
    assert "--no-camera" not in told


@pytest.mark.long
def test_every_plan_in_help_and_documents_is_one_for_the_embedded_agent(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["explore"], ["act"], ["replay"], ["doctor"], ["twin"]):
        assert main([*arguments, "--help"]) == 0
    texts = [" ".join(capsys.readouterr().out.split())]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"))]
    plans = [plan for text in texts for plan in _PLAN.findall(text)]
    assert len(plans) >= 3
    agent = embedded_agent()
    for plan in plans:
        agent_plan.check_plan(plan, agent)


def hooked(monkeypatch: pytest.MonkeyPatch, before_tick: Callable[[str], None]) -> list[Rig]:
    """Have a function called before every period of the twin's control loop, with the decision under way in words."""
    made: list[Rig] = []

    def hooked_rig(*arguments: Any, **options: Any) -> Rig:
        rig = twin_rig(*arguments, **options)
        controller: Any = rig.controller
        tick = controller.tick

        def ticked() -> Any:
            current = controller.current
            before_tick(current.decision.reasoning if current else "")
            return tick()

        controller.tick = ticked
        made.append(rig)
        return rig

    monkeypatch.setattr(act, "twin_rig", hooked_rig)
    return made


def kept(folder: Path) -> dict[str, Any]:
    assert {path.name for path in folder.iterdir()} == {"log", "map.png", "summary.json"}
    summary: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return summary


@pytest.mark.long
@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize(
    ("ended_by", "during", "primitives"),
    [
        long(signal.SIGINT, "look around: observe_scene", []),
        (signal.SIGTERM, "turn(a1)", []),
        long(signal.SIGHUP, "turn(a2)", [1]),
    ],
)
def test_what_is_interrupted_leaves_all_that_is_left_otherwise(
    ended_by: signal.Signals,
    during: str,
    primitives: list[int],
    given: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt(doing: str) -> None:
        if doing.startswith(during):
            signal.raise_signal(ended_by)

    made = hooked(monkeypatch, interrupt)
    assert main(["act", "[turn(a1), turn(a2)]", *given, "--output", str(tmp_path / "run")]) == 130
    told = capsys.readouterr().out
    assert told.startswith("mission: get to the green goal square\n")
    assert "\ninterrupted: the robot was stopped; 0." in told
    assert f" m driven; {len(primitives)} primitives\n" in told
    summary = kept(tmp_path / "run")
    assert (summary["status"], summary["primitives"]) == ("interrupted", primitives)
    with pytest.raises(DeviceError):
        made[0].controller.robot.observe()
    assert main(["replay", str(tmp_path / "run")]) == 0
    assert "safety chain: the same in all " in capsys.readouterr().out


@pytest.mark.usefixtures("drawing")
def test_a_robot_that_fails_leaves_what_it_found(
    given: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(doing: str) -> None:
        if doing.startswith("turn(a1)"):
            raise DeviceError("the cable is out")

    hooked(monkeypatch, fail)
    assert main(["act", "[turn(a1)]", *given, "--quiet", "--output", str(tmp_path / "run")]) == 2
    said = capsys.readouterr()
    assert said.err == "error: MiniGrid-Empty-5x5-v0 seed 1: the cable is out\n"
    assert "\nfailed: MiniGrid-Empty-5x5-v0 seed 1: the cable is out; 0." in said.out
    summary = kept(tmp_path / "run")
    assert (summary["status"], summary["primitives"]) == ("failed", [])
    assert summary["settings"] == {
        "command": "act",
        "robot": "mujoco",
        "plan": "[turn(a1)]",
        "agent": str(tmp_path / "agent.py"),
        "config": str(tmp_path / "robot.yaml"),
        "film": False,
        "world": "MiniGrid-Empty-5x5-v0",
        "seed": 1,
    }
    assert summary["mission"] == "get to the green goal square"
    assert 0 < summary["minutes"] < 1
    assert summary["distance_m"] >= 0


@pytest.mark.long
def test_a_robot_that_does_not_answer_leaves_nothing(
    given: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nobody(**_options: object) -> None:
        raise SetupError("nothing comes on /scan in ROS domain 7: start the robot's drivers")

    monkeypatch.setattr(ros2_robot, "Ros2Robot", nobody)
    out = tmp_path / "run"
    assert main(["act", "[turn(a1)]", *given, "--robot", "ros2", "--domain", "7", "--output", str(out)]) == 2
    assert capsys.readouterr().err == "error: nothing comes on /scan in ROS domain 7: start the robot's drivers\n"
    assert not out.exists()
