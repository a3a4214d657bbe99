"""The loop on real MiniGrid worlds with the real solver, and models that answer from a script."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from coderLLM import MAX_ROUNDS
from main import MAX_SEMANTIC_RETRY, MAX_SPA_ROUNDS, load_phases
from minigridenv import MiniGridEnv
from plannerLLM import MAX_RETRIES
from spca.common.files import make_folder
from spca.contracts import AgentSource, Status, TrustedPDDL
from spca.runs.curriculum import Task
from spca.runs.recording.folder import RunFolder
from spca.runs.run import Run
from spca.runs.screen.display import Display
from tests.support.spca.doubles import AGENT, Scripted, pddl
from tests.support.spca.scenes import DOOR_KEY, EMPTY, FETCH, LAVA, OPEN, TO_GOAL, WALK, Scene, method, plan
from tests.support.spca.starting import make_settings, prepared


def replayed(env_id: str, primitives: tuple[int, ...], seed: int = 1) -> tuple[float, bool]:
    """Reward and end of an episode after these primitives."""
    with closing(MiniGridEnv(env_id, seed)) as world:
        for code in primitives:
            world.step(code)
        return world.reward, world.over


def test_the_limits_are_those_of_the_issue() -> None:
    assert (MAX_SEMANTIC_RETRY, MAX_SPA_ROUNDS, MAX_RETRIES, MAX_ROUNDS) == (5, 5, 8, 5)


def test_a_level_is_solved_in_one_round() -> None:
    scene = Scene(EMPTY, [plan("reach_goal")], [method("reach_goal", *TO_GOAL)])
    result = scene.run()
    assert result.solved
    assert result.primitives == TO_GOAL
    assert result.steps_total == 5
    assert result.agent.text.startswith(AGENT.text)
    assert "def reach_goal(self, a):" in result.agent.text
    assert result.plan is not None
    assert result.plan.text == "[reach_goal(a1)]"
    assert scene.phases == [(1, "plan"), (1, "code"), (1, "act")]
    assert (scene.events.count("spca_rounds"), scene.events.count("simulation_runs")) == (1, 1)
    assert scene.tasks() == [("first", ["reach_goal"])]


def test_only_missing_actions_are_written() -> None:
    known = Scene(EMPTY, [plan("turn_east")], [method("turn_east", *TO_GOAL)]).run().agent
    known = AgentSource(known.text.replace("yield 2", "yield 6"))
    scene = Scene(EMPTY, [plan("turn_east", "reach_goal")], [method("reach_goal", *(0, 2, 2, 1, 2, 2))])
    assert scene.run(known).solved
    assert scene.tasks() == [("first", ["reach_goal"])]


def test_nothing_missing_needs_no_coder() -> None:
    known = Scene(EMPTY, [plan("reach_goal")], [method("reach_goal", *TO_GOAL)]).run().agent
    scene = Scene(EMPTY, [plan("reach_goal")], [])
    result = scene.run(known, TrustedPDDL(*pddl("reach_goal")))
    assert result.solved
    assert result.agent == known
    assert [call["mode"] for call in scene.events.of("planner_call")] == ["reuse"]


def test_three_rounds_each_going_on_where_the_one_before_ended() -> None:
    fetch, unlock, walk = method("fetch_key", *FETCH), method("open_door", *OPEN), method("reach_goal", *WALK)
    # A rewrite that changes nothing ends a round: the plan was carried out, so it is the plan that must change.
    scene = Scene(
        DOOR_KEY, [plan("fetch_key"), plan("open_door"), plan("reach_goal")], [fetch, fetch, unlock, unlock, walk]
    )
    result = scene.run()
    assert result.solved
    assert [a.outcome.status for a in result.attempts] == [Status.GOAL_NOT_REACHED] * 2 + [Status.SUCCESS]
    assert [(a.round, a.number) for a in result.attempts] == [(1, 1), (2, 1), (3, 1)]
    assert [a.start.primitives for a in result.attempts] == [(), FETCH, FETCH + OPEN]
    assert result.primitives == FETCH + OPEN + WALK
    assert result.steps_total == len(FETCH + OPEN + WALK)
    assert [scene.shown(n)["inventory"] for n in range(3)] == [None, "key yellow", "key yellow"]
    assert [step for *_, step in scene.before_attempts] == [0, 1, 3]
    assert {"fetch_key", "open_door", "reach_goal"} <= set(re.findall(r"def (\w+)", result.agent.text))
    assert scene.tasks() == [
        ("first", ["fetch_key"]),
        ("semantic", ["fetch_key"]),
        ("first", ["open_door"]),
        ("semantic", ["open_door"]),
        ("first", ["reach_goal"]),
    ]
    assert [call["mode"] for call in scene.events.of("planner_call")] == ["fresh", "replan", "replan"]
    assert scene.events.count("spca_rounds") == 3
    reward, over = replayed(DOOR_KEY, result.primitives)
    assert (reward, over) == (result.attempts[-1].outcome.reward, True)


def test_a_retry_in_a_later_round_restores_the_prefix() -> None:
    fetch = method("fetch_key", *FETCH)
    wrong = method("open_door", 2, 4, 0, 0)  # tries the wall and puts the key down elsewhere
    crash = method("open_door", 1, 4, then="raise ValueError('no door')")
    rest = method("open_door", *OPEN, *WALK)
    scene = Scene(DOOR_KEY, [plan("fetch_key"), plan("open_door")], [fetch, fetch, wrong, crash, rest])
    result = scene.run()
    assert result.solved
    assert [a.outcome.status.value for a in result.attempts[1:]] == ["goal_not_reached", "runtime_error", "success"]
    assert [(a.round, a.number) for a in result.attempts] == [(1, 1), (2, 1), (2, 2), (2, 3)]
    first, *others = scene.before_attempts[1:]
    assert others == [first, first]
    assert first[2] == len(FETCH)
    assert result.primitives == FETCH + OPEN + WALK
    assert result.steps_total == 1 + 4 + 2 + 6
    assert replayed(DOOR_KEY, result.primitives)[0] > 0


@pytest.mark.parametrize(
    ("env_id", "bad", "status"),
    [
        (EMPTY, method("act", 2, then="raise ValueError('oops')"), "runtime_error"),
        (EMPTY, "def act(self, a):\n    yield 2\n    while True:\n        yield 0\n", "stuck"),
        (EMPTY, method("act", 2, then="yield 'north'"), "runtime_error"),
        (LAVA, "def act(self, a):\n    yield 0\n    for _ in range(200):\n        yield 6\n", "stuck"),
    ],
    ids=["crash", "cycle", "no primitive", "waiting"],
)
def test_after_a_failure_the_next_round_begins_at_the_checkpoint(env_id: str, bad: str, status: str) -> None:
    scene = Scene(env_id, [plan("act"), *[plan("other")] * 4], [bad, bad, *[method("other", 0)] * 8])
    result = scene.run()
    first = result.attempts[0]
    assert first.outcome.status == status
    assert first.outcome.steps > 0
    assert result.attempts[1].start == first.start
    assert scene.shown(1) == scene.shown(0)
    assert scene.before_attempts[1] == scene.before_attempts[0]


def test_a_deadly_attempt_is_undone() -> None:
    # On seed 1 of LavaGapS5 the lava is two cells ahead of the start or to the right of that cell.
    with closing(MiniGridEnv(LAVA, 1)) as world:
        deadly = next(
            path
            for path in ((2, 2), (2, 1, 2, 2), (1, 2, 0, 2), (2, 1, 2, 0, 2), (1, 2, 2, 0, 2))
            if _dies(world, path)
        )
    bad = method("act", *deadly)
    scene = Scene(LAVA, [plan("act"), *[plan("other")] * 4], [bad, bad, *[method("other", 0)] * 8])
    result = scene.run()
    assert result.attempts[0].outcome.status is Status.REWARD_FAILED
    assert result.attempts[0].outcome.position == 0
    assert result.attempts[1].start == result.attempts[0].start
    assert scene.before_attempts[1] == scene.before_attempts[0]


def _dies(world: MiniGridEnv, path: tuple[int, ...]) -> bool:
    world._reset()
    for code in path:
        if world.over:
            return False
        world.step(code)
    return world.over and world.reward == 0


def test_a_failed_attempts_report_goes_to_the_coder_and_a_failed_plans_to_the_planner() -> None:
    bad = method("act", 2, then="raise ValueError('oops')")
    scene = Scene(EMPTY, [plan("act"), plan("reach_goal")], [bad, bad, method("reach_goal", *TO_GOAL)])
    assert scene.run().solved
    rewrite = scene.coder.requests[1].messages[1].text
    assert "status: runtime_error" in rewrite
    assert "ValueError: oops" in rewrite
    assert "in act" in rewrite
    assert "plan: [act(a1)]" in rewrite
    assert "raise ValueError('oops')" in rewrite
    feedback = json.loads(re.findall(r"<feedback>\n(.*)\n</feedback>", scene.planner.asked(1))[0])
    (failed,) = feedback["failed_plans"]
    assert (failed["plan"], failed["status"]) == ("[act(a1)]", "runtime_error")
    assert "ValueError: oops" in failed["message"]


def test_code_of_a_plan_that_failed_is_dropped_and_that_of_one_carried_out_is_kept() -> None:
    crash = method("crash", 0, then="raise ValueError")
    scene = Scene(
        DOOR_KEY,
        [plan("fetch_key"), plan("crash"), plan("reach_goal")],
        [method("fetch_key", *FETCH)] * 2 + [crash] * 2 + [method("reach_goal", *OPEN, *WALK)],
    )
    result = scene.run()
    assert result.solved
    assert "def fetch_key" in result.agent.text
    assert "def crash" not in result.agent.text


def test_no_prompt_holds_the_environment_id_or_the_seed() -> None:
    seed = 987_654_321
    bad = method("act", 2, then="raise ValueError('oops')")
    scene = Scene(EMPTY, ["no", plan("act"), *[plan("other")] * 4], [bad, bad, *[method("other", 0)] * 8], seed=seed)
    scene.run()
    prompts = [m.text for r in (*scene.planner.requests, *scene.coder.requests) for m in r.messages]
    assert len(prompts) > 20
    for text in prompts:
        assert "MiniGrid" not in text
        assert "Empty-5x5" not in text
        assert str(seed) not in text


def numbered_crashes() -> Iterator[str]:
    for number in range(1000):
        yield method("act", 2, then=f"raise ValueError({number})")


@pytest.mark.long
def test_all_rounds_used_up_is_a_failed_level_that_leaves_the_library_as_it_was() -> None:
    crashes = numbered_crashes()
    attempts = MAX_SPA_ROUNDS * (1 + MAX_SEMANTIC_RETRY)
    scene = Scene(EMPTY, [plan("act")] * MAX_SPA_ROUNDS, [next(crashes) for _ in range(attempts)])
    result = scene.run()
    assert not result.solved
    assert result.agent == AGENT
    assert result.reason.startswith("runtime_error: ValueError: 29")
    assert len(result.attempts) == attempts == 30
    assert result.steps_total == attempts
    assert result.primitives == (2,)
    assert result.plan is not None
    assert [(a.round, a.number) for a in result.attempts] == [(r, n) for r in range(1, 6) for n in range(1, 7)]
    assert (scene.events.count("spca_rounds"), scene.events.count("simulation_runs")) == (5, 30)
    modes = [call["mode"] for call in scene.events.of("coder_call")]
    assert modes == (["first"] + ["semantic"] * 5) * 5
    assert [c["mode"] for c in scene.events.of("planner_call")] == ["fresh"] + ["replan"] * 4
    assert not scene.coder.left


def test_no_valid_plan_fails_the_level_at_once() -> None:
    scene = Scene(EMPTY, [f"no plan today: {number}" for number in range(1 + MAX_RETRIES)], [])
    result = scene.run()
    assert not result.solved
    assert result.agent == AGENT
    assert (result.plan, result.attempts, result.primitives, result.steps_total) == (None, (), (), 0)
    assert result.reason == "no valid plan after 9 calls: the answer holds no JSON object"
    assert scene.events.count("spca_rounds") == 1


def test_no_valid_plan_in_a_later_round_keeps_the_last_one() -> None:
    fetch = method("fetch_key", *FETCH)
    scene = Scene(DOOR_KEY, [plan("fetch_key"), *["no"] * (2 + MAX_RETRIES)], [fetch, fetch])
    result = scene.run()
    assert not result.solved
    assert result.plan is not None
    assert result.plan.text == "[fetch_key(a1)]"
    assert result.primitives == FETCH
    assert result.agent == AGENT


def test_unusable_code_ends_its_round_without_a_simulation() -> None:
    rubbish: list[Scripted] = [f"def {number}" for number in range(1 + MAX_ROUNDS)]
    scene = Scene(EMPTY, [plan("reach_goal")] * 2, [*rubbish, method("reach_goal", *TO_GOAL)])
    result = scene.run()
    assert result.solved
    assert len(result.attempts) == scene.events.count("simulation_runs") == 1
    assert (result.attempts[0].round, result.attempts[0].number) == (2, 1)
    assert "no usable code after 6 calls: syntax error" in scene.planner.asked(1)


def test_unusable_code_does_not_make_the_coder_forget_how_the_attempt_failed() -> None:
    crash = method("reach_goal", 2, then="raise ValueError('oops')")
    rubbish: list[Scripted] = [f"def {number}" for number in range(1 + MAX_ROUNDS)]
    scene = Scene(EMPTY, [plan("reach_goal")], [crash, *rubbish, method("reach_goal", *TO_GOAL)])
    assert scene.run().solved
    told = scene.coder.requests[-1].messages[1].text
    assert "ValueError: oops" in told
    assert "no usable code after 6 calls: syntax error" in told


def test_a_world_that_cannot_be_built_fails_its_level_and_the_next_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder.create(tmp_path / "runs", {"settings": {}, "sandbox": "strict"}, "[]", AGENT)
    tasks = [Task(n, "a", "b", "c", env_id) for n, env_id in enumerate(("MiniGrid-Absent-v0", EMPTY))]
    chosen = make_settings(tmp_path, workspace=tmp_path / "w", quiet=True)
    make_folder(tmp_path / "w")
    Run(prepared(chosen, folder, tasks), load_phases(), Display(tasks, quiet=True)).learn()
    assert "1 of 2 levels solved" in capsys.readouterr().out
    (failure,) = folder.read_json("summary.json")["failures"]
    assert failure["level_name"] == "MiniGrid-Absent-v0"
    assert failure["reason"].startswith("MiniGrid-Absent-v0: cannot be built: ")
