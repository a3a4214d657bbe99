"""``faulty/...``: each fault is what it is called, comes on schedule, and is repaired on request."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache

import pytest

from minigridenv import MiniGridEnv
from plannerLLM import PDDLResp
from spca.bodies.grid.body import GRID
from spca.code import merge
from spca.code.regression import SolvedLevel
from spca.contracts import (
    AgentSource,
    Checkpoint,
    LevelInfo,
    LevelSpec,
    Plan,
    PlannerMode,
    PlanStep,
    ProblemWriter,
    SolveStatus,
)
from spca.errors import PatchError, PlanTextError
from spca.llm.providers.base import Message, Request
from spca.llm.providers.offline.faulty import CODER_SCHEDULE, PLANNER_SCHEDULE, WRITER_SCHEDULE, FaultyProvider
from spca.llm.providers.offline.reference import ReferenceProvider
from spca.prompts import render
from spca.sandbox.executor import SandboxExecutor
from spca.writers.library import WriterLibrary
from spca.writers.stored import Case, writer_state
from tests.support.bodies import grid
from tests.support.bodies.grid import planner_state
from tests.support.reference.asking import prompt_for
from tests.support.spca.doubles import AGENT, SNAPSHOT, change_snapshot, plan_of, shared_solver

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
        merged = grid.merge(AGENT.text, merge.extract_code(answer), PARAMETERS)
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


@pytest.mark.long
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
                grid.extract_actions(pddl.domain)
            continue
        seen[fault] = shared_solver().solve(pddl.domain, pddl.problem).status
    assert seen == {
        "none": SolveStatus.SOLVED,
        "unparsable_pddl": SolveStatus.PARSE_ERROR,
        "unsolvable": SolveStatus.UNSOLVABLE,
    }


WHAT_COMES_OF_WRITERS = {
    "none": "",
    "lost_fact": "for its own snapshot it does not write the problem of the same answer: :init lacks (hand_empty a1)",
    "crash": "it fails on its own snapshot: TypeError: string indices must be integers",
    "endless": "it fails on its own snapshot: no answer for 0.2 s",
    "constant": "it does not follow when mission and map speak of other colours",
    "other_goal": "it does not follow when mission and map speak of other colours",
    "careless": "",
    "no_text": "it fails on its own snapshot: make_problem returned list, not str",
    "forbidden": "module os is not available: a writer may import re alone",
    "too_long": "the writer has more than 125 lines",
    "nondeterministic": "it does not write the same problem twice",
}
RED_BALL = replace(SNAPSHOT, mission="pick up the red ball")
TOLD = LevelInfo("pickup_only", "s", "l")


@cache
def drafts() -> dict[str, tuple[str, ProblemWriter]]:
    """The problem of an answer that nothing else is wrong with, and its writer, for each fault of writers."""
    provider, asked = FaultyProvider(), Request("planner", tuple(prompt_for(RED_BALL, TOLD.category, writers={})))
    answers = [provider.complete(asked).text for _ in range(len(PLANNER_SCHEDULE) * len(WRITER_SCHEDULE))]
    faults = zip(itertools.cycle(PLANNER_SCHEDULE), itertools.cycle(WRITER_SCHEDULE), answers, strict=False)
    found = {}
    for fault, of_writer, text in faults:
        if fault == "none":
            answer = json.loads(text)
            writer = ProblemWriter(answer["writer_name"], answer["domain"], answer["writer"])
            found[of_writer] = answer["problem"], writer
    return found


@pytest.fixture(scope="module")
def executor() -> Iterator[SandboxExecutor]:
    with SandboxExecutor() as shared:
        yield shared


@pytest.mark.parametrize("fault", dict.fromkeys(WRITER_SCHEDULE))
def test_faulty_writers_are_refused_or_fail_elsewhere(fault: str, executor: SandboxExecutor) -> None:
    problem, writer = drafts()[fault]
    plan = Plan((), writer.domain, problem, (), PlannerMode.FRESH)
    case = Case(writer_state(RED_BALL, TOLD), problem, SolvedLevel(LevelSpec("x"), 1, Checkpoint((), ""), plan))
    library = WriterLibrary(executor, shared_solver().solve, GRID)
    refusal = library.consider(writer, case, AGENT, "x")
    assert WHAT_COMES_OF_WRITERS[fault] in refusal
    assert bool(library.stored) == (refusal == "") == (fault in {"none", "careless"})
    barred = change_snapshot(mission=RED_BALL.mission, visible_grid=(("agent", "door blue locked", "unseen"),))
    found = list(library.plans(barred, replace(TOLD, category="unlock_pickup")))
    assert any(isinstance(each, Plan) for each in found) == (fault == "careless")


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


@pytest.mark.long
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
