"""What a model sees and says, and what it can be told about an episode.

A model is judged on :meth:`ModelInterface.predict`, which gets what the observability of the task allows and nothing
else: never a :class:`~gridworld.backends.base.GridState`. Models that look ahead on purpose (bfs, greedy), or need to
know where one episode ends and the next begins, override the hooks around an episode.
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
    """What a model gets before each action.

    Attributes:
        image: RGB, uint8, shape (height, width, 3); exactly what the backend rendered. Empty, shape (0, 0, 3), for a
            model that does not use images.
        text_prompt: the task in words.
        action_space: names of the actions by number.
        step_number: of the action that is asked for; the first is 1.
        max_steps: actions after which the episode ends.
        additional_context: what the last actions did, and the observation as text, as far as the harness was told to.
        prior_images: what was seen before, oldest first; at most as many as the harness was told to keep.
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
    """What a model answers.

    Attributes:
        action: number of an action.
        confidence: 0 to 1.
        reasoning: why, in words.
        raw_output: the answer as the model gave it.
    """

    action: int
    confidence: float | None = None
    reasoning: str | None = None
    raw_output: str | None = None


@dataclass
class ModelPlan(ModelOutput):
    """An answer that names several actions.

    The rest of them is dropped, and the model asked again, once one of them visibly changes nothing, carries the agent
    further than one cell, or brings a thing into view.

    Attributes:
        further: numbers of the actions to do after the first one.
    """

    further: Sequence[int] = ()


class ModelInterface(ABC):
    """A model that plays tasks: at least ``model_name`` and ``predict``.

    The harness calls ``setup`` once, then for each episode ``begin_episode``, ``predict`` before each action,
    ``end_episode`` and ``episode_details``, and ``teardown`` at the end. A :class:`~gridworld.errors.ModelError` before
    the first answer ever ends the evaluation, since the model cannot be used, and so does a
    :class:`~gridworld.errors.ModelUnavailableError` or a failed import at any time, the present episode not being
    counted. Anything else ends the episode only, which counts as not solved and names the error.

    Attributes:
        uses_images: False spares the harness the drawing; ``ModelInput.image`` is then empty.
    """

    uses_images: bool = True

    @property
    @abstractmethod
    def model_name(self) -> str:
        """What results call this model."""

    @abstractmethod
    def predict(self, input: ModelInput) -> ModelOutput:
        """Return the next action.

        Raises:
            ModelError: there is no answer.
        """

    @property
    def supports_batched(self) -> bool:
        """Whether ``predict_batch`` is faster than one call after another."""
        return False

    def predict_batch(self, inputs: list[ModelInput]) -> list[ModelOutput]:
        """Return the next action for each of several observations, in their order."""
        return [self.predict(each) for each in inputs]

    def setup(self, device: str = "cpu") -> None:  # noqa: B027 - most have nothing to prepare
        """Get ready: load weights, look whether the server answers.

        Args:
            device: where a local model computes, such as "cpu" or "cuda:0".

        Raises:
            ModelError: the model cannot be used; names what it lacks.
        """

    def teardown(self) -> None:  # noqa: B027 - most have nothing to release
        """Release everything."""

    def begin_episode(  # noqa: B027 - most need nothing but observations
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        """Prepare for an episode; the environment has been reset.

        Args:
            task_spec: the task, for models that look ahead or play it in a world of their own.
            seed: of the episode.
            backend: name of the backend that judges.
            tiling: "square" or "hex".

        Raises:
            ModelError: this task cannot be played.
        """

    def end_episode(self, result: EpisodeResult) -> None:  # noqa: B027 - most need not know
        """Note that the episode is over, solved or not."""

    def episode_details(self) -> Mapping[str, Any] | None:
        """Return JSON-able details of the episode just played: rounds, calls, cost; None for no details.

        It is written beside the episode as ``info["details"]`` and judged by nobody.
        """
        return None

    def describe(self) -> Mapping[str, Any]:
        """Describe this model, JSON-able: versions, parameters, address; written into the results file once."""
        return {}
