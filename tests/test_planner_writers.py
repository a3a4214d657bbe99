"""PLAN with problem writers: how they come with an answer, and that they cost no plan."""

from __future__ import annotations

import json

import pytest

from llmclient import ChatGPTClient
from plannerLLM import PDDLOnly, PlannerLLM
from spca.contracts import Plan, ProblemWriter, TrustedPDDL
from tests.support.spca.asked import AskedPlanner as Asked
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import (
    LEVEL,
    SNAPSHOT,
    Events,
    ScriptedProvider,
    answer,
    patient_desk,
    pddl,
    shared_solver,
)

WRITER = "def make_problem(snapshot):\n    raise ValueError\n"


def test_a_writer_comes_with_the_plan_for_the_domain_of_the_same_answer() -> None:
    domain, problem = pddl("reach_goal")
    plan = Asked(answer(domain, problem, writer_name="Reach-the goal!", writer=f"```python\n{WRITER}```")).plan()
    assert isinstance(plan, Plan)
    assert plan.draft is not None
    assert (plan.draft.name, plan.draft.domain, plan.draft.source.strip()) == ("reach_the_goal", domain, WRITER.strip())


@pytest.mark.parametrize("repeated", [False, True])
def test_a_repair_keeps_the_writer_that_it_leaves_out(repeated: bool) -> None:
    bad, good = pddl("reach_goal")[0], pddl("reach_goal", name="e")
    fields = {"writer_name": "go", "writer": WRITER}
    newer = {"writer_name": "go", "writer": WRITER + "# better\n"} if repeated else {}
    plan = Asked(answer(bad, "(define", **fields), answer(*good, **newer)).plan()
    assert isinstance(plan, Plan)
    assert plan.draft == ProblemWriter("go", good[0], newer.get("writer", WRITER))


@pytest.mark.parametrize(
    "fields",
    [
        '"writer_name": null, "writer": null',
        '"writer_name": "go", "writer": ["a"]',
        '"writer_name": "go", "writer": " "',
    ],
    ids=["null", "a list", "blank"],
)
def test_what_is_no_writer_costs_no_plan(fields: str) -> None:
    text = answer(*pddl("reach_goal"))
    asked = Asked(f"{text[:-1]}, {fields}}}")
    plan = asked.plan()
    assert isinstance(plan, Plan)
    assert plan.draft is None


def test_a_kept_domain_is_that_of_the_writer() -> None:
    domain, problem = pddl("reach_goal")
    text = json.dumps({"domain": None, "problem": problem, "writer_name": "go", "writer": WRITER})
    plan = Asked(text).plan(trusted=TrustedPDDL(domain, problem))
    assert isinstance(plan, Plan)
    assert plan.draft == ProblemWriter("go", domain, WRITER)


def test_without_compiled_planning_nobody_speaks_of_writers() -> None:
    model = ScriptedProvider(answer(*pddl("reach_goal")))
    client = ChatGPTClient(ref("x/m"), PDDLOnly, provider=model, desk=patient_desk(), reasks=0)
    planner = PlannerLLM(ref("x/m"), ref("x/m"), shared_solver(), Events(), lambda _model: client, compiles=False)
    plan = planner.plan(SNAPSHOT, LEVEL, "(none yet)", writers={"others": ["go"]})
    assert isinstance(plan, Plan)
    assert "writer" not in model.asked(0)
    schema = model.requests[0].schema
    assert schema is not None
    assert list(schema.model_fields) == ["domain", "problem"]
