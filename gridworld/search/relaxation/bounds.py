"""Lower bounds for many states at once that differ only in the agent's pose and the cells of keys (pure)."""

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
"""By id of each key on the floor: the number of the cell on which the key was dropped, in each state.

If the key was never picked up, the number of cells takes the place of this number.
"""


class Bounds:
    """Lower bounds for states that differ only in the agent's pose and the cells of the keys on the floor.

    Args:
        projections: the projections of the task; the bound of a state is its greatest bound in any projection.
        state: the state in which every key on the floor is on its initial cell.

    Attributes:
        views: one :class:`View` for each projection.
    """

    def __init__(self, projections: Sequence[Projection], state: State) -> None:
        self.views = tuple(View(projection, state) for projection in projections)

    def bound_states(self, poses: Numbers, lying: Lying) -> Numbers:
        """Return a lower bound on the remaining steps of each state; ``UNREACHABLE`` means "the goal is out of reach".

        Args:
            poses: poses of the agent.
            lying: cells of the keys on the floor; all arrays have the same shape.
        """
        return _greatest([view.steps(poses, lying) for view in self.views])

    def least(self, poses: Numbers, lying: Lying, key: str, cells: Numbers) -> Numbers:
        """Return for each state the least bound over all positions of a further key; the positions are ``cells``.

        Args:
            poses, lying: as for :meth:`bound_states`.
            key: id of the further key.
            cells: numbers of cells of one part of the grid.
        """
        steps: list[Numbers] = []
        for view in self.views:
            on_first = view.steps(poses, lying, key, cells[0])
            steps.append(on_first + view.worth(key, cells).min())
        return _greatest(steps)


class View:
    """The bounds of one projection for states that differ only in the agent's pose and the cells of keys."""

    def __init__(self, projection: Projection, state: State) -> None:
        self._projection = projection
        numbering = projection.modes.numbering
        self._code = numbering.code(state)
        # Tracked keys on the floor.
        names = [name for name, digit in numbering.statuses(state).items() if digit == HOME]
        digits = [LOOSE + numbering.parts.get(cell, 0) for cell in projection.places.index]
        digit_by_cell = np.array([*digits, HOME])
        # Contribution of each key to the code of a mode, and worth of each key, by number of cell.
        self._code_parts = {name: digit_by_cell * numbering.strides[name] for name in names}
        self._values = {name: projection.values(name) for name in names}

    def steps(self, poses: Numbers, lying: Lying, key: str = "", cell: int = 0) -> Numbers:
        """Return the bound of each state, which may be below 0 or far above ``UNREACHABLE``.

        Args:
            poses, lying: as for :meth:`Bounds.bound_states`.
            key: id of a further key that was dropped; "" if there is no further key.
            cell: number of the cell on which the further key lies.
        """
        codes = np.full(poses.shape, self._code)
        worth = np.zeros(poses.shape, dtype=np.int64)
        for name, cells in (*lying.items(), (key, np.array(cell))):
            if name in self._code_parts:
                codes += self._code_parts[name][cells]
                worth += self._values[name][cells]
        return self._projection.steps(codes, poses, worth)

    def worth(self, key: str, cells: Numbers) -> Numbers:
        """Return the worth of a key on each cell, minus its worth on the first cell.

        :mod:`gridworld.search.relaxation.worth` defines the worth. All cells must be of one part of the grid.
        """
        values = self._values.get(key)
        if values is None:
            return np.zeros(len(cells), dtype=np.int64)
        gains: Numbers = values[cells] - values[cells[0]]
        return gains


def _greatest(bounds: Sequence[Numbers]) -> Numbers:
    """Return the greatest bound of each state, clipped to 0 .. ``UNREACHABLE``."""
    greatest: Numbers = np.clip(reduce(np.maximum, bounds), 0, UNREACHABLE)
    return greatest
