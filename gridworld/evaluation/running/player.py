"""The policy of one episode that asks a model: it builds inputs, checks answers and catches the model's errors."""

from __future__ import annotations

import copy
import json
import math
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gridworld.actions import ACTION_NAMES, Action, as_action
from gridworld.backends.base import AbstractGridBackend, GridState
from gridworld.errors import GridworldError, ModelUnavailableError, missing_part
from gridworld.evaluation.model_interface import ModelInput, ModelInterface, ModelOutput
from gridworld.evaluation.running import history
from gridworld.rules.observation import Observation
from gridworld.runner.encoding import json_text
from gridworld.runner.episode_result import EpisodeResult
from gridworld.task_spec import TaskSpecification

_NO_IMAGE: Final[NDArray[np.uint8]] = np.zeros((0, 0, 3), dtype=np.uint8)
_MAX_ERROR: Final = 2000


@dataclass(frozen=True, slots=True)
class Telling:
    """Settings of a model's input, apart from the task.

    Attributes:
        history_images: the most earlier images in the input.
        history_text: whether the input describes the last actions and their visible effects.
        history_text_window: the number of last actions that are described.
        text_observation: whether the input holds the observation as text, in addition to the image.
        observation: "image", or "text" for an observation as text without an image.
    """

    history_images: int = 2
    history_text: bool = True
    history_text_window: int = 3
    text_observation: bool = False
    observation: str = "image"


class Player:
    """The policy of one episode, which asks a model for each action.

    Attributes:
        error: the error of the model that stopped the episode; None without an error.
        answers: number of actions that were taken from the model's answers.
        seconds: time that the model took for all its calls of this episode.
    """

    def __init__(
        self, model: ModelInterface, backend: AbstractGridBackend, spec: TaskSpecification, seed: int, telling: Telling
    ) -> None:
        self.error: Exception | SystemExit | None = None
        self.answers = 0
        self.seconds = 0.0
        self._has_begun = False
        self._model = model
        self._backend = backend
        self._spec = spec
        self._seed = seed
        self._telling = telling
        # Earlier images and descriptions of earlier actions, oldest first; a full deque drops its oldest item.
        self._images: deque[NDArray[np.uint8]] = deque(maxlen=telling.history_images)
        self._lines: deque[str] = deque(maxlen=telling.history_text_window if telling.history_text else 0)
        # Name of the last action, and the observation before the action.
        self._last_step: tuple[str, Observation] | None = None
        # Actions of the last answer that are still to do.
        self._plan: deque[Action] = deque()
        # Tells the model which actions of its last answer were dropped, and why.
        self._dropped_note = ""

    def __call__(self, observation: Any, state: GridState, mission: str) -> tuple[int, Mapping[str, Any]] | None:
        """Return (action, notes on the model's answer), or None if the model has failed.

        Errors of the model are stored in :attr:`error`. Errors of the backend and of the drawing are raised.
        """
        del state
        seen = self._backend.observe()
        if not self._has_begun:
            self._begin_episode(seen.tiling)
            if self.error is not None:
                return None
        if self._last_step is not None and self._lines.maxlen:
            last_action, before = self._last_step
            self._lines.append(history.line(self.answers, last_action, before, seen))
        image = self._image_for_model(observation)
        notes: dict[str, Any] = {"model_planned": True}
        if not self._plan_goes_on(seen):
            model_input = self._model_input(image, seen, mission)
            with self._models_turn():
                output = self._model.predict(model_input)
                actions = (output.action, *getattr(output, "further", ()))
                self._plan.extend([as_action(each) for each in actions])
                notes = _record_answer(output)
        if not self._plan:
            return None
        action = self._plan.popleft()
        self.answers += 1
        self._last_step = ACTION_NAMES[action], seen
        if image.size:
            self._images.append(image)
        return int(action), notes

    def _begin_episode(self, tiling: str) -> None:
        """Call the model's ``begin_episode``. If it raises an error, store the error in :attr:`error`."""
        spec = copy.deepcopy(self._spec)  # so that the model cannot change the task
        with self._models_turn():
            backend = backend_name(self._backend)
            self._model.begin_episode(spec, self._seed, backend=backend, tiling=tiling)
            self._has_begun = True

    def _plan_goes_on(self, seen: Observation) -> bool:
        """Return whether the model's plan still holds an action to do.

        After a surprise, clear the plan and store the reason for the model's next input.
        """
        self._dropped_note = ""
        if not self._plan or self._last_step is None:
            return False
        last_action, before = self._last_step
        why = history.surprise(last_action, before, seen)
        if why:
            left = ", ".join(ACTION_NAMES[action] for action in self._plan)
            self._dropped_note = (
                f"Not done of your last answer: {left}. After {last_action} you are asked again: {why}."
            )
            self._plan.clear()
        return bool(self._plan)

    def finish(self, result: EpisodeResult) -> None:
        """Tell the model that the episode is over, and add the model's details, error and time to the result.

        Raises:
            ModelUnavailableError: the model cannot be used any more.
        """
        copied = _copy_for_model(result)
        earlier_error = self.error
        self.error = None
        with self._models_turn():
            if self._has_begun:
                self._model.end_episode(copied)
            details = self._model.episode_details()
            if details is not None:
                result.info["details"] = json.loads(json_text(dict(details)))
        if isinstance(self.error, ModelUnavailableError):
            raise self.error
        self.error = earlier_error or self.error
        if self.error is not None:
            result.info["model_error"] = error_line(self.error)
        result.info["model_seconds"] = round(self.seconds, 6)

    @contextmanager
    def _models_turn(self) -> Iterator[None]:
        """Add the time of the enclosed calls to :attr:`seconds`; store an error of the model in :attr:`error`."""
        started = time.perf_counter()
        try:
            yield
        except ImportError as error:
            self.error = missing_part(error, "the model")
        except (Exception, SystemExit) as error:  # a model is foreign code: its errors fail only this episode
            self.error = error
        finally:
            self.seconds += time.perf_counter() - started

    def _image_for_model(self, observation: Any) -> NDArray[np.uint8]:
        """Return the present image, or an empty image if the model does not use images."""
        if not self._model.uses_images:
            return _NO_IMAGE
        return observation if isinstance(observation, np.ndarray) else self._backend.render()

    def _model_input(self, image: NDArray[np.uint8], seen: Observation, mission: str) -> ModelInput:
        """Return the model's input before the next action, as the settings in ``Telling`` say."""
        context = []
        if self._lines:
            context.append("\n".join(("Last steps:", *self._lines)))
        if self._dropped_note:
            context.append(self._dropped_note)
        if self._telling.text_observation or self._telling.observation == "text":
            context.append(seen.text())
        return ModelInput(
            image=image.copy(),
            text_prompt=mission,
            action_space=dict(ACTION_NAMES),
            step_number=self.answers + 1,
            max_steps=self._spec.max_steps,
            additional_context="\n\n".join(context) or None,
            prior_images=[each.copy() for each in self._images],
        )


