"""The loop in a world with one life: no attempt is undone, and rounds go on as long as they discover something."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest

from coderLLM import CoderLLM
from main import MAX_PLANS, MAX_SEMANTIC_RETRY, MAX_SPA_ROUNDS, Loop
from plannerLLM import PlannerLLM
from spca.act.gymnasium_world import GymnasiumWorld
from spca.body import render_agent
from spca.code.regression import RegressionSuite, SolvedLevel
from spca.contracts import AgentSource, LevelInfo, LevelSpec, Status
from spca.errors import RestoreError
from spca.llm.answer_tally import AnswerTally
from spca.prompts import Wording
from spca.runs.level.compiled_planning import Writers
from spca.runs.results import Culprit, LevelResult
from tests.support.inprocess import InProcessExecutor
from tests.support.machine.stove import COOL, SERVE, STIR, STOVE, WARM, CopiedStove, OneStove
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import (
    Events,
    Scripted,
    ScriptedProvider,
    coder_client,
    planner_client,
    shared_solver,
)
from tests.support.spca.scenes import method, plan

INITIAL = AgentSource(render_agent(OneStove.body))
KITCHEN = LevelInfo("kitchen", "cook", "soup")
TO_SOUP = (WARM,) * 5 + (SERVE,)


class Kitchen:
    """A loop on one stove with scripted models, and everything that can be seen of it."""

    def __init__(
        self,
        planner: Sequence[Scripted],
        coder: Sequence[Scripted],
        kind: type[GymnasiumWorld] = OneStove,
        writers: Writers | None = None,
    ) -> None:
        self.planner = ScriptedProvider(*planner)
        self.coder = ScriptedProvider(*coder)
        self.events = Events()
        self.world = kind(LevelSpec(STOVE), 1, InProcessExecutor())
        self.regression = RegressionSuite(lambda level, seed: kind(level, seed, InProcessExecutor()))
        wording = Wording(body=kind.body)
        tally = AnswerTally()
        large = PlannerLLM(
            ref("x/large"),
            ref("x/small"),
            shared_solver(),
            self.events,
            planner_client(self.planner),
            wording=wording,
            tally=tally,
        )
        coder_llm = CoderLLM(ref("x/coder"), self.events, coder_client(self.coder), wording=wording, tally=tally)
        self.loop = Loop(
            large, coder_llm, self.regression, self.events, lambda _number, _phase: None, lambda _agent: None, writers
        )

    def cook(self, known: AgentSource = INITIAL) -> LevelResult:
        with closing(self.world):
            return self.loop.run_level(self.world, KITCHEN, known)

    def read_snapshot(self, request: int) -> dict[str, Any]:
        """Return what a prompt of the planner shows."""
        (block,) = re.findall(r"^<snapshot>\n(.*)\n</snapshot>$", self.planner.asked(request), re.MULTILINE)
        snapshot: dict[str, Any] = json.loads(block)
        return snapshot

    def read_feedback(self, request: int) -> dict[str, Any]:
        """Return the feedback in a prompt of the planner."""
        (block,) = re.findall(r"^<feedback>\n(.*)\n</feedback>$", self.planner.asked(request), re.MULTILINE)
        feedback: dict[str, Any] = json.loads(block)
        return feedback


def crash(*codes: int, number: int = 0) -> str:
    return method("cook", *codes, then=f"raise ValueError({number})")


def count_episodes(result: LevelResult) -> int:
    """Return how many attempts began in the first state."""
    return sum(not attempt.start.primitives for attempt in result.attempts)


def test_a_crash_is_mended_from_the_state_reached() -> None:
    kitchen = Kitchen([plan("cook")], [crash(WARM, WARM), crash(WARM, number=1), method("cook", *TO_SOUP[3:])])
    result = kitchen.cook()
    assert result.solved
    assert [attempt.round for attempt in result.attempts] == [1, 1, 1]
    assert [attempt.start.primitives for attempt in result.attempts] == [(), (WARM,) * 2, (WARM,) * 3]
    assert result.primitives == TO_SOUP
    assert kitchen.world.restore_count == 0
    mended = kitchen.coder.asked(1)
    assert "agent_state is the state where it ended, and the code goes on from there" in mended
    assert '"degrees": 2' in mended


def test_where_a_state_is_restored_the_same_code_begins_anew() -> None:
    codes = [crash(WARM, WARM), crash(WARM, number=1), method("cook", *TO_SOUP)]
    kitchen = Kitchen([plan("cook")], codes, CopiedStove)
    result = kitchen.cook()
    assert result.solved
    assert [attempt.start.primitives for attempt in result.attempts] == [(), (), ()]
    assert kitchen.world.restore_count == 2
    assert "agent_state is the state before it" in kitchen.coder.asked(1)


def test_code_is_mended_at_most_five_times() -> None:
    crashes = [crash(WARM, COOL, number=number) for number in range(1 + MAX_SEMANTIC_RETRY)]
    kitchen = Kitchen([plan("cook"), plan("serve_it")], [*crashes, method("serve_it", *TO_SOUP)])
    result = kitchen.cook()
    assert result.solved
    assert [attempt.round for attempt in result.attempts] == [1] * 6 + [2]
    assert len(result.attempts[-1].start.primitives) == 2 * 6


def test_an_early_end_leads_to_the_next_round_from_the_state_reached() -> None:
    early = method("cook", WARM, WARM)
    kitchen = Kitchen([plan("cook"), plan("finish")], [early, early, method("finish", *TO_SOUP[2:])])
    result = kitchen.cook()
    assert result.solved
    assert [attempt.outcome.status for attempt in result.attempts] == [Status.GOAL_NOT_REACHED, Status.SUCCESS]
    assert kitchen.read_snapshot(1)["degrees"] == 2
    assert result.primitives == TO_SOUP


def test_a_failed_plan_leads_to_the_next_round_from_the_state_reached() -> None:
    crashing = crash(WARM, WARM)
    kitchen = Kitchen([plan("cook"), plan("finish")], [crashing, crashing, method("finish", *TO_SOUP[2:])])
    result = kitchen.cook()
    assert result.solved
    assert kitchen.read_snapshot(1)["degrees"] == 2
    assert kitchen.read_feedback(1)["failed_plans"][0]["status"] == "runtime_error"


def test_rounds_without_a_primitive_do_not_count() -> None:
    idle = MAX_SPA_ROUNDS + 2
    names = [f"idle{number}" for number in range(idle)]
    codes = [code for name in names for code in [method(name, then="raise ValueError\n    yield")] * 2]
    kitchen = Kitchen([*map(plan, names), plan("cook")], [*codes, method("cook", *TO_SOUP)])
    result = kitchen.cook()
    assert result.solved
    assert result.attempts[-1].round == idle + 1
    assert result.attempts[-1].start.primitives == ()


def test_a_lost_life_ends_the_level() -> None:
    kitchen = Kitchen([plan("cook"), plan("again")], [method("cook", *(WARM,) * 12)])
    result = kitchen.cook()
    assert not result.solved
    assert [attempt.outcome.status for attempt in result.attempts] == [Status.REWARD_FAILED]
    assert result.culprits == (Culprit.CODE,)
    assert kitchen.planner.left == 1
    assert result.agent == INITIAL


def test_a_life_lost_in_a_later_attempt_ends_the_level() -> None:
    kitchen = Kitchen([plan("cook"), plan("again")], [crash(WARM), method("cook", *(WARM,) * 12)])
    result = kitchen.cook()
    assert [attempt.outcome.status.value for attempt in result.attempts] == ["runtime_error", "reward_failed"]
    assert kitchen.planner.left == 1
    assert count_episodes(result) == 1


def explore(number: int) -> str:
    """A method that discovers the smell at some degrees, when it begins one degree below."""
    return method(f"smell{number}", WARM, STIR)


def test_discoveries_reset_the_count_of_rounds() -> None:
    names = [f"smell{number}" for number in range(1, 7)]
    vain = [f"vain{number}" for number in range(MAX_SPA_ROUNDS)]
    codes = [explore(number) for number in range(1, 7)]
    codes += [code for name in vain for code in [method(name, COOL, WARM)] * 2]
    kitchen = Kitchen([*map(plan, names), *map(plan, vain), plan("more")], codes)
    result = kitchen.cook()
    assert not result.solved
    assert [attempt.round for attempt in result.attempts] == [*range(1, 12)]
    assert [attempt.outcome.found for attempt in result.attempts][:3] == [("mint",), ("basil",), ("anise",)]
    assert kitchen.planner.left == 1
    assert not kitchen.coder.left


def test_a_discovery_is_told_as_one() -> None:
    kitchen = Kitchen([plan("smell1"), plan("cook")], [explore(1), method("cook", *TO_SOUP[1:])])
    assert kitchen.cook().solved
    assert kitchen.read_feedback(1) == {
        "kind": "plans_so_far",
        "plans": [{"plan": "[smell1(a1)]", "discovered": ["mint"]}],
    }
    asked = kitchen.planner.last_message(1).text
    assert "found something new" in asked
    assert "fail" not in asked.partition("<feedback>")[2]


def test_without_a_discovery_plans_have_failed() -> None:
    early = method("cook", WARM)
    kitchen = Kitchen([plan("cook"), plan("finish")], [early, early, method("finish", *TO_SOUP[1:])])
    assert kitchen.cook().solved
    assert kitchen.read_feedback(1)["kind"] == "plan_failed"
    assert "Change drastically" in kitchen.planner.asked(1)


def test_a_level_has_at_most_twenty_plans() -> None:
    class Endless(OneStove):
        def list_features(self, observation: object, info: object) -> list[str]:  # noqa: ARG002
            return [f"step {self.env.unwrapped.steps}"]

    names = [f"try{number}" for number in range(MAX_PLANS)]
    codes = [method(name, COOL) for name in names]
    kitchen = Kitchen([*map(plan, names), plan("more")], codes, Endless)
    result = kitchen.cook()
    assert not result.solved
    assert len(result.attempts) == MAX_PLANS == 20
    assert kitchen.planner.left == 1


def test_a_world_with_one_life_refuses_to_go_back() -> None:
    with closing(OneStove(LevelSpec(STOVE), 1, InProcessExecutor())) as world:
        start = world.checkpoint()
        world.step(WARM)
        with pytest.raises(RestoreError, match=f"{STOVE}: this world has one life: no earlier state can be restored"):
            world.restore(start)
        assert world.sense().shown["degrees"] == 1


def test_no_rewritten_method_is_tested_in_a_world_with_one_life() -> None:
    known = Kitchen([plan("cook")], [method("cook", *TO_SOUP)]).cook()
    changed = AgentSource(known.agent.text.replace("yield 3", "yield 1"))
    assert changed != known.agent
    for kind, is_tested in ((OneStove, False), (CopiedStove, True)):
        kitchen = Kitchen([], [], kind)
        attempt = known.attempts[-1]
        kitchen.regression.extend([SolvedLevel(LevelSpec(STOVE), 1, attempt.start, attempt.plan)])
        report = kitchen.regression.against(known.agent)(changed)
        assert bool(report) == is_tested
