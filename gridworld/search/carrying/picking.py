"""Poses from which the agent can pick up a key, computed for many states at once (pure).

A pick is a walk from a state to a pose, followed by picking up a key in this pose.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gridworld.search.carrying.stages import Batch, Stage
from gridworld.search.carrying.walking import FAR
from gridworld.search.relaxation.places import Mask, Numbers


class Picks(NamedTuple):
    """Possible picks of one key; each attribute is an array with one entry for each pick.

    Attributes:
        states: index, in a batch, of the state from which the agent starts to walk.
        poses: pose in which the agent picks up the key.
        steps: number of steps from the start of the search until the key is picked up. If the agent puts another key
            down before, the number is a lower bound.
        cells: cells of all keys after the pick, shape (picks, keys), as in :class:`Batch`.
        on: whether the agent stands on the key; otherwise the key is ahead.
        strict: whether the pick counts only if the agent puts its carried key down on a neighbour cell of the key. If
            the carried key is put down elsewhere, picking up the key from the cell before is better.
    """

    states: Numbers
    poses: Numbers
    steps: Numbers
    cells: Numbers
    on: Mask
    strict: Mask

    def select(self, chosen: Numbers | Mask) -> Picks:
        """Return the picks at some indices, or the picks for which a mask is true."""
        return Picks(
            self.states[chosen],
            self.poses[chosen],
            self.steps[chosen],
            self.cells[chosen],
            self.on[chosen],
            self.strict[chosen],
        )


def find_picks(stage: Stage, batch: Batch, key: int) -> Picks:
    """Return the picks of a key that lies on the floor.

    A pick from the cell of the key counts only if the agent may be unable to pick up the key a step earlier, from the
    cell before. There are three possible reasons:

    - The agent stands on the key already.
    - Another key lies on the cell before, so that the agent would pick up the other key.
    - The agent carries a key, and puts it down on the cell before, or puts it down from the cell of the key.

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
