"""Options of an evaluation, and options that the evaluation shares with the tools.

``--help`` shows the descriptions under ``Attributes`` of the option classes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from cyclopts import Parameter

from spca.common.errors import SettingsError
from spca.common.options.values import FILE, FOLDER, NAME, WORD, name_value, option_group, text_option, whole_number

_TASKS: Final = option_group("What is played")
_OBSERVATION: Final = option_group("What the model is given")
_RUNNING: Final = option_group("How it is carried out")
ASKED_MODELS: Final = option_group("Model PREFIX/NAME, and others where it makes sense")

_TIERS: Final = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})?(,[0-9]{1,9}(-[0-9]{1,9})?)*")
_MAX_TIERS: Final = 1000
"""Largest number of tiers in one range."""


def parse_tiers(text: str) -> tuple[int, ...] | None:
    """Return the numbers of tiers in a text such as ``1``, ``1-3`` or ``2,4,5``, sorted and without repetitions.

    ``all`` gives None.

    Raises:
        ValueError: the text has another form, or a range of tiers is empty or too large.
    """
    compact = text.replace(" ", "").lower()
    if compact == "all":
        return None
    if not _TIERS.fullmatch(compact):
        raise ValueError(f"{text!a} names no tiers; write all, 1, 1-3 or 2,4,5")

    chosen: set[int] = set()
    for part in compact.split(","):
        first, _, last = part.partition("-")
        span = range(int(first), int(last or first) + 1)
        if not span or len(span) > _MAX_TIERS:
            raise ValueError(f"{part!a} is no range of tiers; the first comes first, as in 1-3")
        chosen.update(span)
    return tuple(sorted(chosen))


def _read_seed(text: str) -> int:
    try:
        return int(text)
    except ValueError as error:
        raise ValueError(f"{text!a:.80} is not a whole number") from error


SEED: Final = text_option(_read_seed, "N")
"""Type of an option whose value is any whole number."""
TIERS: Final = text_option(parse_tiers, "TIERS")
KIND: Final = name_value("KIND")

Tiling: TypeAlias = Literal["square", "hex"]
Limit: TypeAlias = Annotated[
    int | None,
    whole_number(1),
    Parameter(help="states that an exact search of a task may expand before it gives up (default 300000)"),
]
Strict: TypeAlias = Annotated[bool, Parameter(help="refuse unknown fields of tasks, which are a warning otherwise")]


@Parameter(name="*", group=_TASKS)
@dataclass(frozen=True, slots=True, kw_only=True)
class TaskOptions:
    """Options of the tasks to play, the backend and the seed.

    Attributes:
        benchmark: default validation_10
        tiers: of tiers: all (default), 1, 1-3 or 2,4,5
        task_dir: folder of tasks, or for tiers of folders tier1, tier2, ...
        backend: default minigrid
        tiling: default square, where tasks that were made for hex are refused; hex needs multigrid
        seed: of the model (default 42); tasks have theirs
        device: where a local model computes (default cpu)
    """

    benchmark: Annotated[Literal["validation_10", "tiers", "directory"], NAME] = "validation_10"
    tiers: Annotated[tuple[int, ...] | None, TIERS, Parameter(name="--tier")] = None
    task_dir: Annotated[str | None, FOLDER] = None
    backend: Annotated[Literal["minigrid", "multigrid"], NAME] = "minigrid"
    tiling: Annotated[Tiling, NAME] = "square"
    seed: Annotated[int, SEED] = 42
    device: Annotated[str, NAME] = "cpu"


@Parameter(name="*", group=_OBSERVATION)
@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationOptions:
    """Options of the observations and the history that the model is given.

    Attributes:
        observation: what a model sees: the image (default), or a text with a map and no image
        history_images: earlier images (default 2)
        history_text: what the last actions visibly did (default: yes)
        history_text_window: how many of them (default 3, or as many as --actions-per-call)
        history: images, a summary in words, both (default), or none
        text_observation: the text beside the image (default: no)
    """

    observation: Annotated[Literal["image", "text"], KIND] = "image"
    history_images: Annotated[int, whole_number(0)] = 2
    history_text: Annotated[bool, Parameter(negative="--no-history-text")] = True
    history_text_window: Annotated[int | None, whole_number(1)] = None
    history: Annotated[Literal["both", "images", "summary", "none"], KIND] = "both"
    text_observation: Annotated[bool, Parameter(negative="--no-text-observation")] = False


@Parameter(name="*", group=_RUNNING)
@dataclass(frozen=True, slots=True, kw_only=True)
class RunningOptions:
    """Options of the processes, the output and the resumption of an evaluation.

    Of these options, only ``limit`` changes the results. Without ``overwrite``, an interrupted evaluation goes on, and
    a finished evaluation is not played again.

    Attributes:
        output: results file (default results/<model>_<benchmark>.json)
        workers: processes, each with a model of its own (default 1)
        executor: processes of this machine (default), or Ray
        resume: take over kept calls of a model, too, whose results are gone; what was interrupted goes on in any case
        overwrite: begin again, whatever there is
        verbose: print every step
        quiet: print the summary only

    Raises:
        SettingsError: two options that exclude each other are set.
    """

    limit: Limit = None
    output: Annotated[Path | None, FILE] = None
    workers: Annotated[int, whole_number(1)] = 1
    executor: Annotated[Literal["local", "ray"], NAME] = "local"
    resume: bool = False
    overwrite: bool = False
    verbose: Annotated[bool, Parameter(name=("--verbose", "-v"))] = False
    quiet: bool = False
    strict: Annotated[Strict, Parameter(group=_TASKS)] = False

    def __post_init__(self) -> None:
        if self.resume and self.overwrite:
            raise SettingsError("--resume and --overwrite exclude each other: give one of them")
        if self.verbose and self.quiet:
            raise SettingsError("--verbose and --quiet exclude each other: give one of them")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """All options of the command except the options of models.

    Attributes:
        model: who plays: one of the models below
        effort: how much it reasons, such as low or high: the same as NAME@WORD
    """

    model: Annotated[str, NAME]
    effort: Annotated[str | None, WORD, Parameter(group=ASKED_MODELS)] = None
    tasks: TaskOptions = TaskOptions()
    observation: ObservationOptions = ObservationOptions()
    running: RunningOptions = RunningOptions()
