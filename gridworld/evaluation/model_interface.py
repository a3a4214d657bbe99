"""The interface of models that play tasks: inputs, outputs, and hooks around an episode.

A model is judged by the actions that :meth:`ModelInterface.predict` returns. ``predict`` gets only what the
observability of the task allows, never a :class:`~gridworld.backends.base.GridState`. Two kinds of models override the
hooks around an episode: models that intentionally know the task (bfs, greedy), and models that keep a state for each
episode.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gridworld.task_spec import TaskSpecification

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gridworld.runner.episode_result import EpisodeResult


@dataclass
class ModelInput:
    """The input of a model before each action.

    Attributes:
        image: image that the backend rendered, RGB, uint8, shape (height, width, 3). If the model does not use images,
            the image is empty, shape (0, 0, 3).
        text_prompt: the task in words.
        action_space: names of the actions by number.
        step_number: number of the action that the model is to choose, from 1.
        max_steps: number of actions after which the episode ends.
        additional_context: effects of the last actions, the observation as text, or both; None for no text. The
            settings of the harness decide.
        prior_images: earlier images, oldest first; the settings of the harness limit their number.
    """

    image: NDArray[np.uint8]
    text_prompt: str
    action_space: dict[int, str]
    step_number: int
    max_steps: int
    additional_context: str | None = None
    prior_images: list[NDArray[np.uint8]] | None = None


@dataclass
class ModelOutput:
    """The answer of a model.

    Attributes:
        action: number of the action.
        confidence: confidence from 0 to 1; None if not stated.
        reasoning: reason for the action, in words.
        raw_output: the text of the answer before parsing.
    """

    action: int
    confidence: float | None = None
    reasoning: str | None = None
    raw_output: str | None = None


@dataclass
class ModelPlan(ModelOutput):
    """An answer that names several actions.

    After a surprise, the remaining actions are dropped and the model is asked again. A surprise is an action that
    visibly changes nothing, moves the agent by more than one cell, or brings a thing into view.

    Attributes:
        further: numbers of the actions to do after ``action``, in order.
    """

    further: Sequence[int] = ()


class ModelInterface(ABC):
    """A model that plays tasks; subclasses must define ``model_name`` and ``predict``.

    The harness first calls ``setup``. For each episode, the harness calls ``begin_episode``, then ``predict`` before
    each action, then ``end_episode`` and ``episode_details``. At the end, the harness calls ``teardown``.

    Three kinds of errors end the evaluation: a :class:`~gridworld.errors.ModelUnavailableError`, a failed import, and a
    :class:`~gridworld.errors.ModelError` before the model's first answer in the evaluation. In these cases, the present
    episode is not counted. Any other error ends only the episode, which counts as not solved; its result names the
    error.

    Attributes:
        uses_images: whether the model uses images. If False, the harness draws no images, and ``ModelInput.image`` is
            empty.
    """

    uses_images: bool = True

    @property
    @abstractmethod
    def model_name(self) -> str:
        """Name of the model in results files."""

    @abstractmethod
    def predict(self, input: ModelInput) -> ModelOutput:
        """Return the next action.

        Raises:
            ModelError: the model gives no answer.
        """

    @property
    def supports_batched(self) -> bool:
        """Whether one call of ``predict_batch`` is faster than several calls of ``predict``."""
        return False

    def predict_batch(self, inputs: list[ModelInput]) -> list[ModelOutput]:
        """Return the next actions for several observations, in the order of ``inputs``."""
        return [self.predict(each) for each in inputs]

    def setup(self, device: str = "cpu") -> None:  # noqa: B027 - most models have nothing to prepare
        """Prepare the model; for example, load its weights or check that its server answers.

        Args:
            device: device on which a local model computes, such as "cpu" or "cuda:0".

        Raises:
            ModelError: the model cannot be used; the message says what is missing.
        """

    def teardown(self) -> None:  # noqa: B027 - most models have nothing to release
        """Release everything."""

    def begin_episode(  # noqa: B027 - most models need only observations
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        """Prepare for an episode. The environment was reset before this call.

        Args:
            task_spec: the task, for models that look ahead or simulate the task themselves.
            seed: seed of the episode.
            backend: name of the backend in which the model plays.
            tiling: "square" or "hex".

        Raises:
            ModelError: the model cannot play this task.
        """

    def end_episode(self, result: EpisodeResult) -> None:  # noqa: B027 - most models need no result
        """Take note of the end of an episode, solved or not."""

    def episode_details(self) -> Mapping[str, Any] | None:
        """Return JSON-able details of the last episode, such as calls and cost; None for no details.

        The results file holds the details as ``info["details"]`` of the episode. The details do not influence the
        score.
        """
        return None

    def describe(self) -> Mapping[str, Any]:
        """Return JSON-able facts about the model, such as versions and parameters, for the head of the results file."""
        return {}
