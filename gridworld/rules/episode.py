"""An episode: the sequence of states, the end of the sequence, and the cells that the agent has seen.

Both backends, and the models that look ahead, step an :class:`Episode`. Backends differ only in the presentation of
the episode.
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
    """One episode of a task, from its initial state.

    Args:
        layout: the compiled task; several episodes may share one layout.

    Attributes:
        state: the current state.
        step_count, reward, terminated, truncated, goal_reached: as in :class:`GridState`.
        actions: the actions so far.
        visible: the cells that the agent sees now.
        explored: the cells that the agent has seen so far.
    """

    most_kept: ClassVar[int] = 1 << 20
    """Greatest number of cells in the cache of views. The cache saves time if the agent returns to an earlier pose."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._background = background(layout)
        columns = range(layout.width)
        rows = range(layout.height)
        self._all_cells = frozenset((column, row) for column in columns for row in rows)
        self._views: dict[tuple[object, ...], tuple[frozenset[Cell], NDArray[np.bool_]]] = {}
        self._cached_cells = 0
        self.reset()

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated

    def reset(self) -> None:
        """Start the episode anew."""
        self.state: State = self.layout.start()
        self.actions: list[Action] = []
        self.reward = 0.0
        self.terminated = self.truncated = self.goal_reached = False
        self.explored: frozenset[Cell] = frozenset()
        self._memory = np.full_like(self._background, UNSEEN)
        self._update_view()

    @property
    def step_count(self) -> int:
        return len(self.actions)

    def step(self, action: SupportsIndex) -> None:
        """Do one action.

        Raises:
            ActionError: the value is not an action; the state is unchanged.
            BackendError: the episode is over.
        """
        checked_action = as_action(action)
        if self.over:
            raise BackendError("the episode is over: call reset() first")
        max_steps = self.layout.spec.max_steps
        self.state = transition(self.layout, self.state, checked_action)
        self.actions.append(checked_action)
        at_limit = self.step_count >= max_steps
        self.goal_reached = achieved(self.layout, self.state, at_limit=at_limit)
        self.terminated = self.goal_reached or self.state.dead
        self.truncated = at_limit and not self.terminated
        # MiniGrid's reward: a fast success earns more.
        success_reward = 1 - 0.9 * self.step_count / max_steps
        self.reward = success_reward if self.goal_reached else 0.0
        self._update_view()

    def grid_state(self) -> GridState:
        """Return a copy of the true state, for runners and metrics; a model sees only :meth:`observe`."""
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
            block_positions={block.id: cell for block, cell in zip(layout.blocks, state.block_cells, strict=True)},
            teleporter_cooldowns={end: int(end == state.cooling) for end in layout.ends},
            goal_reached=self.goal_reached,
            observability_mode=layout.spec.rules.observability,
            visible_cells=set(self.visible),
            explored_cells=set(self.explored),
        )

    def observe(self) -> Observation:
        """Return the observation of a model under the task's observability."""
        state = self.state
        mode = self.layout.spec.rules.observability
        # In fog_of_war, a model remembers cells as last seen; in view_cone, a model knows only the visible cells.
        codes = self._current_codes() if mode == "full" else self._memory.copy()
        if mode == "view_cone":
            codes[~self._mask] = UNSEEN
        carrying = None if state.carrying is None else self.layout.colour_of_key[state.carrying]
        mission = self.layout.spec.get_mission_text()
        tiling = self.layout.tiling.name
        return Observation(codes, self._mask.copy(), state.position, state.heading, carrying, tiling, mission)

    def _update_view(self) -> None:
        """Update the visible, explored and remembered cells after a change of the state."""
        if self.layout.spec.rules.observability == "full":
            self.visible = self._all_cells
            self._mask = np.ones_like(self._background, dtype=np.bool_)
            self.explored = self._all_cells
            return
        self.visible, self._mask = self._find_visible()
        self.explored |= self.visible
        np.copyto(self._memory, self._current_codes(), where=self._mask)

    def _find_visible(self) -> tuple[frozenset[Cell], NDArray[np.bool_]]:
        """Return (the visible cells, their mask of shape (height, width)), from the cache if possible."""
        layout = self.layout
        state = self.state
        # The view depends on the pose, and on the doors and gates that let light through.
        key = (state.position, state.heading, state.open_doors, layout.open_gates(state.active_switches))
        if key not in self._views:
            size = layout.spec.rules.view_size
            cone = layout.tiling.cone(state.position, state.heading, size, lambda cell: layout.is_opaque(cell, state))
            cells = cone & self._all_cells
            mask = np.zeros_like(self._background, dtype=np.bool_)
            for column, row in cells:
                mask[row, column] = True
            self._cached_cells += len(cells)
            if self._cached_cells > self.most_kept:
                self._views.clear()
                self._cached_cells = len(cells)
            self._views[key] = cells, mask
        return self._views[key]

    def _current_codes(self) -> NDArray[np.uint8]:
        """Return the current code of each cell, without mechanisms unknown to the agent, shape (height, width)."""
        codes = self._background.copy()
        for (column, row), code, _ in things(self.layout, self.state):
            codes[row, column] = code
        return codes
