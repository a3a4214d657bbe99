"""Distances to the goal in a graph of states, as arrays (pure).

Each cell has one state for each heading. These states have successive numbers; the first number is a multiple of the
number of headings.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gridworld.search.relaxation.places import Mask, Numbers

UNREACHABLE: Final = 1 << 30
"""Distance of states from which the goal cannot be reached; greater than any other distance."""

_MAX_ROUNDS: Final = 10
"""Greatest average number of expansions of a state; more expansions mean that a cycle may have negative cost."""


class EndlessError(Exception):
    """A cycle that may have negative cost. Internal: the error never leaves this package."""


@dataclass(frozen=True, slots=True)
class Edges:
    """All steps except turns, as the edges of a graph; a turn costs 1.

    Attributes:
        before: for each state, the number of edges into states with smaller numbers; length (states + 1). The edges
            into state i have the numbers ``before[i]`` to ``before[i + 1] - 1``.
        sources: the state from which each edge comes.
        costs: the cost of each edge; empty if all edges cost 1.
    """

    before: Numbers
    sources: Numbers
    costs: Numbers

    @classmethod
    def build(cls, sources: Numbers, targets: Numbers, states: int, costs: Numbers | None = None) -> Edges:
        """Return the edges sorted by target.

        Args:
            sources, targets, costs: the edges in any order; without ``costs``, all edges cost 1.
            states: number of states.
        """
        before = np.zeros(states + 1, dtype=np.int64)
        np.cumsum(np.bincount(targets, minlength=states), out=before[1:])
        order = np.argsort(targets, kind="stable")
        if costs is None:
            return cls(before, sources[order], np.empty(0, dtype=np.int64))
        return cls(before, sources[order], costs[order])

    def find_into(self, states: Numbers) -> Numbers:
        """Return the numbers of all edges that lead into ``states``, concatenated state by state."""
        begin = self.before[states]
        lengths = self.before[states + 1] - begin
        # Difference between the number of an edge and its index in the result.
        offsets = np.repeat(begin - (np.cumsum(lengths) - lengths), lengths)
        return offsets + np.arange(len(offsets))


def layers(edges: Edges, goals: Mask, headings: int) -> NDArray[np.int32]:
    """Return the fewest steps from each state to a goal, by breadth-first search; all edges cost 1.

    Args:
        edges: all steps except turns.
        goals: whether each state is a goal.
        headings: number of headings.
    """
    distance = np.full(len(goals), UNREACHABLE, dtype=np.int32)
    frontier = np.flatnonzero(goals)
    steps = 0
    while len(frontier):
        distance[frontier] = steps
        turned = _turn(frontier, headings)
        before = np.concatenate((*turned, edges.sources[edges.find_into(frontier)]))
        frontier = np.unique(before[distance[before] == UNREACHABLE])
        steps += 1
    return distance


def _turn(states: Numbers, headings: int) -> tuple[Numbers, Numbers]:
    """Return (the states after a turn to the right, the states after a turn to the left)."""
    heading = states % headings
    cell = states - heading
    return cell + (heading + 1) % headings, cell + (heading - 1) % headings


def distances(edges: Edges, goals: Mask, headings: int, estimate: Numbers) -> NDArray[np.int32]:
    """Return the cost of the cheapest path from each state to a goal.

    States are expanded in ascending order of cost minus estimate. If a state becomes cheaper after its expansion, the
    state is expanded again. The result does not depend on the estimate, but a good estimate saves expansions.

    Args:
        edges: all steps except turns; costs may be negative.
        goals: whether each state is a goal.
        headings: number of headings.
        estimate: approximate distance of each state; the same for all headings of a cell.

    Raises:
        EndlessError: a cycle may have negative cost, so that a cheapest path need not exist.
    """
    targets = np.repeat(np.arange(len(goals)), np.diff(edges.before))
    reduced = edges.costs + estimate[targets] - estimate[edges.sources]
    # The level of a state is its least known cost minus its estimate.
    levels = np.full(len(goals), UNREACHABLE, dtype=np.int64)
    expanded_level = levels.copy()
    first = np.flatnonzero(goals)
    levels[first] = -estimate[first]
    frontier = defaultdict[int, list[Numbers]](list)
    _add_states(frontier, first, levels[first])
    remaining_expansions = _MAX_ROUNDS * len(goals)
    least_cost = -int(np.ptp(estimate))
    while frontier:
        level = min(frontier)
        states = np.concatenate(frontier.pop(level))
        is_fresh = (levels[states] == level) & (expanded_level[states] != level)
        states = np.unique(states[is_fresh])
        expanded_level[states] = level
        remaining_expansions -= len(states)
        if remaining_expansions < 0:
            raise EndlessError

        into = edges.find_into(states)
        sources = np.concatenate((*_turn(states, headings), edges.sources[into]))
        turn_costs = np.ones(2 * len(states), dtype=np.int64)
        new_levels = level + np.concatenate((turn_costs, reduced[into]))
        is_cheaper = new_levels < levels[sources]
        sources = sources[is_cheaper]
        new_levels = new_levels[is_cheaper]
        if (new_levels + estimate[sources] < least_cost).any():
            raise EndlessError
        np.minimum.at(levels, sources, new_levels)
        is_best = new_levels == levels[sources]
        _add_states(frontier, sources[is_best], new_levels[is_best])
    return np.where(levels < UNREACHABLE, levels + estimate, UNREACHABLE).astype(np.int32)


def _add_states(frontier: defaultdict[int, list[Numbers]], states: Numbers, levels: Numbers) -> None:
    """Add states to the frontier, each under its level."""
    if not len(states):
        return
    lowest = int(levels.min())
    highest = int(levels.max())
    if lowest == highest:
        frontier[lowest].append(states)
        return
    for level in np.unique(levels).tolist():
        frontier[level].append(states[levels == level])
