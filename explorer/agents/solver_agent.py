"""Replay the witness of a scene's certificate: an upper bound rather than an agent, since it knows what is hidden."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.agents.agent import Usage
from explorer.rules.actions import Primitive
from explorer.view import View


class SolverAgent:
    """Plays the codes that it was given, then ends the episode.

    Args:
        codes: codes of the witness.
    """

    usage = Usage()

    def __init__(self, codes: Iterable[int]) -> None:
        self._codes = tuple(codes)
        self._left = iter(self._codes)

    def reset(self, view: View, task_text: str, seed: int) -> None:
        """Start over; the arguments do not matter."""
        del view, task_text, seed
        self._left = iter(self._codes)

    def act(self, view: View) -> int:
        """Return the next code."""
        del view
        return next(self._left, int(Primitive.DONE))
