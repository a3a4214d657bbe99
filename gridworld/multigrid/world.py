"""The world of MultiGrid: a task on a tiling, stepped by native actions.

MultiGrid has the same rules as every backend (:mod:`gridworld.rules.transition`). Only the tiling and the numbers of
the actions differ.
"""

from __future__ import annotations

from typing import SupportsIndex

from gridworld.errors import BackendError
from gridworld.multigrid.agent import to_external
from gridworld.rules.episode import Episode
from gridworld.rules.grid_state import GridState
from gridworld.rules.layout import Layout
from gridworld.rules.observation import Observation
from gridworld.rules.tilings import TILINGS, Tiling
from gridworld.task_spec import TaskSpecification


def find_tiling(name: str) -> Tiling:
    """Return a tiling by its name.

    Raises:
        BackendError: no tiling has this name; the message names the tilings.
    """
    if name not in TILINGS:
        raise BackendError(f"unknown tiling {name!r:.80}; there are {', '.join(TILINGS)}")
    return TILINGS[name]


class MultiGridWorld:
    """An episode of a task; a new world is in the initial state.

    Args:
        spec: the task, which must not be changed afterwards.
        tiling: "square" or "hex"; cells are (column, row) on both tilings. Odd rows of hexagons are shifted to the
            right by half a cell.

    Raises:
        TaskError: the task is not valid.
        BackendError: no tiling has this name.
    """

    def __init__(self, spec: TaskSpecification, tiling: str = "square") -> None:
        self.spec = spec
        self.tiling = find_tiling(tiling)
        self._episode = Episode(Layout(spec, self.tiling))

    def reset(self) -> GridState:
        """Start the episode anew; return the initial state."""
        self._episode.reset()
        return self.state

    def step(self, action: SupportsIndex) -> GridState:
        """Do one native action (:class:`~gridworld.multigrid.agent.Action`); return the new state.

        Raises:
            ActionError: the value is not a native action; the state is unchanged.
            BackendError: the episode is over.
        """
        self._episode.step(to_external(action))
        return self.state

    @property
    def state(self) -> GridState:
        """A copy of the current state."""
        return self._episode.grid_state()

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self._episode.over

    def observe(self) -> Observation:
        """Return the observation of a model under the task's observability."""
        return self._episode.observe()
