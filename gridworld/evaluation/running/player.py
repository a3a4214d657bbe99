"""A model as the policy of one episode: builds what it gets, checks what it says, catches what it raises."""

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
_LONGEST_ERROR: Final = 2000


@dataclass(frozen=True, slots=True)
class Telling:
    """What a model is given beside the task and the present image.

    Attributes:
        history_images: how many earlier images.
        history_text: whether the last actions and their visible effects are told.
        history_text_window: how many of them.
        text_observation: whether the observation is told as text too.
        observation: "image", or "text": told as text and not shown.
    """

    history_images: int = 2
    history_text: bool = True
    history_text_window: int = 3
    text_observation: bool = False
    observation: str = "image"


class Player:
    """The policy of one episode.

    Attributes:
        error: what the model raised; the episode then stopped.
        answers: how many actions the model chose.
        seconds: the time it took, from the beginning of the episode to its end.
    """

    def __init__(
        self, model: ModelInterface, backend: AbstractGridBackend, spec: TaskSpecification, seed: int, telling: Telling
    ) -> None:
        self.error: Exception | SystemExit | None = None
        self.answers = 0
        self.seconds = 0.0
        self._begun = False
        self._model = model
        self._backend = backend
        self._spec = spec
        self._seed = seed
        self._telling = telling
        self._images: deque[NDArray[np.uint8]] = deque(maxlen=telling.history_images)
        self._lines: deque[str] = deque(maxlen=telling.history_text_window if telling.history_text else 0)
        self._before: tuple[str, Observation] | None = None
        self._plan: deque[Action] = deque()
        self._dropped = ""

    def __call__(self, observation: Any, state: GridState, mission: str) -> tuple[int, Mapping[str, Any]] | None:
        """Return the model's action and what it said, or None once it has failed.

        Raises:
            Exception: what is not the model's: seeing and drawing.
        """
        del state
        seen = self._backend.observe()
        if not self._begun:
            spec = copy.deepcopy(self._spec)  # whatever a model does with it, the task stays what it is
            with self._turn():
                backend = backend_name(self._backend)
                self._model.begin_episode(spec, self._seed, backend=backend, tiling=seen.tiling)
                self._begun = True
            if self.error is not None:
                return None
        if self._before is not None and self._lines.maxlen:
            self._lines.append(history.line(self.answers, *self._before, seen))
        image = self._image(observation)
        said: dict[str, Any] = {"model_planned": True}
        if not self._may_go_on(seen):
            asked = self._input(image, seen, mission)
            with self._turn():
                output = self._model.predict(asked)
                actions = (output.action, *getattr(output, "further", ()))
                self._plan.extend([as_action(each) for each in actions])
                said = _record_answer(output)
        if not self._plan:
            return None
        action = self._plan.popleft()
        self.answers += 1
        self._before = ACTION_NAMES[action], seen
        if image.size:
            self._images.append(image)
        return int(action), said

    def _may_go_on(self, seen: Observation) -> bool:
        """Return whether the last answer still holds an action that may be played now; else the rest is dropped."""
        self._dropped = ""
        if not self._plan or self._before is None:
            return False
        if why := history.surprise(*self._before, seen):
            left = ", ".join(ACTION_NAMES[action] for action in self._plan)
            self._dropped = f"Not done of your last answer: {left}. After {self._before[0]} you are asked again: {why}."
            self._plan.clear()
        return bool(self._plan)

    def finish(self, result: EpisodeResult) -> None:
        """Tell the model that the episode is over and note what is known about it.

        Raises:
            ModelUnavailableError: nothing more can be had from it.
        """
        copied = _copy(result)
        failed = self.error
        self.error = None
        with self._turn():
            if self._begun:
                self._model.end_episode(copied)
            details = self._model.episode_details()
            if details is not None:
                result.info["details"] = json.loads(json_text(dict(details)))
        if isinstance(self.error, ModelUnavailableError):
            raise self.error
        self.error = failed or self.error
        if self.error is not None:
            result.info["model_error"] = error_line(self.error)
        result.info["model_seconds"] = round(self.seconds, 6)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Time the model's turn; what it raises becomes ``error``."""
        started = time.perf_counter()
        try:
            yield
        except ImportError as error:
            self.error = missing_part(error, "the model")
        except (Exception, SystemExit) as error:  # foreign code: whatever it raises fails this episode only
            self.error = error
        finally:
            self.seconds += time.perf_counter() - started

    def _image(self, observation: Any) -> NDArray[np.uint8]:
        if not self._model.uses_images:
            return _NO_IMAGE
        return observation if isinstance(observation, np.ndarray) else self._backend.render()

    def _input(self, image: NDArray[np.uint8], seen: Observation, mission: str) -> ModelInput:
        context = []
        if self._lines:
            context.append("\n".join(("Last steps:", *self._lines)))
        if self._dropped:
            context.append(self._dropped)
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


def _copy(result: EpisodeResult) -> EpisodeResult:
    """Copy what a model may change without changing the result; pictures and states of steps are shared."""
    return replace(
        result,
        trajectory=[replace(each, info=dict(each.info)) for each in result.trajectory],
        final_state=copy.deepcopy(result.final_state),
        info=dict(result.info),
    )


def error_line(error: BaseException) -> str:
    """Return an error as one line; foreign errors are named by their class."""
    text = " ".join(str(error).split())
    if not (isinstance(error, GridworldError) and text):
        text = f"{type(error).__name__}: {text}".rstrip(": ")
    return text[:_LONGEST_ERROR]


def backend_name(backend: AbstractGridBackend) -> str:
    """Return the name that ``--backend`` uses, else the name of its class."""
    from gridworld.backends import BACKENDS

    names = {of_class: name for name, of_class in BACKENDS.items()}
    for each in type(backend).__mro__:
        if each.__name__ in names:
            return names[each.__name__]
    return type(backend).__name__


def _record_answer(output: ModelOutput) -> dict[str, Any]:
    """Return what of an answer is written down: JSON-able, and absent where the model said nothing."""
    said: dict[str, Any] = {}
    confidence = output.confidence
    if isinstance(confidence, int | float | np.floating) and math.isfinite(confidence):
        said["model_confidence"] = float(confidence)
    for name in ("reasoning", "raw_output"):
        text = getattr(output, name)
        if text is not None:
            said[f"model_{name}"] = str(text)
    return said
