"""The commands as a user gives them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from robot_bridge.cli import COMMANDS, main
from robot_bridge.cli.models import EMBEDDED
from robot_bridge.cli.parser import COMMANDS_HELP

ROOT = Path(__file__).resolve().parents[3]
SHORT = ("explore", "--no-camera", "--minutes", "0.1", "--world", "MiniGrid-Empty-6x6-v0")


def robot_bridge(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environ = dict(os.environ, PYTHONPATH=str(ROOT))
    command = [sys.executable, "-m", "robot_bridge", *arguments]
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=100, check=False)


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored") / "run"
    assert main([*SHORT, "--quiet", "--out", str(folder)]) == 0
    return folder


def test_an_exploration_leaves_what_it_says(explored: Path) -> None:
    assert {path.name for path in explored.iterdir()} >= {
        "log",
        "map.png",
        "memory.yaml",
        "summary.json",
        "calls.jsonl",
    }
    summary = json.loads((explored / "summary.json").read_text())
    assert summary["calls"] == len((explored / "calls.jsonl").read_text().splitlines()) > 0
    assert summary["explored_m2"] > 5
    assert summary["cost_usd"] == 0


def test_its_log_is_gone_through_again(explored: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(explored)]) == 0
    told = capsys.readouterr().out
    assert "decides" in told
    assert "safety chain: the same in all " in told


def test_recorded_answers_drive_it_the_same_way(explored: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert main([*SHORT, "--quiet", "--model", f"replay/{explored}", "--out", str(again)]) == 0
    first, second = (json.loads((folder / "summary.json").read_text()) for folder in (explored, again))
    measured = {"settings", "average_latency_ms"}
    assert {name: first[name] for name in first.keys() - measured} == {
        name: second[name] for name in second.keys() - measured
    }


def test_a_budget_ends_the_asking_and_not_the_exploration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SHORT, "--quiet", "--max-calls", "1", "--out", str(tmp_path / "run")]) == 3
    assert "the model was asked no more: budget: 1 requests were sent" in capsys.readouterr().err
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["explored_m2"] > 5


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("explore", "--model", "reference/planner"), "unknown model 'reference/planner': choose one of "),
        (("explore", "--model", "openai/gpt-4o-mini"), "OPENAI_API_KEY"),
        (("explore", "--world", "MiniGrid-Nowhere-v0"), "MiniGrid-Nowhere-v0"),
        (("explore", "--minutes", "-1"), "'-1' is not a number of minutes above 0"),
        (("explore", "--robot", "lego"), "invalid choice: 'lego'"),
        (("explore", "--config", "absent.yaml"), "absent.yaml cannot be read"),
        (("explore", "--memory", "absent.yaml"), "absent.yaml"),
        (("replay", "absent"), "absent"),
        (("twin", "--robot", "ros2"), "--robot ros2: only the simulated robot is served"),
        (("act", "go there"), "a plan is written [action(arg, ...), ...], not 'go there'"),
        (("act", "[f(a1)]", "--agent", "absent.py"), "--agent absent.py cannot be read: No such file or directory"),
        ((), "COMMAND"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code = main(arguments)
    except SystemExit as ended:  # of the parser
        code = int(ended.code or 0)
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert told in said.err
    assert not list(tmp_path.iterdir())


def test_a_full_folder_is_not_written_into(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main([*SHORT, "--out", str(tmp_path)]) == 2
    assert f"--out {tmp_path}: it holds something already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_whoever_ends_it_interrupts_it(
    ended_by: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(ended_by)
    command = SimpleNamespace(run=lambda _settings: signal.raise_signal(ended_by))
    monkeypatch.setitem(sys.modules, COMMANDS["replay"], command)
    assert main(["replay", "log"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert signal.getsignal(ended_by) is before


def test_help_names_every_command() -> None:
    told = robot_bridge("--help")
    assert told.returncode == 0
    for word in (*COMMANDS_HELP, "docs/robot.md"):
        assert word in told.stdout
    assert list(EMBEDDED) == ["reference/navigator", "hostile/navigator"]
