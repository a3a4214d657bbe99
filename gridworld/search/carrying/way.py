"""Conversion of a chain of events to actions (pure)."""

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
    """A state of the chain: its stage, and a batch that holds only this state."""

    stage: Stage
    batch: Batch

    @property
    def pose(self) -> int:
        """The pose of the agent."""
        return int(self.batch.poses[0])


def find_actions(chain: Sequence[Link], end: int) -> tuple[Action, ...]:
    """Return the fewest actions that lead through all states of a chain, and on to the pose ``end``."""
    places = chain[0].stage.ground.places
    # A key that vanishes in the search stays on the floor in the task, so it should lie on a cell that no later event
    # needs. ``taken`` are the cells of events.
    taken = set[int](chain[0].stage.ground.homes.tolist())
    for link in chain:
        taken.update(link.batch.cells[0].tolist())
    for before, after in pairwise(chain):
        if not _is_opening(before, after):
            taken.add(int(places.cell[after.pose]))

    pose = chain[0].pose
    actions: list[Action] = []
    for before, after in pairwise(chain):
        for stop, action in _list_stops(before, after, taken):
            actions += [*before.stage.walks.list_actions(pose, stop), action]
            pose = stop
    return (*actions, *chain[-1].stage.walks.list_actions(pose, end))


def _list_stops(before: Link, after: Link, taken: set[int]) -> Iterator[tuple[int, Action]]:
    """Yield the (pose, action) pair of each event between a state and the next state.

    The cell of a key that vanishes is added to ``taken``.
    """
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
    """Return whether the agent opens a door between two states."""
    return before.stage.state.open_doors != after.stage.state.open_doors


def _find_nearest(before: Link, after: Link, hand: int, key: int, taken: set[int]) -> int:
    """Return the cell on which the agent can put down a vanishing key in the fewest steps.

    If several cells are equally near, a cell that is not in ``taken`` is preferred.
    """
    origin = np.zeros(1, dtype=np.int64)
    swapping = Swapping(before.stage, after.stage, before.batch, origin, hand, key)
    picks = find_picks(before.stage, before.batch, key)
    picks = picks.select(picks.poses == after.pose)
    (part,) = swapping.parts
    ways = swapping.ways(picks, part).min(axis=0)
    nearest: list[int] = part[ways == ways.min()].tolist()
    return next((cell for cell in nearest if cell not in taken), nearest[0])
