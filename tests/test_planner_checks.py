"""PLAN: the domain that is kept, and what is looked at before a plan goes on to the coder; with the real solver."""

from __future__ import annotations

import json
from typing import Any

import pytest

from plannerLLM import PDDLResp
from spca.contracts import FailedPlan, Plan, TrustedPDDL
from spca.llm.providers.schemas import is_closed, json_schema
from tests.support.spca.asked import AskedPlanner as Asked
from tests.support.spca.asked import blocks
from tests.support.spca.doubles import answer, pddl

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
    assert schema["required"] == ["domain", "problem"]
    assert schema["properties"]["domain"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
