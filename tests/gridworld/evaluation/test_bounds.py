"""A solved task is never worth nothing: points against the optimum, a certificate, or the best proven bound."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gridworld.evaluation import cli
from gridworld.evaluation.model_interface import ModelInterface
from gridworld.evaluation.models.registry import ModelEntry
from gridworld.search.certificate import FIELD, attach_certificate, certify
from gridworld.search.solver import solve
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.drawn import drawn
from tests.support.gridworld.players import Scripted
from tests.support.report.pages import read_pieces
from tests.support.tiers import few

ROOM = """
    ############
    #A....#.#..#
    #.k...#.#..#
    #..k..d.d.G#
    #.....#.#..#
    ############
"""
FAMILY = drawn(ROOM, keys="red blue", doors="red blue", max_steps=100)
"""Keys in one room and doors in a row, small."""
WAY = tuple(int(action) for action in solve(FAMILY).actions)
LIMIT = "1"
"""States in which this is not decided."""
Captured = pytest.CaptureFixture[str]


def there_and_about(_request: object) -> ModelInterface:
    """Solves the task after it has turned round once."""
    return Scripted(0, 0, 0, 0, *WAY, uses_images=False)


def short(_request: object) -> ModelInterface:
    """Goes straight on, then down."""
    return Scripted(2, 2, 2, 2, 2, 1, 2, 2, uses_images=False)


def main(*arguments: str) -> int:
    return cli.main(list(arguments), {"about": ModelEntry(there_and_about), "short": ModelEntry(short)})


def evaluated(model: str, *more: str) -> dict[str, Any]:
    """The results file of a model on the folder of tasks."""
    tasks = ("--benchmark", "directory", "--task-dir", "tasks", "--backend", "multigrid")
    assert main(*tasks, "--model", model, "--output", f"{model}.json", "--overwrite", *more) == 0
    return dict(json.loads(Path(f"{model}.json").read_text(encoding="utf-8")))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a folder of one task, "tasks"."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tasks").mkdir()
    FAMILY.to_json(tmp_path / "tasks" / "t.json")
    return tmp_path


@pytest.fixture
def certified(home: Path, capsys: Captured) -> Path:
    """The file of the task, with its certificate."""
    assert main("certify", "tasks", "--write") == 0
    capsys.readouterr()
    return home / "tasks" / "t.json"


def change(path: Path, **certificate: Any) -> None:
    data = json.loads(path.read_text(encoding="utf-8"))
    data["metadata"][FIELD] |= certificate
    path.write_text(json.dumps(data), encoding="utf-8")


def test_a_solved_task_earns_points_against_the_bound_and_says_so(home: Path, capsys: Captured) -> None:
    data = evaluated("about", "--limit", LIMIT)
    (result,) = data["task_results"]
    assert (result["success"], result["steps_taken"], result["optimal_steps"]) == (True, len(WAY) + 4, None)
    assert 1 < result["bound"] <= len(WAY)
    assert result["optimality_ratio"] == result["points_earned"] == result["bound"] / (len(WAY) + 4)
    assert (data["num_against_bound"], data["run"]["settings"]["limit"]) == (1, int(LIMIT))
    out = capsys.readouterr().out
    ratio, bound = result["optimality_ratio"], result["bound"]
    assert re.search(rf"at least {bound}\s+at least {ratio:.3f}\s+at least {ratio:.2f} / 1", out)
    assert out.splitlines()[-3] == (
        f"scripted on tasks: 1 of 1 solved (100.0%), at least {ratio:.2f} of 1 points ({ratio:.1%}), "
        f"optimality at least {ratio:.3f} (1 of 1 against a lower bound: optimum unknown)"
    )
    assert main("leaderboard", "about.json") == 0
    page = (home / "leaderboard.html").read_text(encoding="utf-8")
    (entry,) = read_pieces(page)["report"]["groups"][0]["entries"]
    (outcome,) = entry["outcomes"]
    assert (entry["num_against_bound"], entry["num_success"], entry["total_points_earned"]) == (1, 1, ratio)
    assert (outcome["optimal_steps"], outcome["bound"], outcome["optimality_ratio"]) == (None, bound, ratio)


def test_a_certificate_gives_the_optimum_and_the_way(certified: Path, capsys: Captured) -> None:
    for model, ratio in (("about", len(WAY) / (len(WAY) + 4)), ("bfs", 1.0)):
        data = evaluated(model, "--limit", LIMIT)
        (result,) = data["task_results"]
        assert (result["success"], result["optimal_steps"]) == (True, len(WAY))
        assert 1 < result["bound"] <= len(WAY), "which is what was proven here"
        assert result["optimality_ratio"] == result["points_earned"] == ratio
        assert data["num_against_bound"] == 0
    said = capsys.readouterr()
    assert (said.err, "at least" in said.out) == ("", False)
    assert certified.exists()


@pytest.mark.usefixtures("home")
def test_without_one_bfs_says_what_to_do(capsys: Captured) -> None:
    (result,) = evaluated("bfs", "--limit", LIMIT)["task_results"]
    assert (result["success"], result["points_earned"], result["optimality_ratio"]) == (False, 0.0, None)
    assert "is not decided after 1 states: raise --limit, or give it a certificate" in capsys.readouterr().out
    (result,) = evaluated("bfs")["task_results"]
    assert (result["optimal_steps"], result["bound"], result["points_earned"]) == (len(WAY), len(WAY), 1.0)


ALTERED: list[tuple[dict[str, Any], str]] = [
    ({"optimal_steps": len(WAY) + 4}, "actions: has"),
    ({"optimal_steps": len(WAY) + 4, "actions": "0000" + "".join(map(str, WAY))}, "actions: return to a state"),
    ({"optimal_steps": len(WAY) - 1}, "actions: has"),
    ({"optimal_steps": len(WAY) - 1, "actions": "".join(map(str, WAY[:-1]))}, "actions: do not solve the task"),
    ({"fingerprint": "0" * 64}, "fingerprint: the task has changed"),
]


@pytest.mark.parametrize(("changes", "problem"), few(2, ALTERED))
def test_an_altered_certificate_is_named_and_changes_no_score(
    certified: Path, capsys: Captured, changes: dict[str, Any], problem: str
) -> None:
    change(certified, **changes)
    altered = evaluated("about", "--limit", LIMIT)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"warning: tasks/t.json: metadata.certificate is not used: {problem}")
    assert main("validate", "tasks") == 0
    assert f"tasks/t.json: warning: metadata.certificate is not used: {problem}" in capsys.readouterr().out
    FAMILY.to_json(certified)
    plain = evaluated("about", "--limit", LIMIT)
    assert altered["total_points_earned"] == plain["total_points_earned"]


def longer(spec: TaskSpecification, path: Path, way: str) -> None:
    """Write the task with a certificate that claims a way longer than need be, which comes back to no state."""
    proof = replace(certify(spec), actions=way, optimal_steps=len(way))
    attach_certificate(spec, proof).to_json(path)


def test_a_certificate_of_too_long_a_way_is_told_wherever_it_is_found_out(home: Path, capsys: Captured) -> None:
    spec = drawn("########\n#A.....#\n#..k...#\n#.....G#\n########")
    longer(spec, home / "tasks" / "t.json", "1202222212")
    for limit, points, told in (
        ("1000", 1.0, "says 10 steps, but 8 are enough"),
        ("1", 1.0, "says 10 steps, but 8 were enough"),
    ):
        (result,) = evaluated("short", "--limit", limit)["task_results"]
        assert result["points_earned"] == points == result["bound"] / 8
        assert f"warning: the certificate of drawn {told}\n" in capsys.readouterr().out


@pytest.mark.usefixtures("home")
def test_the_limit_is_kept_and_has_to_be_the_same_when_it_goes_on(capsys: Captured) -> None:
    evaluated("about", "--limit", "30")
    tasks = ("--benchmark", "directory", "--task-dir", "tasks", "--backend", "multigrid", "--model", "about")
    assert main(*tasks, "--output", "about.json", "--resume", "--limit", "31") == 2
    assert "is of another evaluation: limit was 30, now 31" in capsys.readouterr().err
    assert main(*tasks, "--output", "about.json", "--resume", "--limit", "30") == 0


def test_a_certificate_is_written_into_the_file_as_it_is(home: Path) -> None:
    path = home / "tasks" / "t.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["mechanisms"]["doors"][0]["color"] = "red"
    data["metadata"] = None
    path.write_text(json.dumps({"TaskSpecification": data, "note": "mine"}), encoding="utf-8")
    assert main("certify", "tasks", "--write") == 0
    after = json.loads(path.read_text(encoding="utf-8"))
    assert after["TaskSpecification"].pop("metadata")[FIELD]["optimal_steps"] == len(WAY)
    del data["metadata"]
    assert after == {"TaskSpecification": data, "note": "mine"}
    assert main("certify", "tasks") == 0


def test_unknown_fields_are_one_warning_a_file_and_refused_where_that_is_asked(home: Path, capsys: Captured) -> None:
    path = home / "tasks" / "t.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    for door in data["mechanisms"]["doors"]:
        door["color"] = door["requires_key"]
    path.write_text(json.dumps(data), encoding="utf-8")
    field = "mechanisms.doors[0].color: is not a field of the format"
    line = f"warning: {path.relative_to(home)}: {field} (and 1 more)\n"
    evaluated("about")
    assert capsys.readouterr().err == line
    for tool in ("list", "certify", "draw"):
        assert main(tool, "tasks") == 0, tool
        assert capsys.readouterr().err == line
        assert main(tool, "tasks", "--strict", *(("--overwrite",) if tool == "draw" else ())) == 2
        assert field in (said := capsys.readouterr()).out + said.err
    assert main("validate", "tasks") == 0
    assert capsys.readouterr().out.splitlines() == [
        f"tasks/t.json: warning: {field}",
        f"tasks/t.json: warning: {field.replace('[0]', '[1]')}",
        "tasks/t.json: ok",
        "1 file: 1 valid, 0 not",
    ]
    assert main("validate", "tasks", "--strict") == 2
    tasks = ("--benchmark", "directory", "--task-dir", "tasks", "--backend", "multigrid", "--model", "about")
    assert main(*tasks, "--output", "x.json", "--strict") == 2
    assert field in capsys.readouterr().err
    assert not (home / "x.json").exists()
    assert TaskSpecification.from_json(path, warnings=[]) == FAMILY


def test_the_generator_takes_a_limit_and_keeps_it(home: Path, capsys: Captured) -> None:
    assert main("generate", "--tier", "2", "--output", "made", "--limit", "999") == 0
    (path,) = (home / "made").iterdir()
    assert json.loads(path.read_text(encoding="utf-8"))["metadata"]["generator"]["limit"] == 999
    assert main("generate", "--tier", "2", "--output", "made", "--limit", "999") == 0
    assert "1 kept" in capsys.readouterr().out


def test_a_way_from_a_certificate_is_drawn(certified: Path, capsys: Captured) -> None:
    drawing = ("draw", str(certified), "--optimal", "--gif", "o.gif", "--tile-size", "8", "--limit", LIMIT)
    assert main(*drawing) == 0
    assert f"{len(WAY)} steps" in capsys.readouterr().out
    FAMILY.to_json(certified)
    assert main(*drawing, "--overwrite") == 2
    assert "is not decided after 1 states: raise --limit" in capsys.readouterr().err
