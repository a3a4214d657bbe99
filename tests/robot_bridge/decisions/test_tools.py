"""The tools are those of the plan; whatever a model sends is read or refused."""

from __future__ import annotations

import json
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.contracts import Direction, NavigationDecision, Speed, Tool
from robot_bridge.decisions import tools
from robot_bridge.decisions.tools import (
    TOOL_DEFINITIONS,
    MoveToward,
    NavigateToGoal,
    Refusal,
    ReportDiscovery,
    Rotate,
    read,
)

DIRECTIONS = ["forward", "forward_left", "left", "forward_right", "right", "backward"]
CONTRACT: dict[str, dict[str, Any]] = {
    "move_toward": {
        "direction": {"type": "string", "enum": DIRECTIONS},
        "speed": {"type": "string", "enum": ["slow", "medium", "fast"]},
        "duration_s": {"type": "number", "minimum": 1.0, "maximum": 8.0},
    },
    "navigate_to_goal": {
        "goal_type": {"type": "string", "enum": ["frontier", "coordinates", "retrace"]},
        "frontier_id": {"type": ["integer", "null"]},
        "x": {"type": ["number", "null"]},
        "y": {"type": ["number", "null"]},
        "reason": {"type": ["string", "null"]},
    },
    "rotate": {"degrees": {"type": "integer", "enum": [-180, -135, -90, -45, 45, 90, 135, 180]}},
    "stop_robot": {
        "reason": {
            "type": "string",
            "enum": ["obstacle_detected", "exploration_complete", "need_to_observe", "user_requested", "uncertain"],
        }
    },
    "observe_scene": {
        "focus": {"type": "string", "enum": ["general", "doorways", "obstacles", "objects", "floor_surface"]}
    },
    "check_path_clear": {
        "direction": {"type": "string", "enum": DIRECTIONS},
        "distance_m": {"type": "number", "minimum": 0.5, "maximum": 5.0},
    },
    "report_discovery": {
        "label": {"type": "string"},
        "notes": {"type": ["string", "null"]},
        "significance": {"type": "string", "enum": ["landmark", "room", "obstacle", "point_of_interest"]},
    },
}
GOAL = {"goal_type": "coordinates", "frontier_id": None, "x": 1.0, "y": 2, "reason": "there"}
EXAMPLES: dict[str, dict[str, Any]] = {
    "move_toward": {"direction": "forward", "speed": "fast", "duration_s": 8},
    "navigate_to_goal": GOAL,
    "rotate": {"degrees": -135},
    "stop_robot": {"reason": "uncertain"},
    "observe_scene": {"focus": "doorways"},
    "check_path_clear": {"direction": "left", "distance_m": 0.5},
    "report_discovery": {"label": "kitchen", "notes": None, "significance": "room"},
}


def call(tool: str, **parameters: Any) -> Any:
    return read(NavigationDecision(tool, parameters))


def test_definitions_are_those_of_the_contract_and_strict() -> None:
    functions = [definition["function"] for definition in TOOL_DEFINITIONS]
    assert {function["name"]: function["parameters"]["properties"] for function in functions} == CONTRACT
    assert [function["name"] for function in functions] == [tool.value for tool in Tool]
    for definition, function in zip(TOOL_DEFINITIONS, functions, strict=True):
        assert definition["type"] == "function"
        assert function["strict"] is True
        assert function["description"]
        assert function["parameters"]["additionalProperties"] is False
        assert function["parameters"]["required"] == list(function["parameters"]["properties"])
    assert json.loads(json.dumps(TOOL_DEFINITIONS)) == list(TOOL_DEFINITIONS)


@pytest.mark.parametrize("tool", EXAMPLES)
def test_good_calls_are_read(tool: str) -> None:
    parameters = call(tool, **EXAMPLES[tool])
    assert isinstance(parameters, tools.PARAMETERS[Tool(tool)])


