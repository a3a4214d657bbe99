"""Models for the tests, small tasks, and the command with those models, which ``python -m`` runs."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gridworld.errors import ModelError
from gridworld.evaluation import cli
from gridworld.evaluation.model_interface import ModelInput, ModelInterface, ModelOutput
from gridworld.evaluation.models.model_options import ModelRequest
from gridworld.evaluation.models.registry import ModelEntry
from gridworld.runner.episode_result import EpisodeResult
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.drawn import drawn
from tests.support.waiting import AGES


class Scripted(ModelInterface):
    """Does what it is told, the same in every episode, and remembers what it was given.

    Args:
        answers: an action per step, then waiting; an exception is raised.
        details: of every episode.
    """

    def __init__(self, *answers: Any, details: Any = None, uses_images: bool = True) -> None:
        self.answers, self.details, self.uses_images = answers, details, uses_images
        self.inputs: list[ModelInput] = []
        self.calls: list[str] = []

    @property
    def model_name(self) -> str:
        return "scripted"

    def setup(self, device: str = "cpu") -> None:
        self.calls.append(f"setup {device}")

    def teardown(self) -> None:
        self.calls.append("teardown")

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        self.calls.append(f"begin {task_spec.task_id} {seed} {backend} {tiling}")

    def end_episode(self, result: EpisodeResult) -> None:
        self.calls.append(f"end {result.success}")

    def episode_details(self) -> Mapping[str, Any] | None:
        if isinstance(self.details, Exception):
            raise self.details
        return self.details  # type: ignore[no-any-return]

    def predict(self, input: ModelInput) -> ModelOutput:
        self.inputs.append(input)
        answer = self.answers[input.step_number - 1] if input.step_number <= len(self.answers) else 6
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, ModelOutput) else ModelOutput(answer)


class Forward(Scripted):
    """Walks on; its process may die or stall on the way.

    Args:
        die_at: number of the prediction of this process at which it is killed; 0 for never.
        once: a file; where it exists nobody dies any more.
        stall_at: number of the prediction of this process that takes ages; 0 for none.
    """

    def __init__(self, die_at: int = 0, once: str | None = None, stall_at: int = 0) -> None:
        super().__init__(uses_images=False)
        self.die_at, self.once, self.stall_at = die_at, once, stall_at
        self.predictions = 0

    @property
    def model_name(self) -> str:
        return "forward"

    def predict(self, input: ModelInput) -> ModelOutput:
        del input
        self.predictions += 1
        if self.predictions == self.die_at and not (self.once and Path(self.once).exists()):
            if self.once:
                Path(self.once).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if self.predictions == self.stall_at:
            time.sleep(AGES)
        return ModelOutput(2)


@dataclass(frozen=True)
class ForwardOptions:
    die_at: int = 0
    once: str | None = None
    stall_at: int = 0


def forward(request: ModelRequest[ForwardOptions]) -> ModelInterface:
    options = request.options
    return Forward(options.die_at, options.once, options.stall_at)


def unusable(_request: object) -> ModelInterface:
    return Scripted(ModelError("nobody is there: start the server"), uses_images=False)


class Picky(Forward):
    """Plays no task called task_5."""

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        super().begin_episode(task_spec, seed, backend=backend, tiling=tiling)
        if task_spec.task_id == "task_5":
            raise ModelError("this task cannot be played")


ENTRIES = {
    "picky": ModelEntry(lambda _: Picky()),
    "forward": ModelEntry(forward, options=ForwardOptions, may_change=frozenset({"die_at", "once", "stall_at"})),
    "unusable": ModelEntry(unusable),
    "alone": ModelEntry(forward, options=None, max_workers=1),
}
"""Models for the command; "forward" solves the first half of :func:`corridors` and no other."""


def corridors(folder: Path, count: int = 6) -> list[TaskSpecification]:
    """Tasks in files: straight corridors of growing length, and as many with a bend."""
    folder.mkdir(parents=True, exist_ok=True)
    specs = []
    for number in range(count):
        length = number % (count // 2) + 1
        wall = "#" * (length + 3)
        goal, bend = ("G", ".") if number < count // 2 else (".", "G")
        spec = drawn(f"{wall}\n#A{'.' * (length - 1)}{goal}#\n#{'#' * length}{bend}#\n{wall}", max_steps=8)
        spec.task_id = f"task_{number}"
        spec.seed = number
        spec.to_json(folder / f"{number}.json")
        specs.append(spec)
    return specs


def main(argv: Sequence[str] | None = None) -> int:
    """The command with the models of this module."""
    return cli.main(argv, ENTRIES)


if __name__ == "__main__":
    # By its own name, so that worker processes find the factories.
    from tests.support.gridworld.players import main as of_module

    sys.exit(of_module())
