"""Tasks are written as they are read, in every form of the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from gridworld.errors import TaskError
from gridworld.task_spec import DoorSpec, GoalSpec, KeySpec, MazeLayout, Position, SwitchSpec, TaskSpecification
from tests.support.gridworld.tasks_by_hand import changed, task
from tests.support.gridworld.typed_specs import SPECS


@pytest.mark.long
@given(SPECS)
def test_reading_and_writing_are_inverses(spec: TaskSpecification) -> None:
    data = spec.to_dict()
    again = TaskSpecification.from_dict(json.loads(json.dumps(data)))
    assert again == spec
    assert again.to_dict() == data


@given(SPECS)
def test_any_task_of_the_right_types_has_a_verdict_and_a_mission(spec: TaskSpecification) -> None:
    valid, problems = spec.validate()
    assert valid == (not problems)
    assert len(set(problems)) == len(problems)
    assert all(problem.isprintable() and ": " in problem for problem in problems)
    assert spec.get_mission_text()


def test_what_is_not_given_is_as_the_contract_says() -> None:
    data = {
        "task_id": "t",
        "seed": 0,
        "difficulty_tier": 1,
        "maze": {"dimensions": [5, 5], "start": [1, 1], "goal": [3, 3]},
        "goal": {"target": [3, 3]},
        "max_steps": 9,
    }
    spec = TaskSpecification.from_dict(data)
    assert spec == TaskSpecification(
        "t", 0, 1, MazeLayout((5, 5), [], Position(1, 1), Position(3, 3)), GoalSpec(target=Position(3, 3)), 9
    )
    assert spec.validate() == (True, [])
    assert SwitchSpec.from_dict({"id": "s", "position": [1, 1], "controls": []}).switch_type is None


def test_positions_are_lists_or_objects() -> None:
    assert Position.from_list([2, 3]) == Position.from_dict({"x": 2, "y": 3}) == Position(2, 3)
    spec = TaskSpecification.from_dict(changed("maze.start", {"x": 1, "y": 1}))
    assert spec == TaskSpecification.from_dict(task())
    assert spec.to_dict()["maze"]["start"] == [1, 1]


def test_the_nested_and_the_wrapped_form_are_the_same_task() -> None:
    wanted = TaskSpecification.from_dict(task())
    nested = task()
    maze = nested["maze"]
    nested["maze"] = {"dimensions": maze.pop("dimensions"), "layout": maze, "mechanisms": nested.pop("mechanisms")}
    assert TaskSpecification.from_dict(nested) == wanted
    assert type(TaskSpecification.from_dict(nested)) is TaskSpecification
    assert TaskSpecification.from_dict({"TaskSpecification": nested}) == wanted
    assert TaskSpecification.from_dict({"TaskSpecification": task()}) == wanted


def test_gray_is_grey_however_it_comes_in() -> None:
    assert KeySpec.from_dict({"id": "k", "position": [1, 1], "color": "gray"}).color == "grey"
    assert DoorSpec("d", Position(1, 1), "gray").requires_key == "grey"  # type: ignore[arg-type]


def test_goal_type_is_another_name_of_type() -> None:
    assert GoalSpec.from_dict({"goal_type": "survive_steps"}) == GoalSpec("survive_steps")
    with pytest.raises(TaskError, match="goal_type: says the same as type"):
        GoalSpec.from_dict({"goal_type": "survive_steps", "type": "survive_steps"})


@pytest.mark.parametrize("floor", [None, []])
def test_no_floor_means_all_of_it(floor: list[Any] | None) -> None:
    data = task()
    data["maze"]["floor"] = floor
    assert TaskSpecification.from_dict(data) == TaskSpecification.from_dict(task())


def test_inner_cells_that_a_floor_does_not_list_are_walls() -> None:
    maze = MazeLayout((5, 4), [Position(1, 2), Position(0, 1)], Position(1, 1), Position(2, 1), [Position(1, 1)])
    assert maze.wall_cells() == {(2, 1), (3, 1), (1, 2), (2, 2), (3, 2)}
    assert MazeLayout((5, 4), [Position(1, 2), Position(0, 1)], Position(1, 1), Position(2, 1)).wall_cells() == {(1, 2)}


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "täsk.json"
    spec = TaskSpecification.from_dict(changed("description", "Größe 日本"))
    spec.to_json(file)
    assert TaskSpecification.from_json(file) == spec
    assert "Größe 日本" in file.read_text(encoding="utf-8")
    before = file.read_bytes()
    spec.metadata = {"broken": {1, 2}}
    with pytest.raises(TaskError, match="cannot be written: Object of type set"):
        spec.to_json(file)
    spec.metadata = None
    with pytest.raises(TaskError, match="cannot be written: No such file"):
        spec.to_json(tmp_path / "none" / "task.json")
    for nowhere in ("", "/", tmp_path):
        with pytest.raises(TaskError, match="cannot be written: "):
            spec.to_json(nowhere)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_writing_shares_nothing_with_the_task() -> None:
    spec = TaskSpecification.from_dict(task())
    data = spec.to_dict()
    data["metadata"]["any"]["thing"].append(4)
    data["rules"]["hidden_mechanisms"].append("k")
    assert spec == TaskSpecification.from_dict(task())


@pytest.mark.parametrize(
    ("goal", "text"),
    [
        ({"type": "reach_position", "target": [8, 6]}, "Reach the goal at column 8, row 6."),
        ({"type": "survive_steps"}, "Survive for 75 steps."),
        (
            {"type": "collect_all", "target_ids": ["k", "s", "d", "g"]},
            "Collect the blue key. Switch on the yellow switch. Open the blue door and the grey gate.",
        ),
        (
            {"type": "push_block_to", "target_ids": ["b"], "target_positions": [[4, 4]]},
            "Push the grey block to column 4, row 4.",
        ),
        (
            {"type": "survive_steps", "auxiliary_conditions": ["carrying:k", "not open:d", "at:b:4,4"]},
            "Survive for 75 steps. In the end, carry the blue key. In the end, leave the blue door closed. "
            "In the end, have the grey block at column 4, row 4.",
        ),
    ],
)
def test_the_mission_says_what_the_goal_asks_for(goal: dict[str, Any], text: str) -> None:
    assert TaskSpecification.from_dict(changed("goal", goal)).get_mission_text() == text
    described = TaskSpecification.from_dict(changed("goal", goal) | {"description": "Do it."})
    assert described.get_mission_text() == "Do it."


def test_the_mission_tells_apart_what_looks_alike() -> None:
    spec = TaskSpecification.from_dict(changed("goal", {"type": "collect_all", "target_ids": ["s", "k"]}))
    spec.mechanisms.switches.append(SwitchSpec("s2", Position(8, 4), [], "yellow"))
    spec.mechanisms.switches.append(SwitchSpec("s3", Position(3, 5), [], "yellow"))
    text = "Collect the blue key. Switch on the 3rd of 3 yellow switches (row by row)."
    assert spec.get_mission_text() == text


def test_the_mission_of_a_task_that_is_not_valid() -> None:
    goal = {"type": "push_block_to", "target_ids": ["none"], "target_positions": [[4, 4]]}
    conditions = {"auxiliary_conditions": ["carrying:none", "what?"]}
    assert TaskSpecification.from_dict(changed("goal", goal | conditions)).get_mission_text() == (
        "Push none to column 4, row 4. In the end, carry none. In the end: what?."
    )
