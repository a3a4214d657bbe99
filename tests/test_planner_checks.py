"""PLAN: the domain that is kept, and what is looked at before a plan goes on to the coder; with the real solver."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plannerLLM import MAX_RETRIES, PDDLOnly, PDDLResp
from spca.code.plan_check import MAX_TOLD
from spca.contracts import FailedPlan, Plan, TrustedPDDL
from spca.llm.providers.schemas import is_closed, json_schema
from tests.support.spca.asked import AskedPlanner as Asked
from tests.support.spca.asked import blocks
from tests.support.spca.doubles import SNAPSHOT, answer, pddl
from tests.support.spca.unlocking import SWAPPED, UNLOCK, unlocking

GOOD = answer(*pddl("reach_goal"))
TRUSTED = TrustedPDDL(*pddl("cross_room", name="old"))
FAILED = (FailedPlan("[reach_goal(a1)]", "stuck", "stuck: the same cycle of 4 states repeated 3 times"),)


def kept(problem: str) -> str:
    """An answer that keeps the trusted domain."""
    return json.dumps({"domain": None, "problem": problem})


def test_a_domain_of_null_keeps_the_trusted_one() -> None:
    asked = Asked(kept(TRUSTED.problem))
    plan = asked.plan(trusted=TRUSTED)
    assert isinstance(plan, Plan)
    assert (plan.domain, plan.problem, plan.text) == (TRUSTED.domain, TRUSTED.problem, "[cross_room(a1)]")
    (call,) = asked.events.of("planner_call")
    assert (call["kept_domain"], call["ok"]) == (True, True)


def test_a_repair_may_keep_the_trusted_domain_too() -> None:
    asked = Asked(kept("(define (problem p))"), kept(TRUSTED.problem))
    plan = asked.plan(trusted=TRUSTED)
    assert isinstance(plan, Plan)
    assert plan.domain == TRUSTED.domain
    assert asked.calls == [("reuse", "x/small"), ("syntax", "x/large")]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"trusted": TRUSTED, "failed": FAILED},
        {"trusted": TrustedPDDL(f"{TRUSTED.domain};{'long' * 1000}", TRUSTED.problem)},
    ],
    ids=["fresh", "replan", "not shown"],
)
def test_a_domain_of_null_with_nothing_to_keep_is_one_clear_repair(given: dict[str, Any]) -> None:
    asked = Asked(kept(TRUSTED.problem), GOOD)
    assert isinstance(asked.plan(**given), Plan)
    assert [mode for mode, _ in asked.calls][1:] == ["syntax"]
    (feedback,) = blocks(asked.model.last_message(1).text, "feedback")
    assert feedback["message"].startswith("the domain is null, but there is no <trusted_pddl>")


def test_the_schema_of_the_answer_is_one_that_strict_modes_take() -> None:
    schema = json_schema(PDDLResp)
    assert is_closed(schema)
    assert schema["required"] == ["domain", "problem", "writer_name", "writer"]
    assert json_schema(PDDLOnly)["required"] == ["domain", "problem"]
    assert schema["properties"]["domain"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


def told(asked: Asked, request: int = 1) -> str:
    """What the planner was told of its answer before the ``request``-th question."""
    (feedback,) = blocks(asked.model.last_message(request).text, "feedback")
    return str(feedback["message"])


def test_a_plan_that_fits_the_methods_goes_on() -> None:
    asked = Asked(unlocking())
    plan = asked.plan(agent=UNLOCK)
    assert isinstance(plan, Plan)
    assert plan.text == "[unlock(a1, door_blue, key_blue)]"


def test_parameters_in_another_order_are_one_repair() -> None:
    asked = Asked(SWAPPED, unlocking())
    assert isinstance(asked.plan(agent=UNLOCK), Plan)
    assert asked.calls == [("fresh", "x/large"), ("syntax", "x/large")]
    assert told(asked) == (
        "action unlock has the parameters (agent, key, door), but the method that exists is unlock(agent, door, key): "
        "write the parameters in that order, ?agent ?door ?key"
    )


def test_a_door_where_the_method_takes_a_key_is_one_repair() -> None:
    short = (
        unlocking("?agent - agent ?k - key ?d - door")
        .replace("?key ?door)", "?k ?d)")
        .replace("(open ?door)))", "(open ?d)))")
    )
    asked = Asked(short, unlocking())
    assert isinstance(asked.plan(agent=UNLOCK), Plan)
    assert told(asked).startswith(
        "step unlock(a1, key_blue, door_blue) passes key_blue for 'door', but the method that exists is "
        "unlock(agent, door, key): "
    )


def test_parameters_that_the_method_does_not_take_are_one_repair() -> None:
    few = unlocking("?agent - agent ?door - door").replace("(fits ?key ?door)", "(ready ?agent)")
    asked = Asked(few, unlocking())
    assert isinstance(asked.plan(agent=UNLOCK), Plan)
    assert told(asked) == (
        "action unlock has the parameters (agent, door), but the method that exists is unlock(agent, door, key), which "
        "needs key too: give the action these parameters, or another name"
    )


def test_names_of_objects_are_one_repair_with_all_that_is_wrong() -> None:
    asked = Asked(unlocking(door="Blue-Door", key="yellow_key"), unlocking())
    assert isinstance(asked.plan(), Plan)
    assert told(asked).split("\n") == [
        "object Blue-Door: the kind comes first, then the colour; write door_blue",
        "object yellow_key: the kind comes first, then the colour; write key_yellow",
    ]


def test_names_are_read_whatever_their_case() -> None:
    plan = Asked(unlocking(door="Door_Blue", key="KEY-BLUE")).plan()
    assert isinstance(plan, Plan)
    assert plan.steps[0].args == ("a1", "door_blue", "key_blue")


def test_colours_that_the_mission_names_are_colours() -> None:
    snapshot = replace(SNAPSHOT, mission="open the orange door")
    assert isinstance(Asked(unlocking(door="door_orange", key="key_orange")).plan(snapshot), Plan)
    asked = Asked(unlocking(door="door_orange"), unlocking())
    assert isinstance(asked.plan(), Plan)
    assert "'orange' is no colour that is known here" in told(asked)


def test_a_planner_that_insists_has_its_way() -> None:
    odd = unlocking(door="blue_door")
    asked = Asked(odd, odd)
    plan = asked.plan()
    assert isinstance(plan, Plan)
    assert plan.text == "[unlock(a1, blue_door, key_blue)]"
    always_other = [unlocking(door=f"{word}_door") for word in ("red", "blue", "green", "grey")]
    asked = Asked(*always_other)
    assert isinstance(asked.plan(), Plan)
    assert len(asked.model.requests) == 1 + MAX_TOLD


def test_the_last_answer_is_not_refused_for_what_may_be_right() -> None:
    asked = Asked(*(f"no PDDL {number}" for number in range(MAX_RETRIES)), unlocking(door="blue_door"))
    plan = asked.plan()
    assert isinstance(plan, Plan)
    assert plan.text == "[unlock(a1, blue_door, key_blue)]"


@given(st.permutations(["agent", "door", "key"]))
@settings(max_examples=6)
def test_only_the_order_of_the_method_passes_without_a_word(order: list[str]) -> None:
    asked = Asked(unlocking(" ".join(f"?{name} - {name}" for name in order)), unlocking())
    assert isinstance(asked.plan(agent=UNLOCK), Plan)
    assert len(asked.model.requests) == 1 + (order != ["agent", "door", "key"])
