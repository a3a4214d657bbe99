"""A model in another process, in any programming language, which exchanges files with the evaluation.

Every episode has a new folder ``<task_id>-<n>`` in ``work_dir``, so that answers of earlier episodes are never used::

    episode.json            task_id, mission, max_steps, seed, tiling
    input/step_N.png        the image before step N, from step 1
    input/step_N.json       step_number, max_steps, text_prompt, action_space, image_path, prior_image_paths, and
                            additional_context if not empty; written after the image
    output/step_N.json      the answer: {"action": 2}, optionally "confidence" and "reasoning"
    result.json             written when the episode is over: success, steps_taken, total_reward

The evaluation writes each file in one piece. An answer may be written slowly; the answer counts once its file holds
a JSON object.
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
"""Seconds after which an unchanged file without a JSON object counts as a wrong answer."""
_MIN_PAUSE_S: Final = 0.001
"""Shortest pause in seconds between two checks for an answer."""
_MAX_BYTES: Final = 1 << 20
"""Largest size of an answer, in bytes."""


class FileBasedModelInterface(ModelInterface):
    """A model that writes each observation to a file and waits for a file with the action.

    Args:
        work_dir: folder that holds the folders of episodes; predictions outside of an episode use ``work_dir`` itself.
        timeout: seconds to wait for each answer.
        poll_interval: longest pause in seconds between two checks for the answer; the first pauses are shorter.
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
        """Create ``work_dir``.

        Raises:
            ModelError: the folder cannot be created.
        """
        del device
        self._translate_errors(lambda: self.work_dir.mkdir(parents=True, exist_ok=True))

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        """Create the folder of the episode and write ``episode.json``.

        Raises:
            ModelError: the folder or the file cannot be written.
        """
        del backend
        self.setup()
        self._use(self._create_folder(file_stem(task_spec.task_id)))
        for folder in (self.input, self.output):
            self._translate_errors(folder.mkdir)
        content = {
            "task_id": task_spec.task_id,
            "mission": task_spec.get_mission_text(),
            "max_steps": task_spec.max_steps,
            "seed": seed,
            "tiling": tiling,
        }
        self._write_json(self.folder / "episode.json", content)

    def predict(self, input: ModelInput) -> ModelOutput:
        """Write the input of one step, wait for the answer and return the action.

        Raises:
            ModelError: no answer came in time, or the answer names no action.
        """
        from gridworld.drawing import png_bytes

        name = f"step_{input.step_number}"
        # The image of an earlier step was written when the step was asked for.
        earlier = range(input.step_number - len(input.prior_images or ()), input.step_number)
        content: dict[str, Any] = {
            "step_number": input.step_number,
            "max_steps": input.max_steps,
            "text_prompt": input.text_prompt,
            "action_space": {str(number): action for number, action in input.action_space.items()},
            "prior_image_paths": [f"step_{step}.png" for step in earlier],
        }
        if input.image.size:
            content["image_path"] = f"{name}.png"
        if input.additional_context:
            content["additional_context"] = input.additional_context
        for folder in (self.input, self.output):
            self._translate_errors(partial(folder.mkdir, parents=True, exist_ok=True))
        if input.image.size:
            image_path = self.input / f"{name}.png"
            self._translate_errors(lambda: replace_file(image_path, png_bytes(input.image)))
        self._write_json(self.input / f"{name}.json", content)
        path = self.output / f"{name}.json"
        return _parse_answer(self._wait_for_answer(path), input, path)

    def end_episode(self, result: EpisodeResult) -> None:
        content = {name: getattr(result, name) for name in ("task_id", "success", "steps_taken", "total_reward")}
        self._write_json(self.folder / "result.json", content)
        self._use(self.work_dir)

    def _use(self, folder: Path) -> None:
        """Set the folder in which files are exchanged from now on."""
        self.folder = folder
        self.input = folder / "input"
        self.output = folder / "output"

    def _create_folder(self, stem: str) -> Path:
        """Create and return the folder ``<stem>-<n>`` with the lowest unused number, from 1."""
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

    def _write_json(self, path: Path, data: Mapping[str, Any]) -> None:
        text = json_text(data, indent=2) + "\n"
        self._translate_errors(lambda: replace_file(path, text.encode()))

    @staticmethod
    def _translate_errors(write: Callable[[], object]) -> None:
        """Call ``write``; raise a :class:`ModelError` if ``write`` cannot write."""
        try:
            write()
        except OSError as error:
            raise _unwritable(error) from error

    def _wait_for_answer(self, path: Path) -> dict[str, Any]:
        """Wait until a file holds a complete JSON object, and return the object.

        Raises:
            ModelError: no answer came within ``timeout``, or the file stopped changing without holding a JSON object.
        """
        began = time.monotonic()
        last_version: tuple[int, int] | None = None
        last_change = 0.0
        while True:
            problem = "there is no such file"
            version = _file_version(path)
            if version is not None:
                if version != last_version:
                    last_version = version
                    last_change = time.monotonic()
                answer, problem = _read_answer(path)
                if answer is not None:
                    return answer
            now = time.monotonic()
            if version is not None and now - last_change > min(_GRACE_S, self.timeout):
                raise ModelError(f'{path}: {problem}; write a JSON object such as {{"action": 2}}')
            waited = now - began
            if waited > self.timeout:
                raise ModelError(f"{path}: no answer within {self.timeout:g} s: {problem} (--timeout waits longer)")
            # Quick answers are found quickly, and long waits need few looks.
            pause = max(_MIN_PAUSE_S, waited / 4)
            time.sleep(min(self.poll_interval, pause))


def _unwritable(error: OSError) -> ModelError:
    return ModelError(f"{error.filename or 'the exchange folder'}: cannot be written: {error.strerror or error}")


def _file_version(path: Path) -> tuple[int, int] | None:
    """Return (size in bytes, time of the last change in ns), by which versions of a file differ; None if there is no
    file.
    """
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns


def _read_answer(path: Path) -> tuple[dict[str, Any] | None, str]:
    """Return (answer, "") if a file holds a JSON object; otherwise return (None, fault of the file in words)."""
    try:
        answer = json.loads(read_bytes(path, _MAX_BYTES))
    except FileError as error:
        return None, f"cannot be read: {error.reason}"
    except (ValueError, RecursionError) as error:
        return None, f"is not JSON: {error}"
    if not isinstance(answer, dict):
        return None, f"is a JSON {type(answer).__name__}, not an object"
    return answer, ""


def _parse_answer(answer: Mapping[str, Any], input: ModelInput, path: Path) -> ModelOutput:
    """Return the action, confidence and reasoning of an answer; raise a :class:`ModelError` if the answer names no
    action.
    """
    action = answer.get("action")
    is_number = isinstance(action, int) and not isinstance(action, bool)
    if not is_number or action not in input.action_space:
        numbers = ", ".join(f"{number} {name}" for number, name in input.action_space.items())
        raise ModelError(f'{path}: "action" is {action!r:.80}; there are {numbers}')
    confidence: Any = answer.get("confidence")
    if type(confidence) not in {int, float} or not 0 <= confidence <= 1:
        confidence = None
    reasoning = answer.get("reasoning")
    return ModelOutput(
        action,
        None if confidence is None else float(confidence),
        reasoning if isinstance(reasoning, str) else None,
        json_text(answer),
    )
