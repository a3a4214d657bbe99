"""Compiled planning in the loop: plans of stored writers come first, and cost neither calls nor rounds."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from main import MAX_SEMANTIC_RETRY, MAX_SPA_ROUNDS
from spca.contracts import AgentSource, LevelSpec, TrustedPDDL
from spca.errors import RestoreError, WorldError
from spca.runs.results import LevelResult
from tests.support.bodies import grid
from tests.support.spca.doubles import AGENT, LEVEL, answer, pddl
from tests.support.spca.scenes import DOOR_KEY, EMPTY, FETCH, TO_GOAL, Scene, method, plan
from tests.support.spca.writers import LATE, UNREADABLE, FakeWriters, compiled


def knowing(*codes: int, name: str = "reach_goal") -> AgentSource:
    return AgentSource(grid.merge(AGENT.text, method(name, *codes)).text)


KNOWN = knowing(*TO_GOAL)
SPINNING = AgentSource(grid.merge(KNOWN.text, method("spin", 0, 1)).text)
LOST = "the plan was carried out but the mission is not complete"


def misses(scene: Scene) -> list[tuple[str, str]]:
    return [(event["writer"], event["miss"]) for event in scene.events.of("compiled_plan")]


def told(scene: Scene, request: int = 0) -> dict[str, Any]:
    (block,) = re.findall(r"^<writers>\n(.*?)\n</writers>$", scene.planner.asked(request), re.DOTALL | re.MULTILINE)
    read: dict[str, Any] = json.loads(block)
    return read


def reasons(scene: Scene) -> list[str]:
    """Why the writers did not help, as the planner is told."""
    return [each["why"] for each in told(scene)["missed"]]


def conclude(scene: Scene, writers: FakeWriters, result: LevelResult) -> list[tuple[str, Any]]:
    scene.loop.compiled.conclude(LEVEL, LevelSpec(EMPTY), 1, result)
    return writers.tallied


def test_a_stored_writer_solves_a_level_without_any_call() -> None:
    writers = FakeWriters(UNREADABLE, compiled("go/v002", "reach_goal"), compiled("other/v001", "spin"))
    scene = Scene(EMPTY, [], [], writers=writers)
    result = scene.run(KNOWN)
    assert result.solved
    assert result.plan is not None
    assert (result.plan.writer, result.primitives) == ("go/v002", TO_GOAL)
    assert result.reason == "success: the mission is complete"
    assert [(attempt.round, attempt.number) for attempt in result.attempts] == [(0, 1)]
    assert scene.phases == [(0, "plan"), (0, "code"), (0, "act")]
    assert scene.events.count("spca_rounds") == 0
    assert misses(scene) == [("shy/v001", "refused"), ("go/v002", "")]
    assert writers.yielded == 2


def test_a_model_that_is_asked_is_told_of_the_writers_and_why_they_did_not_help() -> None:
    scene = Scene(EMPTY, [plan("reach_goal")], [], writers=FakeWriters(UNREADABLE, LATE))
    result = scene.run(KNOWN)
    assert result.solved
    assert told(scene)["others"] == ["shy", "slow"]
    assert reasons(scene) == [UNREADABLE.reason, LATE.reason]
    assert misses(scene) == [("shy/v001", "refused"), ("slow/v002", "invalid")]
    assert scene.events.count("spca_rounds") == 1
    assert [(attempt.round, attempt.number) for attempt in result.attempts] == [(1, 1)]


def test_without_writers_nothing_is_said_of_them() -> None:
    scene = Scene(EMPTY, [plan("reach_goal")], [], writers=FakeWriters())
    assert scene.run(KNOWN).solved
    assert "<writers>\n" not in scene.planner.asked(0)
    assert scene.phases[0] == (1, "plan")


def test_a_failed_plan_is_undone_and_is_neither_a_round_nor_feedback() -> None:
    writers = FakeWriters(compiled("fetch/v001", "fetch_key"))
    scene = Scene(
        DOOR_KEY, [plan("all")], [method("fetch_key", *FETCH), method("all", 3, 0, 5, 2, 2, 1, 2)], writers=writers
    )
    result = scene.run()
    assert result.solved
    assert [attempt.start.primitives for attempt in result.attempts] == [(), ()]
    assert scene.before_attempts[1] == scene.before_attempts[0]
    assert [call["mode"] for call in scene.events.of("planner_call")] == ["fresh"]
    assert scene.shown(0)["inventory"] is None
    assert reasons(scene) == [f"[fetch_key(a1)]: {LOST}"]
    assert result.steps_total == 8
    assert "def fetch_key(" in result.agent.text  # what was written for a plan that was carried out is kept


@pytest.mark.long
def test_a_failed_plan_leaves_all_rounds_to_the_planner() -> None:
    writers = FakeWriters(compiled("spin/v001", "spin"))
    plans = [plan(f"act_{number}") for number in range(MAX_SPA_ROUNDS)]
    turns = [method("spin", 0, 1)]
    for number in range(MAX_SPA_ROUNDS):
        turns += [method(f"act_{number}", 0, 1)] * 2
    scene = Scene(EMPTY, plans, turns, writers=writers)
    assert not scene.run().solved
    assert (scene.planner.left, scene.coder.left) == (0, 0)
    assert scene.events.count("spca_rounds") == MAX_SPA_ROUNDS


def test_at_most_two_different_plans_are_carried_out() -> None:
    known = SPINNING
    writers = FakeWriters(
        compiled("a/v001", "spin"), compiled("b/v001", "spin"), compiled("c/v001", "spin", "spin2"),
        compiled("d/v001", "reach_goal"),
    )  # fmt: skip
    scene = Scene(EMPTY, [plan("reach_goal")], [method("spin2", 0, 1)], writers=writers)
    result = scene.run(known)
    assert result.solved
    assert [attempt.plan.writer for attempt in result.attempts] == ["a/v001", "c/v001", ""]
    assert [(attempt.round, attempt.number) for attempt in result.attempts] == [(0, 1), (0, 2), (1, 1)]
    assert writers.yielded == 3
    assert len(told(scene)["missed"]) == 3


def test_what_the_library_lacks_is_written_once_for_a_stored_writers_plan() -> None:
    writers = FakeWriters(compiled("go/v001", "reach_goal"))
    scene = Scene(EMPTY, [], [method("reach_goal", *TO_GOAL)], writers=writers)
    result = scene.run()
    assert result.solved
    assert scene.tasks() == [("first", ["reach_goal"])]
    assert "def reach_goal(" in result.agent.text


@pytest.mark.parametrize("refusal", ["PLAN: the goal is out of reach", "no code"], ids=["sent back", "no code"])
def test_a_plan_that_the_coder_does_not_write_for_is_left_to_the_planner(refusal: str) -> None:
    refusals = [refusal] if refusal.startswith("PLAN") else [refusal] * 2
    writers = FakeWriters(compiled("go/v001", "jump"))
    scene = Scene(EMPTY, [plan("reach_goal")], refusals, writers=writers)
    result = scene.run(KNOWN)
    assert result.solved
    assert misses(scene) == [("go/v001", "failed")]
    assert (
        reasons(scene)[0]
        .partition("]: ")[2]
        .startswith(("the coder sent the plan back", "no usable code after 2 calls"))
    )
    assert conclude(scene, writers, result) == []


def test_the_same_steps_from_a_model_are_not_run_again_but_their_code_is_mended() -> None:
    bad = knowing(0, 1)
    writers = FakeWriters(compiled("go/v001", "reach_goal"))
    scene = Scene(EMPTY, [plan("reach_goal")], [method("reach_goal", *TO_GOAL)], writers=writers)
    result = scene.run(bad)
    assert result.solved
    assert scene.tasks() == [("semantic", ["reach_goal"])]
    assert f"message: {LOST}" in scene.coder.asked(0)
    assert [(attempt.round, attempt.number) for attempt in result.attempts] == [(0, 1), (1, 2)]
    (credited,) = conclude(scene, writers, result)
    assert credited[0] == "go/v001"
    assert credited[1] is not None


def test_the_outcome_of_a_stored_plan_counts_as_the_first_try_of_its_round() -> None:
    writers = FakeWriters(compiled("go/v001", "reach_goal"))
    turns = [method("reach_goal", *(0, 1) * (2 + number)) for number in range(MAX_SEMANTIC_RETRY)]
    scene = Scene(EMPTY, [plan("reach_goal"), plan("jump")], [*turns, method("jump", *TO_GOAL)], writers=writers)
    result = scene.run(knowing(0, 1))
    assert [(attempt.round, attempt.number) for attempt in result.attempts[:-1]] == [
        (0, 1),
        *((1, n) for n in range(2, 7)),
    ]
    assert conclude(scene, writers, result) == []  # the model gave that plan too: no strike


def test_a_plan_that_failed_is_counted_against_its_writer() -> None:
    writers = FakeWriters(compiled("spin/v003", "spin"), UNREADABLE)
    scene = Scene(EMPTY, [plan("reach_goal")], [], writers=writers)
    assert conclude(scene, writers, scene.run(SPINNING)) == [("spin/v003", None)]


def test_a_plan_that_solved_a_level_is_a_case_of_its_writer() -> None:
    writers = FakeWriters(compiled("go/v001", "reach_goal"))
    scene = Scene(EMPTY, [], [], writers=writers)
    ((label, case),) = conclude(scene, writers, scene.run(KNOWN, TrustedPDDL("(d)", "(p)")))
    assert label == "go/v001"
    assert case is not None
    assert case.state["mission"] == "get to the green goal square"
    assert case.state["level"] == {"category": LEVEL.category, "skill": LEVEL.skill, "level": LEVEL.level}
    assert (case.solved.level.id, case.solved.seed, case.solved.plan.text) == (EMPTY, 1, "[reach_goal(a1)]")
    assert case.problem == pddl("reach_goal")[1]


def test_a_writer_that_comes_with_the_plan_is_considered_once_its_level_is_solved() -> None:
    source = "def make_problem(s):\n    return 'x'\n"
    draft = answer(*pddl("reach_goal"), writer_name="go", writer=source)
    writers = FakeWriters()
    scene = Scene(EMPTY, [draft], [], writers=writers)
    result = scene.run(KNOWN)
    considered = scene.loop.compiled.conclude(LEVEL, LevelSpec(EMPTY), 1, result)
    assert considered is not None
    assert (considered.name, considered.label, considered.reason) == ("go", "go/v001", "")
    ((draft_, case, agent, born),) = writers.considered
    assert (draft_.name, draft_.domain, draft_.source) == (
        "go",
        pddl("reach_goal")[0],
        "def make_problem(s):\n    return 'x'\n",
    )
    assert (case.problem, agent, born) == (pddl("reach_goal")[1], KNOWN, f"{LEVEL.category}/{EMPTY}")
    assert scene.events.of("writer") == [{"name": "go", "label": "go/v001", "reason": ""}]


def test_a_writer_that_is_not_accepted_costs_the_level_nothing() -> None:
    writers = FakeWriters(verdict="two runs differ")
    scene = Scene(EMPTY, [answer(*pddl("reach_goal"), writer_name="go", writer="x = 1")], [], writers=writers)
    result = scene.run(KNOWN)
    assert result.solved
    considered = scene.loop.compiled.conclude(LEVEL, LevelSpec(EMPTY), 1, result)
    assert considered is not None
    assert (considered.label, considered.reason) == ("", "two runs differ")


def test_a_writer_of_a_plan_that_failed_is_not_considered() -> None:
    draft = answer(*pddl("spin"), writer_name="spin", writer="x = 1")
    writers = FakeWriters()
    scene = Scene(EMPTY, [draft, plan("reach_goal")], [method("spin", 0, 1)] * 2, writers=writers)
    assert scene.loop.compiled.conclude(LEVEL, LevelSpec(EMPTY), 1, scene.run(KNOWN)) is None
    assert writers.considered == []


def test_a_case_is_of_the_state_that_its_plan_began_in() -> None:
    draft = answer(*pddl("rest"), writer_name="rest", writer="x = 1")
    writers = FakeWriters()
    fetch = method("fetch_key", *FETCH)
    scene = Scene(
        DOOR_KEY, [plan("fetch_key"), draft], [fetch, fetch, method("rest", 0, 5, 2, 2, 1, 2)], writers=writers
    )
    result = scene.run()
    scene.loop.compiled.conclude(LEVEL, LevelSpec(DOOR_KEY), 1, result)
    ((_, case, *_),) = writers.considered
    assert case.state["inventory"] == "key yellow"
    assert case.solved.checkpoint.primitives == FETCH


def test_a_failed_plan_whose_code_nobody_mends_says_how_it_ended() -> None:
    same = method("reach_goal", 0, 1)
    writers = FakeWriters(compiled("go/v001", "reach_goal"))
    plans = [plan("reach_goal")] * MAX_SPA_ROUNDS
    scene = Scene(EMPTY, plans, [same] * MAX_SPA_ROUNDS, writers=writers)
    result = scene.run(knowing(0, 1))
    assert not result.solved
    assert result.reason == f"goal_not_reached: {LOST}"
    assert len(result.attempts) == 1


def test_attempts_before_an_error_of_the_world_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    writers = FakeWriters(compiled("spin/v001", "spin"))
    scene = Scene(EMPTY, [plan("reach_goal")], [], writers=writers)
    sense, seen = scene.world.sense, list[int]()

    def failing() -> Any:
        seen.append(1)
        if len(seen) > 2:  # round 0 has sensed, and so has the scene before the attempt
            raise WorldError("gone")
        return sense()

    monkeypatch.setattr(scene.world, "sense", failing)
    result = scene.run(SPINNING)
    assert (result.solved, result.reason) == (False, "gone")
    assert [attempt.plan.writer for attempt in result.attempts] == ["spin/v001"]
    assert conclude(scene, writers, result) == [("spin/v001", None)]


@pytest.mark.parametrize("fails", [False, True], ids=["carried out", "failed halfway"])
def test_where_nothing_can_be_undone_the_planner_goes_on_from_a_plan_that_was_carried_out(
    monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    writers = FakeWriters(compiled("fetch/v001", "fetch_key"), compiled("spin/v001", "spin"))
    scene = Scene(DOOR_KEY, [plan("rest")], [method("rest", 0, 5, 2, 2, 1, 2)], writers=writers)

    def refuse(_checkpoint: object) -> None:
        raise RestoreError("a robot cannot be put back")

    monkeypatch.setattr(scene.world, "restore", refuse)
    known = grid.merge(SPINNING.text, method("fetch_key", *FETCH, then="raise ValueError('no')" if fails else "")).text
    result = scene.run(AgentSource(known))
    assert result.solved is not fails
    if fails:
        assert result.reason == "a robot cannot be put back"
    else:
        assert [attempt.start.primitives for attempt in result.attempts] == [(), FETCH]
        assert scene.shown(0)["inventory"] == "key yellow"
        assert misses(scene) == [("fetch/v001", "failed")]
