"""Bodies of any kind of world: what is refused, what an agent without actions looks like, and parts of prompts."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.body import (
    MAX_PRIMITIVES,
    NO_INTERFACE,
    AgentInterface,
    AnyNames,
    Body,
    Budgets,
    Drawing,
    NamingRules,
    PlainDrawing,
    Primitive,
    PromptParts,
    StateAttribute,
    StateKind,
    render_agent,
)
from spca.code.agent_source import signatures
from spca.code.policy.check import check_agent, violations
from spca.contracts import AgentSource, PlanStep
from spca.protocols import Finished, Yielded
from tests.support.bodies.cat import CAT, see
from tests.support.contracts.executing import steps
from tests.support.inprocess import InProcessExecutor
from tests.support.spca.doubles import LEVEL, SNAPSHOT

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True).filter(lambda name: not keyword.iskeyword(name))
DOCS = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z"), include_characters=" \n\t"), max_size=60)


@st.composite
def bodies(draw: st.DrawFn) -> Body:
    free = NAMES.filter(lambda name: name not in {"mission", "previous_actions"})
    names = draw(st.lists(free, min_size=2, max_size=9, unique=True))
    count = draw(st.integers(1, len(names) - 1))
    primitives = tuple(Primitive(name, draw(DOCS)) for name in names[:count])
    kinds = st.sampled_from(list(StateKind))
    state = tuple(StateAttribute(name, draw(kinds), draw(DOCS)) for name in names[count:])
    return Body(draw(NAMES), primitives, state)


def test_the_names_of_a_body_are_those_of_its_parts() -> None:
    interface = CAT.interface
    assert interface.primitives == ("purr", "scratch")
    assert interface.attributes == (("mission", "value"), ("hunger", "value"), ("room", "words"), ("smells", "numbers"))
    assert interface.state_names == ("mission", "hunger", "room", "smells", "previous_actions")
    assert interface.array_names == ("room", "smells", "previous_actions")
    assert interface.reserved_names == {"purr", "scratch", *interface.state_names}
    assert CAT.interface is interface


def test_what_is_no_agent_has_no_names_but_those_of_every_agent() -> None:
    assert AgentInterface((), ()) == NO_INTERFACE
    assert NO_INTERFACE.reserved_names == {"previous_actions"}


@pytest.mark.parametrize(
    "name",
    ["", "two words", "1st", "a-b", "_hidden", "__init__", "h\u00e9", "x\n", "\uff4fpen", "class", "None", "yield"],
)
def test_a_name_that_code_cannot_have_is_refused(name: str) -> None:
    for changes in (
        {"name": name},
        {"primitives": (Primitive(name, "Do it."),)},
        {"state": (StateAttribute(name, StateKind.VALUE, "it."),)},
    ):
        with pytest.raises(ValueError, match="body") as caught:
            replace(CAT, **changes)
        assert repr(name) in str(caught.value)


@pytest.mark.parametrize("name", ["purr", "hunger", "mission", "previous_actions"])
def test_a_name_is_used_once(name: str) -> None:
    with pytest.raises(ValueError, match=f"the name '{name}' is used twice"):
        replace(CAT, state=(*CAT.state, StateAttribute(name, StateKind.VALUE, "again.")))
    with pytest.raises(ValueError, match=f"the name '{name}' is used twice"):
        replace(CAT, primitives=(*CAT.primitives, Primitive(name, "Again.")))


def test_a_body_does_something_but_not_more_than_a_byte_can_tell() -> None:
    many = tuple(Primitive(f"do_{number}", "Do it.") for number in range(MAX_PRIMITIVES + 1))
    assert len(replace(CAT, primitives=many[:-1]).interface.primitives) == 256
    for primitives in ((), many):
        with pytest.raises(ValueError, match="1 to 256 primitives"):
            replace(CAT, primitives=primitives)


def listed(source: str) -> tuple[list[str], list[str]]:
    """Names of the methods and of the annotated attributes of the agent's class, in order."""
    (agent,) = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    methods = [node.name for node in agent.body if isinstance(node, ast.FunctionDef)]
    attributes = [
        node.target.id for node in agent.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    ]
    return methods, attributes


@given(bodies())
def test_an_agent_of_any_body_is_allowed_and_lists_state_and_primitives_in_order(body: Body) -> None:
    source = render_agent(body)
    assert violations(source, body.interface) == ()
    check_agent(AgentSource(source), body.interface)
    assert listed(source) == ([*body.interface.primitives], [*body.interface.state_names])
    namespace: dict[str, Any] = {}
    exec(compile(source, "agent.py", "exec"), namespace)  # noqa: S102 - it was made here
    agent = namespace["Agent"]()
    assert [getattr(agent, name)() for name in body.interface.primitives] == [*range(len(body.primitives))]


