"""ACT: carry out a plan in a world, with checkpoints by snapshot or replay. This module holds what all worlds share.

A world supplies the simulator: how it is reset and stepped, what it shows, and when the mission is solved.
:mod:`spca.act.mapped_world` adds the map of the grid's worlds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

from spca.act.frame import TextFrame, WorldFrame
from spca.act.plan_execution import PlanExecution
from spca.act.snapshots import Parts, Snapshots
from spca.act.stuck import StuckDetector
from spca.body import Body
from spca.contracts import (
    AgentSource,
    AgentView,
    Checkpoint,
    EpisodeEnd,
    Outcome,
    Plan,
    Snapshot,
    Status,
    TraceStep,
)
from spca.errors import ForeignCheckpointError, RestoreError, WorldError
from spca.protocols import Executor, Failed, Finished, Yielded
from spca.sense.renaming import TRUE_WORDS, Renaming


class ActingWorld(ABC):
    """A World that executes plans.

    By default its episodes are deterministic: a reset and the same primitives lead to the same state. A world that
    cannot go back has one life: it overrides :attr:`one_life_reason`.

    Args:
        executor: runs generated code.
        body: the body of the agent.
        renaming: the words that the planner and generated code are shown. The world itself keeps the true words.

    Attributes:
        name: name of the world, for error messages.
        patience: number of successive primitives without progress after which an attempt is stuck.
        previous_actions: primitives executed since the reset.
        restore_count: how often a checkpoint was restored.
        mission: the task in words.
    """

    body: Body

    def __init__(self, name: str, executor: Executor, body: Body, renaming: Renaming = TRUE_WORDS) -> None:
        self.name = name
        self.body = body
        self.renaming = renaming
        self.patience = body.budgets.patience
        self.previous_actions: list[int] = []
        self.restore_count = 0
        self.mission = ""
        self._executor = executor
        self._snapshots = Snapshots()

    @property
    def one_life_reason(self) -> str:
        """Why no checkpoint can be restored, so that the world has one life; "" if checkpoints can be restored."""
        return ""

    @property
    def can_restore(self) -> bool:
        """Whether checkpoints can be restored."""
        return not self.one_life_reason

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether the episode has ended; after its end, a checkpoint must be restored before the next step."""

    @property
    @abstractmethod
    def reward(self) -> float:
        """Reward of the last primitive."""

    @abstractmethod
    def step(self, code: int) -> None:
        """Execute one primitive, append it to ``previous_actions``, and observe the new state.

        Raises:
            WorldError: the episode is over, or the simulator failed.
            ValueError: ``code`` is not a primitive.
        """

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def _reset(self) -> None:
        """Begin the episode again, with an empty list ``previous_actions``."""

    @abstractmethod
    def _hash(self) -> str:
        """Return a hash of the state, if possible including the parts of the simulator that the agent cannot see."""

    @abstractmethod
    def _is_solved(self) -> bool:
        """Return whether the mission was complete when the episode ended; called only after the end."""

    @abstractmethod
    def _why_over(self) -> str:
        """Return the reason, in words, why the episode ended before the mission was complete."""

    @abstractmethod
    def _describe_shown(self) -> Mapping[str, Any]:
        """Return what the planner is shown of the present state, besides the mission."""

    @abstractmethod
    def _agent_view(self) -> AgentView:
        """Return the present values of the body's state attributes."""

    @abstractmethod
    def _state(self) -> Hashable:
        """Return the parts of the state by which the stuck detector sees progress."""

    @contextmanager
    def _gather_saved_parts(self) -> Iterator[Parts]:
        """Yield the objects whose attributes a snapshot saves and restores, such as the simulator.

        Yield () if no snapshot is possible, so that a restore has to replay.
        """
        yield ()

    def _corrections(self) -> tuple[str, ...]:
        """Return the names of the corrections that have changed a judgement of the simulator in this episode."""
        return ()

    def pop_discoveries(self) -> tuple[str, ...]:
        """Return the discoveries since the last call, such as kinds of things, and forget them."""
        return ()

    def sense(self) -> Snapshot:
        """Return a snapshot of what the planner is shown."""
        return Snapshot(self.renaming.text(self.mission), self._describe_shown())

    def frame(self) -> WorldFrame:
        """Return the present state for people who watch."""
        rows = tuple(self.body.drawing.draw_rows(self._describe_shown()))
        return TextFrame(rows, self.draw_picture(), self.reward, self.over)

    def draw_picture(self) -> bytes | None:
        """Return a picture of the present state as PNG; None for a world without pictures."""
        return None

    def run_sim(self, plan: Plan, agent: AgentSource) -> Outcome:
        """Execute a plan with the generated methods of ``agent`` until it ends, fails or is stuck.

        Raises:
            WorldError: the episode is over, or what the agent sees cannot be sent to its worker.
            SandboxError: generated code cannot be executed safely.
        """
        self._refuse_when_over()
        with closing(self.begin_plan(plan, agent)) as execution:
            outcome = self._carry_out(plan, execution)
            return replace(outcome, printed=execution.printed)

    def begin_plan(self, plan: Plan, agent: AgentSource) -> PlanExecution:
        """Begin to execute a plan with the generated methods of ``agent``; the caller closes the execution.

        Raises:
            SandboxError: generated code cannot be executed safely.
        """
        episode = self._executor.start(agent, plan.steps, self.previous_actions, self.body)
        detector = StuckDetector(self.patience, self.body.budgets.repeats, self.body.progress)
        return PlanExecution(episode, detector)

    def advance_plan(self, execution: PlanExecution) -> Yielded | Finished | Failed:
        """Show generated code the present state; return its next primitive, which is not executed, or the plan's end.

        Raises:
            WorldError: what the agent sees cannot be sent to its worker.
            SandboxError: generated code cannot be executed safely.
        """
        try:
            return execution.advance(self._agent_view(), self._state())
        except ValueError as error:
            raise WorldError(f"{self.name}: {error}") from error

    def checkpoint(self) -> Checkpoint:
        """Return a checkpoint of the present state: the primitives since the reset, and the hash of the state."""
        made = Checkpoint(tuple(self.previous_actions), self._hash())
        with self._gather_saved_parts() as parts:
            self._snapshots.keep(made, parts)
        return made

    def restore(self, checkpoint: Checkpoint) -> None:
        """Return to the state of a checkpoint: load its snapshot or, if that fails, reset and replay the primitives.

        The hash of the new state must equal the hash in the checkpoint.

        Raises:
            ForeignCheckpointError: the world cannot replay, and the checkpoint is none of its own.
            RestoreError: the world has one life, or the primitives cannot be replayed or lead to another state.
        """
        if not self.can_restore:
            raise RestoreError(f"{self.name}: this world has one life: no earlier state can be restored")
        self.restore_count += 1
        if not (self._load_snapshot(checkpoint) and self._hash() == checkpoint.state_hash):
            if fault := self._find_replay_fault():
                raise ForeignCheckpointError(
                    f"{self.name}: only the world that made a checkpoint can restore it: {fault}"
                )
            self._replay(checkpoint)

    def _load_snapshot(self, checkpoint: Checkpoint) -> bool:
        """Return to the saved state of a checkpoint; return False if none was saved."""
        with self._gather_saved_parts() as parts:
            return self._snapshots.load(checkpoint, parts)

    def _find_replay_fault(self) -> str:
        """Return why a world that can restore its saved states cannot replay; "" if it can."""
        return ""

    def _replay(self, checkpoint: Checkpoint) -> None:
        self._reset()
        count = len(checkpoint.primitives)
        try:
            for code in checkpoint.primitives:
                self.step(code)
        except (WorldError, ValueError) as error:
            done = len(self.previous_actions)
            raise RestoreError(f"{self.name}: only {done} of {count} primitives can be replayed: {error}") from error
        if self._hash() != checkpoint.state_hash:
            raise RestoreError(f"{self.name}: replaying {count} primitives led to another state")
        self.pop_discoveries()  # what the primitives discover again is nothing new

    def _carry_out(self, plan: Plan, execution: PlanExecution) -> Outcome:
        trace: list[TraceStep] = []
        while True:
            event = self.advance_plan(execution)
            if isinstance(event, Finished):
                return Outcome.goal_not_reached(**self._end(trace))
            if isinstance(event, Failed):
                fault = event.status, event.message, plan, event.position, event.traceback
                return Outcome.failure(*fault, **self._end(trace))
            self.step(event.step.code)
            trace.append(event.step)
            if self.over:
                return self._make_end_outcome(trace, plan)

    def _refuse_when_over(self) -> None:
        if self.over:
            raise WorldError("the episode is over: restore a checkpoint before going on")

    def _make_end_outcome(self, trace: Sequence[TraceStep], plan: Plan) -> Outcome:
        if self._is_solved():
            return Outcome.success(**self._end(trace))

        steps = len(self.previous_actions)
        reason = self.renaming.text(self._why_over())
        message = f"the episode ended after {steps} primitives with reward {self.reward:g}: {reason}"
        return Outcome.failure(Status.REWARD_FAILED, message, plan, trace[-1].position, **self._end(trace))

    def _end(self, trace: Sequence[TraceStep]) -> EpisodeEnd:
        return {
            "trace": tuple(trace),
            "shown": self._describe_shown(),
            "reward": self.reward,
            "corrections": self._corrections(),
            "state_hash": self._hash(),
            "found": tuple(map(self.renaming.text, self.pop_discoveries())),
        }
