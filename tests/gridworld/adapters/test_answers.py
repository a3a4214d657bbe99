"""Which action is read from the words of a model, and that nothing is guessed."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.actions import ACTION_NAMES
from gridworld.adapters.answers import Choice, read_choice, strip_thoughts

STATED = {
    "Action: 2": 2,
    "The door is locked.\n\nAction: 5": 5,
    "Action: 2\nNo, a wall is there.\nAction: 0": 0,
    "**Action:** `2`": 2,
    "Action: 2 (move_forward)": 2,
    "action = Move Forward": 2,
    "Action: <1>": 1,
    "Action: 2 - the way is free for 8 cells": 2,
    "Final action: toggle.": 5,
    "- Action: pick up": 3,
    "Action ID: 4": 4,
    "Action: 2\r\n": 2,
    '{"action": 2}': 2,
    'So:\n```json\n{"reasoning": "at 3, 4", "action": "turn_left", "confidence": 0.5}\n```': 0,
    '{"action": "2"} or better {"action": "3"}': 3,
    '{"answer": {"action": 6}}': 6,
    "2": 2,
    " `move_forward` ": 2,
    "2 move_forward": 2,
    "Turn left!": 0,
}
UNSTATED = (
    "",
    "I see 3 keys and 2 doors, so I go on.",
    "Action: 7",
    "Action: -1",
    "Action: 2.5",
    "Action: 2 or 3",
    "Action: 0-6",
    "Action: <id>",
    "Action: 1 (move_forward)",
    "Action: 222222222222222222222222222222",
    "Action: \u0663",
    "Action: turn",
    "Actions: 2",
    "move_forward and then turn_left",
    "I am done here.",
    '{"action": true}',
    '{"action": 9}',
    '{"action": [2]}',
    '{"step": 2}',
)


@pytest.mark.parametrize(("text", "action"), STATED.items())
def test_statements(text: str, action: int) -> None:
    choice = read_choice(text, ACTION_NAMES)
    assert choice is not None
    assert choice.action == action


@pytest.mark.parametrize("text", UNSTATED)
def test_nothing_is_guessed(text: str) -> None:
    assert read_choice(text, ACTION_NAMES) is None


def test_only_actions_of_the_space_count() -> None:
    assert read_choice("Action: 2", {0: "left", 1: "right"}) is None
    assert read_choice("Action: right", {0: "left", 1: "right"}) == Choice(1)


@pytest.mark.parametrize(
    ("told", "confidence"), [("0.25", 0.25), ("1", 1.0), ("7", None), ("NaN", None), ("true", None), ("1" * 400, None)]
)
def test_confidence(told: str, confidence: float | None) -> None:
    assert read_choice(f'{{"action": 1, "confidence": {told}}}', ACTION_NAMES) == Choice(1, confidence)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("<think>Action: 3</think>Action: 4", "Action: 4"),
        ("Action: 3</think>\nAction: 4", "Action: 4"),
        ("<THINKING>x</THINKING> Action: 4", "Action: 4"),
        ("<think>so long that it was cut. Action: 3", ""),
        ("<think>a</think>b<think>c</think>d", "bd"),
    ],
)
def test_thoughts(text: str, rest: str) -> None:
    assert strip_thoughts(text) == rest


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    choice = read_choice(strip_thoughts(text), ACTION_NAMES)
    assert choice is None or choice.action in ACTION_NAMES


@given(st.text(max_size=200), st.sampled_from(sorted(ACTION_NAMES)), st.booleans())
def test_a_last_line_decides(text: str, action: int, by_name: bool) -> None:
    line = f"Action: {ACTION_NAMES[action] if by_name else action}"
    assert read_choice(f"{text}\n{line}", ACTION_NAMES) == Choice(action)


@pytest.mark.parametrize(
    "text", ["{" * 200_000, '{"a":' * 50_000, "action " * 100_000, "*" * 300_000, "<think>" * 50_000]
)
def test_hostile_texts_take_no_time(text: str) -> None:
    started = time.process_time()
    assert read_choice(strip_thoughts(text), ACTION_NAMES) is None
    assert time.process_time() - started < 2.0


LISTED = {
    "Actions: 2, 2, 1": [2, 2, 1],
    "I turn first.\nActions: turn_right, move_forward": [1, 2],
    "Actions: 2 2 2": [2, 2, 2],
    "**Actions:** `2`, `2`, `5`.": [2, 2, 5],
    "Actions: [2, 0]": [2, 0],
    "Actions: <2>, <1>, ...": [2, 1],
    "Actions: 2 -> 2 → pick up": [2, 2, 3],
    "Actions: move_forward then toggle": [2, 5],
    "Actions: 2 (move_forward), 1 (turn_right)": [2, 1],
    "Actions: 2 move_forward 1 turn_right": [2, 1],
    "Actions: 2, 2\nNo, a wall is there.\nActions: 0": [0],
    "Actions: 0\nActions: <id>, <id>, ...": [0],
    "Action: 2": [2],
    "Action: 2 - the way is free for 8 cells": [2],
    '{"actions": [2, 2, "turn_left"]}': [2, 2, 0],
    '{"actions": "2, 5", "confidence": 0.5}': [2, 5],
    '{"action": 2}': [2],
    "[2, 2, 0]": [2, 2, 0],
    "2, 2, 0": [2, 2, 0],
    "turn_left\nmove_forward": [0, 2],
}
NO_LIST = (
    "Actions: 2, 9",
    "Actions: 2, , 1",
    "Actions: 0-6",
    "Actions: 2 or 3",
    "Actions: 1 move_forward",
    "Actions: 1. move_forward, 2. turn_left",
    "Actions: move_forward 3",
    "Actions: 2.5, 1",
    "Actions: the door, then 2",
    "I go on to 2, 2 and 1.",
    '{"actions": [2, true]}',
    '{"actions": [2, [1]]}',
    '{"actions": []}',
)


@pytest.mark.parametrize(("text", "actions"), LISTED.items())
def test_lists(text: str, actions: list[int]) -> None:
    choice = read_choice(text, ACTION_NAMES, 9)
    assert choice is not None
    assert list(choice.actions) == actions
    first = read_choice(text, ACTION_NAMES, 2)
    assert first is not None
    assert list(first.actions) == actions[:2]


@pytest.mark.parametrize("text", NO_LIST)
def test_no_list_is_guessed(text: str) -> None:
    assert read_choice(text, ACTION_NAMES, 9) is None


def _written(action: int, style: str) -> str:
    return {"id": str(action), "name": ACTION_NAMES[action], "both": f"{action} ({ACTION_NAMES[action]})"}[style]


ACTIONS = st.lists(st.sampled_from(sorted(ACTION_NAMES)), min_size=1, max_size=12)
STYLES = st.sampled_from(["id", "name", "both"])


@given(st.text(max_size=200), ACTIONS, STYLES, st.sampled_from([", ", ",", "; ", " -> ", " | "]), st.integers(2, 9))
def test_a_last_list_decides(text: str, actions: list[int], style: str, between: str, most: int) -> None:
    line = f"Actions: {between.join(_written(action, style) for action in actions)}"
    choice = read_choice(f"{text}\n{line}", ACTION_NAMES, most)
    assert choice is not None
    assert list(choice.actions) == actions[:most]


@given(ACTIONS, st.booleans(), st.integers(2, 9))
def test_a_list_in_json_is_read(actions: list[int], by_name: bool, most: int) -> None:
    values = [ACTION_NAMES[action] for action in actions] if by_name else actions
    choice = read_choice(f"So: {json.dumps({'actions': values})}", ACTION_NAMES, most)
    assert choice is not None
    assert list(choice.actions) == actions[:most]


@given(
    st.text(alphabet="0123456789 ,.;:|>-\n[]{}()\"'actionsid_turnlefmvwpkg→", max_size=120) | st.text(max_size=200),
    st.integers(1, 9),
)
def test_any_text_is_read_as_a_list_or_not(text: str, most: int) -> None:
    choice = read_choice(strip_thoughts(text), ACTION_NAMES, most)
    assert choice is None or (1 <= len(choice.actions) <= most and set(choice.actions) <= set(ACTION_NAMES))
    if most == 1:
        assert choice is None or choice.further == ()


@pytest.mark.parametrize(
    "text", ["Actions: " + "2 " * 100_000, "2," * 100_000, "Actions: " + "2 (" * 50_000, "actions:\n" * 50_000]
)
def test_hostile_lists_take_no_time(text: str) -> None:
    started = time.process_time()
    read_choice(strip_thoughts(text), ACTION_NAMES, 5)
    assert time.process_time() - started < 2.0
