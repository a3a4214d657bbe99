"""Runs that are interrupted or killed, and go on."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.e2e.conftest import Learned
from tests.support.commands import (
    events,
    fingerprint,
    level_summaries,
    main_py,
    only_run,
    read,
    solver_processes,
    start,
    timeless,
    wait_for,
)
from tests.support.processes import Process
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.timeout(900)


pytestmark = pytest.mark.long  # tests/test_main_writers.py has a killed run that goes on, scripts/soak kill has many


def begun(runs: Path, index: int) -> bool:
    """Whether the level with this number has begun."""
    logs = runs.glob("*/metrics.jsonl")
    starts = (event for log in logs for event in events(log.parent) if event["event"] == "level_start")
    return any(event["index"] == index for event in starts)


def stop(process: Process, number: signal.Signals) -> tuple[int, str, str]:
    """Send a signal to the process group as a terminal does; exit code, output and errors."""
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=PATIENCE)
    wait_for(lambda: not solver_processes(process.pid))
    return process.returncode, out, err


@pytest.fixture(scope="module")
def broken(learned: Learned, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of ``learned``, but interrupted by SIGINT, then SIGTERM, then SIGKILL, and each time resumed."""
    home = tmp_path_factory.mktemp("broken")
    runs = home / "runs"
    new = ("--curriculum", learned.curriculum, "--runs", runs, "--workspace", home / "workspace")

    with start(home, *new) as process:
        wait_for(lambda: begun(runs, 1))
        code, _, err = stop(process, signal.SIGINT)
    run = only_run(runs)
    assert (code, err) == (130, f"interrupted; go on with: python main.py --resume {run.name} --runs {runs}\n")
    (aborted,) = level_summaries(run)
    assert (aborted["outcome"], aborted["reason"]) == ("aborted", "interrupted by SIGINT")
    assert events(run)[-1]["event"] == "level_summary"

    resume = ("--resume", run.name, "--runs", runs)
    with start(home, *resume) as process:
        wait_for(lambda: sum(event["event"] == "level_start" for event in events(run)) == 2)
        code, _, err = stop(process, signal.SIGTERM)
    assert (code, err.count("\n"), "Traceback" in err) == (130, 1, False)
    assert level_summaries(run)[-1]["reason"] == "interrupted by SIGTERM"

    with start(home, *resume, "--quiet") as process:
        wait_for(lambda: begun(runs, 4))
        assert stop(process, signal.SIGKILL)[0] == -signal.SIGKILL
    with (run / "metrics.jsonl").open("a") as log:
        log.write('{"event": "counter_inc", "na')  # what a kill in the middle of a write leaves
    shutil.rmtree(home / "workspace")  # nothing of the run depends on it

    done = main_py(home, *resume, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].strip() == "6 of 6 levels solved"
    return run


def test_the_summary_is_that_of_an_unbroken_run(learned: Learned, broken: Path) -> None:
    assert timeless(read(broken / "summary.json")) == timeless(read(learned.run / "summary.json"))
    assert [timeless(s) for s in level_summaries(broken)] == [timeless(s) for s in level_summaries(learned.run)]


def test_no_finished_level_is_repeated(broken: Path) -> None:
    finished = [e["index"] for e in events(broken) if e["event"] == "level_summary" and e["outcome"] != "aborted"]
    assert finished == [1, 2, 3, 4, 5, 6]
    starts = [event["index"] for event in events(broken) if event["event"] == "level_start"]
    assert starts[:3] == [1, 1, 1]
    assert sorted(starts) == starts
    assert starts.count(6) == 1


def test_every_version_is_that_of_an_unbroken_run(learned: Learned, broken: Path) -> None:
    names = sorted(p.name for p in learned.run.iterdir() if p.suffix in (".py", ".pddl"))
    assert sorted(p.name for p in broken.iterdir() if p.suffix in (".py", ".pddl")) == names
    for name in names:
        assert (broken / name).read_text() == (learned.run / name).read_text()
    assert fingerprint(broken / "trajectories") == fingerprint(learned.run / "trajectories")


def test_the_workspace_is_up_to_date_again(broken: Path) -> None:
    workspace = broken.parent.parent / "workspace"
    assert (workspace / "agent.py").read_text() == (broken / "agents/agent_v6.py").read_text()
    assert (workspace / "domain.pddl").read_text() == (broken / "pddl/domain_v6.pddl").read_text()


def test_a_finished_run_resumes_to_its_table(learned: Learned, tmp_path: Path) -> None:
    run = tmp_path / "runs" / learned.run.name
    shutil.copytree(learned.run, run)
    before = {name: text for name, text in fingerprint(run).items() if name != "summary.json"}
    done = main_py(tmp_path, "--resume", run.name, "--runs", tmp_path / "runs")
    assert (done.returncode, done.stderr) == (0, "")
    assert "6 of 6 levels solved" in done.stdout
    assert {name: text for name, text in fingerprint(run).items() if name != "summary.json"} == before
    assert read(run / "summary.json") == read(learned.run / "summary.json")