@pytest.mark.parametrize("doc", ['Say "miau"', "C:\\new\\x", '"""', 'a""""', "two\nlines", "", "{{ x }} %}", "'''"])
def test_docstrings_of_an_agent_hold_any_words(doc: str) -> None:
    body = replace(CAT, primitives=(Primitive("purr", doc),), state=(StateAttribute("hunger", StateKind.VALUE, doc),))
    assert violations(render_agent(body), body.interface) == ()


def test_a_rendered_agent_reads_well() -> None:
    source = render_agent(CAT)
    assert "        hunger: how hungry the cat is, from 0 to 9.\n" in source
    assert "    room: np.ndarray\n    smells: np.ndarray\n" in source
    assert '    def scratch(self) -> int:\n        """Scratch what is near."""\n        return 1\n' in source
    assert [str(method.name) for method in signatures(source)] == ["purr", "scratch"]


def test_an_empty_plan_of_a_rendered_agent_is_carried_out() -> None:
    agent = AgentSource(render_agent(CAT).rstrip("\n") + "\n\n    def act(self):\n        yield self.scratch()\n")
    episode = InProcessExecutor().start(agent, steps("act"), (), CAT)
    view = see()
    first = episode.advance(view)
    assert isinstance(first, Yielded)
    assert first.step.code == 1
    assert episode.advance(view) == Finished()


class Shelf:
    """Texts that count how often they are fetched."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts, self.fetched = texts, 0

    def read(self) -> dict[str, str]:
        self.fetched += 1
        return self.texts


def test_parts_of_prompts_are_read_when_they_are_needed_and_once() -> None:
    shelf = Shelf({"b": "B", "a": "A"})
    parts = PromptParts(shelf.read)
    replace(CAT, prompts=parts)
    assert shelf.fetched == 0
    assert (parts["a"], len(parts), sorted(parts), "c" in parts) == ("A", 2, ["a", "b"], False)
    assert dict(parts) == shelf.texts
    assert shelf.fetched == 1
    with pytest.raises(KeyError):
        parts["c"]


def test_parts_of_prompts_come_from_the_templates_of_a_folder(tmp_path: Path) -> None:
    parts: Mapping[str, str] = PromptParts.from_files(tmp_path)
    (tmp_path / "world.jinja").write_text("a wörld\n", encoding="utf-8")
    (tmp_path / "agent.jinja").write_text("", encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not a part", encoding="utf-8")
    assert list(parts.items()) == [("agent", ""), ("world", "a wörld\n")]


def test_a_folder_that_is_not_there_is_missed_when_its_parts_are_needed(tmp_path: Path) -> None:
    parts = PromptParts.from_files(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError):
        len(parts)


def test_a_body_without_rules_accepts_every_name() -> None:
    rules: NamingRules = AnyNames()
    assert rules.list_shown_words(SNAPSHOT, LEVEL) == frozenset()
    assert list(rules.find_name_faults(PlanStep("go", ("anything", "x9")), frozenset(), str)) == []
    assert rules.find_wrong_argument({"door": "key_blue"}) is None


@pytest.mark.parametrize(
    ("mission", "names", "found"),
    [
        (
            "Collect  the Iron Ore",
            ["iron_ore", "iron", "ore_iron", "iron_ore"],
            {"iron_ore": "Iron Ore", "iron": "Iron"},
        ),
        ("make a stone pickaxe", ["a1", "stone_pick", "stone_pickaxe"], {"stone_pickaxe": "stone pickaxe"}),
        (
            "Take the Red Tea, then pay the cashier.",
            ["red_tea", "cashier", "pay_the"],
            {"red_tea": "Red Tea", "cashier": "cashier", "pay_the": "pay the"},
        ),
        ("", ["x"], {}),
    ],
)
def test_names_whose_words_the_mission_has_are_found(mission: str, names: list[str], found: dict[str, str]) -> None:
    assert AnyNames().find_object_words(mission, names) == found


def test_a_world_without_a_picture_is_drawn_as_json() -> None:
    drawing: Drawing = PlainDrawing()
    shown = {"hunger": 3, "near": ["möuse"], "map": ["..", "@."]}
    rows = ["hunger: 3", 'near: ["möuse"]', "..", "@."]
    assert drawing.draw_rows(shown) == rows
    assert drawing.describe_end(shown)[1:] == rows
    assert drawing.draw_rows({}) == []


@pytest.mark.parametrize(
    "wrong", [{"patience": 0}, {"cpu_seconds": -1}, {"cpu_seconds": 2.5}, {"repeats": 1}, {"repeats": -2}]
)
def test_budgets_that_nothing_can_keep_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"budgets: {next(iter(wrong))} must be"):
        Budgets(**wrong)
