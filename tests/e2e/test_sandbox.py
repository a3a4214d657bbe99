"""The sandbox for generated code as a user meets it: the doctor, the stamps, and doing without."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.e2e.conftest import Learned
from tests.support import forked
from tests.support.commands import curriculum, environment, level_summaries, main_py, only_run, read

pytestmark = pytest.mark.timeout(900)

CONFIRMED = {"SPCA_UNSAFE_NO_SANDBOX": "1"}


def test_the_doctor_tells_of_every_layer(tmp_path: Path) -> None:
    done = main_py(tmp_path, "doctor")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    assert "Level: strict" in lines
    assert lines[-3:] == ["Models:", "embedded   reference/planner", "embedded   reference/coder"]
    for layer in ("seccomp", "landlock", "rlimit", "environment"):
        assert layer in done.stdout.lower()
    assert list(tmp_path.iterdir()) == []


def test_every_result_carries_the_stamp(learned: Learned) -> None:
    assert read(learned.run / "run.json")["sandbox"] == "strict"
    assert read(learned.run / "summary.json")["sandbox"] == "strict"
    assert {level["sandbox"] for level in level_summaries(learned.run)} == {"strict"}


def test_a_run_without_the_wall_says_so_everywhere(tmp_path: Path) -> None:
    chosen = curriculum(tmp_path / "c.json", a=["MiniGrid-Empty-5x5-v0"])
    where = ("--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace")
    done = main_py(tmp_path, "--unsafe-no-sandbox", "--curriculum", chosen, *where, **CONFIRMED)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Sandbox: unsafe" in done.stdout
    assert "unsafe: generated code ran without the sandbox (--unsafe-no-sandbox)" in done.stdout
    run = only_run(tmp_path / "runs")
    assert read(run / "run.json")["sandbox"] == read(run / "summary.json")["sandbox"] == "unsafe"
    assert [level["sandbox"] for level in level_summaries(run)] == ["unsafe"]

    again = main_py(tmp_path, "--resume", run.name, "--runs", tmp_path / "runs")
    assert again.returncode == 2
    assert "confirm it with SPCA_UNSAFE_NO_SANDBOX=1" in again.stderr


def test_a_run_behind_the_wall_does_not_go_on_without_it(learned: Learned, tmp_path: Path) -> None:
    flags = ("--resume", learned.run.name, "--runs", learned.run.parent, "--unsafe-no-sandbox")
    done = main_py(tmp_path, *flags, **CONFIRMED)
    assert done.returncode == 2
    assert "--unsafe-no-sandbox contradicts the run" in done.stderr


def on_a_host_without(tmp_path: Path, calls: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """The command on a host whose kernel does not know these system calls."""
    script = (
        f"from tests.support.spca.kernel import forbid; forbid({{{calls}}}); from main import main; sys.exit(main())"
    )
    return forked.run_statements(f"import sys; {script}", *map(str, arguments), cwd=tmp_path, env=environment())


NO_SECCOMP, NO_LANDLOCK = "317: 38", "444: 38"


def test_a_host_where_the_wall_does_not_hold_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    chosen = curriculum(tmp_path / "c.json", a=["MiniGrid-Empty-5x5-v0"])
    where = ("--curriculum", chosen, "--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace")
    done = on_a_host_without(tmp_path, NO_SECCOMP, *where)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: generated code cannot be sandboxed here: layer 3 (seccomp)")
    assert line.endswith("(docs/sandbox.md)")
    assert [path.name for path in tmp_path.iterdir()] == ["c.json"]
    doctor = on_a_host_without(tmp_path, NO_SECCOMP, "doctor")
    assert doctor.returncode == 1
    assert "FAIL" in doctor.stdout


@pytest.mark.long
def test_a_host_without_landlock_is_stamped(tmp_path: Path) -> None:
    chosen = curriculum(tmp_path / "c.json", a=["MiniGrid-Empty-5x5-v0"])
    where = ("--curriculum", chosen, "--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace")
    done = on_a_host_without(tmp_path, NO_LANDLOCK, *where)
    assert (done.returncode, done.stderr) == (0, "")
    run = only_run(tmp_path / "runs")
    assert read(run / "run.json")["sandbox"] == "strict-nolandlock"
    assert [level["sandbox"] for level in level_summaries(run)] == ["strict-nolandlock"]
    done = main_py(tmp_path, "--resume", run.name, "--runs", tmp_path / "runs")
    assert done.returncode == 2
    assert "begun with sandbox strict-nolandlock, here it is strict" in done.stderr