def test_values_are_those_that_were_sent() -> None:
    assert call("move_toward", **EXAMPLES["move_toward"]) == MoveToward(
        direction=Direction.FORWARD, speed=Speed.FAST, duration_s=8.0
    )
    assert call("rotate", degrees=90.0) == Rotate(degrees=90)
    assert call("navigate_to_goal", goal_type="frontier", frontier_id=3.0) == NavigateToGoal(
        goal_type="frontier", frontier_id=3
    )
    discovery = call("report_discovery", label="a\n\x1bb" + "c" * 99, notes="d\ne", significance="room")
    assert isinstance(discovery, ReportDiscovery)
    assert discovery.label.startswith("a ␛bc")
    assert len(discovery.label) == tools.LABEL_LENGTH
    assert discovery.notes == "d e"


@pytest.mark.parametrize(
    ("tool", "parameters", "said"),
    [
        ("fly", {}, 'unknown tool "fly": call one of move_toward, navigate_to_goal, rotate'),
        ("rotate", {"degrees": 30}, "not 30"),
        ("rotate", {"degrees": "90"}, 'not "90"'),
        ("rotate", {"degrees": True}, "not True"),
        ("rotate", {}, "rotate: degrees is missing"),
        ("rotate", {"degrees": 90, "fast": 1}, "fast is no parameter of it"),
        ("rotate", {"degrees": 10**5000}, "degrees"),
        ("move_toward", EXAMPLES["move_toward"] | {"duration_s": 8.1}, "less than or equal to 8"),
        ("move_toward", EXAMPLES["move_toward"] | {"duration_s": nan}, "finite"),
        ("move_toward", EXAMPLES["move_toward"] | {"duration_s": inf}, "finite"),
        ("move_toward", EXAMPLES["move_toward"] | {"duration_s": True}, "valid number"),
        ("move_toward", EXAMPLES["move_toward"] | {"direction": "up"}, "direction should be 'forward'"),
        ("navigate_to_goal", GOAL | {"x": None}, "needs numbers for x and y, not null"),
        ("navigate_to_goal", {"goal_type": "coordinates"}, "needs numbers for x and y, not null"),
        ("navigate_to_goal", GOAL | {"goal_type": "frontier"}, "needs the id of a listed frontier"),
        ("navigate_to_goal", GOAL | {"x": 1e9}, "less than or equal to 1000"),
        ("navigate_to_goal", GOAL | {"x": 10**400}, "x should be"),
        ("navigate_to_goal", GOAL | {"goal_type": "frontier", "frontier_id": -1}, "greater than or equal to 0"),
        ("check_path_clear", {"direction": "left", "distance_m": 0.4}, "greater than or equal to 0.5"),
        ("report_discovery", {"label": " \n", "notes": None, "significance": "room"}, "label must not be empty"),
        ("stop_robot", {"reason": "x" * 10_000}, "reason should be 'obstacle_detected'"),
    ],
)
def test_refusals_say_what_is_wrong_in_one_line(tool: str, parameters: dict[str, Any], said: str) -> None:
    refusal = call(tool, **parameters)
    assert isinstance(refusal, Refusal)
    assert said in refusal.reason
    assert "\n" not in refusal.reason
    assert len(refusal.reason) < 700


@pytest.mark.parametrize("arguments", [None, [], "{}", 3, [1]])
def test_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    assert isinstance(read(NavigationDecision("rotate", arguments)), Refusal)


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([90, "forward", 2.5]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
_NAMES = st.sampled_from(sorted({name for each in CONTRACT.values() for name in each})) | st.text(max_size=4)


@given(st.sampled_from([*Tool, "fly", ""]), st.dictionaries(_NAMES, _VALUES, max_size=6))
def test_whatever_comes_is_read_or_refused(tool: str, parameters: dict[str, Any]) -> None:
    result = read(NavigationDecision(tool, parameters))
    if isinstance(result, Refusal):
        assert result.reason.isprintable()
    else:
        assert read(NavigationDecision(tool, result.model_dump(mode="json"))) == result
