"""PDDL text: extraction of actions, names on both sides, plans as text, faults of shape."""

from __future__ import annotations

import keyword
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.body import AgentInterface
from spca.contracts import Plan, PlannedAction, PlannerMode, PlanStep
from spca.errors import PlanTextError
from spca.plan import pddl
from spca.plan.pddl import (
    MAX_CHARS,
    MAX_DEPTH,
    parse_plan,
    python_name,
    shape_fault,
)
from tests.support.bodies.grid import STATE_ATTRIBUTES, extract_actions, name_map

DOMAIN = """(define (domain Grid)
  (:types agent key door - object)
  (:constants A1 - agent)
  ; (:action commented_out :parameters (?x))
  (:Action Pick-Up_Obj ; takes (it
    :parameters (?a - agent ?k-1 - (either key door) ?from ?self - key)
    :precondition (and) ; )
    :effect (holding ?a ?k-1))
  (:action wait-a-bit :effect (and)))
"""
PROBLEM = """(define (problem p) (:domain grid)
  (:objects Key-Blue Key_Red - key door-1 - (either door key) loose)
  (:init) (:goal (and)))"""

NAMES = name_map(DOMAIN, PROBLEM)

pddl_names = st.from_regex(r"[a-zA-Z][a-zA-Z0-9_-]{0,12}", fullmatch=True)
python_names = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
steps = st.builds(PlanStep, python_names, st.lists(python_names, max_size=4).map(tuple))


def action(name: str) -> str:
    return f"(define (domain d) (:action {name} :parameters (?a) :effect (p ?a)))"


def test_actions_are_cut_out_verbatim() -> None:
    first, second = extract_actions(DOMAIN)
    assert first.name == "pick_up_obj"
    assert first.parameters == ("a", "k_1", "from_", "self_")
    assert first.text.startswith("(:Action Pick-Up_Obj ; takes (it")
    assert first.text.endswith(":effect (holding ?a ?k-1))")
    assert (second.name, second.parameters, second.text) == ("wait_a_bit", (), "(:action wait-a-bit :effect (and))")


def test_a_domain_without_actions_has_none() -> None:
    assert extract_actions("") == extract_actions("(define (domain d))") == ()


@pytest.mark.parametrize(
    "name", [*PRIMITIVE_METHODS, *STATE_ATTRIBUTES, "Turn-Left", "class", "Lambda", "_go", "__init__", "2go", "über"]
)
def test_names_the_agent_cannot_have_are_refused_with_a_way_out(name: str) -> None:
    with pytest.raises(PlanTextError, match=r"rename the action in the domain, for example to 'do_\w+'") as error:
        extract_actions(action(name))
    assert f"'{python_name(name)}'" in str(error.value)
    with pytest.raises(PlanTextError):
        name_map(action(name), PROBLEM)


@pytest.mark.parametrize("name", ["turn_left", "full_grid", "mission"])
def test_names_are_those_of_the_agents_own_body(name: str) -> None:
    purring = AgentInterface(("purr",), (("hunger", "value"),))
    assert pddl.extract_actions(action(name))[0].name == name
    assert pddl.extract_actions(action(name), purring)[0].name == name
    assert pddl.NameMap.from_pddl(action(name), PROBLEM, purring).actions == {name}
    for other, what in {"Purr": "primitive methods", "hunger": "state attribute", "previous-actions": "state"}.items():
        with pytest.raises(PlanTextError, match=what):
            pddl.extract_actions(action(other), purring)


def test_the_suggested_name_is_accepted() -> None:
    for name in (*PRIMITIVE_METHODS, *filter(str.islower, keyword.kwlist)):
        with pytest.raises(PlanTextError) as error:
            extract_actions(action(name))
        suggestion = str(error.value).rsplit("'", 2)[1]
        assert extract_actions(action(suggestion))[0].name == suggestion


@pytest.mark.parametrize(
    ("domain", "message"),
    [
        ("(:action go :effect (p)) (:action GO :effect (p))", "'GO' is defined twice"),
        ("(:action g :effect (p)) (:action g :effect (p))", "'g' is defined twice"),
        ("(:action go-to :effect (p)) (:action go_to :effect (p))", "'go-to' and 'go_to' both become 'go_to'"),
        ("(:action go :parameters (?a-b ?a_b))", "two parameters that become 'a_b'"),
        ("(:action go :parameters (?1))", "is not a letter followed by"),
        ("\n(:action :parameters ())", "line 2 has no name"),
        ("(:action)", "line 1 has no name"),
        ("(:action go\n (:action come)", "begins on line 1 is not closed"),
    ],
)
def test_faulty_actions_are_named(domain: str, message: str) -> None:
    with pytest.raises(PlanTextError, match=message):
        extract_actions(domain)


