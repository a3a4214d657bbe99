"""The real command with models behind servers: the books, the results and the leaderboard say what the server says."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import run_eval
from spca.llm.calls.ledger import IN_FLIGHT
from tests.fakes.reference_server import Settings
from tests.support.gridworld.players import corridors
from tests.support.gridworld.serving import MODELS, PlayingServer, imbalance, records
from tests.support.processes import Process
from tests.support.report.pages import read_pieces
from tests.support.spca.served import cost_of, to_provider
from tests.support.tiers import few
from tests.support.waiting import becomes

pytestmark = pytest.mark.timeout(900)

KEYS = {"OPENAI_API_KEY": "a-key-of-openai-0123456789"}


class Command:
    """The command, in a process of its own or in this one, with what it prints."""

    def __init__(self, cwd: Path, monkeypatch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        monkeypatch.chdir(cwd)
        self.cwd, self._patch, self._capture = cwd, monkeypatch, capture

    def __call__(self, *arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
        argv = [*map(str, arguments)]
        with self._patch.context() as patch:
            for name, value in env.items():
                patch.setenv(name, value)
            code = run_eval.main(argv)
        return subprocess.CompletedProcess(argv, code, *self._capture.readouterr())

    def apart(self, *arguments: object, **env: str) -> Process:
        command = [sys.executable, run_eval.__file__, *map(str, arguments)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return Process(command, cwd=self.cwd, env={**os.environ, **env}, **pipes)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, monkeypatch, capsys)


@pytest.fixture
def tasks(tmp_path: Path) -> tuple[object, ...]:
    """Two tasks that walking on solves, and two with a bend, of eight steps each."""
    corridors(tmp_path / "tasks", 4)
    return ("--benchmark", "directory", "--task-dir", "tasks", "--backend", "multigrid", "--output", "o.json")


@pytest.mark.long
@pytest.mark.parametrize(
    ("prefix", "more"),
    few(
        1,
        [
            ("openai", ("--effort", "high")),
            ("openai", ("--observation", "text", "--history", "none")),
            ("anthropic", ("--history", "images")),
            ("anthropic", ("--observation", "text")),
            ("google", ("--observation", "text", "--actions-per-call", "4")),
            ("ollama", ()),
        ],
    ),
)
def test_books_results_and_leaderboard_are_what_the_server_counted(
    run: Command, tasks: tuple[object, ...], tmp_path: Path, prefix: str, more: tuple[str, ...]
) -> None:
    with PlayingServer(Settings(faults=0.1 if "high" in more else 0.0, seed=3)) as server:
        environment = KEYS | to_provider(prefix, server)
        done = run(*tasks, "--model", MODELS[prefix], *more, **environment)
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
    made = run("leaderboard", "o.json", "--output", "board.html")
    assert made.returncode == 0, made.stderr
    (entry,) = read_pieces((tmp_path / "board.html").read_text(encoding="utf-8"))["report"]["groups"][0]["entries"]
    assert f"{entry['usage']['cost_usd']:.4f}" == cost
    assert (entry["model_name"], entry["usage"]["requests"]) == (name, len(log))


def test_a_cap_stops_and_more_of_it_goes_on(run: Command, tasks: tuple[object, ...], tmp_path: Path) -> None:
    with PlayingServer() as server:
        asked = (*tasks, "--model", MODELS["openai"], "--quiet")
        environment = KEYS | to_provider("openai", server)
        done = run(*asked, "--max-calls", "5", **environment)
        assert (done.returncode, len(server.asked)) == (3, 5)
        assert done.stderr.startswith("stopped: budget: 5 requests were sent (--max-calls 5); 2 tasks are finished; go")
        assert done.stderr.endswith("--quiet --resume --max-calls MORE\n")
        done = run(*asked, "--resume", "--max-calls", "100", **environment)
        assert done.returncode == 0, done.stderr
        assert len(server.asked) == 19, "nothing was asked twice"
        assert imbalance(tmp_path / "o.json", server.asked) == []
        kept = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*") if path.is_file()]
        assert not [text for text in (*kept, done.stdout) if KEYS["OPENAI_API_KEY"] in text]
        (tmp_path / "o.json").unlink()
        refused = run(*asked, **environment)
        assert refused.returncode == 2
        assert "o.calls: holds the calls of an earlier evaluation: choose another --output" in refused.stderr
        again = run(*asked, "--overwrite", **environment)
        assert again.returncode == 0, again.stderr
        assert imbalance(tmp_path / "o.json", server.asked[19:]) == [], "begun again, nothing was taken over"


@pytest.mark.long  # one worker keeps it above
def test_several_workers_keep_one_cap(run: Command, tasks: tuple[object, ...], tmp_path: Path) -> None:
    with PlayingServer() as server:
        asked = (*tasks, "--model", MODELS["openai"], "--quiet", "--workers", "2")
        environment = KEYS | to_provider("openai", server)
        done = run(*asked, "--max-calls", "8", **environment)
        assert done.returncode == 3, done.stderr
        assert 8 <= len(server.asked) <= 9, "a request of each worker at most goes over it"
        done = run(*asked, "--resume", "--workers", "1", "--max-calls", "100", **environment)
        assert done.returncode == 0, done.stderr
        log = server.asked
    assert len(records(tmp_path / "o.json")) == len(log)
    assert len([*(tmp_path / "o.calls").glob("*/llm/*.json")]) == 19, "each step has one answer"
    assert len(log) - 19 <= 1, "a worker that had to stop may have lost the answer it waited for"
    usage = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["usage"]
    assert usage["requests"] == len(log)


@pytest.mark.long
def test_a_killed_evaluation_pays_for_no_finished_call_twice(
    run: Command, tasks: tuple[object, ...], tmp_path: Path
) -> None:
    with PlayingServer() as server:
        server.stall_at = 6
        asked = (*tasks, "--model", MODELS["anthropic"], "--quiet", "--observation", "text")
        environment = to_provider("anthropic", server)
        with run.apart(*asked, **environment) as running:
            assert becomes(lambda: len(server.asked) == 6 or running.poll() is not None)
            os.killpg(running.pid, signal.SIGKILL)
        server.settings = Settings()
        done = run(*asked, "--resume", **environment)
        assert done.returncode == 0, done.stderr
        log = server.asked
    booked = records(tmp_path / "o.json")
    assert len(booked) == len(log) == 20, "only the request that had no answer was sent again"
    assert [record["outcome"] for record in booked] == ["answered"] * 5 + ["unknown"] + ["answered"] * 14
    usage = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))["usage"]
    paid = sum(cost_of(line) for number, line in enumerate(log, 1) if number != 6)
    assert (usage["requests"], usage["cost_unknown"], round(usage["cost_usd"], 9)) == (20, 1, round(paid, 9))
    assert f"{paid:.4f}+1? USD" in done.stdout


@pytest.mark.long
def test_workers_that_lost_their_parent_do_not_write_on(
    run: Command, tasks: tuple[object, ...], tmp_path: Path
) -> None:
    with PlayingServer() as server:
        server.stall_at = 3
        asked = (*tasks, "--model", MODELS["openai"], "--quiet", "--workers", "2")
        environment = KEYS | to_provider("openai", server)
        with run.apart(*asked, **environment) as running:
            assert becomes(lambda: len(server.asked) >= 3 or running.poll() is not None)
            running.kill()
            running.wait()
            assert becomes(lambda: not [*(tmp_path / "o.calls").glob(f"*/{IN_FLIGHT}")]), "no orphan waits for ages"
        server.settings = Settings()
        done = run(*asked, "--resume", **environment)
        assert done.returncode == 0, done.stderr
        assert len(records(tmp_path / "o.json")) == len(server.asked)


@pytest.mark.long
def test_a_broken_ledger_ends_the_evaluation_and_no_episode(
    run: Command, tasks: tuple[object, ...], tmp_path: Path
) -> None:
    with PlayingServer() as server:
        asked = (*tasks, "--model", MODELS["openai"], "--quiet")
        environment = KEYS | to_provider("openai", server)
        assert run(*asked, "--max-calls", "5", **environment).returncode == 3
        (book,) = (tmp_path / "o.calls").glob("task_0-*/calls.jsonl")
        whole = book.read_bytes()
        book.write_bytes(b"{\n" + whole)
        stopped = run(*asked, "--resume", **environment)
        assert (stopped.returncode, stopped.stdout) == (2, "")
        assert f"{book}: this ledger cannot be read: " in stopped.stderr
        book.write_bytes(whole)
        done = run(*asked, "--resume", **environment)
        assert done.returncode == 0, done.stderr
        assert imbalance(tmp_path / "o.json", server.asked) == []


def test_a_task_that_comes_twice_is_refused_before_it_is_paid_for(
    run: Command, tasks: tuple[object, ...], tmp_path: Path
) -> None:
    shutil.copy(tmp_path / "tasks" / "3.json", tmp_path / "tasks" / "33.json")
    with PlayingServer() as server:
        asked = (*tasks, "--model", MODELS["openai"], "--quiet")
        refused = run(*asked, **KEYS, **to_provider("openai", server))
        assert (refused.returncode, refused.stdout, server.asked) == (2, "", [])
    assert refused.stderr.startswith("error: tasks/33.json: is the same task as tasks/3.json")
    done = run(*tasks, "--model", "random", "--quiet")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            Settings(key="another-key-0123456789"),
            "refused the key (401: Incorrect API key provided.): check OPENAI_API",
        ),
        (Settings(models=("gpt-5.2",)), "no such model at http://127.0.0.1"),
    ],
)
def test_what_a_server_refuses_is_one_line(
    run: Command, tasks: tuple[object, ...], tmp_path: Path, settings: Settings, words: str
) -> None:
    with PlayingServer(settings) as server:
        environment = KEYS | to_provider("openai", server)
        done = run(*tasks, "--model", MODELS["openai"], "--no-preflight", **environment)
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"error: {MODELS['openai']}: ")
        assert words in line
        assert KEYS["OPENAI_API_KEY"] not in line
        assert "--planner-model" not in line
        warned = run(*tasks, "--model", MODELS["openai"], **environment)
        assert [each.partition(":")[0] for each in warned.stderr.splitlines()] == ["warning", "error"]
        assert len(server.asked) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["tasks"], "nothing is left to go on with"


def test_a_server_of_ones_own_gets_its_own_key(
    run: Command, tasks: tuple[object, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with PlayingServer(Settings(key="a-key-of-the-lab-0123"), "Actions: 2, 2, 2, 2") as server:
        lab = ("--server", f"lab={server.base_url},LAB_KEY", "--model", "lab/m")
        monkeypatch.setenv("LAB_KEY", "")  # so that it is what it was in the end
        monkeypatch.delenv("LAB_KEY")
        monkeypatch.delenv("PYTHON_DOTENV_DISABLED")
        (tmp_path / ".env").write_text("LAB_KEY=a-key-of-the-lab-0123\n", encoding="utf-8")
        refused = run(*tasks, *lab, **KEYS)
        assert refused.returncode == 2
        assert "the price of lab/m is unknown" in refused.stderr
        capped = (*lab, "--max-calls", "99", "--actions-per-call", "4", "--quiet")
        done = run(*tasks, *capped, **KEYS)
        assert done.returncode == 0, done.stderr
        assert f"{len(server.asked)} requests" in done.stdout
        assert len(server.asked) < 19
        assert done.stdout.splitlines()[0].endswith(" tokens, ? USD")
    made = run("leaderboard", "o.json", "--output", "board.html")
    assert made.returncode == 0, made.stderr
    (entry,) = read_pieces((tmp_path / "board.html").read_text(encoding="utf-8"))["report"]["groups"][0]["entries"]
    assert (entry["usage"]["cost_usd"], entry["usage"]["cost_unknown"]) == (0, len(server.asked))
