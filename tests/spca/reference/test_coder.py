"""The reference coder answers from the prompt alone, with what was asked for and what that needs."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.code import agent_source
from spca.errors import BadAnswerError
from spca.llm.providers.base import Message
from spca.reference import coder
from tests.support.bodies import grid
from tests.support.reference.skill_runs import PARAMETERS
from tests.support.spca.doubles import AGENT
from tests.support.tiers import few

STATE = {
    "current_dir",
    "current_observation",
    "full_grid",
    "inventory",
    "previous_actions",
    "start_position",
    "start_dir",
}
SOURCES = {
    entry.name: entry.read_text(encoding="utf-8")
    for entry in (resources.files("spca.reference") / "skills").iterdir()
    if entry.name.endswith(".py")
}
subsets = st.sets(st.sampled_from(sorted(PARAMETERS)), min_size=1)


def task(actions: Sequence[str], mode: str = "first", **blocks: str) -> Message:
    data = {"mode": mode, "actions": list(actions), "plan": "[]", "schemas": {}}
    text = f"<task>\n{json.dumps(data)}\n</task>\n"
    return Message("user", text + "".join(f"<{tag}>\n{body}\n</{tag}>\n" for tag, body in blocks.items()))


def defined(source: str) -> list[str]:
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("action", few(4, PARAMETERS))
def test_every_action_merges_with_the_signature_of_its_schema(action: str) -> None:
    merged = grid.merge(AGENT.text, coder.answer([task([action])]), {action: PARAMETERS[action]})
    method = next(m for m in agent_source.signatures(merged.text) if m.name == action)
    assert method.is_generator
    assert len(method.params) == len(PARAMETERS[action])
    assert method.doc


def test_the_library_has_no_actions_but_those_of_the_table() -> None:
    assert {name for name in coder.library() if not name.startswith("_")} == set(PARAMETERS)


@pytest.mark.long
@settings(max_examples=5)
@given(actions=subsets)
def test_an_answer_holds_the_closure_and_nothing_else(actions: set[str]) -> None:
    source = coder.write(sorted(actions))
    merged = grid.merge(AGENT.text, source, {name: PARAMETERS[name] for name in actions}).text
    reached = agent_source.call_closure(merged, sorted(actions))
    assert set(defined(source)) == reached - set(PRIMITIVE_METHODS)
    compile(merged, "agent.py", "exec")


@pytest.mark.long
@settings(max_examples=4)
@given(have=subsets, want=subsets)
def test_what_the_agent_lists_is_not_written_again(have: set[str], want: set[str]) -> None:
    agent = grid.merge(AGENT.text, coder.write(sorted(have)), None).text
    listing = "\n".join(f"{m.name}({', '.join(('self', *m.params))}) - {m.doc}" for m in agent_source.signatures(agent))
    source = coder.answer([task(sorted(want), agent_methods=listing)])
    helpers = set(defined(source)) - want
    assert not helpers & {method.name for method in agent_source.signatures(agent)}
    full = coder.write(sorted(want))
    merged = grid.merge(agent, source, None).text
    assert set(defined(full)) <= {method.name for method in agent_source.signatures(merged)}


@pytest.mark.parametrize("mode", ["semantic", "syntax"])
def test_a_repair_holds_every_helper(mode: str) -> None:
    listing = "\n".join(f"{name}(self) - ..." for name in coder.library())
    assert coder.answer([task(["reach_goal"], mode, agent_methods=listing)]) == coder.write(["reach_goal"])
    assert defined(coder.answer([task(["reach_goal"], agent_methods=listing)])) == ["reach_goal"]


def test_helpers_shown_as_source_are_not_written_again() -> None:
    shown = coder.write(["go_to_door"])
    assert defined(coder.answer([task(["open_box"], agent_source=shown)])) == ["open_box"]


def test_the_newest_task_of_the_user_counts() -> None:
    conversation = [
        task(["reach_goal"]),
        Message("assistant", task(["open_box"]).text),
        task(["drop_held"], "syntax"),
    ]
    assert defined(coder.answer(conversation))[0] == "drop_held"


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "no <task>"),
        ([Message("assistant", task(["reach_goal"]).text)], "no <task>"),
        ([Message("user", "<task>\n{\n</task>")], "cannot read the <task>"),
        ([Message("user", '<task>\n{"actions": "reach_goal"}\n</task>')], "no list of actions"),
        ([task(["fly_home"])], "no skill named 'fly_home'"),
        ([task(["_look"])], "no skill named '_look'"),
    ],
)
def test_what_it_cannot_answer_is_said(messages: list[Message], words: str) -> None:
    with pytest.raises(BadAnswerError, match=re.escape(words)):
        coder.answer(messages)


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_skills_keep_to_plain_python_and_never_read_the_mission(name: str) -> None:
    tree = ast.parse(SOURCES[name])
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert "mission" not in SOURCES[name]
    assert not names & {"getattr", "setattr", "hasattr", "vars", "globals", "exec", "eval", "open", "print"}
    assert not any(attribute.startswith("__") for attribute in attributes)
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert imported <= {"numpy", "collections", "heapq"}


def test_skills_read_only_what_exists() -> None:
    own = [
        node for source in SOURCES.values() for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)
    ]
    own = [node for node in own if isinstance(node.value, ast.Name) and node.value.id == "self"]
    written = {node.attr for node in own if isinstance(node.ctx, ast.Store)}
    read = {node.attr for node in own if isinstance(node.ctx, ast.Load)}
    assert not written & (STATE | set(PRIMITIVE_METHODS) | set(coder.library()))
    assert read <= written | STATE | set(PRIMITIVE_METHODS) | set(coder.library())


def test_no_method_has_two_homes() -> None:
    homes = [
        method.name
        for source in SOURCES.values()
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, ast.FunctionDef)
    ]
    assert sorted(homes) == sorted(set(homes))
