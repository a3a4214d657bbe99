"""What a user says of a study of ablations on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from cyclopts import Parameter

from spca.common.options.values import option_group, text_option, whole_number
from spca.evaluation.options import EMBEDDED, NO_MODEL, check_seeds
from spca.runs.options import DisplayOptions, ModelOptions, SelectionOptions, SolverOptions

FULL: Final = "full"
SETTINGS: Final = (FULL, "no-compile", "no-reuse", "no-regression-check", "no-curriculum", "bare-prompt")
"""What is compared, by the flag that takes a part of learning away."""
SEEDS: Final = "1000:1010"

_STUDY: Final = option_group("The study")


def read_settings_list(text: str) -> tuple[str, ...]:
    """Return the names of settings.

    Raises:
        ValueError: one of them does not exist or is there twice.
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
    """What ``ablations`` is told; its other options are those of learning, and a cap holds for each run."""

    settings: Annotated[
        tuple[str, ...] | None,
        text_option(read_settings_list),
        Parameter(metavar="A,B", help=f"which: {','.join(SETTINGS)} (all that can matter)"),
    ] = None
    seeds: Annotated[
        str | None,
        text_option(check_seeds),
        Parameter(metavar="A:B", help=f"of the frozen episodes (default {SEEDS})"),
    ] = None
    frozen_planner: Annotated[
        str | None,
        Parameter(
            metavar="MODEL",
            help=f"plans where no stored writer does (default {EMBEDDED}; {NO_MODEL}: writers alone)",
        ),
    ] = None
    workers: Annotated[
        int | None,
        whole_number(1),
        Parameter(metavar="N", help="processes that play frozen episodes (default: one for each processor)"),
    ] = None
    runs: Annotated[str | None, Parameter(metavar="DIR", help="where studies lie (default runs)")] = None
    resume: Annotated[
        str | None,
        Parameter(metavar="ID", help="go on with a study that was interrupted: its id, or how it begins"),
    ] = None
    rename_words: Annotated[
        int | None,
        whole_number(0),
        Parameter(metavar="SEED", help="replace the words for colours and kinds by invented ones"),
    ] = None
    selection: SelectionOptions = SelectionOptions()
    models: ModelOptions = ModelOptions()
    solver: SolverOptions = SolverOptions()
    display: DisplayOptions = DisplayOptions()
