"""Interfaces of the loop's phases. The user's files at the top level of the project implement the phases.

No package imports those files. Instead, ``main.py`` hands its commands a function that loads the phases
(:data:`LoadPhases`). Therefore ``main.py`` shows only the loop, and ``main.py --help`` does not import the phases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from spca.act.frame import ReplayedWorld
from spca.contracts import AgentSource, FailedPlan, LevelInfo, LevelSpec, Plan, PlanFailure, Snapshot, TrustedPDDL
from spca.protocols import EventSink, Executor, World
from spca.sense.renaming import TRUE_WORDS, Renaming

if TYPE_CHECKING:  # these modules take long to import, and --help needs none of them
    from spca.code.regression import RegressionSuite
    from spca.llm.answer_tally import AnswerTally
    from spca.llm.calls.desk import CallDesk
    from spca.plan.solver import Solver
    from spca.prompts import Wording
    from spca.runs.level.compiled_planning import CompiledPlanning, Writers
    from spca.runs.results import LevelResult
    from spca.runs.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class Asking:
    """How models are asked.

    Attributes:
        desk: sends, counts and records all calls.
        tally: counts usable and unusable answers, and says when a level must stop asking.
        emit: receives an event for each call.
    """

    models: ModelSettings
    desk: CallDesk
    wording: Wording
    tally: AnswerTally
    emit: EventSink


@dataclass(frozen=True, slots=True)
class LoopParts:
    """The parts of the loop besides the models.

    Attributes:
        compiles: whether the planner is asked for problem writers.
        progress: called with the number of the round and the name of the phase when a phase begins.
        keep_copy: called with the agent's source before the source is executed.
        writers: stored problem writers, tried before the planner is asked.
    """

    solver: Solver
    compiles: bool
    regression: RegressionSuite
    progress: Callable[[int, str], None]
    keep_copy: Callable[[AgentSource], None]
    writers: Writers


class PlayedWorld(ReplayedWorld, Protocol):
    """A world that tells whether the episode is over, and its last reward."""

    @property
    def over(self) -> bool: ...

    @property
    def reward(self) -> float: ...


class PlayedWorldMaker(Protocol):
    """Interface of ``minigridenv.MiniGridEnv``: builds the world of a level and a seed.

    ``executor`` runs generated code. With ``upstream_rules``, the world judges missions exactly as minigrid does.
    """

    def __call__(
        self,
        level: LevelSpec,
        seed: int,
        /,
        *,
        render: bool = False,
        executor: Executor | None = None,
        upstream_rules: bool = False,
        renaming: Renaming = TRUE_WORDS,
    ) -> PlayedWorld: ...


class Planner(Protocol):
    """The part of ``plannerLLM.PlannerLLM`` that an evaluation calls."""

    def plan(
        self,
        snapshot: Snapshot,
        level: LevelInfo,
        actions: str,
        /,
        *,
        agent: AgentSource,
        failed: Sequence[FailedPlan] = ...,
    ) -> Plan | PlanFailure: ...


class LevelLoop(Protocol):
    """The part of ``main.Loop`` that a run calls."""

    compiled: CompiledPlanning

    def run_level(
        self, world: World, info: LevelInfo, known: AgentSource, trusted: TrustedPDDL | None = None, /
    ) -> LevelResult: ...


class LevelLog(Protocol):
    """The part of ``metrics_logger.MetricsLogger`` that the recorder calls."""

    def summary(self, outcome: str, reason: str, **extra: object) -> dict[str, Any]: ...

    def write_summary(self, summary: Mapping[str, Any], /) -> object: ...

    def end_level(self, summary: Mapping[str, Any], /) -> None: ...


class RunLog(LevelLog, EventSink, Protocol):
    """The part of ``metrics_logger.MetricsLogger`` that a run calls. The log stays open until the run ends."""

    def __enter__(self) -> RunLog: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

    def repair(self, finished: Iterable[Mapping[str, Any]], /) -> None: ...

    @property
    def episodes(self) -> int: ...

    def start_level(self, level: Mapping[str, object], index: int, /) -> None: ...

    def delay_interrupts(self) -> AbstractContextManager[None]: ...

    def interrupt(self, signal_name: str, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Phases:
    """The functions of the top-level files that commands call.

    Attributes:
        make_world: ``minigridenv.MiniGridEnv``.
        check_ids: raises an error if an environment id does not exist.
        known_ids: returns the ids of all environments.
        make_planner: makes a planner; its last two arguments are the solver and whether to ask for problem writers.
        make_loop: makes the loop from its parts.
        open_log: ``metrics_logger.MetricsLogger``. Its arguments are the run folder, the id of the run, and a function
            from the number of a level to the usage (requests, tokens, USD) of the level.
        watch_signals: installs signal handlers that interrupt the current level of a log; returns a function that
            removes the handlers.
    """

    make_world: PlayedWorldMaker
    check_ids: Callable[[Iterable[str]], None]
    known_ids: Callable[[], Sequence[str]]
    make_planner: Callable[[Asking, Solver, bool], Planner]
    make_loop: Callable[[Asking, LoopParts], LevelLoop]
    open_log: Callable[[Path, str, Callable[[int], Mapping[str, object]]], RunLog]
    watch_signals: Callable[[RunLog], Callable[[], None]]


LoadPhases: TypeAlias = Callable[[], Phases]
"""A function that imports the phases, which is slow, and returns them."""
