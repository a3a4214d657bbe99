"""The harness: what a model is given, what is made of what it answers or raises, and where names of tasks lead."""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gridworld.backends import MultiGridBackend
from gridworld.backends.base import GridState
from gridworld.errors import ModelError, ModelUnavailableError, TaskError
from gridworld.evaluation.harness import EvaluationHarness
from gridworld.evaluation.metrics import BenchmarkEvaluationResult
from gridworld.evaluation.model_interface import ModelInput, ModelOutput
from gridworld.evaluation.models.baselines import BFSModelInterface
from gridworld.evaluation.running import history
from gridworld.rules.observation import CODES, UNSEEN, Look
from gridworld.runner.episode_result import EpisodeResult
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.drawn import drawn
from tests.support.gridworld.players import Scripted, corridors

ROOM = drawn(
    """
    #######
    #Ak.d.#
    #..b.G#
    #######
    """,
    keys="red",
    max_steps=12,
)


def play(
    model: Scripted, task: TaskSpecification = ROOM, seed: int | None = None, render: str | None = None, **telling: Any
) -> Any:
    return EvaluationHarness(model, MultiGridBackend(render_mode=render), **telling).evaluate_task(task, seed)


def test_a_model_is_called_in_order_and_told_about_the_episode() -> None:
    model = Scripted(2, details={"calls": 2})
    harness = EvaluationHarness(model, MultiGridBackend("hex", None), device="cuda:0")
    results = [harness.evaluate_task(ROOM, seed) for seed in (0, None)]
    harness.close()
    begin, end = "begin drawn 0 multigrid hex", "end False"
    assert model.calls == ["setup cuda:0", begin, end, begin, end, "teardown"]
    assert [result.info["details"] for result in results] == [{"calls": 2}] * 2
    assert results[0].info["model_seconds"] >= 0
    already = Scripted()
    play(already, device=None)
    assert not already.calls[0].startswith("setup")


def test_an_input_holds_what_the_contract_says() -> None:
    model = Scripted(2, 1, 6)
    result = play(model, render="rgb_array", history_images=2, seed=3)
    frames = [step.observation for step in result.trajectory]
    assert result.seed == 3
    assert [each.step_number for each in model.inputs] == list(range(1, 13))
    assert {each.max_steps for each in model.inputs} == {12}
    assert {each.text_prompt for each in model.inputs} == {ROOM.get_mission_text()}
    assert model.inputs[0].action_space[2] == "move_forward"
    for number, given in enumerate(model.inputs):
        assert np.array_equal(given.image, frames[number])
        assert given.prior_images is not None
        expected = frames[max(0, number - 2) : number]
        assert len(given.prior_images) == len(expected)
        assert all(map(np.array_equal, given.prior_images, expected))
    assert not any("GridState" in type(value).__name__ for each in model.inputs for value in vars(each).values())


def test_images_are_rendered_for_models_that_use_them_only() -> None:
    seeing, blind = Scripted(), Scripted(uses_images=False)
    play(seeing, render=None)
    play(blind, render=None)
    assert seeing.inputs[0].image.shape[2] == 3
    assert seeing.inputs[0].image.size
    assert blind.inputs[0].image.shape == (0, 0, 3)


def test_the_last_actions_are_told_by_what_they_visibly_did() -> None:
    model = Scripted(2, 3, 2, 2, 5, 0)
    play(model, history_text_window=2)
    told = [each.additional_context for each in model.inputs]
    assert told[0] is None
    assert told[1] == "Last steps:\nstep 1: move_forward: moved from column 1, row 1 to column 2, row 1"
    assert told[2] is not None
    assert "step 2: pickup: the red key is in hand; column 2, row 1: red key became floor" in told[2]
    assert told[5] is not None
    assert told[5].splitlines()[1:] == [
        "step 4: move_forward: nothing changed",
        "step 5: toggle: the red key left the hand; column 4, row 1: locked red door became open red door",
    ]
    assert told[6] is not None
    assert told[6].endswith("step 6: turn_left: now facing up")


