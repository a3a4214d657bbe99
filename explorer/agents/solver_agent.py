"""A player that replays the witness of a scene's certificate.

The success of the player is an upper bound for agents, because the witness was found with full knowledge of the scene.
"""

from __future__ import annotations

from collections.abc import Iterable

from explorer.agents.agent import Usage
from explorer.rules.actions import Primitive
from explorer.view import View


class SolverAgent:
    """A player that plays given codes, then ends the episode.

    Args:
        codes: codes of the witness.
    """

    usage = Usage()

    def __init__(self, codes: Iterable[int]) -> None:
        self._codes = tuple(codes)
        self._remaining = iter(self._codes)

    def reset(self, view: View, task_text: str, seed: int) -> None:
        """Start again at the first code, and ignore the arguments."""
        del view, task_text, seed
        self._remaining = iter(self._codes)

    def act(self, view: View) -> int:
        """Return the next code, or ``DONE`` after the last code."""
        del view
        return next(self._remaining, int(Primitive.DONE))
