"""Evaluations that are interrupted or killed while their processes are busy."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.gridworld.evaluation.players import corridors, main

ROOT = Path(__file__).resolve().parents[3]
FAST = ("--backend", "multigrid", "--quiet")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a folder of six tasks, "tasks"."""
    corridors(tmp_path / "tasks")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def is_alive(group: int) -> bool:
    """Whether there are processes in a group."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def started(home: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command with two processes that are busy, in a group of its own, once a task is finished."""
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.gridworld.evaluation.players", *arguments, "--overwrite", "--workers", "2"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    journal = home / "results" / "forward_tasks.json.partial.jsonl"
    deadline = time.monotonic() + 30
    while not journal.exists() or journal.read_bytes().count(b"\n") < 3:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return running


def assert_all_end(group: int, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while is_alive(group):
        assert time.monotonic() < deadline
        time.sleep(0.01)


SLOW = ("--task-dir", "tasks", "--benchmark", "directory", "--model", "forward", "--pause")


def test_ctrl_c_ends_every_process_and_says_how_to_go_on(home: Path) -> None:
    running = started(home, *SLOW, "0.05", *FAST)
    os.killpg(running.pid, signal.SIGINT)
    _, err = running.communicate(timeout=30)
    assert running.returncode == 130
    assert re.search(r"interrupted; [0-9] tasks? (is|are) finished; go on with: .*--workers 2 --resume$", err)
    assert "--overwrite" not in err
    assert_all_end(running.pid)
    assert main([*SLOW, "0", *FAST, "--resume"]) == 0


def test_workers_do_not_outlive_a_killed_evaluation(home: Path) -> None:
    running = started(home, *SLOW, "5", *FAST)
    os.kill(running.pid, signal.SIGKILL)
    running.wait(timeout=30)
    assert_all_end(running.pid, seconds=4)
    running.communicate(timeout=30)
