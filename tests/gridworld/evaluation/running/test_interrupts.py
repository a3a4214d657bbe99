"""Evaluations that are interrupted or killed while their processes are busy."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.gridworld.players import corridors, main
from tests.support.processes import Process
from tests.support.tiers import few
from tests.support.waiting import PATIENCE, becomes

ROOT = Path(__file__).resolve().parents[4]
PLAYED = ("--task-dir", "tasks", "--benchmark", "directory", "--model", "forward", "--backend", "multigrid", "--quiet")
STALLS = ("--stall-at", "4")
"""Each process stalls at its fourth prediction: the first two tasks take three in all, the whole evaluation thirty."""


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


@contextmanager
def stalled(home: Path) -> Iterator[Process]:
    """The command with two processes, in a group of its own, once two tasks are finished; no other will be for ages."""
    with Process(
        [sys.executable, "-m", "tests.support.gridworld.players", *PLAYED, *STALLS, "--overwrite", "--workers", "2"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        journal = home / "results" / "forward_tasks.json.partial.jsonl"
        assert becomes(lambda: journal.exists() and journal.read_bytes().count(b"\n") >= 3)
        yield running


def press_ctrl_c(running: Process) -> None:
    os.killpg(running.pid, signal.SIGINT)


def terminate_host(running: Process) -> None:
    os.kill(running.pid, signal.SIGTERM)


@pytest.mark.parametrize("interrupt", few(1, [terminate_host, press_ctrl_c]))
def test_an_interrupt_ends_every_process_and_says_how_to_go_on(
    home: Path, interrupt: Callable[[Process], None]
) -> None:
    with stalled(home) as running:
        interrupt(running)
        _, err = running.communicate(timeout=PATIENCE)
        assert running.returncode == 130
        assert re.search(r"interrupted; [0-9] tasks? (is|are) finished; go on with: .*--workers 2 --resume$", err)
        assert "--overwrite" not in err
        assert becomes(lambda: not is_alive(running.pid))
    assert main([*PLAYED, "--resume"]) == 0


@pytest.mark.long
def test_workers_do_not_outlive_a_killed_evaluation(home: Path) -> None:
    with stalled(home) as running:
        os.kill(running.pid, signal.SIGKILL)
        running.wait(timeout=PATIENCE)
        assert becomes(lambda: not is_alive(running.pid))
