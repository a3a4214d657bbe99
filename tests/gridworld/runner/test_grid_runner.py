"""Runner and episode results, on a real backend."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.actions import Action
from gridworld.backends import MultiGridBackend
from gridworld.errors import ActionError, EvaluationError
from gridworld.rules.observation import Observation
from gridworld.runner.encoding import file_stem, json_text
from gridworld.runner.grid_runner import EpisodeResult, GridRunner
from tests.support.gridworld.drawn import drawn

CORRIDOR = drawn(
    """
    ######
    #A..G#
    ######
    """,
    max_steps=9,
)
WAY = [2, 2, 2]


def runner(render_mode: str | None = None) -> GridRunner:
    return GridRunner(MultiGridBackend(render_mode=render_mode))


def test_an_episode_is_what_the_policy_did() -> None:
    seen: list[tuple[Any, Any, str]] = []

    def policy(observation: Any, state: Any, mission: str) -> tuple[int, dict[str, Any]]:
        seen.append((observation, state, mission))
        return 2, {"note": len(seen)}

    result = runner().run_episode(CORRIDOR, policy_fn=policy, seed=7)
    assert (result.task_id, result.seed, result.mission) == ("drawn", 7, CORRIDOR.get_mission_text())
    assert (result.success, result.terminated, result.truncated, result.steps_taken) == (True, True, False, 3)
    assert result.total_reward == pytest.approx(1 - 0.9 * 3 / 9)
    assert result.final_state.agent_position == (4, 1)
    assert [each.step for each in result.trajectory] == [1, 2, 3]
    assert [each.info["note"] for each in result.trajectory] == [1, 2, 3]
    assert [each.state for each in result.trajectory] == [state for _, state, _ in seen]
    assert result.trajectory[0].observation is seen[0][0]
    assert isinstance(seen[0][0], Observation)
    assert seen[0][1].agent_position == (1, 1), "a step holds what was seen before it"


def test_seed_0_is_a_seed_and_none_takes_that_of_the_task() -> None:
    task = drawn("####\n#AG#\n####")
    task.seed = 5
    assert runner().run_episode(task, seed=0).seed == 0
    assert runner().run_episode(task).seed == 5


def test_a_random_policy_depends_on_the_seed_only() -> None:
    first, second, other = (runner().run_episode(CORRIDOR, seed=seed).actions for seed in (0, 0, 1))
    assert first == second != other
    assert all(isinstance(action, int) for action in first)


def test_success_is_the_goal_reached() -> None:
    waiting = runner().run_episode(CORRIDOR, lambda *_: 6)
    assert (waiting.success, waiting.truncated, waiting.steps_taken) == (False, True, 9)
    last = drawn("####\n#AG#\n####", max_steps=1)
    assert runner().run_episode(last, lambda *_: 2).success


@pytest.mark.parametrize("wrong", [7, -1, 2.0, "2", True])
def test_what_is_no_action_is_refused(wrong: Any) -> None:
    with pytest.raises(ActionError, match="move_forward"):
        runner().run_episode(CORRIDOR, lambda *_: wrong)


def test_actions_may_be_numpy_integers_and_members() -> None:
    actions: Iterator[Any] = iter([np.int64(2), Action.MOVE_FORWARD, (np.uint8(2), None)])
    result = runner().run_episode(CORRIDOR, lambda *_: next(actions))
    assert (result.success, result.actions) == (True, WAY)


def test_a_policy_may_stop() -> None:
    actions = iter([2, None])
    result = runner().run_episode(CORRIDOR, lambda *_: next(actions))
    assert (result.steps_taken, result.terminated, result.truncated, result.success) == (1, False, False, False)


def test_a_demonstration_holds_what_was_demonstrated() -> None:
    short = runner().collect_demonstrations(CORRIDOR, actions=[2, 0])
    assert (short.actions, short.terminated, short.truncated) == ([2, 0], False, False)
    whole = runner().collect_demonstrations(CORRIDOR, [*WAY, 6, 6], seed=0)
    assert (whole.actions, whole.success, whole.seed) == (WAY, True, 0)
    with pytest.raises(ActionError):
        runner().collect_demonstrations(CORRIDOR, [2, 9])


def test_a_batch_keeps_the_order_and_the_seeds() -> None:
    other = drawn("####\n#AG#\n####")
    other.seed = 3
    results = runner().run_batch([CORRIDOR, other], policy_fn=lambda *_: 2)
    assert [(each.steps_taken, each.seed) for each in results] == [(3, 0), (1, 3)]


def test_steps_and_observations_need_not_be_kept(capsys: pytest.CaptureFixture[str]) -> None:
    without = runner("rgb_array").run_episode(CORRIDOR, lambda *_: 2, record_observations=False)
    assert [each.observation for each in without.trajectory] == [None] * 3
    none = runner().run_episode(CORRIDOR, lambda *_: 2, record_trajectory=False, verbose=True)
    assert (none.trajectory, none.steps_taken) == ([], 3)
    assert capsys.readouterr().out.splitlines()[0] == "'drawn' step 1: move_forward, reward 0.000"


@given(actions=st.lists(st.integers(0, 6), max_size=12), states=st.booleans())
def test_a_result_survives_writing_and_reading(actions: list[int], states: bool) -> None:
    task = drawn("#######\n#A.k.d#\n#s.g..#\n#######", goal={"type": "collect_all", "target_ids": ["d0"]})
    result = runner().collect_demonstrations(task, actions)
    result.info["details"] = {"calls": 3}
    for step in result.trajectory:
        step.observation = None
        if not states:
            step.state = None
    data = json.loads(json_text(result.to_dict(states)))
    assert EpisodeResult.from_dict(data) == result
    assert EpisodeResult.from_dict(data).to_dict(states) == result.to_dict(states)


def test_a_result_is_saved_whole_and_loaded(tmp_path: Path) -> None:
    result = runner().run_episode(CORRIDOR, lambda *_: (2, {"value": np.float32(0.5), "bad": float("nan")}))
    path = tmp_path / "episode.json"
    result.save(path)
    loaded = EpisodeResult.load(path)
    assert loaded.actions == WAY
    assert loaded.trajectory[0].info == {"value": 0.5, "bad": None}
    assert loaded.final_state == result.final_state
    assert [each.name for each in tmp_path.iterdir()] == ["episode.json"]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"task_id": 1}', '{"task_id": "a", "success": tru', "[" * 100000])
def test_what_is_no_result_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "episode.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(EvaluationError, match=r"episode\.json"):
        EpisodeResult.load(path)
    with pytest.raises(EvaluationError, match=r"missing\.json"):
        EpisodeResult.load(tmp_path / "missing.json")


def test_a_data_set_is_pictures_and_records(tmp_path: Path) -> None:
    from PIL import Image

    hostile = drawn("####\n#AG#\n####")
    hostile.task_id = "Up/../away"
    playing = runner("rgb_array")
    records = playing.generate_observation_dataset([CORRIDOR, CORRIDOR, hostile], lambda *_: 2, tmp_path / "set")
    lines = (tmp_path / "set" / "records.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == records
    assert [record["step"] for record in records] == [1, 2, 3, 1, 2, 3, 1]
    assert records[1]["agent_position"] == [2, 1]
    paths = [record["image_path"] for record in records]
    assert len(set(paths)) == len(paths)
    assert {path.name for path in (tmp_path / "set").iterdir()} == {*paths, "records.jsonl"}
    first = playing.run_episode(CORRIDOR, lambda *_: 2).trajectory[0].observation
    with Image.open(tmp_path / "set" / paths[0]) as image:
        assert np.array_equal(np.asarray(image.convert("RGB")), first)
    with pytest.raises(EvaluationError, match=r"records\.jsonl"):
        playing.generate_observation_dataset([CORRIDOR], output_dir=tmp_path / "set")


def test_a_data_set_without_pictures_and_one_that_cannot_have_them(tmp_path: Path) -> None:
    records = runner().generate_observation_dataset([CORRIDOR], lambda *_: 2, tmp_path / "set", save_images=False)
    assert "image_path" not in records[0]
    with pytest.raises(EvaluationError, match="rgb_array"):
        runner().generate_observation_dataset([CORRIDOR], lambda *_: 2, tmp_path / "other")
    (tmp_path / "file").touch()
    with pytest.raises(EvaluationError, match="file"):
        runner().generate_observation_dataset([CORRIDOR], output_dir=tmp_path / "file" / "set")


@given(st.text(max_size=130), st.text(alphabet="aA-_./", max_size=3))
def test_names_of_files_are_safe_and_never_shared(text: str, other: str) -> None:
    stems = [file_stem(text), file_stem(other)]
    if text != other:
        assert stems[0].lower() != stems[1].lower()
    assert file_stem(stems[0]) != stems[0] or stems[0] == text
    for stem in stems:
        assert 0 < len(stem) <= 110
        assert "/" not in stem
        assert not stem.startswith(".")
        assert stem.isascii()
