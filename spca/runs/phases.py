"""The phases of the loop as packages know them: the user's files of the top level, which no package imports.

``main.py`` hands a function that loads them to its commands. So a package plays levels without reaching up, ``main.py``
shows the loop alone, and ``main.py --help`` imports none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from spca.act.frame import ReplayedWorld
from spca.contracts import AgentSource, FailedPlan, LevelInfo, Plan, PlanFailure, Snapshot, TrustedPDDL
from spca.protocols import EventSink, Executor, World
from spca.sense.renaming import TRUE_WORDS, Renaming

if TYPE_CHECKING:  # --help need not wait for their imports
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
        desk: what all calls pass through.
        tally: told of answers; it says when a level has asked often enough.
        emit: told of calls.
    """

    models: ModelSettings
    desk: CallDesk
    wording: Wording
    tally: AnswerTally
    emit: EventSink


@dataclass(frozen=True, slots=True)
class LoopParts:
    """What the loop works with, besides whom it asks.

    Attributes:
        compiles: whether problem writers are asked for.
        progress: told of the present round and phase.
        keep_copy: given the source that is about to be executed.
        writers: stored problem writers, tried before the planner is asked.
    """

    solver: Solver
    compiles: bool
    regression: RegressionSuite
    progress: Callable[[int, str], None]
    keep_copy: Callable[[AgentSource], None]
    writers: Writers


class PlayedWorld(ReplayedWorld, Protocol):
    """A world whose end and reward can be seen."""

    @property
    def over(self) -> bool: ...

    @property
    def reward(self) -> float: ...


class PlayedWorldMaker(Protocol):
    """What is needed of ``minigridenv.MiniGridEnv``: it builds the world of an environment id and a seed.

    It runs generated code by ``executor``, and judges as minigrid does with ``upstream_rules``.
    """

    def __call__(
        self,
        env_id: str,
        seed: int,
        /,
        *,
        render: bool = False,
        executor: Executor | None = None,
        upstream_rules: bool = False,
        renaming: Renaming = TRUE_WORDS,
    ) -> PlayedWorld: ...


class Planner(Protocol):
    """What an evaluation needs of ``plannerLLM.PlannerLLM``."""

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
    """What a run needs of ``main.Loop``."""

    compiled: CompiledPlanning

    def run_level(
        self, world: World, info: LevelInfo, known: AgentSource, trusted: TrustedPDDL | None = None, /
    ) -> LevelResult: ...


class LevelLog(Protocol):
    """What the recorder needs of ``metrics_logger.MetricsLogger``."""

    def summary(self, outcome: str, reason: str, **extra: object) -> dict[str, Any]: ...

    def write_summary(self, summary: Mapping[str, Any], /) -> object: ...

    def end_level(self, summary: Mapping[str, Any], /) -> None: ...


class RunLog(LevelLog, EventSink, Protocol):
    """What a run needs of ``metrics_logger.MetricsLogger``, which is held while the run goes on."""

    def __enter__(self) -> RunLog: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

    def repair(self, finished: list[dict[str, Any]], /) -> None: ...

    def start_level(self, level: Mapping[str, object], index: int, /) -> None: ...

    def delay_interrupts(self) -> AbstractContextManager[None]: ...

    def interrupt(self, signal_name: str, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Phases:
    """What commands need of the top level.

    Attributes:
        make_world: ``minigridenv.MiniGridEnv``.
        check_ids: refuses ids of environments that do not exist.
        known_ids: ids of all environments.
        make_planner: given the solver and whether problem writers are asked for.
        make_loop: given what the loop works with.
        open_log: ``metrics_logger.MetricsLogger``: given the run's folder, its id and what a level has used so far.
        watch_signals: has signals interrupt the level of a log; returns how to undo it.
    """

    make_world: PlayedWorldMaker
    check_ids: Callable[[Iterable[str]], None]
    known_ids: Callable[[], Sequence[str]]
    make_planner: Callable[[Asking, Solver, bool], Planner]
    make_loop: Callable[[Asking, LoopParts], LevelLoop]
    open_log: Callable[[Path, str, Callable[[int], Mapping[str, object]]], RunLog]
    watch_signals: Callable[[RunLog], Callable[[], None]]


LoadPhases: TypeAlias = Callable[[], Phases]
"""Imports the phases, which takes a while, and returns them."""
