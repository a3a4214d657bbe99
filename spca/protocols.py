"""Interfaces between the parts of the loop: world, executor of generated code, regression check, event sink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from spca.contracts import AgentSource, AgentView, Checkpoint, Outcome, Plan, PlanStep, Snapshot, Status, TraceStep


@dataclass(frozen=True, slots=True)
class Yielded:
    """Generated code requests the execution of a primitive."""

    step: TraceStep


@dataclass(frozen=True, slots=True)
class Finished:
    """Every action of the plan has returned."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Generated code cannot go on.

    Attributes:
        status: runtime_error, syntax_error or missing_method.
        position: index of the plan step at fault; None if no step is at fault.
        traceback: traceback into the generated source.
    """

    status: Status
    message: str
    position: int | None = None
    traceback: str = ""


class Episode(Protocol):
    """The execution of one plan by generated code, in lock-step with the world."""

    @property
    def printed(self) -> str:
        """Output of the generated code so far, cut to a few KB."""
        ...

    def advance(self, view: AgentView) -> Yielded | Finished | Failed:
        """Pass ``view``, the state after the previous primitive, to the code; return its next primitive or its end."""
        ...

    def close(self) -> None:
        """Release all resources; a second call does nothing."""
        ...


class Executor(Protocol):
    """Runs generated source for a world; the world itself never imports generated source."""

    def start(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int]) -> Episode:
        """Begin to execute ``steps`` with a new ``Agent``, and return the episode.

        ``previous`` are the primitives executed since the reset of the world.
        """
        ...


class World(Protocol):
    """The methods of a world that the loop calls for SENSE and ACT."""

    def sense(self) -> Snapshot: ...

    def run_sim(self, plan: Plan, agent: AgentSource) -> Outcome: ...

    def checkpoint(self) -> Checkpoint: ...

    def restore(self, checkpoint: Checkpoint) -> None: ...

    def close(self) -> None: ...


class RegressionCheck(Protocol):
    """Function that returns feedback for the coder if a changed agent must not be kept, else None."""

    def __call__(self, agent: AgentSource, /) -> str | None: ...


class EventSink(Protocol):
    """Function that records an event of a part of the loop; recorded events never influence the loop."""

    def __call__(self, event: str, data: Mapping[str, object], /) -> None: ...
