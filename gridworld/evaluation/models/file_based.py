"""A model in another process, of any language: observations and answers are files.

Every episode has a fresh folder below ``work_dir``, ``<task_id>-<n>``, so that no answer of an earlier episode is taken
for one of this::

    episode.json            task_id, mission, max_steps, seed, tiling
    input/step_N.png        what is seen before step N; the first step is 1
    input/step_N.json       step_number, max_steps, text_prompt, action_space, image_path, prior_image_paths, and
                            additional_context if there is any; written after the picture
    output/step_N.json      the answer: {"action": 2}, and if you like "confidence" and "reasoning"
    result.json             written when the episode is over: success, steps_taken, total_reward

Files of ours appear whole. An answer may grow while it is read; it counts once it is a JSON object.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gridworld.errors import ModelError
from gridworld.evaluation.model_interface import ModelInput, ModelInterface, ModelOutput
from gridworld.runner.encoding import file_stem, json_text
from gridworld.task_spec import TaskSpecification
from spca.common.errors import FileError
from spca.common.files import read_bytes, replace_file

if TYPE_CHECKING:
    from gridworld.runner.episode_result import EpisodeResult

_GRACE_S: Final = 2.0
"""Seconds that an answer which is no JSON object has to grow into one."""
_SHORTEST_S: Final = 0.001
_MAX_BYTES: Final = 1 << 20


class FileBasedModelInterface(ModelInterface):
    """Writes what is seen, waits for what to do.

    Args:
        work_dir: where the folders of episodes are made; predictions outside an episode use it directly.
        timeout: seconds to wait for each answer.
        poll_interval: most seconds between two looks; the first ones follow each other faster.
    """

    def __init__(self, work_dir: str | os.PathLike[str], timeout: float = 60.0, poll_interval: float = 0.1) -> None:
        self.work_dir = Path(work_dir)
        self.timeout = timeout
        self.poll_interval = poll_interval
        self._use(self.work_dir)

    @property
    def model_name(self) -> str:
        return "file_based"

    def setup(self, device: str = "cpu") -> None:
        """Make the folder.

        Raises:
            ModelError: it cannot be made.
        """
        del device
        self._writing(lambda: self.work_dir.mkdir(parents=True, exist_ok=True))

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        """Make a fresh folder.

        Raises:
            ModelError: it cannot be made.
        """
        del backend
        self.setup()
        self._use(self._fresh(file_stem(task_spec.task_id)))
        for folder in (self.input, self.output):
            self._writing(folder.mkdir)
        told = {
            "task_id": task_spec.task_id,
            "mission": task_spec.get_mission_text(),
            "max_steps": task_spec.max_steps,
            "seed": seed,
            "tiling": tiling,
        }
        self._write(self.folder / "episode.json", told)

    def predict(self, input: ModelInput) -> ModelOutput:
        """Write one step and wait.

        Raises:
            ModelError: no answer in time, or one that is not an action.
        """
        from gridworld.drawing import png_bytes

        name = f"step_{input.step_number}"
        earlier = range(input.step_number - len(input.prior_images or ()), input.step_number)
        told: dict[str, Any] = {
            "step_number": input.step_number,
            "max_steps": input.max_steps,
            "text_prompt": input.text_prompt,
            "action_space": {str(number): action for number, action in input.action_space.items()},
            "prior_image_paths": [f"step_{step}.png" for step in earlier],
        }
        if input.image.size:
            told["image_path"] = f"{name}.png"
        if input.additional_context:
            told["additional_context"] = input.additional_context
        for folder in (self.input, self.output):
            self._writing(partial(folder.mkdir, parents=True, exist_ok=True))
        if input.image.size:
            self._writing(lambda: replace_file(self.input / f"{name}.png", png_bytes(input.image)))
        self._write(self.input / f"{name}.json", told)
        path = self.output / f"{name}.json"
        return _output(self._answer(path), input, path)

    def end_episode(self, result: EpisodeResult) -> None:
        told = {name: getattr(result, name) for name in ("task_id", "success", "steps_taken", "total_reward")}
        self._write(self.folder / "result.json", told)
        self._use(self.work_dir)

    def _use(self, folder: Path) -> None:
        self.folder = folder
        self.input = folder / "input"
        self.output = folder / "output"

    def _fresh(self, stem: str) -> Path:
        for number in count(1):
            folder = self.work_dir / f"{stem}-{number}"
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            except OSError as error:
                raise _unwritable(error) from error
            return folder
        raise ModelError(f"{self.work_dir}: has no room for another episode")

    def _write(self, path: Path, data: Mapping[str, Any]) -> None:
        self._writing(lambda: replace_file(path, (json_text(data, indent=2) + "\n").encode()))

    @staticmethod
    def _writing(write: Callable[[], object]) -> None:
        try:
            write()
        except OSError as error:
            raise _unwritable(error) from error

    def _answer(self, path: Path) -> dict[str, Any]:
        began = time.monotonic()
        stamp: tuple[int, int] | None = None
        since = 0.0
        while True:
            problem = "there is no such file"
            found = _stamp(path)
            if found is not None:
                if found != stamp:
                    stamp = found
                    since = time.monotonic()
                answer, problem = _read(path)
                if answer is not None:
                    return answer
            now = time.monotonic()
            if found is not None and now - since > min(_GRACE_S, self.timeout):
                raise ModelError(f'{path}: {problem}; write a JSON object such as {{"action": 2}}')
            if now - began > self.timeout:
                raise ModelError(f"{path}: no answer within {self.timeout:g} s: {problem} (--timeout waits longer)")
            time.sleep(min(self.poll_interval, max(_SHORTEST_S, (now - began) / 4)))


def _unwritable(error: OSError) -> ModelError:
    return ModelError(f"{error.filename or 'the exchange folder'}: cannot be written: {error.strerror or error}")


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _read(path: Path) -> tuple[dict[str, Any] | None, str]:
    """Return the answer and "", or None and what is wrong with it."""
    try:
        found = json.loads(read_bytes(path, _MAX_BYTES))
    except FileError as error:
        return None, f"cannot be read: {error.reason}"
    except (ValueError, RecursionError) as error:
        return None, f"is not JSON: {error}"
    if not isinstance(found, dict):
        return None, f"is a JSON {type(found).__name__}, not an object"
    return found, ""


def _output(answer: Mapping[str, Any], input: ModelInput, path: Path) -> ModelOutput:
    action = answer.get("action")
    if isinstance(action, bool) or not isinstance(action, int) or action not in input.action_space:
        numbers = ", ".join(f"{number} {name}" for number, name in input.action_space.items())
        raise ModelError(f'{path}: "action" is {action!r:.80}; there are {numbers}')
    confidence: Any = answer.get("confidence")
    sure = float(confidence) if type(confidence) in {int, float} and 0 <= confidence <= 1 else None
    reasoning = answer.get("reasoning")
    return ModelOutput(action, sure, reasoning if isinstance(reasoning, str) else None, json_text(answer))
