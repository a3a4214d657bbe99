"""Worlds of the grid's body: all of them build the map from views in the same way, and show the same parts of it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spca.act.world import ActingWorld
from spca.bodies.grid.body import GRID
from spca.contracts import AgentView
from spca.protocols import Executor
from spca.sense import map_text, perception
from spca.sense.grid_tracker import GridTracker
from spca.sense.perception import DIRECTIONS, VisibleObject
from spca.sense.renaming import TRUE_WORDS, Renaming
from spca.sense.slam import GridMap


class MappedWorld(ActingWorld):
    """A World whose agent has the grid's body.

    After every reset and step, a subclass updates ``_map``, ``_view`` (codes, north up), ``_position`` (displacement
    from the start cell: rows south, columns east), ``_direction`` and ``inventory``.

    Args:
        executor: runs generated code.
        renaming: see :class:`ActingWorld`.

    Attributes:
        inventory: what the agent carries ("key blue"); None if it carries nothing.
    """

    _map: GridMap
    _view: NDArray[np.uint8]
    _position: tuple[int, int]
    _direction: int
    _start_direction = 0

    def __init__(self, name: str, executor: Executor, renaming: Renaming = TRUE_WORDS) -> None:
        super().__init__(name, executor, GRID, renaming)
        self.inventory: str | None = None

    def _read_tracker(self, tracker: GridTracker) -> None:
        """Take over pose, view, map and inventory from a tracker."""
        self._direction = tracker.direction
        self._start_direction = tracker.start_direction
        self.inventory = tracker.inventory
        self._view = tracker.view
        self._position = tracker.position
        self._map = tracker.map

    def _describe_shown(self) -> Mapping[str, Any]:
        objects = [replace(thing, name=self.renaming.text(thing.name)) for thing in self._visible_objects()]
        direction = DIRECTIONS[self._direction]
        return map_text.describe_shown(self._map_words(), direction, self._describe_inventory(), objects)

    def _visible_objects(self) -> tuple[VisibleObject, ...]:
        return perception.visible_objects(perception.facing_view(self._view, self._direction))

    def _mark_view(self) -> NDArray[np.uint8]:
        """Return the view with the agent's cell marked."""
        view = self._view.copy()
        view[perception.agent_cell(len(view), self._direction)] = perception.AGENT
        return view

    def _agent_view(self) -> AgentView:
        values = (
            self.renaming.text(self.mission),
            DIRECTIONS[self._direction],
            self._mark_view(),
            self._map.mark_agent(self._position),
            self._describe_inventory(),
            self._map.origin,
            DIRECTIONS[self._start_direction],
        )
        return AgentView(values, self.renaming.vocabulary)

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
