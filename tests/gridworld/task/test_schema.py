"""The schema is the one that ships, and says what the reader says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gridworld
from gridworld.errors import TaskError
from gridworld.library import task_files
from gridworld.task.schema import schema_text, task_schema
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.json_schema import conforms
from tests.support.gridworld.tasks_by_hand import changed, mutated, places, task
from tests.support.gridworld.typed_specs import JSON, SPECS

SCHEMA = task_schema()
NUMBERS = ("must be at least", "must be at most")


def told(data: Any) -> bool:
    return conforms(data, SCHEMA, SCHEMA)


def within_bounds(spec: TaskSpecification) -> bool:
    return not any(words in problem for problem in spec.validate()[1] for words in NUMBERS)


def test_the_shipped_schema_is_the_one_that_is_made() -> None:
    shipped = Path(gridworld.__path__[0], "task_specification.schema.json").read_text(encoding="utf-8")
    assert shipped == schema_text(), "python -m gridworld.task.schema > gridworld/task_specification.schema.json"
    ran = subprocess.run([sys.executable, "-m", "gridworld.task.schema"], capture_output=True, text=True, check=True)
    assert ran.stdout == shipped


def test_every_shipped_task_conforms() -> None:
    for file in [*task_files("tiers"), *task_files("validation_10")]:
        assert told(json.loads(file.read_text(encoding="utf-8"))), file


@given(SPECS)
def test_what_is_written_conforms_if_its_numbers_are_within_bounds(spec: TaskSpecification) -> None:
    assert told(spec.to_dict()) == within_bounds(spec)


@given(st.sampled_from(places(task())[1:]), JSON | st.just(...))
def test_the_schema_and_the_reader_agree_on_a_task_with_anything_anywhere(way: tuple[Any, ...], value: Any) -> None:
    data = mutated(way, value)
    try:
        read = within_bounds(TaskSpecification.from_dict(data, strict=True))
    except TaskError:
        read = False
    assert told(data) == read


def nested() -> dict[str, Any]:
    data = task()
    maze = data["maze"]
    data["maze"] = {"dimensions": maze.pop("dimensions"), "layout": maze, "mechanisms": data.pop("mechanisms")}
    return data


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (task(), True),
        (nested(), True),
        ({"TaskSpecification": task()}, True),
        ({"TaskSpecification": nested()}, True),
        (changed("maze.start", {"x": 1, "y": 1}), True),
        (changed("goal", {"goal_type": "survive_steps"}), True),
        (changed("mechanisms.keys.0.color", "gray"), True),
        (changed("mechanisms.keys.0.color", "black"), False),
        (changed("mechanisms.gates.0.color", "black"), True),
        (nested() | {"mechanisms": {}}, False),
        ({"TaskSpecification": task(), "seed": 1}, False),
        (changed("goal.goal_type", "survive_steps"), False),
        (changed("maze.layout", {}), False),
        (changed("maze.start", {"x": 1}), False),
        (changed("task_id", "a\n"), False),
        (changed("rules.view_siz", 3), False),
        ([task()], False),
        (None, False),
    ],
)
def test_every_form_is_described(data: Any, wanted: bool) -> None:
    assert told(data) is wanted
    try:
        TaskSpecification.from_dict(data, strict=True)
    except TaskError:
        assert not wanted
    else:
        assert wanted
