"""The real command with models behind servers: the books, the results and the leaderboard say what the server says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.reference_server import Settings
from tests.support.commands import MINUTES
from tests.support.gridworld.players import corridors
from tests.support.gridworld.serving import MODELS, PlayingServer, imbalance, records
from tests.support.spca.served import cost_of, to_provider

pytestmark = pytest.mark.timeout(900)

ROOT = Path(__file__).resolve().parents[2]
KEYS = {"OPENAI_API_KEY": "a-key-of-openai-0123456789"}


def run(cwd: Path, *arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "run_eval.py"), *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, timeout=MINUTES, check=False
    )


@pytest.fixture
def tasks(tmp_path: Path) -> tuple[object, ...]:
    """Two tasks that walking on solves, and two with a bend, of eight steps each."""
    corridors(tmp_path / "tasks", 4)
    return ("--benchmark", "directory", "--task-dir", "tasks", "--backend", "multigrid", "--output", "o.json")


@pytest.mark.parametrize(
    ("prefix", "more"),
    [
        ("openai", ("--effort", "high")),
        ("anthropic", ("--observation", "text")),
        ("google", ("--observation", "text", "--actions-per-call", "4")),
        ("ollama", ()),
    ],
)
def test_books_results_and_leaderboard_are_what_the_server_counted(
    tasks: tuple[object, ...], tmp_path: Path, prefix: str, more: tuple[str, ...]
) -> None:
    with PlayingServer(Settings(faults=0.1, seed=3)) as server:
        environment = KEYS | to_provider(prefix, server)
        done = run(tmp_path, *tasks, "--model", MODELS[prefix], *more, **environment)
        assert done.returncode == 0, done.stderr
        assert sum(line.method == "GET" for line in server.lines) == 1, "it was looked up once"
        log, heard = server.asked, server.heard
    assert imbalance(tmp_path / "o.json", log) == []
    pictures = [len(message.images) for each in heard for message in each.messages]
    assert any(pictures) == ("text" not in more)
    results = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    name = MODELS[prefix] + ("@high" if "high" in more else "")
    assert (results["model_name"], results["num_success"]) == (name, 2)
    assert {each.effort for each in heard} == {"high" if "high" in more else None}
    cost = f"{sum(map(cost_of, log)):.4f}"
    assert f"{len(log)} requests" in done.stdout
    assert f"{cost} USD" in done.stdout
    made = run(tmp_path, "leaderboard", "o.json", "--out", "board.html")
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "board.html").read_text(encoding="utf-8")
    assert f">{cost}<small>{len(log)} requests</small>" in page
    assert f">{name}</th>" in page


def test_a_cap_stops_and_more_of_it_goes_on(tasks: tuple[object, ...], tmp_path: Path) -> None:
    with PlayingServer() as server:
        asked = (*tasks, "--model", MODELS["openai"], "--quiet")
        environment = KEYS | to_provider("openai", server)
        done = run(tmp_path, *asked, "--max-calls", "5", **environment)
        again = "--quiet --resume --max-calls MORE"
        assert (done.returncode, len(server.asked)) == (3, 5)
        assert done.stderr.startswith("stopped: budget: 5 requests were sent (--max-calls 5); 2 tasks are finished; go")
        assert done.stderr.endswith(f"{again}\n")
        done = run(tmp_path, *asked, "--resume", "--max-calls", "100", **environment)
        assert done.returncode == 0, done.stderr
        assert len(server.asked) == 19, "nothing was asked twice"
        assert imbalance(tmp_path / "o.json", server.asked) == []
    assert len({(r["level"], r["key"], r["transcript"]) for r in records(tmp_path / "o.json")}) == 19
