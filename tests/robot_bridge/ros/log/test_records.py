"""Records give back exactly what they were made of, and are strict JSON."""

from __future__ import annotations

import json
from math import inf, isnan, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    Applied,
    Command,
    ExecutionResult,
    NavGoalTarget,
    NavigationDecision,
    Source,
    StopTarget,
    TurnTarget,
    Twist,
    VelocityTarget,
)
from robot_bridge.errors import RecordingError
from robot_bridge.ros.log.records import from_json, to_json

FLOATS = st.floats(allow_nan=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.just("_"), inner, max_size=3),
    max_leaves=8,
)
DECISIONS = st.builds(
    NavigationDecision, st.text(), st.dictionaries(st.text(), JSON, max_size=3), st.text(), FLOATS, st.just({})
)
TARGETS = (
    st.builds(VelocityTarget, st.builds(Twist, FLOATS, FLOATS), FLOATS)
    | st.builds(TurnTarget, FLOATS)
    | st.builds(NavGoalTarget, FLOATS, FLOATS, st.none() | FLOATS)
    | st.builds(StopTarget, st.text())
)
VALUES = (
    st.builds(ExecutionResult, TARGETS, DECISIONS, st.booleans(), st.text())
    | st.lists(st.builds(Command, st.builds(Twist, FLOATS, FLOATS), st.sampled_from(Source), FLOATS), max_size=3)
    | st.builds(Applied, st.builds(Twist, FLOATS, FLOATS), st.text(), st.text())
    | JSON
)


def refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


@given(VALUES)
def test_values_survive_as_strict_json(value: Any) -> None:
    text = to_json(value)
    json.loads(text, parse_constant=refuse)
    assert "\n" not in text
    assert from_json(text) == value


def test_numbers_that_json_has_not_survive() -> None:
    assert from_json(to_json([inf, -inf])) == [inf, -inf]
    assert isnan(from_json(to_json({"a": nan}))["a"])


def test_what_a_robot_is_survives() -> None:
    assert from_json(to_json(RobotConfig())) == RobotConfig()


def test_everything_else_is_kept_as_it_shows_itself() -> None:
    given = {"a": np.float32(0.5), "b": {1}, "c": (1, 2), "d": b"x", 3: None}
    assert from_json(to_json(given)) == {"a": 0.5, "b": [1], "c": [1, 2], "d": "b'x'", 3: None}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"_":"Popen"}',
        '{"_":"Twist","nonsense":1}',
        '{"_":["Twist"]}',
        '{"_":"Source","value":9}',
        "[" * 5000,
        '{"_":"float","value":"x"}',
        '{"_":"dict","items":[[[1],2]]}',
    ],
)
def test_damaged_records_are_an_error_of_one_line(text: str) -> None:
    with pytest.raises(RecordingError) as caught:
        from_json(text)
    assert len(str(caught.value).splitlines()) == 1
