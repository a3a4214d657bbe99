"""Which action is read from the words of a model, and that nothing is guessed."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.actions import ACTION_NAMES
from gridworld.adapters.answers import Choice, read_choice, without_thoughts

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
    ("told", "confidence"), [("0.25", 0.25), ("1", 1.0), ("7", None), ("NaN", None), ("true", None)]
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
    assert without_thoughts(text) == rest


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    choice = read_choice(without_thoughts(text), ACTION_NAMES)
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
    assert read_choice(without_thoughts(text), ACTION_NAMES) is None
    assert time.process_time() - started < 2.0
