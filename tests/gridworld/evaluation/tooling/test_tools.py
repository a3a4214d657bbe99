"""The tools of the command line, called as the command calls them."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageSequence

from gridworld import library
from gridworld.evaluation import cli
from gridworld.evaluation.tooling.commands import TOOLS
from gridworld.generating.generator import generate
from gridworld.search.certificate import FIELD
from gridworld.search.solver import solve
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.drawn import drawn

ESCAPE = "\x1b[31m"
Captured = pytest.CaptureFixture[str]
SHIPPED = [path for name in library.BENCHMARKS for path in library.task_files(name)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def task(path: Path, **changes: Any) -> Path:
    """A small task in a file, with other values at the top level."""
    path.parent.mkdir(parents=True, exist_ok=True)
    spec = drawn("######\n#Akd.#\n###G##\n######", max_steps=30)
    path.write_text(json.dumps(spec.to_dict() | changes))
    return path


def command(*arguments: object) -> int:
    return cli.main([str(each) for each in arguments])


@pytest.mark.parametrize("name", TOOLS)
def test_help_has_examples(name: str, capsys: Captured) -> None:
    assert command(name, "--help") == 0
    assert f"multinet-run-eval {name} " in capsys.readouterr().out.partition("examples:")[2]


@pytest.mark.parametrize("name", TOOLS)
def test_a_wrong_option_is_one_line(name: str, capsys: Captured) -> None:
    assert command(name, f"--nonsense{ESCAPE}") == 2
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1
    assert ESCAPE not in said


def test_an_unknown_tool(capsys: Captured) -> None:
    assert command("valdiate") == 2
    assert "validate" in capsys.readouterr().err


class TestValidate:
    def test_shipped_tasks(self, capsys: Captured) -> None:
        assert command("validate", "tiers", "validation_10") == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.endswith(": ok") for line in lines] == [True] * 26 + [False]
        assert lines[-1] == "26 files: 26 valid, 0 not"

    def test_each_problem_is_a_line(self, home: Path, capsys: Captured) -> None:
        task(home / "tasks" / "good.json")
        bad = task(home / "tasks" / "bad.json", max_steps=0, difficulty_tier=f"x{ESCAPE}")
        broken = home / "broken.json"
        broken.write_text("{")
        assert command("validate", "tasks", broken, "absent.json", bad) == 2
        out = capsys.readouterr().out
        assert "\x1b" not in out
        lines = out.splitlines()
        assert any(line.startswith("tasks/bad.json: difficulty_tier: ") for line in lines)
        assert any(line.startswith(f"{broken}: ") for line in lines)
        assert any(line.startswith("absent.json: ") for line in lines)
        assert "tasks/good.json: ok" in lines

    def test_names_of_files_are_made_visible(self, home: Path, capsys: Captured) -> None:
        command("validate", task(home / f"{ESCAPE}\n.json"), "--quiet")
        command("validate", task(home / f"{ESCAPE}2.json", max_steps=0))
        out = capsys.readouterr().out
        assert "\x1b" not in out
        assert "␛" in out

    def test_quiet(self, home: Path, capsys: Captured) -> None:
        assert command("validate", "--quiet", task(home / "t.json")) == 0
        assert capsys.readouterr().out == "1 file: 1 valid, 0 not\n"


class TestGenerate:
    def test_tasks_are_made_and_kept(self, home: Path, capsys: Captured) -> None:
        arguments = ("generate", "--tier", "1-2", "--count", "2", "--seed", "5", "--output", "made")
        assert command(*arguments) == 0
        assert capsys.readouterr().out == "4 tasks in made: 4 written\n"
        before = {path.name: path.read_bytes() for path in (home / "made").iterdir()}
        assert len(before) == 4
        assert command(*arguments) == 0
        assert capsys.readouterr().out == "4 tasks in made: 4 kept\n"
        assert {path.name: path.read_bytes() for path in (home / "made").iterdir()} == before

    def test_nothing_is_lost(self, home: Path, capsys: Captured) -> None:
        command("generate", "--tier", "1", "--output", "made")
        (path,) = (home / "made").iterdir()
        path.write_text("mine")
        assert command("generate", "--tier", "1", "--output", "made") == 2
        assert path.read_text() == "mine"
        assert "overwrite" in capsys.readouterr().err
        assert command("generate", "--tier", "1", "--output", "made", "--overwrite") == 0
        assert TaskSpecification.from_json(path).difficulty_tier == 1

    @pytest.mark.parametrize(
        ("arguments", "word"),
        [(["--tier", "9"], "tiers"), (["--tier", "1", "--mechanisms", "wings"], "keys"), (["--tier", "1"], "made")],
    )
    def test_mistakes_are_one_line(self, home: Path, capsys: Captured, arguments: list[str], word: str) -> None:
        (home / "made").write_text("in the way")
        assert command("generate", "--output", "made", *arguments) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert word in line


class TestCertify:
    def test_agrees_differs_and_is_mended(self, home: Path, capsys: Captured) -> None:
        path = home / "t.json"
        generate(2, 1).to_json(path)
        assert command("certify", path) == 0
        assert capsys.readouterr().out.splitlines() == [f"{path}: agrees", "1 file: 1 proven, 0 not"]
        data = json.loads(path.read_text())
        data["metadata"][FIELD]["optimal_steps"] += 1
        path.write_text(json.dumps(data))
        assert command("certify", path) == 1
        assert f"{path}: differs: metadata.certificate.optimal_steps: says" in capsys.readouterr().out
        assert command("certify", path, "--write") == 1
        assert command("certify", path) == 0

    def test_without_a_certificate(self, home: Path, capsys: Captured) -> None:
        links = [{"step": 1, "type": "key_door", "element": "k0", "unlocks": "d0"}]
        path = task(home / "t.json", dependency_chain={"depth": 1, "sequence": links, "notation": "k"})
        steps = solve(TaskSpecification.from_json(path)).steps
        before = path.read_bytes()
        code = command("certify", path)
        lines = capsys.readouterr().out.splitlines()
        assert lines[0] == f"{path}: solvable, optimal {steps} steps (square)"
        assert "chain 1: k0 for d0: " in lines[1]
        assert code == (1 if "NOT" in lines[1] else 0)
        assert path.read_bytes() == before
        command("certify", path, "--write")
        assert json.loads(path.read_text())["metadata"][FIELD]["optimal_steps"] == steps

    def test_what_cannot_be_solved(self, home: Path, capsys: Captured) -> None:
        drawn("######\n#A#.G#\n######").to_json(home / "t.json")
        assert command("certify", "t.json") == 1
        assert "cannot be solved" in capsys.readouterr().out

    def test_another_tiling(self, home: Path, capsys: Captured) -> None:
        generate(1, 1).to_json(home / "t.json")
        assert command("certify", "t.json", "--tiling", "hex") in (0, 1)
        assert "(hex)" in capsys.readouterr().out

    def test_files_that_cannot_be_used(self, home: Path, capsys: Captured) -> None:
        good, bad = task(home / "a.json"), task(home / f"b{ESCAPE}.json", max_steps=0)
        assert command("certify", good, bad, "absent") == 2
        out = capsys.readouterr().out
        assert "\x1b" not in out
        assert "error: " in out
        assert "solvable" in out

    def test_a_limit(self, home: Path, capsys: Captured) -> None:
        shutil.copy(next(path for path in SHIPPED if "complex_deps" in path.name), home / "t.json")
        assert command("certify", "t.json", "--limit", "1") == 2
        assert "limit" in capsys.readouterr().out


class TestDraw:
    def test_shipped_tasks_by_name(self, home: Path, capsys: Captured) -> None:
        assert command("draw", "hidden_switch_001", "tier5_memory_003", "--tile-size", "16") == 0
        names = capsys.readouterr().out.split()
        assert names == ["tier5_hidden_switch_001.png", "tier5_memory_003.png"]
        with Image.open(home / names[0]) as picture:
            assert picture.size == (10 * 16, 8 * 16)

    def test_revealed_pictures_show_more(self, home: Path) -> None:
        command("draw", "hidden_switch_001", "--output", "seen.png")
        command("draw", "hidden_switch_001", "--output", "all.png", "--revealed")
        assert (home / "seen.png").read_bytes() != (home / "all.png").read_bytes()

    def test_a_folder_of_hexagons(self, home: Path) -> None:
        for number in range(2):
            task(home / "tasks" / f"{number}.json", task_id=f"a/../{number}")
        assert command("draw", "tasks", "--tiling", "hex", "--output", "pictures") == 0
        assert len(list((home / "pictures").iterdir())) == 2

    def test_an_optimal_episode(self, home: Path) -> None:
        spec = TaskSpecification.from_json(next(path for path in SHIPPED if "single_key_001" in path.name))
        assert command("draw", "single_key_001", "--optimal", "--gif", "o.gif", "--tile-size", "12") == 0
        with Image.open(home / "o.gif") as animation:
            assert len(list(ImageSequence.Iterator(animation))) == solve(spec).steps + 1

    def test_a_recorded_episode(self, home: Path, capsys: Captured) -> None:
        path = task(home / "tasks" / "t.json")
        played = ["--benchmark", "directory", "--task-dir", "tasks", "--model", "greedy", "--output", "r.json"]
        assert command(*played, "--quiet") == 0
        assert command("draw", "--episode", "r.json", "--gif", "e.gif", "--task", drawn("#A#G").task_id) == 0
        steps = json.loads((home / "r.json").read_text())["task_results"][0]["steps_taken"]
        assert f"{steps} steps" in capsys.readouterr().out
        task(path, description="another one")
        assert command("draw", "--episode", "r.json", "--gif", "f.gif") == 2
        assert "draw FILE" in capsys.readouterr().err
        assert command("draw", path, "--episode", "r.json", "--gif", "f.gif") == 0
        assert command("draw", "--episode", "r.json", "--gif", "g.gif", "--task", ESCAPE) == 2
        assert "\x1b" not in capsys.readouterr().err

    def test_nothing_is_overwritten_unasked(self, home: Path, capsys: Captured) -> None:
        (home / "p.png").write_text("mine")
        assert command("draw", "memory_003", "--output", "p.png") == 2
        assert (home / "p.png").read_text() == "mine"
        assert "--overwrite" in capsys.readouterr().err
        assert command("draw", "memory_003", "--output", "p.png", "--overwrite") == 0

    @pytest.mark.parametrize(
        "arguments",
        [
            [],
            ["no_such_task"],
            ["memory_003", "--tile-size", "3"],
            ["memory_003", "--optimal"],
            ["memory_003", "--gif", "x.gif"],
            ["memory_003", "--task", "x"],
            ["memory_003", "--optimal", "--gif", "x.gif", "--output", "y.png"],
            ["tiers", "--optimal", "--gif", "x.gif"],
            ["tiers", "--output", "one.png"],
            ["--episode", "absent.json", "--gif", "x.gif"],
            ["memory_003", "--output", "file/p.png"],
        ],
    )
    def test_mistakes_are_one_line(self, home: Path, capsys: Captured, arguments: list[str]) -> None:
        (home / "file").touch()
        assert command("draw", *arguments) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith("error: ")
        assert [path.name for path in home.iterdir()] == ["file"]


class TestList:
    def test_shipped_tasks(self, capsys: Captured) -> None:
        assert command("list") == 0
        out = capsys.readouterr().out
        assert all(TaskSpecification.from_json(path).task_id in out for path in SHIPPED)
        assert "gridworld/tasks/tier1/maze_simple_001.json" in out

    @pytest.mark.parametrize(("columns", "lines"), [(80, 2), (200, 1)])
    def test_a_terminal_shows_whole_names(
        self, columns: int, lines: int, monkeypatch: pytest.MonkeyPatch, capsys: Captured
    ) -> None:
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
        assert command("list") == 0
        plain = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
        shown = [line for line in plain.splitlines() if line.strip()]
        assert max(map(len, shown)) <= columns
        assert len(shown) == (1 + len(SHIPPED)) * lines + 1
        words = " ".join(shown).split()
        specs = [TaskSpecification.from_json(path) for path in SHIPPED]
        assert {spec.task_id for spec in specs} | {spec.goal.goal_type for spec in specs} <= set(words)
        assert ("file" in words) == (lines == 1)

    def test_own_tasks(self, home: Path, capsys: Captured) -> None:
        task(home / f"{ESCAPE}a.json", task_id="mine")
        task(home / "b.json", max_steps=0)
        assert command("list", ".") == 2
        said = capsys.readouterr()
        assert "\x1b" not in said.out + said.err
        assert "mine" in said.out
        assert "␛" in said.out
        assert "b.json: max_steps" in said.err