def test_a_plan_becomes_calls_whatever_the_planner_called_them() -> None:
    expected = PlanStep("pick_up_obj", ("a1", "key_blue"))
    for name, args in [
        ("Pick-Up_Obj", ("A1", "Key-Blue")),
        ("pick-up-obj", ("a1", "key-blue")),
        ("pick_up_obj", ("a1", "key_blue")),
    ]:
        assert NAMES.step(PlannedAction(name, args)) == expected


def test_objects_of_every_typed_list_are_known() -> None:
    assert dict(NAMES.objects) == {
        "a1": "A1",
        "key_blue": "Key-Blue",
        "key_red": "Key_Red",
        "door_1": "door-1",
        "loose": "loose",
    }


def test_colliding_objects_and_undeclared_names_are_refused() -> None:
    with pytest.raises(PlanTextError, match="'key-blue' and 'key_blue' both become 'key_blue'"):
        name_map(DOMAIN, "(define (:objects key-blue key_blue - key))")
    with pytest.raises(PlanTextError, match="action 'fly', which the PDDL does not declare"):
        NAMES.step(PlannedAction("fly", ()))
    with pytest.raises(PlanTextError, match="object 'sun', which the PDDL does not declare"):
        NAMES.step(PlannedAction("wait-a-bit", ("sun",)))


@given(st.lists(pddl_names, unique_by=python_name, min_size=1))
def test_steps_name_what_the_pddl_declares(objects: list[str]) -> None:
    names = name_map(DOMAIN, f"(define (problem p) (:objects {' '.join(objects)} - key))")
    planned = PlannedAction("Pick-Up_Obj", tuple(name for name in objects if name.lower() != "a1"))
    step = names.step(planned)
    written = tuple(names.objects[name] for name in step.args)
    assert (step.action, written) == (python_name(planned.name), planned.args)


@given(st.lists(steps))
def test_parse_plan_inverts_plan_text(plan: list[PlanStep]) -> None:
    assert parse_plan(Plan(tuple(plan), "", "", (), PlannerMode.FRESH).text) == tuple(plan)


def test_spaces_in_a_plan_do_not_matter() -> None:
    assert parse_plan(" [ f( a1,x ) ,g() ]\n") == (PlanStep("f", ("a1", "x")), PlanStep("g", ()))
    assert parse_plan("[ ]") == ()


@pytest.mark.parametrize(
    "text", ["", "f(a)", "[f]", "[f(a]", "[f(a),]", "[,f(a)]", "[f(a) g(b)]", "[f(,a)]", "[f(a)), g(b)]"]
)
def test_unreadable_plans_are_refused(text: str) -> None:
    with pytest.raises(PlanTextError):
        parse_plan(text)


@given(st.text(alphabet="[]()f,g a", max_size=20))
def test_what_parse_plan_accepts_it_can_print_again(text: str) -> None:
    try:
        plan = parse_plan(text)
    except PlanTextError:
        return
    assert parse_plan(Plan(plan, "", "", (), PlannerMode.FRESH).text) == plan


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (DOMAIN, None),
        (PROBLEM, None),
        ("(a\n(b)", "the '(' on line 1 is never closed"),
        ("(a)\n)", "line 2: ')' has no matching '('"),
        ("(a)\n(b)", "line 2: the whole text must be one form"),
        ("(define\n (:types a\n (:predicates (p)))", ":predicates on line 3 begins inside the form of line 2"),
        ("(" * (MAX_DEPTH + 1), f"nested deeper than {MAX_DEPTH}"),
        (" " * (MAX_CHARS + 1), f"at most {MAX_CHARS}"),
        ("(a ; )\n)", None),
    ],
)
def test_shape_faults_are_located(text: str, message: str | None) -> None:
    fault = shape_fault(text)
    assert fault is None if message is None else message in str(fault)


@given(st.text(alphabet="()\n; :a", max_size=60))
def test_shape_fault_is_none_only_for_balanced_text(text: str) -> None:
    bare = "".join(line.split(";")[0] for line in text.split("\n"))
    if shape_fault(text) is None:
        assert bare.count("(") == bare.count(")")


@pytest.mark.parametrize("unit", ["(:action ", "(:action go :parameters (", "?x ", "(", ")", "(:objects a - "])
def test_hostile_text_costs_no_more_than_its_length(unit: str) -> None:
    text = "(:action go :parameters (" + unit * (MAX_CHARS // len(unit))
    began = time.process_time()
    with suppress(PlanTextError):
        extract_actions(text)
    assert shape_fault(text) is not None
    assert time.process_time() - began < 5
