"""Command-line options of an ablation study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from cyclopts import Parameter

from spca.common.options.values import FOLDER, MODEL, name_value, option_group, text_option, whole_number
from spca.evaluation.options import SEEDS
from spca.evaluation.seeds import Seeds
from spca.runs.options import SEED, DisplayOptions, ModelOptions, SelectionOptions, SolverOptions

FULL: Final = "full"
SETTINGS: Final = (FULL, "no-compile", "no-reuse", "no-regression-check", "no-curriculum", "bare-prompt")
"""The settings that a study compares. Each name, except "full", is the flag that switches a part of learning off."""
DEFAULT_SEEDS: Final = Seeds.read("1000:1010")

_STUDY: Final = option_group("The study")


def read_settings_list(text: str) -> tuple[str, ...]:
    """Return the names of settings in a list that is separated by commas.

    Raises:
        ValueError: a setting does not exist, or the list names a setting twice.
    """
    names = tuple(name.strip() for name in text.split(","))
    for name in names:
        if name not in SETTINGS:
            raise ValueError(f"{name!a:.80} is no setting: choose from {', '.join(SETTINGS)}")
        if names.count(name) > 1:
            raise ValueError(f"{name} is there twice: give each setting once")
    return names


@Parameter(name="*", group=_STUDY)
@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """All options of the command ``ablations``, most of which are options of learning; a cap holds for each run.

    Attributes:
        settings: which: full, no-compile, no-reuse, no-regression-check, no-curriculum, bare-prompt (all that can
            matter)
        seeds: of the frozen episodes (default 1000:1010)
        frozen_planner: plans where no stored writer does (default reference/planner; none: writers alone)
        workers: processes that play frozen episodes (default: one for each processor)
        runs: where studies lie (default runs)
        resume: go on with a study that was interrupted: its id, or how it begins
        rename_words: replace the words for colours and kinds by invented ones
    """

    settings: Annotated[tuple[str, ...] | None, text_option(read_settings_list, "A,B")] = None
    seeds: Annotated[Seeds | None, SEEDS] = None
    frozen_planner: Annotated[str | None, MODEL] = None
    workers: Annotated[int | None, whole_number(1)] = None
    runs: Annotated[str | None, FOLDER] = None
    resume: Annotated[str | None, name_value("ID")] = None
    rename_words: Annotated[int | None, SEED, name_value("SEED")] = None
    selection: SelectionOptions = SelectionOptions()
    models: ModelOptions = ModelOptions()
    solver: SolverOptions = SolverOptions()
    display: DisplayOptions = DisplayOptions()
