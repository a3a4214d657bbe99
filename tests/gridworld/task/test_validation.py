"""What makes no sense is told by field and value; what the rules allow is not."""

from __future__ import annotations

from typing import Any

import pytest

from gridworld.task_spec import GoalSpec, KeySpec, MazeLayout, Position, TaskSpecification
from tests.support.gridworld.tasks_by_hand import changed, task

HAZARD = {"id": "x", "position": [2, 4]}
PUSH = {"type": "push_block_to", "target_ids": ["b"], "target_positions": [[4, 4]]}


def told(data: dict[str, Any]) -> list[str]:
    valid, problems = TaskSpecification.from_dict(data).validate()
    assert valid == (not problems)
    return problems


def test_the_task_by_hand_is_valid() -> None:
    assert told(task()) == []


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [
        ("task_id", " ", "task_id: must not be empty"),
        ("difficulty_tier", 0, "difficulty_tier: 0 must be at least 1"),
        ("max_steps", 0, "max_steps: 0 must be at least 1"),
        ("max_steps", 100_001, "max_steps: 100001 must be at most 100000"),
        ("rules.view_size", 1, "rules.view_size: 1 must be at least 3"),
        ("rules.view_size", 8, "rules.view_size: 8 must be odd"),
        ("rules.view_size", 2**62 + 1, f"rules.view_size: {2**62 + 1} must be at most 257"),
        ("maze.dimensions", [10, 2], "maze.dimensions: 2 must be at least 3"),
        ("maze.dimensions", [10, 129], "maze.dimensions: 129 must be at most 128"),
        ("maze.walls.3", [10, 1], "maze.walls[3]: (10, 1) is outside the grid of 10 x 8"),
        ("maze.walls.3", [1, -1], "maze.walls[3]: (1, -1) is outside the grid of 10 x 8"),
        ("maze.start", [3, 1], "maze.start: (3, 1) is on a wall"),
        ("maze.start", [3, 0], "maze.start: (3, 0) is on the border, which is wall"),
        ("maze.start", [2, 2], "maze.start: the agent cannot start on hazard 'h'"),
        ("maze.start", [5, 5], "maze.start: the agent cannot start on block 'b'"),
        ("maze.start", [3, 3], "maze.start: the agent cannot start on door 'd'"),
        ("maze.start", [6, 4], "maze.start: the agent cannot start on gate 'g'"),
        ("maze.goal", [9, 7], "maze.goal: (9, 7) is on the border, which is wall"),
        ("maze.goal", [9, 8], "maze.goal: (9, 8) is outside the grid of 10 x 8"),
        ("mechanisms.hazards.1", HAZARD | {"id": ""}, "mechanisms.hazards[1].id: must not be empty"),
        ("mechanisms.keys.0.position", [3, 1], "mechanisms.keys[0].position: (3, 1) is on a wall"),
        ("mechanisms.keys.0.position", [11, 1], "mechanisms.keys[0].position: (11, 1) is outside the grid of 10 x 8"),
        ("mechanisms.gates.0.position", [0, 4], "mechanisms.gates[0].position: (0, 4) is on the border, which is wall"),
        ("mechanisms.doors.0.requires_key", "red", "mechanisms.doors[0].requires_key: there is no red key for 'd'"),
        (
            "mechanisms.switches.0.controls",
            ["g", "h", "x"],
            "mechanisms.switches[0].controls[1]: 'h' is a hazard; it must be a gate|"
            "mechanisms.switches[0].controls[2]: there is no gate 'x'",
        ),
        (
            "mechanisms.blocks.0.position",
            [1, 5],
            "mechanisms.blocks[0].position: (1, 5) is taken by key 'k'",
        ),
        (
            "mechanisms.teleporters.0.position_b",
            [1, 1],
            "mechanisms.teleporters[0].position_b: (1, 1) is taken by teleporter 't1'",
        ),
        (
            "mechanisms.teleporters.0.position_b",
            [2, 2],
            "mechanisms.hazards[0].position: (2, 2) is taken by teleporter 't1'",
        ),
        (
            "mechanisms.hazards.1",
            HAZARD | {"id": "k"},
            "mechanisms.hazards[1].id: 'k' is the id of mechanisms.keys[0] too",
        ),
        (
            "mechanisms.hazards.1",
            HAZARD | {"id": "a b"},
            "mechanisms.hazards[1].id: 'a b' must not have spaces, colons or commas",
        ),
        (
            "mechanisms.hazards.1",
            HAZARD | {"id": "a:b"},
            "mechanisms.hazards[1].id: 'a:b' must not have spaces, colons or commas",
        ),
        ("mechanisms.hazards.1", HAZARD | {"position": [8, 6]}, "goal.target: (8, 6) is taken by hazard 'x'"),
        ("rules.hidden_mechanisms", ["k", "no"], "rules.hidden_mechanisms[1]: there is no mechanism 'no'"),
        ("dependency_chain.depth", 2, "dependency_chain.depth: 2 is not the number of steps, 1"),
        ("dependency_chain.sequence.0.step", 2, "dependency_chain.sequence[0].step: 2 must be 1; steps count from 1"),
        ("dependency_chain.sequence.0.element", "x", "dependency_chain.sequence[0].element: there is no mechanism 'x'"),
        ("dependency_chain.sequence.0.unlocks", "x", "dependency_chain.sequence[0].unlocks: there is no mechanism 'x'"),
        ("distractors.0.element_id", "x", "distractors[0].element_id: there is no mechanism 'x'"),
        ("goal.target", None, "goal.target: is missing; reach_position needs it"),
        ("goal.target", [3, 1], "goal.target: (3, 1) is on a wall"),
        ("goal.target", [3, 3], "goal.target: (3, 3) is taken by door 'd'"),
        ("goal", {"type": "collect_all"}, "goal.target_ids: is empty; collect_all needs at least one"),
        (
            "goal",
            {"type": "collect_all", "target_ids": ["k", "b", "x"]},
            "goal.target_ids[1]: 'b' is a block; it must be a key or switch or door or gate|"
            "goal.target_ids[2]: there is no key or switch or door or gate 'x'",
        ),
        (
            "goal",
            PUSH | {"target_ids": []},
            "goal.target_ids: is empty; push_block_to needs at least one block|"
            "goal.target_positions: has 1 positions for 0 target_ids",
        ),
        ("goal", PUSH | {"target_ids": ["k"]}, "goal.target_ids[0]: 'k' is a key; it must be a block"),
        ("goal", PUSH | {"target_ids": ["rock"]}, "goal.target_ids[0]: 'rock' is not pushable and not at (4, 4)"),
        (
            "goal",
            PUSH | {"target_ids": ["b", "b"], "target_positions": [[4, 4], [4, 4]]},
            "goal.target_ids[1]: 'b' is named twice|goal.target_positions[1]: (4, 4) is named twice",
        ),
        ("goal", PUSH | {"target_positions": [[3, 1]]}, "goal.target_positions[0]: (3, 1) is on a wall"),
        (
            "goal",
            PUSH | {"target_positions": [[3, 3]]},
            "goal.target_positions[0]: no block can stand on door 'd' at (3, 3)",
        ),
        *(
            ("metadata", {"points": points}, f"metadata.points: {words} must be a number from 0 to 1000000000")
            for points, words in (("9", "'9'"), (-1, "-1"), (True, "true"), (None, "null"), (1e308, "1e+308"))
        ),
        (
            "goal.auxiliary_conditions",
            ["open:k", "at:b:99,1", "active:x", "not at:b:3,3", "k"],
            "goal.auxiliary_conditions[0]: 'k' is a key; it must be a door or gate|"
            "goal.auxiliary_conditions[1]: (99, 1) is outside the grid of 10 x 8|"
            "goal.auxiliary_conditions[2]: there is no switch 'x'|"
            "goal.auxiliary_conditions[3]: no block can stand on door 'd' at (3, 3)|"
            "goal.auxiliary_conditions[4]: 'k' is not a condition; the forms are collected:KEY, carrying:KEY, "
            'open:DOOR_OR_GATE, active:SWITCH and at:BLOCK:COLUMN,ROW, each also after "not "',
        ),
    ],
)
def test_what_makes_no_sense_is_named(path: str, value: Any, problem: str) -> None:
    assert told(changed(path, value)) == problem.split("|")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("maze.start", [1, 5]),
        ("maze.start", [4, 5]),
        ("maze.start", [8, 6]),
        ("maze.goal", [7, 6]),
        ("mechanisms.doors.0", {"id": "d", "position": [3, 1], "requires_key": "red", "initial_state": "open"}),
        ("goal", PUSH | {"target_ids": ["rock"], "target_positions": [[7, 5]]}),
        ("goal", PUSH | {"target_positions": [[4, 5]]}),
        ("goal", {"type": "survive_steps"}),
        ("maze.dimensions", [128, 128]),
        ("seed", -(2**63)),
        ("rules.view_size", 257),
        ("distractors", []),
        ("metadata", {"points": 2.5}),
    ],
)
def test_what_the_rules_allow_is_valid(path: str, value: Any) -> None:
    assert told(changed(path, value)) == []


