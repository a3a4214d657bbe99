"""The interface of every world, whatever carries out its physics."""

from __future__ import annotations

from typing import Protocol

from explorer.scene import Happened, Scene, WorldState
from explorer.view import View

Checkpoint = object
"""Opaque: only :meth:`World.restore` of the world that made it may read it."""


class World(Protocol):
    """A scene that is played step by step.

    Any two worlds that play the same codes in a scene agree on the state after every step. The conformance suite is
    ``tests/support/explorer/world_suite.py``.
    """

    def reset(self, scene: Scene, max_steps: int | None = None) -> View:
        """Begin an episode; return the view from the spawn.

        Raises:
            SceneError: the scene cannot be built in this world.
        """
        ...

    def step(self, code: int) -> Happened:
        """Carry out a primitive (:mod:`explorer.rules.actions`).

        Returns:
            All that it did, for evaluators and proofs. An agent gets ``view().last``, which leaves out what is not in
            sight.

        Raises:
            ActionError: the code is not a primitive, or the episode is over.
        """
        ...

    def view(self) -> View:
        """Return what the agent knows now."""
        ...

    def state(self) -> WorldState:
        """Return the complete present state: for evaluators and proofs, never for agents."""
        ...

    def checkpoint(self) -> Checkpoint:
        """Return the present state together with what the agent knows."""
        ...

    def restore(self, checkpoint: Checkpoint) -> None:
        """Go back to a checkpoint."""
        ...

    def close(self) -> None:
        """Release the world's resources."""
        ...
