"""The interface of agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from explorer.view import View


@dataclass(frozen=True, slots=True)
class Usage:
    """What an agent spent on models in an episode: calls, tokens read and written, USD."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


class Agent(Protocol):
    """Plays one episode after another."""

    @property
    def usage(self) -> Usage:
        """What was spent since the last :meth:`reset`."""
        ...

    def reset(self, view: View, task_text: str, seed: int) -> None:
        """Begin an episode.

        Args:
            view: the view from the spawn.
            task_text: the goal text, which is all that the agent is told.
        """
        ...

    def act(self, view: View) -> int:
        """Return the next code (:mod:`explorer.rules.actions`); ``DONE`` ends the episode."""
        ...
