"""Poses from which the agent can pick up a key, computed for many states at once (pure)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gridworld.search.carrying.stages import Batch, Stage
from gridworld.search.carrying.walking import FAR
from gridworld.search.relaxation.places import Mask, Numbers


class Picks(NamedTuple):
    """Ways to pick up a key; each attribute is an array with an entry for each way.

    Attributes:
        states: number in a batch of the state from which the way leads.
        poses: pose from which the agent picks up the key.
        steps: number of steps from the start until the key is picked up; a lower bound if the agent puts another key
            down before.
        cells: cells of all keys after the way, shape (ways, keys), as in :class:`Batch`.
        on: whether the agent stands on the key; otherwise the key is ahead.
        strict: whether the way counts only if the agent puts its carried key down on a neighbour cell of the key to
            pick up. If the carried key is put down elsewhere, picking up from the cell before is better.
    """

    states: Numbers
    poses: Numbers
    steps: Numbers
    cells: Numbers
    on: Mask
    strict: Mask

    def select(self, chosen: Numbers | Mask) -> Picks:
        """Return the ways at some indices or of a mask."""
        return Picks(
            self.states[chosen],
            self.poses[chosen],
            self.steps[chosen],
            self.cells[chosen],
            self.on[chosen],
            self.strict[chosen],
        )


def find_picks(stage: Stage, batch: Batch, key: int) -> Picks:
    """Return the ways to pick up a key on the floor.

    A pose on the key counts only if the agent may be unable to pick up the key a step earlier, from the cell before.
    Three reasons are possible. The agent stands on the key already. Another key lies on the cell before, so that the
    agent would pick up the other key. Or the agent carries a key, and puts that key down on the cell before or from
    the cell of the key.

    Keys never lie on teleporter ends.
    """
    ground = stage.ground
    headings = ground.places.headings
    cell = stage.locate(batch.cells, key)
    # Poses by state and heading.
    facing = ground.faces[:, cell].T
    on = cell[:, None] * headings + np.arange(headings)

    can_face = facing >= 0
    has_key_beside = np.zeros(len(cell), dtype=np.bool_)
    for other in stage.locate_others(batch.cells, key):
        # An agent that stands on another key would pick up that key.
        can_face = can_face & (ground.places.cell[facing] != other[:, None])
        has_key_beside = has_key_beside | ground.beside[cell, other]

    if stage.hand is None:
        can_stand = has_key_beside[:, None] | (on == batch.poses[:, None])
        actions = 1  # pick up
    else:
        can_stand = np.ones(on.shape, dtype=np.bool_)
        actions = 2  # put down, pick up

    possible = np.concatenate((can_face, can_stand), axis=1)
    states, columns = np.nonzero(possible)
    poses = np.concatenate((facing, on), axis=1)[states, columns]
    steps = stage.walks.steps(batch.poses[states], poses)
    cells = batch.cells[states]
    cells[:, key] = ground.size
    is_on = columns >= headings
    strict = is_on & ~has_key_beside[states]

    picks = Picks(states, poses, batch.steps[states] + steps + actions, cells, is_on, strict)
    return picks.select(steps < FAR)
