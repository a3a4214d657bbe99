"""What an evaluation is told, and the tasks that this names."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from gridworld import library
from gridworld.errors import EvaluationError, TaskError
from gridworld.evaluation.running.player import Telling
from gridworld.evaluation.running.tasks import EvaluationTask, tasks_in
from gridworld.search.solver import DEFAULT_LIMIT

TILINGS_OF: Final[Mapping[str, tuple[str, ...]]] = {"minigrid": ("square",), "multigrid": ("square", "hex")}
"""Tilings by backend."""

_TIERS: Final = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})?(,[0-9]{1,9}(-[0-9]{1,9})?)*")
_MOST_TIERS: Final = 1000
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@\s]*@")


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides the results of an evaluation; one value passed down.

    Attributes:
        benchmark: "validation_10", "tiers" or "directory".
        task_dir: where the tasks are, if not in the package.
        tiers: which, of "tiers"; None for all.
        model: name in the table of models.
        options: values of the options of that model.
        seed: of the model; tasks have their own.
        limit: states that the search for the shortest solution of a task may expand.
    """

    benchmark: str
    model: str
    task_dir: str | None = None
    tiers: tuple[int, ...] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    backend: str = "minigrid"
    tiling: str = "square"
    seed: int = 42
    device: str = "cpu"
    telling: Telling = field(default_factory=Telling)
    limit: int = DEFAULT_LIMIT

    def __post_init__(self) -> None:
        if self.tiling not in TILINGS_OF.get(self.backend, (self.tiling,)):
            able = ", ".join(name for name, tilings in TILINGS_OF.items() if self.tiling in tilings)
            also = f"; --backend {able} has it" if able else ""
            raise EvaluationError(f"the {self.backend} backend has no tiling {self.tiling!a}{also}")
        if self.benchmark == "directory" and not self.task_dir:
            raise EvaluationError("--benchmark directory needs --task-dir DIR")
        if self.benchmark == "validation_10" and self.task_dir:
            raise EvaluationError("--task-dir goes with --benchmark directory or tiers, not with validation_10")
        if self.benchmark != "tiers" and self.tiers is not None:
            raise EvaluationError(f"--tier goes with --benchmark tiers, not with {self.benchmark}")

    @property
    def benchmark_name(self) -> str:
        """What results call the set of tasks: part of the tiers is another set than all of them."""
        if self.benchmark == "directory":
            return library.name_of(self.task_dir or ".")
        if self.tiers is None:
            return self.benchmark
        return f"{self.benchmark}_{','.join(map(str, self.tiers))}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-able, one level deep; addresses lose the name and password they may hold."""
        data = asdict(self)
        telling, options = data.pop("telling"), data.pop("options")
        tiers = None if self.tiers is None else list(self.tiers)
        if telling["observation"] == "image":  # as ever, so that what is older can go on
            del telling["observation"]
        plain = {**data, "tiers": tiers, **telling, **options}
        return {key: _CREDENTIALS.sub("", value) if isinstance(value, str) else value for key, value in plain.items()}


def tasks_of(settings: Settings, *, strict: bool = False, warnings: list[str] | None = None) -> list[EvaluationTask]:
    """The tasks of an evaluation, in order; every file is read and checked before anything is played.

    Args:
        strict, warnings: as for :func:`gridworld.evaluation.running.tasks.tasks_in`.

    Raises:
        TaskError: a folder or file cannot be used.
    """
    files: list[tuple[Path, int | None]]
    if settings.benchmark == "tiers":
        where = settings.task_dir or library.TASKS
        tiers = library.tiers(where) if settings.tiers is None else settings.tiers
        if not tiers:
            raise TaskError("there are no folders tier1, tier2, ...", str(where))
        files = [(file, tier) for tier in tiers for file in library.task_files(library.tier_dir(tier, where))]
    else:
        chosen = settings.task_dir if settings.benchmark == "directory" else settings.benchmark
        files = [(file, None) for file in library.task_files(chosen or settings.benchmark)]
    return tasks_in(files, settings.tiling, strict=strict, warnings=warnings)


def parse_tiers(text: str) -> tuple[int, ...] | None:
    """``all`` (None), ``1``, ``1-3`` or ``2,4,5``, in order and each once.

    Raises:
        ArgumentTypeError: it is anything else.
    """
    plain = text.replace(" ", "").lower()
    if plain == "all":
        return None
    if not _TIERS.fullmatch(plain):
        raise ArgumentTypeError(f"{text!a} names no tiers; write all, 1, 1-3 or 2,4,5")
    chosen: set[int] = set()
    for part in plain.split(","):
        first, _, last = part.partition("-")
        span = range(int(first), int(last or first) + 1)
        if not span or len(span) > _MOST_TIERS:
            raise ArgumentTypeError(f"{part!a} is no range of tiers; the first comes first, as in 1-3")
        chosen.update(span)
    return tuple(sorted(chosen))
