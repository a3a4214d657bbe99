"""What a run has learned, in a loop that is not ours."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import spca
from minigridenv import MiniGridEnv
from spca.common.errors import SettingsError, UserError
from spca.contracts import LevelInfo
from spca.errors import ResumeError, WorldError
from spca.policy.policy_episode import MAX_PLANNINGS
from tests.support.commands import environment
from tests.support.policy.plain_loop import play_episode
from tests.support.spca.doubles import ROOT

DONE = 6

WITHOUT_SIMULATOR = """
import json, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("minigrid", "gymnasium"):
            raise ImportError(name)

sys.meta_path.insert(0, Blocked())
import numpy as np
import spca

seen = json.load(sys.stdin)
primitives = []
with spca.load_policy(sys.argv[1], level=sys.argv[2]) as policy:
    for number, observation in enumerate(seen):
        observation["image"] = np.array(observation["image"], np.uint8)
        if number == 0:
            policy.reset(observation)
        primitives.append(policy.act(observation))
assert not {"minigrid", "gymnasium"} & set(sys.modules)
print(json.dumps(primitives))
"""


def as_json(observation: Any) -> dict[str, Any]:
    direction = int(observation["direction"])
    return {"image": observation["image"].tolist(), "direction": direction, "mission": observation["mission"]}


@pytest.mark.parametrize("env_id", ["MiniGrid-Empty-5x5-v0", "MiniGrid-DoorKey-5x5-v0", "BabyAI-GoToLocal-v0"])
def test_it_solves_unseen_seeds_in_a_plain_loop(policy: spca.LearnedPolicy, env_id: str) -> None:
    for seed in range(700, 704):
        reward, primitives, _seen = play_episode(policy, env_id, seed, level=env_id)
        assert reward > 0, seed
        assert all(type(code) is int for code in primitives)
        assert policy.failed_plans == ()
        assert policy.plan is not None


def test_it_runs_where_no_simulator_can_be_imported(policy: spca.LearnedPolicy, learned_run: Path) -> None:
    env_id = "MiniGrid-DoorKey-5x5-v0"
    _reward, primitives, seen = play_episode(policy, env_id, 700, level=env_id)
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_SIMULATOR, str(learned_run), env_id],
        input=json.dumps(list(map(as_json, seen))),
        env=environment(PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == primitives


def test_without_a_level_all_writers_are_tried(policy: spca.LearnedPolicy) -> None:
    assert [play_episode(policy, "MiniGrid-DoorKey-6x6-v0", seed)[0] > 0 for seed in range(3)] == [True] * 3


def test_an_episode_is_the_same_whatever_was_played_before(policy: spca.LearnedPolicy) -> None:
    first = play_episode(policy, "BabyAI-GoToLocal-v0", 710)[1]
    play_episode(policy, "MiniGrid-Empty-5x5-v0", 3)
    assert play_episode(policy, "BabyAI-GoToLocal-v0", 710)[1] == first


def test_two_policies_play_side_by_side(policy: spca.LearnedPolicy, learned_run: Path) -> None:
    alone = [play_episode(policy, "BabyAI-GoToLocal-v0", seed)[1] for seed in (720, 721)]
    together: list[list[int]] = [[], []]
    with spca.load_policy(learned_run) as second:
        pair = (policy, second)
        envs: list[Any] = [gymnasium.make("BabyAI-GoToLocal-v0") for _ in pair]
        observations = [env.reset(seed=seed)[0] for env, seed in zip(envs, (720, 721), strict=True)]
        for each, observation in zip(pair, observations, strict=True):
            each.reset(observation)
        is_over = [False, False]
        while not all(is_over):
            for number, each in enumerate(pair):
                if not is_over[number]:
                    code = each.act(observations[number])
                    together[number].append(code)
                    observations[number], _, terminated, truncated, _ = envs[number].step(code)
                    is_over[number] = terminated or truncated
    assert together == alone


def test_generated_code_sees_what_it_sees_in_the_evaluations_world(policy: spca.LearnedPolicy) -> None:
    env: Any = gymnasium.make("MiniGrid-DoorKey-6x6-v0")
    with closing(env), closing(MiniGridEnv("MiniGrid-DoorKey-6x6-v0", 5)) as world:
        observation, info = env.reset(seed=5)
        policy.reset(observation, info)
        for _ in range(10):
            code = policy.act(observation, info)
            observed: Any = policy._episode and policy._episode.world
            ours = observed._agent_view()
            theirs = world._agent_view()
            assert ours.words == theirs.words
            for mine, other in zip(ours.values, theirs.values, strict=True):
                assert np.array_equal(mine, other)
            assert observed.sense() == world.sense()
            observation, _reward, _terminated, _truncated, info = env.step(code)
            world.step(code)


def test_a_policy_without_a_further_plan_waits(policy: spca.LearnedPolicy) -> None:
    """A cell with walls all around: each plan ends without success, and from the same state there is no other one."""
    image = np.full((7, 7, 3), (2, 5, 0), np.uint8)
    image[3, 6] = (1, 0, 0)
    observation = {"image": image, "direction": 0, "mission": "get to the green goal square"}
    policy.reset(observation)
    assert policy.waiting_reason == ""
    for _ in range(MAX_PLANNINGS * 80):
        code = policy.act(observation)
        if code in (0, 1):
            turn = 1 if code else -1
            observation = {**observation, "direction": (int(str(observation["direction"])) + turn) % 4}
        if policy.waiting_reason:
            break
    assert code == DONE
    assert policy.plan is None
    assert len(policy.failed_plans) >= 1
    assert {failed.status for failed in policy.failed_plans} <= {"stuck", "goal_not_reached", "runtime_error"}
    assert policy.act(observation) == DONE


def test_a_mission_that_no_writer_knows_is_waited_out(policy: spca.LearnedPolicy) -> None:
    env: Any = gymnasium.make("MiniGrid-Empty-5x5-v0")
    with closing(env):
        observation, _info = env.reset(seed=1)
    policy.reset({**observation, "mission": "whistle a tune"})
    assert policy.act(observation) == DONE
    assert "whistle a tune" in policy.waiting_reason
    assert "\n" not in policy.waiting_reason


@pytest.mark.parametrize(
    ("observation", "said"),
    [
        (3, "an observation of MiniGrid is a dict, not int"),
        ({"image": 1, "direction": 0}, "the observation has no 'mission'"),
        ({"image": np.zeros((7, 7, 3), np.float32), "direction": 0, "mission": "go"}, "is none of MiniGrid: an image"),
        ({"image": np.zeros((7, 7, 3), np.uint8), "direction": 4, "mission": "go"}, "is none of MiniGrid"),
    ],
)
def test_an_observation_that_is_none_is_refused(policy: spca.LearnedPolicy, observation: Any, said: str) -> None:
    with pytest.raises(WorldError, match=said):
        policy.reset(observation)


def test_an_episode_has_to_be_begun(policy: spca.LearnedPolicy, learned_run: Path) -> None:
    with pytest.raises(SettingsError, match=r"level 'MiniGrid-Empty' is not in .*did you mean 'MiniGrid-Empty-5x5-v0'"):
        policy.reset({}, level="MiniGrid-Empty")
    fresh = spca.load_policy(learned_run, level=LevelInfo("walking", "Walk", "all"))
    with pytest.raises(UserError, match=r"call policy\.reset"):
        fresh.act({})
    fresh.close()
    fresh.close()


def test_a_run_that_is_none_is_one_line(tmp_path: Path, learned_run: Path) -> None:
    with pytest.raises(ResumeError, match="no run 'nothing'"):
        spca.load_policy("nothing", runs=tmp_path)
    with pytest.raises(ResumeError, match=r"no run|no finished run"):
        spca.load_policy(tmp_path, runs=tmp_path)
    with pytest.raises(SettingsError, match="is not in the run's curriculum"):
        spca.load_policy(learned_run, level="whistling")
    with pytest.raises(SettingsError, match="calls=DIR is missing"):
        spca.load_policy(learned_run, model="openai/gpt-9")


def test_a_model_plans_where_there_are_no_writers(tmp_path: Path, learned_run: Path) -> None:
    (agent,) = (learned_run / "agents").glob("agent_v3.py")
    file = tmp_path / "mine.py"
    file.write_text(agent.read_text(encoding="utf-8"), encoding="utf-8")
    with spca.load_policy(file) as alone:
        assert play_episode(alone, "MiniGrid-Empty-5x5-v0", 1)[0] == 0
        assert alone.waiting_reason == "there are no writers"
    with spca.load_policy(file, level="MiniGrid-Empty-5x5-v0", model="reference/planner") as advised:
        assert play_episode(advised, "MiniGrid-Empty-5x5-v0", 1)[0] > 0
