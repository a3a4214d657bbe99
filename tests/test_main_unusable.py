"""Models that never answer usably: what a level costs them, who is named, and when a run stops asking."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from main import MAX_SPA_ROUNDS
from spca.common.errors import UnusableModelError
from spca.llm.answer_tally import MAX_BARREN_CALLS
from spca.runs.recording.recorder import Recorder
from spca.runs.results import Culprit
from tests.support.spca.doubles import Scripted
from tests.support.spca.scenes import DOOR_KEY, EMPTY, FETCH, TO_GOAL, Scene, method, plan
from tests.support.spca.starting import Learned
from tests.support.tiers import long

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


def test_where_planner_and_coder_err_often_each_has_its_chance() -> None:
    """Twelve calls are made before the coder has answered usably, but only eight of them count."""
    plans: list[Scripted] = [PROSE, PROSE, "no", plan("reach_goal"), PROSE, PROSE, plan("reach_goal")] * 2
    scene = Scene(EMPTY, plans, [*[PROSE, PROSE] * 3, "def", method("reach_goal", *TO_GOAL)])
    result = scene.run()
    assert result.solved
    assert asked(scene) == (14, 8)


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
    answers: list[Scripted] = [*[method("fetch_key", *FETCH)] * 2, "PLAN: there is no way", crash, crash]
    plans = [plan("fetch_key"), plan("fly"), plan("jump"), *[PROSE] * 10]
    scene = Scene(DOOR_KEY, plans, answers)
    result = scene.run()
    assert [culprit.value for culprit in result.culprits] == ["plan", "plan", "code", *["planner"] * 5]
    assert result.reason.startswith("no valid plan after 2 calls"), "the planner has given valid ones before"


class Paused(Learned):
    """A run of four levels with one model that is chosen, and else the embedded one."""

    ids = (EMPTY, DOOR_KEY, "MiniGrid-Empty-6x6-v0", "MiniGrid-Empty-8x8-v0")

    @classmethod
    def of(cls, root: Path, role: str, model: str, **given: Any) -> Paused:
        names = {"planner": ("planner_model", "planner_small_model"), "coder": ("coder_model",)}[role]
        models = {"planner_model": "reference/planner", "planner_small_model": "reference/planner"}
        models |= {"coder_model": "reference/coder"} | dict.fromkeys(names, model)
        return cls(root, **models, **given)

    @property
    def outcomes(self) -> list[str]:
        """How the finished levels ended."""
        return [summary["outcome"] for summary in self.folder.read_finished()]


@pytest.mark.parametrize(
    ("kind", "role"),
    [
        ("prose", "coder"),
        long("empty", "coder"),
        ("rambling", "planner"),
        *(long(kind, role) for kind in ("broken-json", "same-pddl", "cut-off") for role in ("planner", "coder")),
        long("rambling", "coder"),
        long("prose", "planner"),
        long("empty", "planner"),
    ],
)
def test_a_run_pauses_after_two_levels_without_a_usable_answer(tmp_path: Path, kind: str, role: str) -> None:
    run = Paused.of(tmp_path, role, f"faulty/{kind}/{role}")
    with pytest.raises(UnusableModelError) as caught:
        run.learn()
    error = caught.value
    asked = [record for record in run.book if record["phase"] == role]
    assert len(asked) <= len(run.book) <= 2 * MAX_BARREN_CALLS
    writes = "a valid plan" if role == "planner" else "usable code"
    words = f"faulty/{kind}/{role} has not written {writes} in {len(asked)} calls; its last answer "
    assert str(error).startswith(words)
    assert str(error).endswith("was empty" if kind == "empty" else '"')
    assert error.option == f"--{role}-model OTHER"
    assert error.exit_code == 3
    assert run.outcomes == ["fail", "fail"]
    failures = run.folder.read_json("summary.json")["failures"]
    assert [failure["failed_by"] for failure in failures] == ["planner" if role == "planner" else "code"] * 2


@pytest.mark.long
def test_with_another_model_the_levels_that_were_lost_are_played_again(tmp_path: Path) -> None:
    stopped = Paused.of(tmp_path, "coder", "faulty/prose/coder")
    with pytest.raises(UnusableModelError):
        stopped.learn()
    before = len(stopped.book)
    again = Paused.of(tmp_path, "coder", "reference/coder", resume=stopped.folder.run_id).learn()
    assert again.outcomes == ["success"] * 4
    first = again.book[before:]
    assert {record["index"] for record in first} >= {1, 2}
    opening = [call for call in again.calls if call["source"] == "resumed"]
    assert {call["model"] for call in opening} == {"reference/planner"}, "its good answers are not asked for again"


@pytest.mark.long  # tests/spca/llm/calls/test_transcripts.py has what is asked anew
def test_the_same_model_is_asked_anew_and_pauses_again(tmp_path: Path) -> None:
    """Its server may have been mended; if not, that costs as much as the first time and no more."""
    stopped = Paused.of(tmp_path, "coder", "faulty/prose/coder")
    with pytest.raises(UnusableModelError):
        stopped.learn()
    before = [record["phase"] for record in stopped.book]
    with pytest.raises(UnusableModelError, match=f"in {2 * before.count('coder')} calls"):
        Paused.of(tmp_path, "coder", "faulty/prose/coder", resume=stopped.folder.run_id).learn()
    after = [record["phase"] for record in stopped.book]
    assert after.count("coder") == 2 * before.count("coder")
    assert after.count("planner") == before.count("planner")


@pytest.mark.long
def test_a_run_that_was_killed_before_it_could_pause_asks_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = Paused.of(tmp_path, "coder", "faulty/prose/coder")
    monkeypatch.setattr(Recorder, "pause", lambda *_: sys.exit(9))
    with pytest.raises(SystemExit):
        killed.learn()
    monkeypatch.undo()
    before = len(killed.book)
    with pytest.raises(UnusableModelError):
        Paused.of(tmp_path, "coder", "faulty/prose/coder", resume=killed.folder.run_id).learn()
    assert len(killed.book) == before
    assert killed.outcomes == ["fail", "fail"]


@pytest.mark.long
def test_a_run_ends_with_its_last_level_though_that_had_no_usable_answer(tmp_path: Path) -> None:
    run = Paused.of(tmp_path, "coder", "faulty/prose/coder")
    run._tasks = run._tasks[:1]
    assert run.learn().outcomes == ["fail"]


@pytest.mark.long  # tests/spca/runs/level/test_barren.py counts such levels
def test_a_model_that_works_and_is_wrong_does_not_pause_a_run(tmp_path: Path) -> None:
    run = Paused.of(tmp_path, "coder", "faulty/stubborn/coder").learn()
    assert len(run.outcomes) == 4
