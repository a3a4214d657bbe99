"""The commands as a user gives them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from robot_bridge.cli import main
from robot_bridge.cli.models import EMBEDDED
from robot_bridge.exploration.endings import Ending
from tests.fakes.faults import FaultServer, answering, busy
from tests.fakes.openai_wire import RESPONSES
from tests.fakes.reference_server import ReferenceServer, Settings
from tests.fakes.serving import Reply
from tests.support.tiers import few

ROOT = Path(__file__).resolve().parents[3]
ASKED = ("explore", "--model", "openai/gpt-6-luna")
SHORT = ("explore", "--no-camera", "--minutes", "0.1", "--world", "MiniGrid-Empty-6x6-v0")
SHORTER = (*SHORT, "--minutes", "0.05")
"""Where it is told about the model, and not what was explored."""


def robot_bridge(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environ = dict(os.environ, PYTHONPATH=str(ROOT))
    command = [sys.executable, "-m", "robot_bridge", *arguments]
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=100, check=False)


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("explored") / "run"
    assert main([*SHORT, "--quiet", "--output", str(folder)]) == Ending.TIME.exit_code
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


@pytest.mark.long
def test_recorded_answers_drive_it_the_same_way(explored: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert main([*SHORT, "--quiet", "--model", f"replay/{explored}", "--output", str(again)]) == Ending.TIME.exit_code
    first, second = (json.loads((folder / "summary.json").read_text()) for folder in (explored, again))
    measured = {"settings", "average_latency_ms"}
    assert {name: first[name] for name in first.keys() - measured} == {
        name: second[name] for name in second.keys() - measured
    }


def test_a_budget_ends_the_asking_and_not_the_exploration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*SHORT, "--quiet", "--max-calls", "1", "--output", str(tmp_path / "run")]) == 3
    assert "the model was asked no more: budget: 1 request was sent" in capsys.readouterr().err
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["explored_m2"] > 5
    assert (summary["calls"], summary["failed_calls"]) == (1, 0)


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer(RESPONSES) as server:
        server.models = ("gpt-6-luna",)
        yield server


@pytest.mark.parametrize(
    ("reply", "requests", "told"),
    few(
        2,
        [
            (RESPONSES.refused(401, "no such key", "invalid_api_key"), 1, ("refused the key", "check OPENAI_API_KEY")),
            (RESPONSES.refused(404, "no such model", "model_not_found"), 1, ("no such model at", "with --model")),
            (RESPONSES.refused(404, "Not Found", None), 2, ("there is no API at", "Most end in /v1")),
            (busy(RESPONSES, {}, 503), 2, ("the model never answered", "answers 503")),
            (answering(RESPONSES, "I would go left."), 2, ("the model never answered", "the answer called no tool")),
        ],
    ),
)
def test_a_model_that_cannot_be_had_is_told_with_the_reason_and_is_no_budget(
    server: FaultServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    reply: Reply,
    requests: int,
    told: tuple[str, ...],
) -> None:
    server.reply = reply
    asked = ("--model", "openai/gpt-6-luna", "--base-url", server.base_url)
    assert main([*SHORTER, *asked, "--quiet", "--output", str(tmp_path / "run")]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert all(words in said for words in told)
    assert "planner" not in said
    assert len(server.posted) >= requests
    assert requests > 1 or len(server.posted) == 1, "what a second request cannot mend is not asked again"


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "path", "refused"),
    few(
        1,
        [
            ("openai/gpt-6-luna", "/v1/responses", 0),
            ("openai/gpt-6-luna", "/v1/chat/completions", 1),
            ("anthropic/claude-haiku-5-5", "/v1/messages", 0),
            ("anthropic/claude-sonnet-5-5", "/v1/messages", 1),
            ("google/gemini-3.5-flash-lite", "/v1beta/models/gemini-3.5-flash-lite:generateContent", 0),
        ],
    ),
)
def test_the_tools_are_called_in_the_protocol_of_each_provider(
    model: str, path: str, refused: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ReferenceServer(Settings(responses="completions" not in path)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        for name in ("ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
            monkeypatch.setenv(name, "not-a-real-key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.url)
        assert main([*SHORT, "--quiet", "--model", model, "--output", str(tmp_path / "run")]) == Ending.TIME.exit_code
        answered = [line for line in server.asked if line.status == 200]
        assert {line.path for line in answered} == {path}
        assert len(server.asked) - len(answered) == refused
        assert not any(line.reasoning_tokens for line in answered if model.startswith("openai/"))
    book = [json.loads(line) for line in (tmp_path / "run" / "calls.jsonl").read_text().splitlines()]
    assert sum(record["outcome"] == "answered" for record in book) == len(answered) > 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["explored_m2"] > 5
    assert summary["cost_usd"] > 0


def test_a_model_that_was_shut_down_is_refused_before_the_robot_moves(
    server: FaultServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.ends = {"gpt-6-luna": "2026-01-01"}
    asked = ("--model", "openai/gpt-6-luna", "--base-url", server.base_url, "--output", str(tmp_path / "run"))
    assert main([*SHORT, *asked]) == 2
    said = capsys.readouterr()
    assert said.err == (
        "error: openai/gpt-6-luna was shut down on 2026-01-01: name another one with --model "
        "(--no-preflight starts all the same)\n"
    )
    assert (said.out, server.posted, list(tmp_path.iterdir())) == ("", [], [])
    server.reply = answering(RESPONSES, "I would go left.")
    assert main([*SHORTER, *asked, "--no-preflight", "--quiet"]) == 1
    assert server.posted


@pytest.mark.long
def test_a_model_that_is_not_listed_is_a_warning(
    server: FaultServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.models = ("other",)
    asked = ("--model", "openai/gpt-6-luna", "--base-url", server.base_url, "--output", str(tmp_path / "run"))
    assert main([*SHORTER, *asked, "--quiet"]) == 1
    told = f"warning: openai/gpt-6-luna is not in the list of models at {server.base_url}\n"
    assert capsys.readouterr().err.startswith(told)
    assert server.posted


def test_a_key_may_lie_in_a_file(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHON_DOTENV_DISABLED")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):  # both are taken away again after the test
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY=of-the-file\nOPENAI_BASE_URL={server.base_url}\n")
    server.reply = RESPONSES.refused(401, "no such key", "invalid_api_key")
    assert main([*SHORTER, "--model", "openai/gpt-6-luna", "--quiet"]) == 1
    assert "check OPENAI_API_KEY" in capsys.readouterr().err
    assert server.posted[0].headers["authorization"] == "Bearer of-the-file"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ("explore", "--model", "reference/planner"),
            "'reference/planner' (did you mean reference/navigator?): choose",
        ),
        (("explore", "--model", "openai/gpt-6-luna"), "OPENAI_API_KEY"),
        (("explore", "--model", "gpt-6-luna"), "'gpt-6-luna' (did you mean openai/gpt-6-luna?): choose one of "),
        (("explore", "--model", "openai/gpt-6-lnua"), "(did you mean openai/gpt-6-luna?)"),
        (("explore", "--model", "opnai/gpt-6-luna"), "(did you mean openai/gpt-6-luna?)"),
        (
            ("explore", "--model", "None"),
            "(did you mean none?): choose one of reference/navigator, none, ",
        ),
        (
            ("explore", "--model", "faulty/planner"),
            "none, replay/..., human/..., openai/..., anthropic/..., google/..., ollama/..., llamacpp/...",
        ),
        ((*ASKED, "--base-url", "nonsense"), "--base-url nonsense: an address looks like http://localhost:8000/v1"),
        ((*ASKED, "--base-url", "http://localhost:port/v1"), "an address looks like http://localhost:8000/v1"),
        ((*ASKED, "--base-url", "http://me:secret@host/v1"), "--base-url: an address holds no name, password or query"),
        (("explore", "--base-url", "http://localhost:1/v1"), "is for openai/... models, not for reference/navigator"),
        (("explore", "--max-calls", "0"), "--max-calls '0' is not a whole number from 1 to"),
        (("explore", "--world", "MiniGrid-Nowhere-v0"), "MiniGrid-Nowhere-v0"),
        (("explore", "--world", "Cluttred"), "--world 'Cluttred' is no world (did you mean cluttered?)."),
        (("twin", "--output", "here"), "Unknown option: --output."),
        (("doctor", "--quiet"), "Unknown option: --quiet."),
        (("explore", "--minutes", "-1"), "'-1' is not a number of minutes above 0"),
        (("explore", "--robot", "lego"), 'Invalid value "lego" for --robot. Choose from: "mujoco", "ros2".'),
        (("explore", "--config", "absent.yaml"), "absent.yaml cannot be read"),
        (("explore", "--memory", "absent.yaml"), "absent.yaml"),
        (("replay", "absent"), "absent"),
        (("twin", "--robot", "ros2"), "--robot ros2: only the simulated robot is served"),
        (("act", "go there"), "a plan is written [action(arg, ...), ...], not 'go there'"),
        (("act", "[f(a1)]", "--agent", "absent.py"), "--agent absent.py cannot be read: No such file or directory"),
        (("explore", "--domain", "233"), "--domain '233' is not a whole number from 0 to 232."),
        (("explroe",), 'Unknown command "explroe". Did you mean "explore"?'),
        (("explore", "--modle", "openai/x"), "Unknown option: --modle. Did you mean --model?"),
        (("act",), 'Command "act" parameter PLAN requires an argument.'),
        ((), "No command is given. Available commands: explore, act, replay, doctor, twin."),
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
    code = main(arguments)
    said = capsys.readouterr()
    assert (code, said.out) == (2, "")
    assert said.err.startswith("error: ")
    assert said.err.count("\n") == 1
    assert told in said.err
    assert not list(tmp_path.iterdir())


def test_a_run_of_the_other_program_is_gone_through_by_the_other_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "run.json").write_text("{}")
    assert main(["replay", str(tmp_path)]) == 2
    assert capsys.readouterr().err.endswith("is a run of main.py, not of a robot: python main.py replay RUN LEVEL\n")


def test_the_former_name_of_output_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main([*SHORT, "--out", str(tmp_path)]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0] == "note: --out is called --output now"
    assert told[1].startswith(f"error: --output {tmp_path}: it holds something already")


def test_a_full_folder_is_not_written_into(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main([*SHORT, "--output", str(tmp_path)]) == 2
    assert f"--output {tmp_path}: it holds something already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("ended_by", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_whoever_ends_it_interrupts_it(
    ended_by: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(ended_by)
    command = SimpleNamespace(replay_log=lambda _path, **_options: signal.raise_signal(ended_by))
    monkeypatch.setitem(sys.modules, "robot_bridge.cli.replay", command)
    assert main(["replay", "log"]) == 130
    assert capsys.readouterr().err == "interrupted\n"
    assert signal.getsignal(ended_by) is before


def test_help_names_every_command() -> None:
    told = robot_bridge("--help")
    assert told.returncode == 0
    for word in ("explore", "act", "replay", "doctor", "twin", "docs/robot.md"):
        assert word in told.stdout
    assert list(EMBEDDED) == ["reference/navigator"]
