"""The real command: every shipped task by exact search, and an evaluation with another process, stopped and resumed."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gridworld.backends import MiniGridBackend
from gridworld.library import task_files
from gridworld.rules.layout import Layout
from gridworld.runner.grid_runner import GridRunner
from gridworld.search.solver import solve
from gridworld.task_spec import TaskSpecification
from tests.support.commands import MINUTES
from tests.support.processes import Process
from tests.support.tiers import long
from tests.support.waiting import AGES, PATIENCE, becomes

pytestmark = pytest.mark.timeout(900)

ROOT = Path(__file__).resolve().parents[2]
RUN_EVAL = (sys.executable, str(ROOT / "run_eval.py"))
INSTALLED = (sys.executable, "-m", "gridworld.evaluation.cli")
LISTED = json.loads((ROOT / "tests" / "gridworld" / "optimal_steps.json").read_text(encoding="utf-8"))


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}


def run(cwd: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=MINUTES, check=False
    )


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("benchmark", "command", "more"),
    [("validation_10", RUN_EVAL, ()), long("tiers", INSTALLED, ("--backend", "multigrid", "--workers", "2"))],
)
def test_bfs_solves_every_shipped_task_at_the_listed_length(
    tmp_path: Path, benchmark: str, command: tuple[str, ...], more: tuple[str, ...]
) -> None:
    done = run(tmp_path, *command, "--benchmark", benchmark, "--model", "bfs", *more)
    assert (done.returncode, done.stderr) == (0, "")
    results = read(tmp_path / "results" / f"bfs_{benchmark}.json")["task_results"]
    files = [path.stem for path in task_files(benchmark)]
    steps = {stem: result["steps_taken"] for stem, result in zip(files, results, strict=True)}
    assert steps == {stem: LISTED[stem]["optimal_steps"] for stem in files}
    assert all(result["success"] and result["optimality_ratio"] == 1.0 for result in results)
    named, looked_at = done.stdout.splitlines()[-2:]
    assert named == f"results: results/bfs_{benchmark}.json"
    looks = shlex.split(looked_at.removeprefix("look at it: "))
    shown = run(tmp_path, *command, *looks[looks.index("leaderboard") :])
    page = f"results/bfs_{benchmark}.html"
    assert shown.stdout.splitlines()[-1] == f"page: {page} (1 result, 1 benchmark); open it in a browser"
    assert (tmp_path / page).is_file()
    _replay(results[0], TaskSpecification.from_json(task_files(benchmark)[0]))


def _replay(result: dict[str, Any], spec: TaskSpecification) -> None:
    """The actions in a results file give back the episode."""
    actions = [step["action"] for step in result["episode"]["trajectory"]]
    again = GridRunner(MiniGridBackend(render_mode=None)).collect_demonstrations(spec, actions)
    assert again.final_state.to_dict() == result["episode"]["final_state"]


@contextmanager
def answered(work_dir: Path, tasks: int) -> Iterator[None]:
    """A program on the other side: plays ``tasks`` episodes by shortest ways, then falls silent."""
    stop = threading.Event()
    answering = threading.Thread(target=answer, args=(work_dir, stop, tasks), daemon=True)
    answering.start()
    try:
        yield
    finally:
        stop.set()
        answering.join()


def answer(work_dir: Path, stop: threading.Event, tasks: int) -> None:
    """Answer until ``stop`` is set."""
    specs = {spec.task_id: spec for spec in map(TaskSpecification.from_json, task_files("gridworld/tasks/tier1"))}
    ways: dict[Path, Any] = {}
    while not stop.wait(0.005):
        for asked in sorted(work_dir.glob("*/input/step_*.json"), key=lambda path: path.stat().st_mtime):
            episode = asked.parent.parent
            if episode not in ways:
                spec = specs[read(episode / "episode.json")["task_id"]]
                ways[episode] = solve(Layout(spec)).actions if len(ways) < tasks else ()
            reply = episode / "output" / asked.name
            if ways[episode] and not reply.exists():
                reply.write_text(json.dumps({"action": int(ways[episode][read(asked)["step_number"] - 1])}))


@pytest.mark.long  # tests/gridworld/evaluation/running stops one with agents of its own
def test_an_evaluation_stopped_by_ctrl_c_goes_on_with_another_process(tmp_path: Path) -> None:
    exchange = tmp_path / "exchange"
    command = [*RUN_EVAL, "--benchmark", "tiers", "--tier", "1", "--model", "file_based", "--work-dir", "exchange"]
    command += ["--timeout", f"{AGES:g}"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with answered(exchange, 1), Process(command, cwd=tmp_path, env=environment(), **pipes) as running:
        asked = exchange / "tier1_maze_rooms_003-1" / "input" / "step_1.json"
        assert becomes(lambda: asked.exists() or running.poll() is not None)
        assert running.poll() is None
        os.killpg(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=PATIENCE)
    again = (
        "python run_eval.py --benchmark tiers --tier 1 --model file_based --work-dir exchange --timeout 600 --resume"
    )
    assert (running.returncode, err) == (130, f"interrupted; 1 task is finished; go on with: {again}\n")

    (exchange / "tier1_maze_rooms_003-1" / "output" / "step_1.json").write_text('{"action": 6}', encoding="utf-8")
    with answered(exchange, 9):
        done = run(tmp_path, *command, "--resume", "--quiet")
    assert done.returncode == 0, done.stderr
    data = read(tmp_path / "results" / "file_based_tiers_1.json")
    assert [result["optimality_ratio"] for result in data["task_results"]] == [1.0] * 3
    folders = sorted(path.name for path in exchange.iterdir())
    assert [name.rpartition("-")[2] for name in folders] == ["1", "1", "2", "1"], "the finished task has one folder"