def test_the_observation_is_told_as_text_if_asked_for() -> None:
    silent, told = Scripted(2), Scripted(2)
    play(silent, history_text=False)
    play(told, text_observation=True)
    assert {each.additional_context for each in silent.inputs} == {None}
    backend = MultiGridBackend(render_mode=None)
    backend.configure(ROOM)
    backend.reset()
    assert told.inputs[0].additional_context == backend.observe().text()
    backend.step(2)
    assert told.inputs[1].additional_context is not None
    assert told.inputs[1].additional_context.endswith(backend.observe().text())
    assert told.inputs[1].additional_context.startswith("Last steps:")


def test_nothing_hidden_is_told() -> None:
    """What was not touched or lies out of view stays unsaid, whatever the switch did to it."""
    task = drawn(
        """
        #######
        #As..g#
        #....G#
        #######
        """,
        rules={"observability": "view_cone", "view_size": 3, "hidden_mechanisms": ["g0"]},
    )
    model = Scripted(2, 5)
    play(model, task, text_observation=True)
    told = "\n".join(each.additional_context or "" for each in model.inputs)
    assert "gate" not in told.replace("| gate", "")
    assert "off yellow switch became on yellow switch" in told


def test_changes_are_counted_where_there_are_many() -> None:
    backend = MultiGridBackend(render_mode=None)
    backend.configure(ROOM)
    backend.reset()
    before = backend.observe()
    codes = before.codes.copy()
    codes[0, :] = CODES[Look("floor")]
    line = history.line(2, "toggle", before, replace(before, codes=codes))
    assert line.count("wall became floor") == 6
    assert line.endswith("; 1 more changes")
    codes[0, :] = UNSEEN
    unseen = replace(before, codes=codes)
    assert history.line(3, "done", unseen, before) == "step 3: done: nothing changed", "what is new has not changed"


@pytest.mark.parametrize("wrong", [9, "2", None, 2.5, True])
def test_an_answer_that_is_no_action_fails_the_episode(wrong: Any) -> None:
    result = play(Scripted(2, wrong))
    assert (result.success, result.terminated, result.truncated, result.steps_taken) == (False, False, False, 1)
    assert "unknown action" in result.info["model_error"]


def test_what_a_model_raises_fails_the_episode_and_no_more() -> None:
    model = Scripted(2, RuntimeError("out of\nmemory"))
    harness = EvaluationHarness(model, MultiGridBackend(render_mode=None))
    benchmark = harness.evaluate_task_set([ROOM, ROOM])
    assert [each.episode.info["model_error"] for each in benchmark.task_results] == ["RuntimeError: out of memory"] * 2
    assert model.calls.count("end False") == 2
    later = Scripted(2, ModelError("no answer within 1 s"))
    assert play(later).info["model_error"] == "no answer within 1 s"
    assert play(Scripted(2, SystemExit(0))).info["model_error"] == "SystemExit: 0", "not the exit of the command"


class Meddling(Scripted):
    """Changes everything that it is given."""

    def begin_episode(self, task_spec: TaskSpecification, seed: int, **more: Any) -> None:
        super().begin_episode(task_spec, seed, **more)
        task_spec.max_steps, task_spec.metadata = 99, {"points": 1000}
        task_spec.goal.target = task_spec.maze.start

    def predict(self, input: ModelInput) -> ModelOutput:
        output = super().predict(replace(input, prior_images=[each.copy() for each in input.prior_images or ()]))
        input.image[:] = 0
        input.action_space.clear()
        return output

    def end_episode(self, result: EpisodeResult) -> None:
        result.success, result.steps_taken, result.final_state.goal_reached = True, 1, True
        result.trajectory[0].action = 2
        result.trajectory.pop()


