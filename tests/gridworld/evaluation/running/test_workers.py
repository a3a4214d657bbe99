"""Worker processes: the same results as one process, whatever dies."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from gridworld.errors import EvaluationError
from gridworld.evaluation.options import TaskOptions
from gridworld.evaluation.running.settings import Settings, tasks_of
from gridworld.evaluation.running.worker_setup import WorkerSetup
from spca.common.jobs.dispatch import find_engine
from tests.gridworld.evaluation.test_cli import DIRECTORY, FAST, contents, read
from tests.support.gridworld.players import ForwardOptions, corridors, forward, main, unusable


def setup(folder: Path, **options: Any) -> WorkerSetup:
    tasks = TaskOptions(benchmark="directory", task_dir=str(folder), backend="multigrid")
    return WorkerSetup(Settings(tasks, "forward", ForwardOptions(**options)), forward)


@pytest.mark.long
def test_results_do_not_depend_on_the_number_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    corridors(tmp_path / "tasks")
    line = ["--benchmark", "directory", "--task-dir", "tasks", "--model", "random", *FAST]
    assert main([*line, "--output", "one.json"]) == 0
    assert main([*line, "--output", "two.json", "--workers", "2"]) == 0
    assert contents(tmp_path / "two.json") == contents(tmp_path / "one.json")


@pytest.mark.long
def test_the_task_of_a_process_that_died_is_begun_again(tmp_path: Path) -> None:
    corridors(tmp_path / "tasks")
    making = setup(tmp_path / "tasks", die_at=4, once=str(tmp_path / "died"))
    results = dict(find_engine("local")(making, tasks_of(making.settings), 2))
    assert (tmp_path / "died").exists()
    assert sorted(results) == list(range(6))
    assert [results[index].success for index in range(6)] == [True] * 3 + [False] * 3
    assert not any("model_error" in result.episode.info for result in results.values())


@pytest.mark.long
def test_a_task_that_kills_its_process_each_time_is_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    corridors(tmp_path / "tasks", 4)
    assert main([*DIRECTORY, "--die-at", "7", "--workers", "2", "--output", "o.json"]) == 0
    results = read(tmp_path / "o.json")["task_results"]
    assert [result["success"] for result in results] == [True, True, False, False]
    error = "its worker process ended with code -9, 2 times"
    assert [result["episode"]["info"].get("model_error") for result in results] == [None, None, error, error]
    assert results[3]["steps_taken"] == 0
    assert results[3]["optimal_steps"] is not None


@pytest.mark.long
def test_what_no_model_did_ends_the_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard output of the workers is a full disk: no task has failed because of that."""
    corridors(tmp_path / "tasks")
    made = replace(setup(tmp_path / "tasks"), verbose=True)
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    full, kept = os.open("/dev/full", os.O_WRONLY), os.dup(1)
    try:
        os.dup2(full, 1)
        with pytest.raises(OSError, match="No space left"):
            list(find_engine("local")(made, tasks_of(made.settings), 2))
    finally:
        os.dup2(kept, 1)
        os.close(full)
        os.close(kept)


def test_what_cannot_be_sent_to_a_process_is_named(tmp_path: Path) -> None:
    corridors(tmp_path / "tasks", 4)
    made = setup(tmp_path / "tasks")
    with pytest.raises(EvaluationError, match="--workers 1"):
        list(find_engine("local")(WorkerSetup(made.settings, lambda _: unusable(None)), tasks_of(made.settings), 2))


def test_a_process_that_cannot_start_is_named(tmp_path: Path) -> None:
    corridors(tmp_path / "tasks", 2)
    made = setup(tmp_path / "tasks")
    broken = Settings(made.settings.tasks, "forward")
    with pytest.raises(EvaluationError, match="could not start and ended with code 1"):
        list(find_engine("local")(WorkerSetup(broken, forward), tasks_of(made.settings), 2))


def test_ray_is_asked_for_where_it_is_missing(tmp_path: Path) -> None:
    if find_spec("ray"):
        pytest.skip("Ray is installed; scripts/soak gridworld-ray plays with it")
    with pytest.raises(
        EvaluationError, match=f"^--executor ray needs Ray: {re.escape(sys.executable)} -m pip install ray$"
    ):
        list(find_engine("ray")(setup(tmp_path), [], 1))
