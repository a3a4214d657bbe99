"""Lower bounds for many states at once that differ in where the agent is and where keys lie (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TypeAlias

import numpy as np

from gridworld.rules.layout import State
from gridworld.search.relaxation.measuring import UNREACHABLE
from gridworld.search.relaxation.numbering import HOME, LOOSE
from gridworld.search.relaxation.places import Numbers
from gridworld.search.relaxation.projection import Projection

Lying: TypeAlias = Mapping[str, Numbers]
"""By key the number of the cell that it was dropped on; the number of all cells if it was never picked up."""


class Bounds:
    """Bounds for states that are alike but for the agent's pose and the places of the keys on the floor.

    Args:
        projections: the greatest of their bounds counts.
        state: one of the states, in which no key on the floor was ever picked up.

    Attributes:
        views: of the projections.
    """

    def __init__(self, projections: Sequence[Projection], state: State) -> None:
        self.views = tuple(View(projection, state) for projection in projections)

    def bound_states(self, poses: Numbers, lying: Lying) -> Numbers:
        """Return lower bounds on the steps left; ``UNREACHABLE``: there is no way. All arrays have the same shape."""
        return _greatest([view.steps(poses, lying) for view in self.views])

    def least(self, poses: Numbers, lying: Lying, key: str, cells: Numbers) -> Numbers:
        """Return the same if one more key lies on any of some cells of one part."""
        steps = list[Numbers]()
        for view in self.views:
            on_first = view.steps(poses, lying, key, cells[0])
            steps.append(on_first + view.worth(key, cells).min())
        return _greatest(steps)


class View:
    """What one projection says of such states."""

    def __init__(self, projection: Projection, state: State) -> None:
        self._projection = projection
        numbering = projection.modes.numbering
        self._code = numbering.code(state)
        used = [name for name, digit in numbering.statuses(state).items() if digit == HOME]
        digits = [LOOSE + numbering.parts.get(cell, 0) for cell in projection.places.index]
        by_cell = np.array([*digits, HOME])
        self._digits = {name: by_cell * numbering.strides[name] for name in used}
        self._values = {name: projection.values(name) for name in used}

    def steps(self, poses: Numbers, lying: Lying, key: str = "", cell: int = 0) -> Numbers:
        """Return a bound, maybe below 0 or far above ``UNREACHABLE``; with one more key that was dropped on a cell."""
        codes = np.full(poses.shape, self._code)
        worth = np.zeros(poses.shape, dtype=np.int64)
        for name, cells in (*lying.items(), (key, np.array(cell))):
            if name in self._digits:
                codes += self._digits[name][cells]
                worth += self._values[name][cells]
        return self._projection.steps(codes, poses, worth)

    def worth(self, key: str, cells: Numbers) -> Numbers:
        """Return how much more it is worth that a key lies on each of some cells of one part than on the first."""
        values = self._values.get(key)
        if values is None:
            return np.zeros(len(cells), dtype=np.int64)
        gains: Numbers = values[cells] - values[cells[0]]
        return gains


def _greatest(bounds: Sequence[Numbers]) -> Numbers:
    greatest: Numbers = np.clip(reduce(np.maximum, bounds), 0, UNREACHABLE)
    return greatest
