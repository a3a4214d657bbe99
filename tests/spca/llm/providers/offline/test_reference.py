"""``reference/...``: the embedded model behind the door of a provider."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from coderLLM import CoderLLM
from plannerLLM import PlannerLLM
from spca.contracts import CodePatch, Plan
from spca.errors import ProviderConfigError
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.providers.base import Message, Provider, Request, Target, Usage
from spca.llm.providers.offline.reference import ReferenceProvider
from spca.testing import ProviderSuite
from tests.support.bodies.grid import agent_state
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import AGENT, LEVEL, SNAPSHOT, Events, shared_solver


class TestReference(ProviderSuite):
    """The embedded coder."""

    model_name = "coder"
    unknown_name = "poet"
    keeps_forms = False  # it writes code, whatever it is asked
    question = (Message("user", '<task>\n{"mode": "first", "actions": [], "plan": "", "schemas": {}}\n</task>'),)

    @pytest.fixture
    def make(self) -> Callable[[Target], Provider]:
        return ReferenceProvider


def test_it_offers_two_models() -> None:
    assert ReferenceProvider.models == ("planner", "coder")
    with pytest.raises(ProviderConfigError, match="unknown model 'reference/poet': choose one of reference/planner"):
        Catalogue().provider(ref("reference/poet"))


def test_the_planner_answers_the_planners_own_prompt() -> None:
    events = Events()
    plan = PlannerLLM(ref("reference/planner"), ref("reference/planner"), shared_solver(), events).plan(
        SNAPSHOT, LEVEL, "(none yet)"
    )
    assert isinstance(plan, Plan)
    (step,) = plan.steps
    assert "goal_green" in step.args
    (call,) = events.of("planner_call")
    assert (call["mode"], call["ok"], call["input_tokens"]) == ("fresh", True, 0)


def test_the_coder_answers_the_coders_own_prompt() -> None:
    plan = PlannerLLM(ref("reference/planner"), ref("reference/planner"), shared_solver(), Events()).plan(
        SNAPSHOT, LEVEL, "(none yet)"
    )
    assert isinstance(plan, Plan)
    schemas = {schema.name: schema for schema in plan.schemas}
    events = Events()
    patch = CoderLLM(ref("reference/coder"), events).implement_actions(
        plan.actions, schemas, plan.text, agent_state(SNAPSHOT), None, agent=AGENT
    )
    assert isinstance(patch, CodePatch)
    assert set(plan.actions) <= set(patch.changed)
    assert [call["mode"] for call in events.of("coder_call")] == ["first"]


def test_the_same_question_has_the_same_answer() -> None:
    task = json.dumps({"mode": "first", "actions": ["reach_goal"], "plan": "[reach_goal(a1)]", "schemas": {}})
    request = Request("coder", (Message("user", f"<task>\n{task}\n</task>"),))
    first, second = (ReferenceProvider().complete(request) for _ in range(2))
    assert first == second
    assert first.text.startswith(("def reach_goal(self", "import"))
    assert first.usage == Usage(0, 0, 0, 0, 0)
