"""Distances to the goal in a graph whose states are numbered by pose, as arrays (pure)."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

import numpy as np

from gridworld.relaxing.places import Mask, Numbers

UNREACHABLE: Final = 1 << 30
"""Distance of states from which there is no way; more than any other."""

_MOST_ROUNDS: Final = 10
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
    def of(cls, sources: Numbers, targets: Numbers, costs: Numbers, states: int) -> Edges:
        """From edges in any order."""
        before = np.zeros(states + 1, dtype=np.int64)
        np.cumsum(np.bincount(targets, minlength=states), out=before[1:])
        order = np.argsort(targets, kind="stable")
        return cls(before, sources[order], costs[order])

    def into(self, states: Numbers, headings: int) -> tuple[Numbers, Numbers]:
        """Sources and costs of the steps into some states, turns included."""
        begin = self.before[states]
        lengths = self.before[states + 1] - begin
        chosen = np.repeat(begin - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
        heading = states % headings
        turned = [states - heading + (heading + turn) % headings for turn in (1, -1)]
        costs = np.concatenate((np.ones(2 * len(states), dtype=np.int64), self.costs[chosen]))
        return np.concatenate((*turned, self.sources[chosen])), costs


def distances(edges: Edges, goals: Mask, headings: int, estimate: Numbers) -> Numbers:
    """Cost of the cheapest way from every state to a goal.

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
    reduced = Edges(edges.before, edges.sources, edges.costs + estimate[targets] - estimate[edges.sources])
    found = np.full(len(goals), UNREACHABLE, dtype=np.int64)
    looked = found.copy()
    first = np.flatnonzero(goals)
    found[first] = -estimate[first]
    border = defaultdict[int, list[Numbers]](list)
    _sort_in(border, first, found[first])
    left = _MOST_ROUNDS * len(goals)
    while border:
        level = min(border)
        states = np.concatenate(border.pop(level))
        states = np.unique(states[(found[states] == level) & (looked[states] != level)])
        looked[states] = level
        left -= len(states)
        if left < 0:
            raise EndlessError
        sources, costs = reduced.into(states, headings)
        cheaper = costs + level < found[sources]
        sources, costs = sources[cheaper], costs[cheaper] + level
        np.minimum.at(found, sources, costs)
        best = costs == found[sources]
        _sort_in(border, sources[best], costs[best])
    return np.where(found < UNREACHABLE, found + estimate, UNREACHABLE)


def _sort_in(border: defaultdict[int, list[Numbers]], states: Numbers, levels: Numbers) -> None:
    if not len(states):
        return
    lowest, highest = int(levels.min()), int(levels.max())
    if lowest == highest:
        border[lowest].append(states)
        return
    for level in np.unique(levels).tolist():
        border[level].append(states[levels == level])