def _copy_for_model(result: EpisodeResult) -> EpisodeResult:
    """Return a copy that a model may change. The observations and states of the steps are shared, not copied."""
    return replace(
        result,
        trajectory=[replace(each, info=dict(each.info)) for each in result.trajectory],
        final_state=copy.deepcopy(result.final_state),
        info=dict(result.info),
    )


def error_line(error: BaseException) -> str:
    """Return an error as one line. If the error is not a GridworldError, the line starts with the name of its class."""
    text = " ".join(str(error).split())
    if not (isinstance(error, GridworldError) and text):
        text = f"{type(error).__name__}: {text}".rstrip(": ")
    return text[:_MAX_ERROR]


def backend_name(backend: AbstractGridBackend) -> str:
    """Return a backend's name for ``--backend``; for a backend that the user wrote, return the name of its class."""
    from gridworld.backends import BACKENDS

    name_of_class = {class_name: name for name, class_name in BACKENDS.items()}
    for each in type(backend).__mro__:  # a subclass counts as its base class
        if each.__name__ in name_of_class:
            return name_of_class[each.__name__]
    return type(backend).__name__


def _record_answer(output: ModelOutput) -> dict[str, Any]:
    """Return the JSON-able notes on an answer for the results file. Fields with the value None are left out."""
    notes: dict[str, Any] = {}
    confidence = output.confidence
    if isinstance(confidence, int | float | np.floating) and math.isfinite(confidence):
        notes["model_confidence"] = float(confidence)
    for name in ("reasoning", "raw_output"):
        text = getattr(output, name)
        if text is not None:
            notes[f"model_{name}"] = str(text)
    return notes
