"""Poses from which keys can be picked up, of many states at once (pure)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gridworld.search.carrying.stages import Batch, Stage
from gridworld.search.carrying.walking import FAR
from gridworld.search.relaxation.places import Mask, Numbers


class Picks(NamedTuple):
    """Ways to pick a key up.

    Attributes:
        states: whose ways they are, as numbers in a batch.
        poses: from where.
        steps: from the start until then; if another key is put down before, at least so many.
        cells: of the keys then, one more row than a way for each.
        on: whether the agent stands on the key; else it is ahead.
        strict: whether the key in hand has to be put down on a cell beside this one; else it is better to pick the
            other one up from the cell before.
    """

    states: Numbers
    poses: Numbers
    steps: Numbers
    cells: Numbers
    on: Mask
    strict: Mask

    def select(self, chosen: Numbers | Mask) -> Picks:
        """Return some of the ways."""
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

    Count standing on it only where it cannot be picked up a step earlier, from the cell before: the agent stands there
    already; another key lies on a cell beside it, and may be picked up instead; or the key in hand may be put down
    from there, or on the cell before. Keys never lie on teleporter ends.
    """
    ground = stage.ground
    headings = ground.places.headings
    cell = stage.locate(batch.cells, key)
    ahead = ground.faces[:, cell].T
    on = cell[:, None] * headings + np.arange(headings)

    reaching = ahead >= 0
    odd = np.zeros(len(cell), dtype=np.bool_)
    for other in stage.locate_others(batch.cells, key):
        reaching = reaching & (ground.places.cell[ahead] != other[:, None])
        odd = odd | ground.beside[cell, other]

    if stage.hand is None:
        standing = odd[:, None] | (on == batch.poses[:, None])
        actions = 1
    else:
        standing = np.ones(on.shape, dtype=np.bool_)
        actions = 2

    possible = np.concatenate((reaching, standing), axis=1)
    states, columns = np.nonzero(possible)
    poses = np.concatenate((ahead, on), axis=1)[states, columns]
    steps = stage.walks.steps(batch.poses[states], poses)
    cells = batch.cells[states]
    cells[:, key] = ground.size
    on_it = columns >= headings
    strict = on_it & ~odd[states]

    found = Picks(states, poses, batch.steps[states] + steps + actions, cells, on_it, strict)
    return found.select(steps < FAR)
