"""Interfaces between the parts of the loop: world, executor of generated code, regression check, event sink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from spca.body import Body
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

    def start(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int], body: Body) -> Episode:
        """Begin to execute ``steps`` with a new ``Agent`` of a body, and return the episode.

        ``previous`` are the primitives executed since the reset of the world.
        """
        ...


class World(Protocol):
    """The methods of a world that the loop calls for SENSE and ACT."""

    @property
    def body(self) -> Body:
        """The body of the agent in this world."""
        ...

    @property
    def can_restore(self) -> bool:
        """Whether checkpoints can be restored; if not, the world has one life."""
        ...

    @property
    def one_life_reason(self) -> str:
        """Why no checkpoint can be restored; "" if checkpoints can be restored."""
        ...

    def sense(self) -> Snapshot: ...

    def run_sim(self, plan: Plan, agent: AgentSource) -> Outcome: ...

    def checkpoint(self) -> Checkpoint: ...

    def restore(self, checkpoint: Checkpoint) -> None: ...

    def close(self) -> None: ...


class PluginWorld(World, Protocol):
    """A world that a plugin registers; :class:`spca.act.world.ActingWorld` has all of it but the simulator.

    Attributes:
        renaming: the words that planner and generated code are shown; set after the world was built.
    """

    renaming: Any

    @property
    def mission(self) -> str:
        """The task in words."""
        ...

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        ...

    @property
    def reward(self) -> float:
        """Reward of the last primitive."""
        ...

    def step(self, code: int) -> None:
        """Execute one primitive."""
        ...

    def frame(self) -> Any:
        """Return the present state for people who watch: a :class:`spca.act.frame.TextFrame`."""
        ...


class RegressionCheck(Protocol):
    """Function that returns feedback for the coder if a changed agent must not be kept, else None."""

    def __call__(self, agent: AgentSource, /) -> str | None: ...


class Policy(Protocol):
    """An agent without the loop: it chooses one primitive after the other from what a world shows.

    Attributes:
        usage: what the episode has cost, such as ``{"requests": 3, "cost": 0.01}``; {} if it has cost nothing.
    """

    @property
    def usage(self) -> Mapping[str, object]: ...

    def reset(self, shown: Mapping[str, object], mission: str) -> None:
        """Begin an episode with what the world shows at its start, and the task in words."""
        ...

    def act(self, shown: Mapping[str, object]) -> int:
        """Return the code of the next primitive."""
        ...


class EventSink(Protocol):
    """Function that records an event of a part of the loop; recorded events never influence the loop."""

    def __call__(self, event: str, data: Mapping[str, object], /) -> None: ...
