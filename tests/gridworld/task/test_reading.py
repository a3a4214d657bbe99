"""Mistakes in files are named with file, field path and reason, whatever stands in them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.errors import TaskError, TaskWarning
from gridworld.task.jsonfile import parse_json
from gridworld.task.reading import MAX_PROBLEMS
from gridworld.task.validation import check_file
from gridworld.task_spec import KeySpec, Position, TaskSpecification
from spca.common.files import MAX_BYTES
from tests.support.gridworld.tasks_by_hand import changed, mutated, places, task
from tests.support.gridworld.typed_specs import JSON

REQUIRED = ("task_id", "seed", "difficulty_tier", "maze", "goal", "max_steps")


def problems(data: Any) -> tuple[str, ...]:
    with pytest.raises(TaskError) as caught:
        TaskSpecification.from_dict(data, strict=True)
    return caught.value.problems


def file_problem(tmp_path: Path, content: bytes) -> str:
    file = tmp_path / "task.json"
    file.write_bytes(content)
    (problem,) = check_file(file)
    assert problem.isprintable()
    return problem.removeprefix(f"{file}: ")


@pytest.mark.parametrize("name", REQUIRED)
def test_a_required_field_is_never_made_up(name: str) -> None:
    assert problems(changed(name, None)) == (f"{name}: is missing",)


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("seed", True, "seed: must be an integer, not true"),
        ("seed", 1.0, "seed: must be an integer, not 1.0"),
        ("seed", float("nan"), "seed: must be an integer, not nan"),
        ("seed", 2**63, "seed: 9223372036854775808 does not fit 64 bits"),
        ("seed", 10**50, "seed: an integer of more than 30 digits does not fit 64 bits"),
        ("task_id", 7, "task_id: must be a text, not 7"),
        ("task_id", "a\x1b[31m", "task_id: holds the control character U+001B"),
        ("task_id", "a\u202eb", "task_id: holds the control character U+202E"),
        ("task_id", "a\ud800", "task_id: holds the control character U+D800"),
        ("description", "x" * 10_001, "description: has 10001 characters; at most 10000"),
        ("maze", [], "maze: must be an object, not a list of 0"),
        ("maze.dimensions", [10, 8, 1], "maze.dimensions: must be a list of 2, not of 3"),
        ("maze.walls.1", [3], "maze.walls[1]: must be a list of 2, not of 1"),
        ("maze.walls.1", {"x": 3}, "maze.walls[1].y: is missing"),
        ("maze.walls.1", "3,3", "maze.walls[1]: must be a list or an object, not '3,3'"),
        ("maze.walls.1", [3, "3"], "maze.walls[1][1]: must be an integer, not '3'"),
        ("maze.start", None, "maze.start: is missing"),
        ("mechanisms.doors.0.requires_key", None, "mechanisms.doors[0].requires_key: is missing"),
        (
            "mechanisms.doors.0.requires_key",
            "blu",
            "mechanisms.doors[0].requires_key: must be one of red, green, blue, purple, yellow, grey, not 'blu'; "
            "did you mean blue?",
        ),
        (
            "mechanisms.doors.0.initial_state",
            "closed",
            "mechanisms.doors[0].initial_state: must be one of locked, open, not 'closed'; did you mean locked?",
        ),
        (
            "mechanisms.switches.0.switch_type",
            5,
            "mechanisms.switches[0].switch_type: must be one of toggle, hold, one_shot, not 5",
        ),
        ("mechanisms.blocks.0.pushable", 1, "mechanisms.blocks[0].pushable: must be true or false, not 1"),
        (
            "mechanisms.hazards.0.hazard_type",
            "water",
            "mechanisms.hazards[0].hazard_type: must be one of lava, pit, spike, not 'water'",
        ),
        (
            "rules.observability",
            ["full"],
            "rules.observability: must be one of full, view_cone, fog_of_war, not a list of 1",
        ),
        (
            "goal.type",
            "reach_positon",
            "goal.type: must be one of reach_position, collect_all, push_block_to, survive_steps, not 'reach_positon'; "
            "did you mean reach_position?",
        ),
        ("max_stesp", 5, "max_stesp: is not a field of the format; did you mean max_steps?"),
        (
            "mechanisms.keys.0.colour",
            "red",
            "mechanisms.keys[0].colour: is not a field of the format; did you mean color?",
        ),
        ("rules.\x1b[2J", 1, r"rules.'\x1b[2J': is not a field of the format"),
        ("metadata.deep", float("inf"), "metadata.deep: must be a finite number, not inf"),
        ("metadata.any.thing.0", "\ud800", "metadata.any.thing[0]: holds half a character (a lone surrogate)"),
        ("metadata", [], "metadata: must be an object, not a list of 0"),
        ("mechanisms", 0, "mechanisms: must be an object, not 0"),
    ],
)
def test_a_mistake_is_named_with_its_path(path: str, value: Any, problem: str) -> None:
    assert problems(changed(path, value)) == (problem,)


def test_all_mistakes_are_told_at_once_and_the_error_is_one_line() -> None:
    data = changed("seed", "x") | {"max_steps": None, "goal": {"type": 1}}
    assert [problem.split(":")[0] for problem in problems(data)] == ["seed", "goal.type", "max_steps"]
    with pytest.raises(TaskError) as caught:
        TaskSpecification.from_dict(data)
    assert str(caught.value) == "seed: must be an integer, not 'x' (and 2 more)"


def test_the_parts_name_their_fields_too() -> None:
    with pytest.raises(TaskError, match=r"^color: is missing$"):
        KeySpec.from_dict({"id": "k", "position": [1, 1]})
    with pytest.raises(TaskError, match="must be a list of 2, not of 0"):
        Position.from_list([])


def test_nested_forms_name_the_place_where_the_mistake_is() -> None:
    data = task()
    data["maze"] = {"dimensions": [9, 9], "layout": {"start": [1], "goal": [1, 2], "wals": []}, "walls": []}
    assert problems(data) == (
        "maze.walls: is not a field of the format",
        "maze.layout.wals: is not a field of the format; did you mean walls?",
        "maze.layout.start: must be a list of 2, not of 1",
    )
    data["maze"]["mechanisms"] = {}
    assert problems(data) == ("maze.mechanisms: stands beside the mechanisms of the task; give one of them",)
    assert problems({"TaskSpecification": task(), "seed": 1}) == (
        "'seed' stands beside TaskSpecification; put it inside",
    )
    assert problems({"TaskSpecification": {"TaskSpecification": task()}})[0].startswith("TaskSpecification: is not a")


@pytest.mark.parametrize("data", [None, 1, "x", [], True, [task()]])
def test_what_is_not_an_object_is_not_a_task(data: Any) -> None:
    assert problems(data)[0].startswith("must be an object, not ")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty; a task is a JSON object"),
        (b" \n", "is empty; a task is a JSON object"),
        (b"\xff{}", "is not UTF-8 text: byte 0 is 0xff"),
        (b'{"seed" 1}', "is not JSON: line 1 column 9: Expecting ':' delimiter"),
        (b"{\n'a': 1}", "is not JSON: line 2 column 1: Expecting property name enclosed in double quotes"),
        (b"[" * 200_000, "is nested too deeply"),
        (b'{"seed": ' + b"9" * 5000 + b"}", "holds an integer of thousands of digits"),
        (b"[]", "must be an object, not a list of 0"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: bytes, problem: str) -> None:
    assert file_problem(tmp_path, content) == problem


def test_keys_given_twice_are_named_with_their_path(tmp_path: Path) -> None:
    text = json.dumps(task()).replace('"view_size": 7', '"view_size": 7, "view_size": 9')
    assert file_problem(tmp_path, text.encode()) == "rules.view_size: is given more than once"
    text = json.dumps(task()).replace('"any": ', '"any": 1, "any": ')
    assert file_problem(tmp_path, text.encode()) == "metadata.any: is given more than once"
    text = f'{{"TaskSpecification": {json.dumps(task())}, "TaskSpecification": {json.dumps(task())}}}'
    assert file_problem(tmp_path, text.encode()) == "TaskSpecification: is given more than once"


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "task.json"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(task()).encode())
    assert TaskSpecification.from_json(file) == TaskSpecification.from_dict(task())


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert check_file(tmp_path)[0] == f"{tmp_path}: cannot be read: Is a directory"
    assert "there is no such file" in check_file(tmp_path / "none.json")[0]
    assert "there is no such file" in check_file("a\0b")[0]
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "endless.json").symlink_to("/dev/zero")
    for name in ("pipe.json", "endless.json"):
        assert check_file(tmp_path / name) == [
            f"{tmp_path / name}: cannot be read: it is a pipe or a device, not a file"
        ]
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    assert check_file(large) == [f"{large}: cannot be read: it has more than 16 MB"]


def test_hostile_sizes_take_no_time() -> None:
    start = time.process_time()
    data = task() | {f"seed{number}": 1 for number in range(100_000)}
    found = problems(data)
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == "there are more than 100 problems; the others are not listed"
    assert problems(changed("maze.walls", [[1, 1]] * 20_000)) == ("maze.walls: has 20000 items; at most 16384",)
    many = parse_json(b"{" + b'"a": 1, ' * 100_000 + b'"b": 2}')
    assert many.repeated == ("a",)
    TaskSpecification.from_dict(task() | {"metadata": {f"key{number}": 1 for number in range(100_000)}})
    (named,) = problems(task() | {"metadata": {"k" * 10**6: float("nan")}})
    assert len(named) < 200
    (named,) = problems(task() | {"seed": "x" * 10**6})
    assert len(named) < 200
    held: dict[str, Any] = {}
    held["a"] = held["b"] = held
    assert problems(task() | {"seed": 10**5000}) == ("seed: an integer of more than 30 digits does not fit 64 bits",)
    assert "is nested more than 32 deep" in problems(task() | {"metadata": held})[0]
    assert time.process_time() - start < 5


def verdict(data: Any) -> TaskSpecification | TaskError:
    try:
        return TaskSpecification.from_dict(data, warnings=[])
    except TaskError as error:
        return error


@given(st.sampled_from(places(task())[1:]), JSON | st.just(...))
def test_a_task_with_anything_anywhere_is_read_or_named(way: tuple[Any, ...], value: Any) -> None:
    found = verdict(mutated(way, value))
    if isinstance(found, TaskError):
        assert found.problems
        assert str(found).isprintable()
    else:
        assert TaskSpecification.from_dict(found.to_dict()) == found
        assert all(problem.isprintable() for problem in found.validate()[1])


@given(st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_value_or_an_error_of_one_line(content: bytes) -> None:
    with pytest.raises(TaskError) as caught:
        TaskSpecification.from_dict(parse_json(content, "file"))
    assert str(caught.value).isprintable()


def test_unknown_fields_are_warnings_with_the_nearest_name() -> None:
    data = changed("rules.observabilty", "fog_of_war") | {"max_step": 9}
    notes: list[str] = []
    assert TaskSpecification.from_dict(data, warnings=notes) == TaskSpecification.from_dict(task())
    assert notes == [
        "max_step: is not a field of the format; did you mean max_steps?",
        "rules.observabilty: is not a field of the format; did you mean observability?",
    ]
    with pytest.warns(TaskWarning, match=r"^max_step: .*; did you mean max_steps\? \(and 1 more\)$") as told:
        TaskSpecification.from_dict(data)
    assert [each.filename for each in told] == [__file__], "the line that called is named"


def test_what_is_beside_the_format_in_files_of_the_original_is_read_as_the_original_reads_it(tmp_path: Path) -> None:
    data, notes = task(), list[str]()
    data["mechanisms"]["doors"][0]["color"] = "red"
    data["mechanisms"]["gates"][0]["color"] = "black"
    file = tmp_path / "task.json"
    file.write_text(json.dumps(data))
    spec = TaskSpecification.from_json(file, warnings=notes)
    assert spec == TaskSpecification.from_dict(task()), "a door has the colour of its key, a gate is grey"
    assert spec.validate() == (True, [])
    assert notes == [
        "mechanisms.doors[0].color: is not a field of the format",
        "mechanisms.gates[0].color: grey is taken instead of black",
    ]
    with pytest.warns(TaskWarning, match=r"task\.json: mechanisms\.doors\[0\]\.color: ") as told:
        TaskSpecification.from_json(file)
    assert [each.filename for each in told] == [__file__]
    with pytest.raises(TaskError, match=r"task\.json: mechanisms\.doors\[0\]\.color: is not a field of the format$"):
        TaskSpecification.from_json(file, strict=True)


@pytest.mark.parametrize("colour", ["black", "white", "orange", "cyan"])
@pytest.mark.parametrize("kind", ["gates", "switches", "blocks"])
def test_colours_that_only_the_original_has(kind: str, colour: str) -> None:
    spec = TaskSpecification.from_dict(changed(f"mechanisms.{kind}.0.color", colour), warnings=[])
    assert getattr(spec.mechanisms, kind)[0].color == "grey"
    for path in ("mechanisms.keys.0.color", "mechanisms.doors.0.requires_key"):
        assert "must be one of red, green" in problems(changed(path, colour))[0], "two such keys would look the same"
    assert "must be one of" in problems(changed(f"mechanisms.{kind}.0.color", "blakc"))[0]


def test_an_unknown_field_never_stands_for_one_that_is_missing_or_mistyped() -> None:
    data = changed("max_steps", None) | {"max_stesp": 75, "seed": "x"}
    with pytest.raises(TaskError) as caught:
        TaskSpecification.from_dict(data, warnings=[])
    assert caught.value.problems == (
        "seed: must be an integer, not 'x'",
        "max_steps: is missing",
        "max_stesp: is not a field of the format; did you mean max_steps?",
    )


def test_the_wrapper_and_the_parts_warn_too() -> None:
    notes: list[str] = []
    TaskSpecification.from_dict({"TaskSpecification": task(), "note": 1}, warnings=notes)
    KeySpec.from_dict({"id": "k", "position": [1, 1], "color": "red", "colour": "red"}, warnings=notes)
    assert notes == [
        "'note' stands beside TaskSpecification; put it inside",
        "colour: is not a field of the format; did you mean color?",
    ]
    with pytest.warns(TaskWarning, match=r"^colour: ") as told:
        KeySpec.from_dict({"id": "k", "position": [1, 1], "color": "red", "colour": "red"})
    assert [each.filename for each in told] == [__file__]


def test_unknown_fields_without_number_take_no_time() -> None:
    start, notes = time.process_time(), list[str]()
    TaskSpecification.from_dict(task() | {f"seed{number}": 1 for number in range(100_000)}, warnings=notes)
    assert len(notes) == MAX_PROBLEMS + 1
    assert notes[-1] == "there are more than 100 notes"
    assert time.process_time() - start < 2


def test_a_file_is_checked_with_its_warnings(tmp_path: Path) -> None:
    file, notes = tmp_path / "task.json", list[str]()
    file.write_text(json.dumps(changed("rules.view_siz", 3)))
    assert check_file(file, warnings=notes) == []
    assert notes == ["rules.view_siz: is not a field of the format; did you mean view_size?"]
    assert check_file(file, strict=True) == [f"{file}: {notes[0]}"]
