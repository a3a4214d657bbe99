"""What every world of the explorer can do, whatever carries out its physics."""

from __future__ import annotations

from typing import Protocol

from explorer.scene import Happened, Scene, WorldState
from explorer.view import View

Checkpoint = object
"""Opaque; only :meth:`World.restore` of the world that made it reads it."""


class World(Protocol):
    """A scene that is played step by step.

    Two worlds of one scene agree on the state after every step. The conformance suite is
    ``tests/support/explorer/world_suite.py``.
    """

    def reset(self, scene: Scene, max_steps: int | None = None) -> View:
        """Begin an episode; what is seen from the spawn.

        Raises:
            SceneError: the scene cannot be built in this world.
        """
        ...

    def step(self, code: int) -> Happened:
        """Carry out a primitive (:mod:`explorer.rules.actions`).

        Raises:
            ActionError: the code means nothing, or the episode is over.
        """
        ...

    def view(self) -> View:
        """What the agent knows now."""
        ...

    def state(self) -> WorldState:
        """All there is now: for evaluators and proofs, never for agents."""
        ...

    def checkpoint(self) -> Checkpoint:
        """Keep the present state and what is known."""
        ...

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to a kept state."""
        ...

    def close(self) -> None:
        """Release what the world holds."""
        ...