def test_what_a_model_does_to_what_it_is_given_changes_no_result() -> None:
    model = Meddling(0, details={"calls": [1]})
    harness = EvaluationHarness(model, MultiGridBackend())
    judged = harness.judge(ROOM)
    assert (judged.success, judged.steps_taken, judged.available_points, judged.points_earned) == (False, 12, 1.0, 0.0)
    assert (judged.episode.actions[0], len(judged.episode.actions)) == (0, 12)
    assert not judged.episode.final_state.goal_reached
    assert (ROOM.max_steps, ROOM.metadata) == (12, drawn("####\n#AG#\n####").metadata)
    model.details["calls"].append(2)
    assert judged.episode.info["details"] == {"calls": [1]}
    assert all(step.observation.any() for step in harness.evaluate_task(ROOM).trajectory)
    assert all(image.any() for each in model.inputs for image in each.prior_images or ())


def test_a_model_that_never_answered_cannot_be_used() -> None:
    model = Scripted(ModelError("nobody is there"))
    with pytest.raises(ModelError, match="nobody is there"):
        play(model)
    assert not any(call.startswith("end") for call in model.calls)
    assert "model_error" in play(Scripted(ValueError("a defect of the model"))).info


def test_a_model_that_is_gone_stops_the_evaluation() -> None:
    model = Scripted(2, ModelUnavailableError("the server is gone"))
    with pytest.raises(ModelUnavailableError, match="gone"):
        EvaluationHarness(model, MultiGridBackend(render_mode=None)).evaluate_task_set([ROOM, ROOM])
    assert len(model.inputs) == 2
    with pytest.raises(ModelUnavailableError, match="spent"):
        play(Scripted(2, details=ModelUnavailableError("the budget is spent")))


@pytest.mark.parametrize("details", [{"bad": object()}, ValueError("no details")])
def test_details_that_cannot_be_had_are_an_error_of_the_model(details: Any) -> None:
    result = play(Scripted(details=details))
    assert "details" not in result.info
    assert result.info["model_error"]


def test_what_a_model_says_is_kept_as_far_as_it_says_something() -> None:
    said = ModelOutput(np.int64(2), np.float32(0.5), "because", "2!")  # type: ignore[arg-type]
    result = play(Scripted(said, ModelOutput(6, math.nan)))
    info = {"model_confidence": 0.5, "model_reasoning": "because", "model_raw_output": "2!"}
    assert [step.info for step in result.trajectory[:2]] == [info, {}]
    assert type(result.trajectory[0].action) is int


def test_ctrl_c_in_a_model_ends_everything() -> None:
    with pytest.raises(KeyboardInterrupt):
        play(Scripted(KeyboardInterrupt()))


def test_judging_compares_with_the_optimum_and_keeps_no_images() -> None:
    harness = EvaluationHarness(BFSModelInterface(), MultiGridBackend())
    judged = harness.judge(ROOM)
    assert (judged.success, judged.optimality_ratio, judged.steps_taken) == (True, 1.0, judged.optimal_steps)
    assert all(step.observation is None for step in judged.episode.trajectory)
    kept = harness.evaluate_task(ROOM)
    assert kept.trajectory[0].observation.shape[2] == 3


def test_names_of_tasks_lead_to_the_package_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    harness = EvaluationHarness(BFSModelInterface(), MultiGridBackend(render_mode=None))
    tier = harness.evaluate_tier(1, task_dir="gridworld/tasks")
    assert (tier.tier, tier.num_tasks, tier.success_rate) == (1, 3, 1.0)
    assert tier.avg_steps == pytest.approx(59 / 3)
    every = harness.evaluate_all(task_dir="gridworld/tasks", tiers=[1, 2])
    assert (list(every.tier_metrics), every.overall_success_rate) == ([1, 2], 1.0)
    benchmark = harness.evaluate_task_dir("mazes/validation_10")
    assert (benchmark.benchmark_name, benchmark.num_success, benchmark.point_rate) == ("validation_10", 10, 1.0)
    with pytest.raises(TaskError, match="no tier 9"):
        harness.evaluate_tier(9)


