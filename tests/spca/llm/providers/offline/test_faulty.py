"""``faulty/...``: each fault is what it is called, comes on schedule, and is repaired on request."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from minigridenv import MiniGridEnv
from plannerLLM import PDDLResp
from spca.code import merge
from spca.contracts import AgentSource, PlanStep, SolveStatus
from spca.errors import PatchError, PlanTextError
from spca.llm.providers.base import Message, Request
from spca.llm.providers.offline.faulty import CODER_SCHEDULE, PLANNER_SCHEDULE, FaultyProvider
from spca.llm.providers.offline.reference import ReferenceProvider
from spca.plan.pddl import extract_actions
from spca.prompts import render
from spca.sense.map_text import planner_state
from tests.support.spca.doubles import AGENT, SNAPSHOT, plan_of, shared_solver

TASK = json.dumps({"mode": "first", "actions": ["reach_goal"], "plan": "[reach_goal(a1, goal_green)]", "schemas": {}})
CODER = (Message("user", f"<task>\n{TASK}\n</task>"),)
PLANNER = (
    Message(
        "user",
        render(
            "planner_task",
            snapshot=planner_state(SNAPSHOT),
            level={"category": "a", "skill": "b", "level": "c"},
            actions="(none yet)",
            trusted=None,
            writers=None,
            compiles=False,
            feedback=None,
        ),
    ),
)
REPAIR = (Message("assistant", "what it was"), Message("user", "That cannot be used."))
PARAMETERS = {"reach_goal": ("agent", "goal")}


def coder_answers(count: int) -> list[str]:
    provider = FaultyProvider()
    return [provider.complete(Request("coder", CODER)).text for _ in range(count)]


def planner_answers(count: int) -> list[str]:
    provider = FaultyProvider()
    return [provider.complete(Request("planner", PLANNER)).text for _ in range(count)]


def good(model: str) -> str:
    return ReferenceProvider().complete(Request(model, CODER if model == "coder" else PLANNER)).text


def status_of(answer: str) -> str:
    """How an answer of the coder ends on a small level: how it is refused, or the status of its run."""
    if words := merge.objection(answer):
        return f"objection: {words}"
    try:
        merged = merge.merge(AGENT.text, merge.extract_code(answer), PARAMETERS)
    except PatchError as error:
        return f"refused: {error}"
    with closing(MiniGridEnv("MiniGrid-Empty-5x5-v0", 1)) as world:
        plan = plan_of(PlanStep("reach_goal", ("a1", "goal_green")))
        outcome = world.run_sim(plan, AgentSource(merged.text))
        return f"{outcome.status.value}: {outcome.message}"


WHAT_COMES_OF_IT = {
    "none": "success",
    "syntax_error": "refused: ",
    "wrong_signature": "refused: reach_goal must take (self, agent, goal)",
    "wrong_outcome": "goal_not_reached",
    "objection": "objection: it does not lead to the goal",
    "crash": "runtime_error",
    "endless": "stuck",
    "hang": "runtime_error: no yield for 1.0 s in reach_goal, line ",
    "forbidden": "refused: line 4: module os is not available",
}


def test_the_coders_faults_come_on_schedule() -> None:
    answers = coder_answers(len(CODER_SCHEDULE) + 1)
    for fault, answer in zip(CODER_SCHEDULE, answers, strict=False):
        assert status_of(answer).startswith(WHAT_COMES_OF_IT[fault])
    assert status_of(answers[-1]).startswith("refused")
    assert set(CODER_SCHEDULE) == set(WHAT_COMES_OF_IT)


def test_no_two_wrong_outcomes_are_the_same_code() -> None:
    wrong = [a for fault, a in zip(CODER_SCHEDULE, coder_answers(20), strict=False) if fault == "wrong_outcome"]
    assert len(set(wrong)) == len(wrong) == 7


def test_the_planners_faults_come_on_schedule() -> None:
    seen: dict[str, str] = {}
    for fault, answer in zip(PLANNER_SCHEDULE, planner_answers(len(PLANNER_SCHEDULE)), strict=True):
        if fault == "broken_json":
            with pytest.raises(ValueError, match="Invalid JSON"):
                PDDLResp.model_validate_json(answer)
            continue
        pddl = PDDLResp.model_validate_json(answer)
        assert pddl.domain is not None
        if fault == "wrong_action_name":
            with pytest.raises(PlanTextError, match="'drop' is the name of one of the agent's primitive"):
                extract_actions(pddl.domain)
            continue
        seen[fault] = shared_solver().solve(pddl.domain, pddl.problem).status
    assert seen == {
        "none": SolveStatus.SOLVED,
        "unparsable_pddl": SolveStatus.PARSE_ERROR,
        "unsolvable": SolveStatus.UNSOLVABLE,
    }


@pytest.mark.parametrize("model", ["coder", "planner"])
def test_a_repair_is_good_but_for_every_third(model: str) -> None:
    provider = FaultyProvider()
    opening = CODER if model == "coder" else PLANNER
    repaired: list[bool] = []
    while len(repaired) < 6:
        if provider.complete(Request(model, opening)).text != good(model):
            repaired.append(provider.complete(Request(model, (*opening, *REPAIR))).text == good(model))
    assert repaired == [True, True, False] * 2
    assert provider.complete(Request(model, (*opening, *REPAIR))).text == good(model)


def test_the_same_conversations_have_the_same_faults() -> None:
    assert coder_answers(15) == coder_answers(15)
    assert planner_answers(15) == planner_answers(15)


@pytest.mark.parametrize(("name", "wrong"), [("pick_up_object", True), ("reach_goal", False)])
def test_the_stubborn_coder_gets_the_same_actions_wrong_whenever_it_is_asked(name: str, wrong: bool) -> None:
    provider = FaultyProvider()
    opening = (Message("user", CODER[0].text.replace("reach_goal", name)),)
    answers = [provider.complete(Request("stubborn/coder", asked)).text for asked in (opening, (*opening, *REPAIR))]
    assert ["fault = " in answer for answer in answers] == [wrong, wrong]
    assert provider.complete(Request("stubborn/coder", opening)).text == answers[0]
