"""The interface of agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from explorer.view import View


@dataclass(frozen=True, slots=True)
class Usage:
    """An agent's use of models in one episode.

    Attributes:
        calls: number of calls of models.
        tokens: number of tokens that the models read and wrote.
        cost: price of the calls in USD.
    """

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


class Agent(Protocol):
    """A player, which plays any number of episodes one after another."""

    @property
    def usage(self) -> Usage:
        """Use of models since the last :meth:`reset`."""
        ...

    def reset(self, view: View, task_text: str, seed: int) -> None:
        """Begin an episode.

        Args:
            view: the view from the spawn.
            task_text: the goal text, which is all that the agent learns about its task.
            seed: seed of the agent's random decisions.
        """
        ...

    def act(self, view: View) -> int:
        """Return the code of the next primitive (:mod:`explorer.rules.actions`). The code ``DONE`` ends the episode."""
        ...
