"""The embedded model's problem writers: what they write is what the planner would, or they refuse."""

from __future__ import annotations

import json

import pytest

from spca.code.policy.check import violations
from spca.llm.providers.base import Message
from spca.reference import planner
from spca.reference.compiled import ShippedWriter, writers
from tests.support.reference.asking import prompt

ASKING = Message("system", "answer also with make_problem(snapshot)")


def label(writer: ShippedWriter) -> str:
    return f"{writer.text.name}_{writer.version}"


@pytest.mark.parametrize("writer", writers(), ids=label)
def test_writers_keep_to_the_contract(writer: ShippedWriter) -> None:
    source = writer.text.source
    assert violations(f"{source}\n\nclass Agent:\n    pass\n") == ()
    assert len(source.splitlines()) <= 125
    assert [line for line in source.splitlines() if "import" in line.split()] == ["import re"]


def test_writers_are_answered_only_where_the_prompt_asks_for_them() -> None:
    messages = prompt("get to the green goal square", category="goal_navigation")
    assert set(json.loads(planner.answer(messages))) == {"domain", "problem"}
    answer = json.loads(planner.answer([ASKING, *messages]))
    assert answer["writer_name"] == "reach_goal"
    assert "def make_problem(snapshot)" in answer["writer"]
    failed = prompt("get to the green goal square", category="goal_navigation", failed=1)
    assert set(json.loads(planner.answer([ASKING, *failed]))) == {"domain", "problem"}
