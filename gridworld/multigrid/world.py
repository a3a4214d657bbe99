"""The world of MultiGrid: a task on a tiling, stepped by native actions.

The rules are those of every backend (:mod:`gridworld.rules.transition`); only the tiling and the numbers of actions
differ.
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
        BackendError: there is none; names those there are.
    """
    if name not in TILINGS:
        raise BackendError(f"unknown tiling {name!r:.80}; there are {', '.join(TILINGS)}")
    return TILINGS[name]


class MultiGridWorld:
    """An episode of a task; a new world stands at its start.

    Args:
        spec: the task, which must not be changed afterwards.
        tiling: "square" or "hex"; cells are (column, row) on both, hexagons in rows of which the odd ones are shifted.

    Raises:
        TaskError: the task is not valid.
        BackendError: there is no such tiling.
    """

    def __init__(self, spec: TaskSpecification, tiling: str = "square") -> None:
        self.spec = spec
        self.tiling = find_tiling(tiling)
        self._episode = Episode(Layout(spec, self.tiling))

    def reset(self) -> GridState:
        """Begin again."""
        self._episode.reset()
        return self.state

    def step(self, action: SupportsIndex) -> GridState:
        """Do one native action (:class:`~gridworld.multigrid.agent.Action`).

        Raises:
            ActionError: there is no such action; nothing has happened.
            BackendError: the episode is over.
        """
        self._episode.step(to_external(action))
        return self.state

    @property
    def state(self) -> GridState:
        """The present state, a copy."""
        return self._episode.grid_state()

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self._episode.over

    def observe(self) -> Observation:
        """Return what the task's observability lets a model see now."""
        return self._episode.observe()
