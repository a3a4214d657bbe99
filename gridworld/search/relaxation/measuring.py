"""Distances to the goal in a graph whose states are numbered by pose, as arrays (pure)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gridworld.search.relaxation.places import Mask, Numbers

UNREACHABLE: Final = 1 << 30
"""Distance of states from which there is no way; more than any other."""

_MAX_ROUNDS: Final = 10
"""How often every state may be looked at, on average, before a way is suspected to cost less the longer it is."""


class EndlessError(Exception):
    """There may be a way around that costs less than nothing. Never leaves this package."""


@dataclass(frozen=True, slots=True)
class Edges:
    """All steps but turns, which cost 1: those into state i come from ``sources[before[i] : before[i + 1]]``."""

    before: Numbers
    sources: Numbers
    costs: Numbers

    @classmethod
    def build(cls, sources: Numbers, targets: Numbers, states: int, costs: Numbers | None = None) -> Edges:
        """Build from edges in any order; without ``costs`` the field is empty, and all cost 1."""
        before = np.zeros(states + 1, dtype=np.int64)
        np.cumsum(np.bincount(targets, minlength=states), out=before[1:])
        order = np.argsort(targets, kind="stable")
        if costs is None:
            return cls(before, sources[order], np.empty(0, dtype=np.int64))
        return cls(before, sources[order], costs[order])

    def find_into(self, states: Numbers) -> Numbers:
        """Return the numbers of the edges into some states."""
        begin = self.before[states]
        lengths = self.before[states + 1] - begin
        offsets = np.repeat(begin - (np.cumsum(lengths) - lengths), lengths)
        return offsets + np.arange(len(offsets))


def layers(edges: Edges, goals: Mask, headings: int) -> NDArray[np.int32]:
    """Return the fewest steps from every state to a goal, if all cost 1."""
    found = np.full(len(goals), UNREACHABLE, dtype=np.int32)
    border = np.flatnonzero(goals)
    steps = 0
    while len(border):
        found[border] = steps
        turned = _turn(border, headings)
        before = np.concatenate((*turned, edges.sources[edges.find_into(border)]))
        border = np.unique(before[found[before] == UNREACHABLE])
        steps += 1
    return found


def _turn(states: Numbers, headings: int) -> tuple[Numbers, Numbers]:
    heading = states % headings
    cell = states - heading
    return cell + (heading + 1) % headings, cell + (heading - 1) % headings


def distances(edges: Edges, goals: Mask, headings: int, estimate: Numbers) -> NDArray[np.int32]:
    """Return the cost of the cheapest way from every state to a goal.

    States are looked at in the order of their cost less their estimate, again where a step that costs less than the
    estimates say has made one cheaper: any estimate is right, a good one is fast.

    Args:
        edges: all steps but turns; costs may be negative.
        goals: which states are goals.
        headings: poses of a cell.
        estimate: about the distance of every state; the same for all headings of a cell.

    Raises:
        EndlessError: there may be no cheapest way.
    """
    targets = np.repeat(np.arange(len(goals)), np.diff(edges.before))
    reduced = edges.costs + estimate[targets] - estimate[edges.sources]
    found = np.full(len(goals), UNREACHABLE, dtype=np.int64)
    looked = found.copy()
    first = np.flatnonzero(goals)
    found[first] = -estimate[first]
    border = defaultdict[int, list[Numbers]](list)
    _sort_in(border, first, found[first])
    left = _MAX_ROUNDS * len(goals)
    least = -int(np.ptp(estimate))
    while border:
        level = min(border)
        states = np.concatenate(border.pop(level))
        is_fresh = (found[states] == level) & (looked[states] != level)
        states = np.unique(states[is_fresh])
        looked[states] = level
        left -= len(states)
        if left < 0:
            raise EndlessError

        chosen = edges.find_into(states)
        sources = np.concatenate((*_turn(states, headings), edges.sources[chosen]))
        turns = np.ones(2 * len(states), dtype=np.int64)
        costs = level + np.concatenate((turns, reduced[chosen]))
        cheaper = costs < found[sources]
        sources = sources[cheaper]
        costs = costs[cheaper]
        if (costs + estimate[sources] < least).any():
            raise EndlessError
        np.minimum.at(found, sources, costs)
        best = costs == found[sources]
        _sort_in(border, sources[best], costs[best])
    return np.where(found < UNREACHABLE, found + estimate, UNREACHABLE).astype(np.int32)


def _sort_in(border: defaultdict[int, list[Numbers]], states: Numbers, levels: Numbers) -> None:
    if not len(states):
        return
    lowest = int(levels.min())
    highest = int(levels.max())
    if lowest == highest:
        border[lowest].append(states)
        return
    for level in np.unique(levels).tolist():
        border[level].append(states[levels == level])
