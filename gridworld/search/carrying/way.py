"""From a chain of events to actions (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gridworld.actions import Action
from gridworld.search.carrying.picking import picks
from gridworld.search.carrying.stages import Batch, Stage
from gridworld.search.carrying.swapping import Swapping


class Link(NamedTuple):
    """A state of the chain, in a batch of its own."""

    stage: Stage
    batch: Batch

    @property
    def pose(self) -> int:
        """Where the agent is."""
        return int(self.batch.poses[0])


def way(chain: Sequence[Link], end: int) -> tuple[Action, ...]:
    """Actions of a shortest way through all states of a chain, and on to a pose."""
    ground = chain[0].stage.ground
    # A key that vanishes where it is put down lies there in the task: best where nothing else happens.
    taken = {*ground.homes.tolist(), *(int(cell) for link in chain for cell in link.batch.cells[0])}
    taken.update(int(ground.places.cell[after.pose]) for before, after in pairwise(chain) if not _opens(before, after))
    pose = chain[0].pose
    actions = list[Action]()
    for before, after in pairwise(chain):
        for stop, action in _stops(before, after, taken):
            actions += [*before.stage.walks.way(pose, stop), action]
            pose = stop
    return (*actions, *chain[-1].stage.walks.way(pose, end))


def _stops(before: Link, after: Link, taken: set[int]) -> Iterator[tuple[int, Action]]:
    """Poses and actions that lead from a state to the next."""
    hand = before.stage.hand
    key = after.stage.hand
    if key is None or _opens(before, after):
        yield after.pose, Action.TOGGLE
        return
    if hand is not None:
        cell = int(after.batch.cells[0, hand])
        if hand not in after.stage.floor:
            cell = _nearest(before, after, hand, key, taken)
            taken.add(cell)
        yield before.stage.walks.facing(before.pose, after.pose, cell), Action.DROP
    yield after.pose, Action.PICKUP


def _opens(before: Link, after: Link) -> bool:
    return before.stage.state.open_doors != after.stage.state.open_doors


def _nearest(before: Link, after: Link, hand: int, key: int, taken: set[int]) -> int:
    """A cell on which a key that vanishes there is put down in the fewest steps, one that is not taken if possible."""
    swapping = Swapping(before.stage, after.stage, before.batch, np.zeros(1, dtype=np.int64), hand, key)
    found = picks(before.stage, before.batch, key)
    (part,) = swapping.parts
    ways = swapping.ways(found.at(found.poses == after.pose), part).min(axis=0)
    nearest: list[int] = part[ways == ways.min()].tolist()
    return next((cell for cell in nearest if cell not in taken), nearest[0])
