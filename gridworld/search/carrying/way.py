"""From a chain of events to actions (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from gridworld.actions import Action
from gridworld.search.carrying.picking import find_picks
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


def find_actions(chain: Sequence[Link], end: int) -> tuple[Action, ...]:
    """Return actions of a shortest way through all states of a chain, and on to a pose."""
    places = chain[0].stage.ground.places
    # A key that vanishes where it is put down lies there in the task: best where nothing else happens.
    taken = set[int](chain[0].stage.ground.homes.tolist())
    for link in chain:
        taken.update(link.batch.cells[0].tolist())
    for before, after in pairwise(chain):
        if not _is_opening(before, after):
            taken.add(int(places.cell[after.pose]))

    pose = chain[0].pose
    actions = list[Action]()
    for before, after in pairwise(chain):
        for stop, action in _list_stops(before, after, taken):
            actions += [*before.stage.walks.list_actions(pose, stop), action]
            pose = stop
    return (*actions, *chain[-1].stage.walks.list_actions(pose, end))


def _list_stops(before: Link, after: Link, taken: set[int]) -> Iterator[tuple[int, Action]]:
    """Yield poses and actions that lead from a state to the next."""
    hand = before.stage.hand
    key = after.stage.hand
    if key is None or _is_opening(before, after):
        yield after.pose, Action.TOGGLE
        return
    if hand is not None:
        cell = int(after.batch.cells[0, hand])
        if hand not in after.stage.floor:
            cell = _find_nearest(before, after, hand, key, taken)
            taken.add(cell)
        yield before.stage.walks.facing(before.pose, after.pose, cell), Action.DROP
    yield after.pose, Action.PICKUP


def _is_opening(before: Link, after: Link) -> bool:
    return before.stage.state.open_doors != after.stage.state.open_doors


def _find_nearest(before: Link, after: Link, hand: int, key: int, taken: set[int]) -> int:
    """Return a cell on which a key that vanishes is put down in the fewest steps; one not taken if possible."""
    origin = np.zeros(1, dtype=np.int64)
    swapping = Swapping(before.stage, after.stage, before.batch, origin, hand, key)
    found = find_picks(before.stage, before.batch, key)
    found = found.select(found.poses == after.pose)
    (part,) = swapping.parts
    ways = swapping.ways(found, part).min(axis=0)
    nearest: list[int] = part[ways == ways.min()].tolist()
    return next((cell for cell in nearest if cell not in taken), nearest[0])
