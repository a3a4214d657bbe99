"""The shipped tasks: all there, all valid, and found from anywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gridworld.errors import TaskError
from gridworld.library import benchmark_dir, resolve, task_files, tier_dir, tiers
from gridworld.task.validation import check_file
from gridworld.task_spec import TaskSpecification

SHIPPED = [*task_files("tiers"), *task_files("validation_10")]
OPTIMA = json.loads((Path(__file__).parent / "optimal_steps.json").read_text(encoding="utf-8"))


def test_all_tasks_ship() -> None:
    assert [file.stem for file in SHIPPED] == list(OPTIMA)
    assert tiers() == [1, 2, 3, 4, 5]
    for folder in (benchmark_dir("tiers"), benchmark_dir("validation_10").parent):
        assert "Permission is hereby granted" in (folder / "LICENSE.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_every_shipped_task_is_valid_and_written_as_it_was_read(file: Path) -> None:
    assert check_file(file) == []
    spec = TaskSpecification.from_json(file)
    assert TaskSpecification.from_dict(spec.to_dict()) == spec
    assert spec.max_steps == OPTIMA[file.stem]["max_steps"]


def test_names_lead_to_tasks_from_anywhere(tmp_path: Path) -> None:
    program = (
        "from gridworld.library import *\n"
        "from gridworld.task_spec import TaskSpecification\n"
        "print(len(task_files('gridworld/tasks')), len(task_files('mazes/validation_10')), len(task_files('tiers')),"
        " len(task_files('gridworld/mazes/validation_10')), len(task_files('gridworld/tasks/tier5')),"
        " tier_dir(2).name, TaskSpecification.from_json('gridworld/tasks/tier1/maze_simple_001.json').seed)"
    )
    where = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=where, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "16 10 16 10 4 tier2 42\n"


def test_what_is_really_there_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = Path("mazes/validation_10")
    own.mkdir(parents=True)
    assert resolve("mazes/validation_10") == own
    with pytest.raises(TaskError, match=r"^mazes/validation_10: holds no \*\.json"):
        task_files("mazes/validation_10")
    (own / "b.json").write_text("{}")
    (own / "a.json").write_text("{}")
    (own / ".hidden.json").write_text("{}")
    assert [file.name for file in task_files(own)] == ["a.json", "b.json"]
    assert len(task_files("validation_10")) == 10


def test_tiers_count_as_numbers(tmp_path: Path) -> None:
    for name in ("tier10", "tier2", "tier02", "tierx"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.json").write_text("{}")
    assert tiers(tmp_path) == [2, 10]
    assert [file.parent.name for file in task_files(tmp_path)] == ["tier2", "tier10"]
    with pytest.raises(TaskError, match="there is no tier 3; there are 2, 10"):
        tier_dir(3, tmp_path)


@pytest.mark.parametrize(
    "where", ["", "none", "gridworld/tasks/../errors.py", "gridworld", "a\0b", "x" * 5000, "mazes/none"]
)
def test_what_leads_nowhere_is_told_what_there_is(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TaskError, match="shipped are tiers, validation_10"):
        resolve(where)


def test_an_unknown_benchmark_is_told_the_known_ones() -> None:
    with pytest.raises(TaskError, match="there is no benchmark 'validation'; there are tiers, validation_10"):
        benchmark_dir("validation")