def test_a_floor_makes_walls_and_agrees_with_them() -> None:
    floor = [[x, y] for x in range(1, 9) for y in range(1, 7) if [x, y] not in ([3, 1], [3, 3], [2, 4])]
    assert told(changed("maze.floor", floor)) == []
    assert told(changed("maze.floor", [*floor, [3, 1]])) == ["maze.floor[45]: (3, 1) is in maze.walls too"]
    assert told(changed("maze.floor", [*floor, [9, 1]])) == ["maze.floor[45]: (9, 1) is on the border, which is wall"]
    assert (
        told(
            changed("maze.floor", floor) | {"mechanisms": {"keys": [{"id": "k", "position": [2, 4], "color": "red"}]}}
        )[0]
        == "mechanisms.keys[0].position: (2, 4) is on a wall"
    )


def made() -> TaskSpecification:
    maze = MazeLayout((5, 5), [], Position(1, 1), Position(3, 3))
    return TaskSpecification("t", 1, 1, maze, GoalSpec(target=Position(3, 3)), 10)


def test_values_that_were_put_in_by_hand_are_checked_as_well() -> None:
    spec = made()
    spec.maze.walls = [(2, 2)]  # type: ignore[list-item]
    assert spec.validate() == (False, ["maze.walls[0]: must be a Position, not (2, 2)"])
    spec = made()
    spec.mechanisms = None  # type: ignore[assignment]
    assert spec.validate() == (False, ["mechanisms: must be an object, not null"])
    spec = made()
    spec.mechanisms.keys.append(KeySpec("k", Position(2, 2), "pink"))  # type: ignore[arg-type]
    assert spec.validate()[1][0].startswith("mechanisms.keys[0].color: must be one of")
    spec = made()
    spec.metadata = {}
    spec.metadata["itself"] = spec.metadata
    assert spec.validate() == (False, ["is nested too deeply"])


@pytest.mark.long
def test_the_largest_grid_is_checked_without_delay() -> None:
    spec = made()
    spec.maze.dimensions = (128, 128)
    spec.maze.walls = [Position(x + 1000, y) for x in range(128) for y in range(128)]
    valid, problems = spec.validate()
    assert not valid
    assert len(problems) == 100
