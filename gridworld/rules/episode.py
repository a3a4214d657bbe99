"""An episode: states one after another, what ends them, and what has been seen.

Both backends and the models that look ahead hold one; what differs between backends is how it is shown.
"""

from __future__ import annotations

from typing import ClassVar, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from gridworld.actions import Action, as_action
from gridworld.errors import BackendError
from gridworld.rules.grid_state import GridState
from gridworld.rules.layout import Layout, State
from gridworld.rules.observation import UNSEEN, Observation, background, things
from gridworld.rules.tilings import Cell
from gridworld.rules.transition import achieved, transition


class Episode:
    """One episode of a task, from its start.

    Args:
        layout: the task; several episodes may share it.

    Attributes:
        state: the present state.
        step_count, reward, terminated, truncated, goal_reached: as in :class:`GridState`.
        actions: what has been done.
    """

    most_kept: ClassVar[int] = 1 << 20
    """Cells of views that are kept for when the agent looks from the same place again."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._background = background(layout)
        columns = range(layout.width)
        rows = range(layout.height)
        self._everything = frozenset((column, row) for column in columns for row in rows)
        self._cones: dict[tuple[object, ...], tuple[frozenset[Cell], NDArray[np.bool_]]] = {}
        self._kept = 0
        self.reset()

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated

    def reset(self) -> None:
        """Begin again."""
        self.state: State = self.layout.start()
        self.actions: list[Action] = []
        self.reward = 0.0
        self.terminated = self.truncated = self.goal_reached = False
        self.explored: frozenset[Cell] = frozenset()
        self._memory = np.full_like(self._background, UNSEEN)
        self._see()

    @property
    def step_count(self) -> int:
        return len(self.actions)

    def step(self, action: SupportsIndex) -> None:
        """Do one action.

        Raises:
            ActionError: there is no such action; nothing has happened.
            BackendError: the episode is over.
        """
        known = as_action(action)
        if self.over:
            raise BackendError("the episode is over: call reset() first")
        max_steps = self.layout.spec.max_steps
        self.state = transition(self.layout, self.state, known)
        self.actions.append(known)
        at_limit = self.step_count >= max_steps
        self.goal_reached = achieved(self.layout, self.state, at_limit=at_limit)
        self.terminated = self.goal_reached or self.state.dead
        self.truncated = at_limit and not self.terminated
        self.reward = 1 - 0.9 * self.step_count / max_steps if self.goal_reached else 0.0
        self._see()

    def grid_state(self) -> GridState:
        """Return the true state as a separate value, for runners and metrics; a model sees :meth:`observe` only."""
        layout = self.layout
        state = self.state
        return GridState(
            agent_position=state.position,
            agent_direction=state.heading,
            agent_carrying=state.carrying,
            step_count=self.step_count,
            max_steps=layout.spec.max_steps,
            terminated=self.terminated,
            truncated=self.truncated,
            reward=self.reward,
            open_doors=set(state.open_doors),
            collected_keys=set(state.collected),
            active_switches=set(state.active_switches),
            open_gates=set(layout.open_gates(state.active_switches)),
            block_positions={b.id: cell for b, cell in zip(layout.blocks, state.block_cells, strict=True)},
            teleporter_cooldowns={end: int(end == state.cooling) for end in layout.ends},
            goal_reached=self.goal_reached,
            observability_mode=layout.spec.rules.observability,
            visible_cells=set(self.visible),
            explored_cells=set(self.explored),
        )

    def observe(self) -> Observation:
        """Return what the task's observability lets a model see now."""
        state = self.state
        mode = self.layout.spec.rules.observability
        codes = self._truth() if mode == "full" else self._memory.copy()
        if mode == "view_cone":
            codes[~self._mask] = UNSEEN
        carrying = None if state.carrying is None else self.layout.colour_of_key[state.carrying]
        mission = self.layout.spec.get_mission_text()
        tiling = self.layout.tiling.name
        return Observation(codes, self._mask.copy(), state.position, state.heading, carrying, tiling, mission)

    def _see(self) -> None:
        """Bring what is visible, explored and remembered up to date."""
        if self.layout.spec.rules.observability == "full":
            self.visible, self._mask = self._everything, np.ones_like(self._background, dtype=np.bool_)
            self.explored = self._everything
            return
        self.visible, self._mask = self._cone()
        self.explored |= self.visible
        np.copyto(self._memory, self._truth(), where=self._mask)

    def _cone(self) -> tuple[frozenset[Cell], NDArray[np.bool_]]:
        layout = self.layout
        state = self.state
        view = (state.position, state.heading, state.open_doors, layout.open_gates(state.active_switches))
        if view not in self._cones:
            size = layout.spec.rules.view_size
            cone = layout.tiling.cone(state.position, state.heading, size, lambda cell: layout.is_opaque(cell, state))
            seen = cone & self._everything
            mask = np.zeros_like(self._background, dtype=np.bool_)
            for column, row in seen:
                mask[row, column] = True
            self._kept += len(seen)
            if self._kept > self.most_kept:
                self._cones.clear()
                self._kept = len(seen)
            self._cones[view] = seen, mask
        return self._cones[view]

    def _truth(self) -> NDArray[np.uint8]:
        codes = self._background.copy()
        for (column, row), code, _ in things(self.layout, self.state):
            codes[row, column] = code
        return codes
