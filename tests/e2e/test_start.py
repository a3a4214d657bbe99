"""The start of the program can be followed: no file is entered again and again."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import forked
from tests.support.commands import curriculum, environment
from tests.support.spca.doubles import ROOT
from tests.support.tiers import long

START = {
    "spca/commands/program.py",
    "spca/commands/run.py",
    *(f"spca/runs/{name}.py" for name in ("curriculum", "models", "provenance", "resolution", "startup")),
}


def traced(cwd: Path, *argv: object) -> dict[str, Any]:
    """What :mod:`tests.support.entries` counts of a command."""
    made = forked.run(cwd, [*map(str, argv)], environment(), "tests.support.entries")
    assert made.stdout.strip(), made.stderr
    found: dict[str, Any] = json.loads(made.stdout.splitlines()[-1])
    return found


@pytest.mark.long
def test_argv_enters_each_file_at_most_twice_and_the_model_table_is_read_once(tmp_path: Path) -> None:
    """An entry is the call of a function of a file by a function of another file.

    ``main.py``, ``spca/commands/`` and ``spca/runs/`` count, but for ``settings.py`` (see below); a call through
    other files counts for the nearest of these on the stack. The way of ``argv`` ends where ``Run`` gets the one
    ``Prepared`` that came of it; from there to the first level the run uses its values, and enters none of the files
    of the start again. What the interpreter calls by itself does not count: modules, the ``__init__`` of data classes,
    and the methods that read a sequence, such as the finished levels.
    """
    chosen = curriculum(tmp_path / "c.json", a=["MiniGrid-Empty-5x5-v0", "MiniGrid-Empty-6x6-v0"])
    (tmp_path / "mine.json").write_text(json.dumps({"models": {"openai/mine": {"input": 1, "output": 2}}}))
    runs, table = ("--runs", tmp_path / "runs"), ("--model-table", "mine.json")
    new = (*runs, *table, "--curriculum", chosen, "--workspace", tmp_path / "w")
    begun = traced(tmp_path, *new, "--max-calls", 1)
    run = next(path.name for path in (tmp_path / "runs").iterdir() if (path / "run.json").is_file())
    went_on = traced(tmp_path, *runs, "--resume", run, "--max-calls", 9, "--coder-model", "reference/coder")
    assert [begun["code"], went_on["code"]] == [3, 0]
    for each in (begun, went_on):
        prepared, to_the_first_level = each["ways"]
        assert START <= prepared.keys()
        assert not START & to_the_first_level.keys()
        assert each["tables"] == {"models.json": 1, "mine.json": 1}
        assert entered_often(each) == {}


@pytest.mark.parametrize(("argv", "tables"), [(("list",), 0), long(("doctor",), 1)])
def test_other_commands_enter_each_file_at_most_twice(argv: tuple[str, ...], tables: int, tmp_path: Path) -> None:
    other = traced(tmp_path, *argv)
    assert other["tables"]["models.json"] == tables
    assert entered_often(other) == {}


def entered_often(command: dict[str, Any]) -> dict[str, int]:
    """Files that were entered more than twice."""
    return {name: times for name, times in command["ways"][0].items() if times > 2}


def test_settings_are_a_value_that_leads_nowhere() -> None:
    """Why entries into it are not counted: whoever needs what follows from the settings asks them for it.

    A start reads five such properties (``models``, ``ablations``, ``wording`` twice, ``of_worlds``), each where it is
    used; at most two could only hold if they were copied from value to value. None of them enters another file of the
    start, so that whoever follows ``argv`` need not look into them.
    """
    source = ast.parse((ROOT / "spca/runs/settings.py").read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(source) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in imported if name and name.startswith(("main", "spca.runs", "spca.report"))]
    (settings,) = [node for node in source.body if isinstance(node, ast.ClassDef) and node.name == "Settings"]
    methods = [node for node in settings.body if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in methods if not node.decorator_list] == ["record", "record_changes"], (
        "the others are properties"
    )
