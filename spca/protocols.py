"""What the parts of the loop need of each other: world, executor of generated code, regression check, events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from spca.contracts import AgentSource, AgentView, Checkpoint, Outcome, Plan, PlanStep, Snapshot, Status, TraceStep


@dataclass(frozen=True, slots=True)
class Yielded:
    """Generated code asks for a primitive."""

    step: TraceStep


@dataclass(frozen=True, slots=True)
class Finished:
    """Every action of the plan has returned."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Generated code could not go on; ``status`` is one of runtime_error, syntax_error, missing_method."""

    status: Status
    message: str
    position: int | None = None
    traceback: str = ""


class Episode(Protocol):
    """One plan being executed by generated code, in lock-step with the world."""

    @property
    def printed(self) -> str:
        """What the code has printed so far, cut to a few KB."""
        ...

    def advance(self, view: AgentView) -> Yielded | Finished | Failed:
        """Show the state after the previous primitive, ask for the next one."""
        ...

    def close(self) -> None:
        """Release everything; idempotent."""
        ...


class Executor(Protocol):
    """Runs generated source; the World never imports it itself."""

    def start(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int]) -> Episode:
        """Begin ``steps`` with a fresh ``Agent``; ``previous`` are the primitives executed so far."""
        ...


class World(Protocol):
    """SENSE and ACT: what the loop needs of a world."""

    def sense(self) -> Snapshot: ...

    def run_sim(self, plan: Plan, agent: AgentSource) -> Outcome: ...

    def checkpoint(self) -> Checkpoint: ...

    def restore(self, checkpoint: Checkpoint) -> None: ...

    def close(self) -> None: ...


class RegressionCheck(Protocol):
    """Tells why a changed agent must not be kept: a failure in the coder's words, or None."""

    def __call__(self, agent: AgentSource, /) -> str | None: ...


class EventSink(Protocol):
    """Where a part reports what it did; nobody reads metrics to decide."""

    def __call__(self, event: str, data: Mapping[str, object], /) -> None: ...
