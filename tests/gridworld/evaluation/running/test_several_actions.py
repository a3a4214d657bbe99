"""Answers that name several actions: what is done of them, and when the model is asked again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gridworld.backends import MultiGridBackend
from gridworld.evaluation.harness import EvaluationHarness
from gridworld.evaluation.model_interface import ModelInput, ModelOutput, ModelPlan
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.drawn import drawn
from tests.support.gridworld.players import Scripted

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


def play(model: Scripted, task: TaskSpecification = ROOM, render: str | None = None, **telling: Any) -> Any:
    return EvaluationHarness(model, MultiGridBackend(render_mode=render), **telling).evaluate_task(task)


class Planner(Scripted):
    """Gives the next of its plans whenever it is asked."""

    def predict(self, input: ModelInput) -> ModelOutput:
        self.inputs.append(input)
        first, *further = self.answers[len(self.inputs) - 1] if len(self.inputs) <= len(self.answers) else [6]
        return ModelPlan(first, reasoning="so", further=further)


def test_several_actions_of_an_answer_are_done_one_after_another() -> None:
    model = Planner((2, 3, 2), (5, 2, 2, 1, 2))
    result = play(model, render="rgb_array", history_text_window=9)
    assert result.actions == [2, 3, 2, 5, 2, 2, 1, 2]
    assert result.success
    assert [each.step_number for each in model.inputs] == [1, 4]
    assert [step.info.get("model_planned", False) for step in result.trajectory] == [
        *(False, True, True),
        *(False, True, True, True, True),
    ]
    told = model.inputs[1].additional_context or ""
    assert [line.partition(":")[0] for line in told.splitlines()[1:]] == ["step 1", "step 2", "step 3"]
    frames = [step.observation for step in result.trajectory]
    assert model.inputs[1].prior_images is not None
    assert all(map(np.array_equal, model.inputs[1].prior_images, frames[1:3])), "those before each action"


def test_the_rest_is_dropped_where_an_action_changes_nothing() -> None:
    model = Planner((2, 2, 2, 0, 1), (3,))
    assert play(model).actions[:4] == [2, 2, 2, 3], "the door stops the third step"
    told = model.inputs[1].additional_context or ""
    why = "After move_forward you are asked again: it changed nothing."
    assert told.endswith(f"Not done of your last answer: turn_left, turn_right. {why}")
    assert "Not done" not in (model.inputs[2].additional_context or "")


def test_to_wait_is_to_change_nothing_on_purpose() -> None:
    model = Planner((6, 6, 2))
    assert play(model).actions[:3] == [6, 6, 2]
    assert model.inputs[1].step_number == 4


def test_the_rest_is_dropped_where_the_agent_is_carried_away() -> None:
    task = drawn("#######\n#At.#u#\n#...#G#\n#######", max_steps=6)
    model = Planner((2, 2, 2))
    play(model, task)
    assert model.inputs[1].step_number == 2
    assert "it led to column 5, row 1" in (model.inputs[1].additional_context or "")


@pytest.mark.parametrize(("observability", "asked_at"), [("full", 6), ("view_cone", 4), ("fog_of_war", 4)])
def test_the_rest_is_dropped_where_a_thing_comes_into_view(observability: str, asked_at: int) -> None:
    task = drawn("#########\n#A....k.#\n#......G#\n#########", rules={"observability": observability, "view_size": 3})
    model = Planner((2, 2, 2, 2, 2))
    play(model, task)
    assert model.inputs[1].step_number == asked_at
    dropped = "red key came into view at column 6, row 1" in (model.inputs[1].additional_context or "")
    assert dropped == (observability != "full")


def test_a_plan_ends_with_the_episode() -> None:
    model = Planner((2, 2, 2, 2))
    result = play(model, drawn("#####\n#A.G#\n#####"))
    assert (result.success, result.actions, len(model.inputs)) == (True, [2, 2], 1)


def test_a_plan_with_what_is_no_action_fails_the_episode() -> None:
    result = play(Planner((2, 9)))
    assert result.actions == []
    assert "unknown action 9" in result.info["model_error"]
