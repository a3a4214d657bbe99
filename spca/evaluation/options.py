"""What a user says of an evaluation on the command line; None, False or () where nothing is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from cyclopts import Parameter

from spca.common.options.values import option_group, text_option, whole_number
from spca.evaluation.seeds import read_seeds
from spca.runs.options import CapOptions, ServerOptions, SolverOptions

DEFAULT_SEEDS: Final = "1000:1100"
EMBEDDED: Final = "reference/planner"
NO_MODEL: Final = "none"
"""``--planner-model`` that asks no model: stored writers plan alone."""

_SELECTION: Final = option_group("What is played")
_HOW: Final = option_group("How")
_MODEL: Final = option_group("A model for what no stored writer plans")


def check_seeds(text: str) -> str:
    """Return the value of ``--seeds`` as it was given.

    Raises:
        ValueError: it does not name seeds.
    """
    read_seeds(text)
    return text


@Parameter(name="*", group=_SELECTION)
@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeOptions:
    """Which episodes are played, and with what."""

    agent: Annotated[
        str | None,
        Parameter(metavar="FILE|RUN", help="an agent.py, or a run and its writers (default: the latest finished run)"),
    ] = None
    seeds: Annotated[
        str | None,
        text_option(check_seeds),
        Parameter(metavar="A:B", help=f"ranges without their end: 1000:1020,5000 (default {DEFAULT_SEEDS})"),
    ] = None
    only: Annotated[
        tuple[str, ...],
        Parameter(
            metavar="NAMES",
            help="only these categories (A,B), or environment ids that match (GLOB); a second one narrows the first "
            "(default: the categories that the run learned)",
        ),
    ] = ()
    outside: Annotated[bool, Parameter(help="play the ids that the curriculum lacks too, counted apart")] = False
    attempts: Annotated[
        int | None,
        whole_number(1, 100),
        Parameter(metavar="N", help="plans an episode may try, each after an undo (default 1)"),
    ] = None
    versus: Annotated[Literal["bot"] | None, Parameter(help="have the bot of BabyAI play the same episodes")] = None
    rename_words: Annotated[
        int | None,
        whole_number(0),
        Parameter(metavar="SEED", help="other words for colours and kinds, everywhere"),
    ] = None
    upstream_rules: Annotated[bool, Parameter(help="judge as minigrid does, its known defects included")] = False


@Parameter(name="*", group=_HOW)
@dataclass(frozen=True, slots=True, kw_only=True)
class HowOptions:
    """How an evaluation is carried out."""

    workers: Annotated[
        int | None, whole_number(1), Parameter(metavar="N", help="processes (default: one for each processor)")
    ] = None
    runs: Annotated[str | None, Parameter(metavar="DIR", help="where runs and evaluations lie (default runs)")] = None
    resume: Annotated[
        str | None,
        Parameter(metavar="ID", help="go on with an evaluation that was interrupted: its id, or how it begins"),
    ] = None
    quiet: Annotated[bool, Parameter(help="print nothing but errors and the final tables")] = False


@Parameter(name="*", group=_MODEL)
@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerOptions:
    """Who plans where no stored writer does."""

    planner_model: Annotated[
        str | None, Parameter(metavar="MODEL", help=f"default {EMBEDDED}; {NO_MODEL}: writers alone")
    ] = None
    planner_effort: Annotated[str | None, Parameter(metavar="WORD", help="how much it reasons, such as high")] = None
    where: Annotated[ServerOptions, Parameter(group=_MODEL)] = ServerOptions()
    caps: CapOptions = CapOptions()
    solver: SolverOptions = SolverOptions()


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """What ``evaluate`` is told."""

    episodes: EpisodeOptions = EpisodeOptions()
    how: HowOptions = HowOptions()
    planner: PlannerOptions = PlannerOptions()
