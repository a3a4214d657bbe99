"""Command-line options of an evaluation; an option that the user leaves out is None, False or ().

``--help`` shows the docstrings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from cyclopts import Parameter

from spca.common.options.values import FOLDER, MODEL, NAME, WORD, name_value, option_group, text_option, whole_number
from spca.evaluation.seeds import Seeds
from spca.runs.options import SEED, CapOptions, ServerOptions, SolverOptions

DEFAULT_SEEDS: Final = Seeds.read("1000:1100")
EMBEDDED: Final = "reference/planner"
NO_MODEL: Final = "none"
"""Value of ``--planner-model`` with which no model is asked, so that only stored writers plan."""

_SELECTION: Final = option_group("What is played", leads=True)
_HOW: Final = option_group("How", leads=True)
_MODEL: Final = option_group("A model for what no stored writer plans", leads=True)


SEEDS: Final = text_option(Seeds.read, "A:B")
"""Parser and placeholder of an option whose value is a list of seeds."""


@Parameter(name="*", group=_SELECTION)
@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeOptions:
    """The episodes to be played, and the agent and the rules that they are played with.

    Attributes:
        agent: an agent.py, or a run and its writers (default: the latest finished run)
        seeds: ranges without their end: 1000:1020,5000 (default 1000:1100)
        only: only these categories (A,B), or environment ids that match (GLOB); a second one narrows the first
            (default: the categories that the run learned)
        outside: play the ids that the curriculum lacks too, counted apart
        attempts: plans an episode may try, each after an undo (default 1)
        versus: have the bot of BabyAI play the same episodes
        rename_words: other words for colours and kinds, everywhere
        upstream_rules: judge as minigrid does, its known defects included
    """

    agent: Annotated[str | None, name_value("FILE|RUN")] = None
    seeds: Annotated[Seeds | None, SEEDS] = None
    only: Annotated[tuple[str, ...], name_value("NAMES")] = ()
    outside: bool = False
    attempts: Annotated[int | None, whole_number(1, 100)] = None
    versus: Literal["bot"] | None = None
    rename_words: Annotated[int | None, SEED, name_value("SEED")] = None
    upstream_rules: bool = False


@Parameter(name="*", group=_HOW)
@dataclass(frozen=True, slots=True, kw_only=True)
class HowOptions:
    """Processes, folders and output of an evaluation.

    Attributes:
        workers: processes (default: one for each processor)
        executor: processes of this machine (default), or Ray
        runs: where runs and evaluations lie (default runs)
        resume: go on with an evaluation that was interrupted: its id, or how it begins
        quiet: print nothing but errors and the final tables
    """

    workers: Annotated[int | None, whole_number(1)] = None
    executor: Annotated[Literal["local", "ray"], NAME] = "local"
    runs: Annotated[str | None, FOLDER] = None
    resume: Annotated[str | None, name_value("ID")] = None
    quiet: bool = False


@Parameter(name="*", group=_MODEL)
@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerOptions:
    """The model that plans if no stored writer has a plan.

    Attributes:
        planner_model: default reference/planner; none: writers alone
        planner_effort: how much it reasons, such as high
        prompts: folder of prompt templates that replace ours of the same names (default: the run's; docs/prompts.md)
    """

    planner_model: Annotated[str | None, MODEL] = None
    planner_effort: Annotated[str | None, WORD] = None
    prompts: Annotated[str | None, FOLDER] = None
    where: ServerOptions = ServerOptions()
    caps: CapOptions = CapOptions()
    solver: SolverOptions = SolverOptions()


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluateOptions:
    """All options of the command ``evaluate``."""

    episodes: EpisodeOptions = EpisodeOptions()
    how: HowOptions = HowOptions()
    planner: PlannerOptions = PlannerOptions()