def test_folders_of_ones_own_are_checked_before_anything_is_played(tmp_path: Path) -> None:
    corridors(tmp_path / "mine" / "tier4", 2)
    corridors(tmp_path / "mine" / "tier12", 2)
    model = Scripted(2)
    harness = EvaluationHarness(model, MultiGridBackend(render_mode=None))
    assert list(harness.evaluate_all(tmp_path / "mine").tier_metrics) == [4, 12]
    assert harness.evaluate_task_dir(tmp_path / "mine" / "tier4").benchmark_name == "tier4"
    corridors(tmp_path / "mine.v2", 2)
    assert harness.evaluate_task_dir(tmp_path / "mine.v2").benchmark_name == "mine.v2", "a folder has no suffix"
    assert harness.evaluate_task_dir(tmp_path / "mine.v2" / "0.json").benchmark_name == "0"
    (tmp_path / "mine" / "tier4" / "9.json").write_text("{}", encoding="utf-8")
    model.inputs.clear()
    with pytest.raises(TaskError, match=r"9\.json"):
        harness.evaluate_tier(4, tmp_path / "mine")
    assert not model.inputs


def test_no_model_sees_the_state() -> None:
    """The input has the fields of the contract and nothing else that could carry one."""
    assert set(ModelInput.__dataclass_fields__) == {
        "image",
        "text_prompt",
        "action_space",
        "step_number",
        "max_steps",
        "additional_context",
        "prior_images",
    }
    model = Scripted(2)
    play(model)
    assert not any(isinstance(value, GridState) for each in model.inputs for value in vars(each).values())


class Slow(Scripted):
    """Takes its time where other models only begin and end."""

    def begin_episode(self, *arguments: Any, **more: Any) -> None:
        super().begin_episode(*arguments, **more)
        time.sleep(0.02)

    def end_episode(self, result: EpisodeResult) -> None:
        super().end_episode(result)
        time.sleep(0.03)


def test_the_time_of_a_model_is_that_of_the_whole_episode() -> None:
    assert play(Slow(2)).info["model_seconds"] >= 0.05
    failed = play(Slow(ValueError("lost")))
    assert "lost" in failed.info["model_error"]
    assert failed.info["model_seconds"] >= 0.05


def test_a_task_made_for_hexagons_is_played_on_them_only() -> None:
    made = replace(ROOM, metadata={"tiling": "hex"})
    model = Scripted(2)
    harness = EvaluationHarness(model, MultiGridBackend(render_mode=None))
    with pytest.raises(TaskError, match=r"task 'drawn': .* made for hex, not for square; .*--tiling hex"):
        harness.evaluate_task_set([ROOM, made])
    with pytest.raises(TaskError, match="made for hex"):
        harness.evaluate_task(made)
    assert not model.inputs
    on_hexagons = EvaluationHarness(model, MultiGridBackend("hex", None))
    assert [len(on_hexagons.evaluate_task(each).trajectory) for each in (ROOM, made)] == [12, 12]
    assert not on_hexagons.evaluate_task(replace(ROOM, metadata={"tiling": ["hex"], "generator": None})).success


def test_results_tell_what_was_played_and_how(tmp_path: Path) -> None:
    corridors(tmp_path / "mine", 2)
    harness = EvaluationHarness(Scripted(2), MultiGridBackend("hex", None), text_observation=True)
    harness.evaluate_task_dir(tmp_path / "mine").save(str(tmp_path / "results.json"))
    run = BenchmarkEvaluationResult.load(tmp_path / "results.json").run
    settings = run["settings"]
    assert (settings["backend"], settings["tiling"], settings["text_observation"]) == ("multigrid", "hex", True)
    file = tmp_path / "mine" / "1.json"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert run["tasks"][1] == {"task_id": "task_1", "file": str(file), "sha256": digest}
    assert run["started"] <= run["finished"]
    loose = harness.evaluate_task_set([TaskSpecification.from_json(file)])
    assert loose.to_dict()["run"]["tasks"] == [{"task_id": "task_1"}]
