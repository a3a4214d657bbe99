"""Models that never answer usably: what a level costs them, who is named, and when a run stops asking."""

from __future__ import annotations

import pytest

from main import MAX_SPA_ROUNDS
from spca.llm.answer_tally import MAX_BARREN_CALLS
from spca.runs.results import Culprit
from tests.support.spca.doubles import Scripted
from tests.support.spca.scenes import DOOR_KEY, EMPTY, FETCH, TO_GOAL, Scene, method, plan

PROSE = "I am sorry, but I cannot help with that."


def asked(scene: Scene) -> tuple[int, int]:
    """Calls of planner and coder."""
    return len(scene.planner.requests), len(scene.coder.requests)


def different(words: str) -> list[Scripted]:
    """More unusable answers than any level asks for, no two of them equal."""
    return [f"{words} {number}" for number in range(200)]


def test_a_coder_that_always_says_the_same_ends_its_level_after_twelve_calls() -> None:
    scene = Scene(EMPTY, [plan("reach_goal")] * MAX_SPA_ROUNDS, [PROSE] * 200)
    result = scene.run()
    assert MAX_BARREN_CALLS == 12
    assert asked(scene) == (4, 8)
    assert (result.solved, result.attempts) == (False, ())
    assert result.reason.startswith("no usable code after 8 calls: syntax error at line 1")
    assert result.unusable == {"coder": {"model": "x/coder", "calls": 8, "began": PROSE}}
    assert result.culprits == (Culprit.CODE,) * 4


def test_a_coder_that_never_says_the_same_ends_its_level_after_twelve_calls() -> None:
    scene = Scene(EMPTY, [plan("reach_goal")] * MAX_SPA_ROUNDS, different("def"))
    result = scene.run()
    assert asked(scene) == (2, 10)
    assert result.reason.startswith("no usable code after 10 calls: syntax error at line 1")


@pytest.mark.parametrize(("answers", "calls"), [([PROSE] * 200, 10), (different("no"), 9)], ids=["same", "different"])
def test_a_planner_without_a_plan_ends_its_level_after_few_calls(answers: list[Scripted], calls: int) -> None:
    scene = Scene(EMPTY, answers, [])
    result = scene.run()
    assert asked(scene) == (calls, 0)
    assert result.reason == f"no valid plan after {calls} calls: the answer holds no JSON object"
    assert set(result.culprits) == {Culprit.PLANNER}
    assert result.unusable["planner"]["calls"] == calls


def test_a_planner_that_repeats_itself_is_asked_anew_and_may_do_better() -> None:
    scene = Scene(EMPTY, [PROSE, PROSE, plan("reach_goal")], [method("reach_goal", *TO_GOAL)])
    result = scene.run()
    assert result.solved
    assert not result.unusable
    assert scene.planner.requests[2].messages == scene.planner.requests[0].messages


def test_a_model_that_has_written_usable_code_is_not_cut_short() -> None:
    crash = method("reach_goal", 2, then="raise ValueError('oops')")
    answers = [crash, *different("def")[:24], method("reach_goal", *TO_GOAL)]
    scene = Scene(EMPTY, [plan("reach_goal")], answers)
    result = scene.run()
    assert result.solved
    assert asked(scene) == (1, 26)
    assert not result.unusable


def test_who_failed_is_told_of_each_round() -> None:
    """A plan that was carried out, one that was sent back, code that crashes alike twice, and a planner at a loss."""
    crash = method("jump", 0, then="raise ValueError('oops')")
    answers: list[Scripted] = [method("fetch_key", *FETCH), "PLAN: there is no way", crash, crash]
    plans = [plan("fetch_key"), plan("fly"), plan("jump"), *[PROSE] * 4]
    scene = Scene(DOOR_KEY, plans, answers)
    result = scene.run()
    assert [culprit.value for culprit in result.culprits] == ["plan", "plan", "code", "planner", "planner"]
    assert result.reason.startswith("no valid plan after 2 calls"), "the planner has given valid ones before"
