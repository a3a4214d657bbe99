"""Wrong plans: told before acting, or sent back by the coder, and an end all the same; on real MiniGrid worlds."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from main import MAX_SPA_ROUNDS
from spca.contracts import Status
from tests.support.spca.doubles import AGENT
from tests.support.spca.scenes import DOOR_KEY, EMPTY, FETCH, OPEN, TO_GOAL, WALK, Scene, method, plan
from tests.support.spca.unlocking import REVERSED, SHORT, SWAPPED, UNLOCK, unlocking

WRONG = "PLAN: reach_goal is called before the door is opened"


def told(scene: Scene, request: int) -> list[dict[str, Any]]:
    """The failed plans in the ``request``-th prompt of the planner."""
    found = re.findall(r"^<feedback>\n(.*?)\n</feedback>$", scene.planner.asked(request), re.DOTALL | re.MULTILINE)
    plans: list[dict[str, Any]] = json.loads(found[-1])["failed_plans"]
    return plans


@pytest.mark.parametrize("wrong", [SWAPPED, SHORT, REVERSED], ids=["swapped", "key for door", "names"])
def test_a_wrong_plan_costs_one_call_of_the_planner_and_none_of_the_coder(wrong: str) -> None:
    scene = Scene(EMPTY, [wrong, unlocking()], [])
    result = scene.run(UNLOCK)
    assert result.solved
    assert [call["mode"] for call in scene.events.of("planner_call")] == ["fresh", "syntax"]
    assert not scene.events.of("coder_call")
    assert (scene.events.count("spca_rounds"), scene.events.count("simulation_runs")) == (1, 1)
    assert result.agent == UNLOCK


def test_a_plan_that_is_sent_back_costs_one_call_of_the_coder_and_no_attempt() -> None:
    scene = Scene(EMPTY, [plan("open_it"), plan("reach_goal")], [WRONG, method("reach_goal", *TO_GOAL)])
    result = scene.run()
    assert result.solved
    assert [(a.round, a.number) for a in result.attempts] == [(2, 1)]
    assert [call["mode"] for call in scene.events.of("planner_call")] == ["fresh", "replan"]
    assert told(scene, 1) == [
        {"plan": "[open_it(a1)]", "status": "sent_back", "message": f"the coder sent the plan back: {WRONG[6:]}"}
    ]
    first, second = scene.events.of("coder_call")
    assert (first["objection"], first["ok"], first["error"], first["changed"]) == (WRONG[6:], True, "", [])
    assert second["objection"] == ""
    assert scene.events.count("plan_objections") == 1
    assert not scene.events.of("coder_syntax_repair")


def test_attempts_before_the_objection_are_kept_and_the_next_round_goes_on_from_there() -> None:
    fetch, rest = method("fetch_key", *FETCH), method("open_door", *OPEN, *WALK)
    scene = Scene(
        DOOR_KEY, [plan("fetch_key"), plan("open_door")], [fetch, "```\nPLAN: the door stays shut\n```", rest]
    )
    result = scene.run()
    assert result.solved
    assert [(a.round, a.start.primitives) for a in result.attempts] == [(1, ()), (2, FETCH)]
    assert "def fetch_key" in result.agent.text
    (failed,) = told(scene, 1)
    assert failed["status"] == "goal_not_reached"
    assert failed["message"] == "the coder sent the plan back: the door stays shut"


def test_what_a_failed_attempt_did_is_undone_before_the_next_plan() -> None:
    crash = method("act", 2, then="raise ValueError('oops')")
    scene = Scene(EMPTY, [plan("act"), plan("reach_goal")], [crash, WRONG, method("reach_goal", *TO_GOAL)])
    result = scene.run()
    assert result.solved
    assert [a.outcome.status for a in result.attempts] == [Status.RUNTIME_ERROR, Status.SUCCESS]
    assert result.attempts[1].start.primitives == ()


def test_a_coder_that_always_objects_ends_within_the_rounds() -> None:
    scene = Scene(EMPTY, [plan("act")] * MAX_SPA_ROUNDS, [WRONG] * MAX_SPA_ROUNDS)
    result = scene.run()
    assert not result.solved
    assert result.reason == f"the coder sent the plan back: {WRONG[6:]}"
    assert (scene.planner.left, scene.coder.left, result.attempts) == (0, 0, ())
    assert result.agent == AGENT
    assert scene.events.count("plan_objections") == MAX_SPA_ROUNDS


def test_an_objection_may_also_be_what_a_repair_leads_to() -> None:
    scene = Scene(EMPTY, [plan("act"), plan("reach_goal")], ["oops", WRONG, method("reach_goal", *TO_GOAL)])
    assert scene.run().solved
    assert [mode for mode, _ in scene.tasks()] == ["first", "syntax", "first"]


@pytest.mark.parametrize("level", [0, 1])
def test_rounds_are_all_that_a_level_has_however_often_the_plan_is_sent_back(level: int) -> None:
    """Objections are no way round the limit: the last round's attempt decides."""
    answers = [WRONG] * (MAX_SPA_ROUNDS - 1)
    last = method("act", *TO_GOAL) if level else method("act", 0)
    scene = Scene(EMPTY, [plan("act")] * MAX_SPA_ROUNDS, [*answers, last, last])
    assert scene.run().solved == bool(level)
