"""ACT: carry out a plan in a world, with checkpoints by replay. This module holds what all worlds have in common.

A world supplies the simulator: how it is reset and stepped, the agent's pose and view, and when the mission is solved.
All worlds build the map from views in the same way, and show the same parts of the map to agent and planner.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spca.act.snapshots import Parts, Snapshots
from spca.act.stuck import PATIENCE, StuckDetector
from spca.contracts import (
    DIRECTIONS,
    AgentSource,
    AgentView,
    Checkpoint,
    EpisodeEnd,
    Outcome,
    Plan,
    Snapshot,
    Status,
    TraceStep,
    VisibleObject,
)
from spca.errors import RestoreError, WorldError
from spca.protocols import Episode, Executor, Failed, Finished
from spca.sense import perception
from spca.sense.renaming import TRUE_WORDS, Renaming
from spca.sense.slam import GridMap


class MappedWorld(ABC):
    """A World whose episodes are deterministic: a reset and the same primitives lead to the same state.

    After every reset and step, a subclass updates ``_map``, ``_view`` (codes, north up), ``_position`` (displacement
    from the start cell: rows south, columns east), ``_direction`` and ``inventory``.

    Args:
        executor: runs generated code.
        renaming: the words that the planner and generated code are shown. The world itself keeps the true words.

    Attributes:
        name: name of the world, for error messages.
        patience: number of successive primitives without a new state after which an attempt is stuck.
        previous_actions: primitives executed since the reset.
        restores: how often a checkpoint was restored.
        mission: the task in words.
        inventory: what the agent carries ("key blue"); None if it carries nothing.
    """

    _map: GridMap
    _view: NDArray[np.uint8]
    _position: tuple[int, int]
    _direction: int
    _start_direction = 0

    def __init__(self, name: str, executor: Executor, renaming: Renaming = TRUE_WORDS) -> None:
        self.name = name
        self.renaming = renaming
        self.patience = PATIENCE
        self.previous_actions: list[int] = []
        self.restores = 0
        self.mission = ""
        self.inventory: str | None = None
        self._executor = executor
        self._snapshots = Snapshots()

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
        """Execute one primitive, append it to ``previous_actions``, and add the new view to the map.

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
        """Return a hash of the whole state, including the parts of the simulator that the agent cannot see."""

    @abstractmethod
    def _is_solved(self) -> bool:
        """Return whether the mission was complete when the episode ended; called only after the end."""

    @abstractmethod
    def _why_over(self) -> str:
        """Return the reason, in words, why the episode ended before the mission was complete."""

    @contextmanager
    def _gather_saved_parts(self) -> Iterator[Parts]:
        """Yield the objects whose attributes a snapshot saves and restores, such as the simulator.

        Yield () if no snapshot is possible, so that a restore has to replay.
        """
        yield ()

    def _corrections(self) -> tuple[str, ...]:
        """Return the names of the corrections that have changed a judgement of the simulator in this episode."""
        return ()

    def sense(self) -> Snapshot:
        """Return a snapshot of what the planner is shown."""
        objects = [replace(thing, name=self.renaming.text(thing.name)) for thing in self._visible_objects()]
        return Snapshot(
            mission=self.renaming.text(self.mission),
            direction=DIRECTIONS[self._direction],
            inventory=self._describe_inventory(),
            visible_grid=self._map_words(),
            visible_objects=tuple(objects),
        )

    def run_sim(self, plan: Plan, agent: AgentSource) -> Outcome:
        """Execute a plan with the generated methods of ``agent`` until it ends, fails or is stuck.

        Raises:
            WorldError: the episode is over, or what the agent sees cannot be sent to its worker.
            SandboxError: generated code cannot be executed safely.
        """
        self._refuse_when_over()
        with closing(self._executor.start(agent, plan.steps, self.previous_actions)) as episode:
            outcome = self._carry_out(plan, episode)
            return replace(outcome, printed=episode.printed)

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
            RestoreError: the primitives cannot be replayed, or lead to a state with another hash.
        """
        self.restores += 1
        with self._gather_saved_parts() as parts:
            loaded = self._snapshots.load(checkpoint, parts)
        if not (loaded and self._hash() == checkpoint.state_hash):
            self._replay(checkpoint)

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

    def _carry_out(self, plan: Plan, episode: Episode) -> Outcome:
        trace: list[TraceStep] = []
        detector = StuckDetector(self.patience)
        detector.observe(self._state())
        while True:
            try:
                event = episode.advance(self._agent_view())
            except ValueError as error:
                raise WorldError(f"{self.name}: {error}") from error
            if isinstance(event, Finished):
                return Outcome.goal_not_reached(**self._end(trace))
            if isinstance(event, Failed):
                fault = event.status, event.message, plan, event.position, event.traceback
                return Outcome.failure(*fault, **self._end(trace))
            self.step(event.step.code)
            trace.append(event.step)
            if self.over:
                return self._make_end_outcome(trace, plan)
            reason = detector.observe(self._state())
            if reason is not None:
                return Outcome.failure(Status.STUCK, reason, plan, event.step.position, **self._end(trace))

    def _visible_objects(self) -> tuple[VisibleObject, ...]:
        return perception.visible_objects(perception.facing_view(self._view, self._direction))

    def _mark_view(self) -> NDArray[np.uint8]:
        """Return the view with the agent's cell marked."""
        view = self._view.copy()
        view[perception.agent_cell(len(view), self._direction)] = perception.AGENT
        return view

    def _agent_view(self) -> AgentView:
        return AgentView(
            mission=self.renaming.text(self.mission),
            full_grid=self._map.mark_agent(self._position),
            observation=self._mark_view(),
            direction=self._direction,
            inventory=self._describe_inventory(),
            position=self._map.index(self._position),
            start_position=self._map.origin,
            start_direction=self._start_direction,
            words=self.renaming.vocabulary,
        )

    def _state(self) -> Hashable:
        """Return the parts of the state by which the stuck detector sees progress: pose, inventory and map."""
        grid = self._map
        return self._position, self._direction, self.inventory, grid.origin, grid.codes.shape, grid.codes.tobytes()

    def _map_words(self) -> tuple[tuple[str, ...], ...]:
        """Return the present map as words, with the agent's cell marked."""
        grid = self._map.mark_agent(self._position)
        return perception.grid_words(grid, self.renaming.vocabulary)

    def _describe_inventory(self) -> str | None:
        """Return what the agent carries, in the words of the run; None if it carries nothing."""
        return self.inventory and self.renaming.text(self.inventory)

    def _refuse_when_over(self) -> None:
        if self.over:
            raise WorldError("the episode is over: restore a checkpoint before going on")

    def _make_end_outcome(self, trace: Sequence[TraceStep], plan: Plan) -> Outcome:
        if self._is_solved():
            return Outcome.success(**self._end(trace))

        steps = len(self.previous_actions)
        reason = self._why_over()
        message = f"the episode ended after {steps} primitives with reward {self.reward:g}: {reason}"
        return Outcome.failure(Status.REWARD_FAILED, message, plan, trace[-1].position, **self._end(trace))

    def _end(self, trace: Sequence[TraceStep]) -> EpisodeEnd:
        return {
            "trace": tuple(trace),
            "last_map": self._map_words(),
            "reward": self.reward,
            "corrections": self._corrections(),
            "state_hash": self._hash(),
            "direction": DIRECTIONS[self._direction],
            "inventory": self._describe_inventory(),
        }
