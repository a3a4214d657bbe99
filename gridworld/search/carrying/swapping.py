"""Putting down the key in hand on the way to another one, of many states at once (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from gridworld.search.carrying.picking import Picks
from gridworld.search.carrying.stages import Batch, Stage
from gridworld.search.carrying.walking import FAR, Steps
from gridworld.search.relaxation.bounds import Lying
from gridworld.search.relaxation.places import Numbers
from gridworld.search.relaxation.relaxation import UNREACHABLE

_MAX_NUMBERS: Final = 1_000_000
"""Of an array of ways by cell, about."""


class Swaps(NamedTuple):
    """Successors of states of one stage.

    Attributes:
        batch: the states after.
        beyond: no way that was left out, since it is longer than the bound at hand, is shorter than this.
    """

    batch: Batch
    beyond: int


class Swapping:
    """Puts the key in hand down and picks up another one.

    Args:
        before, after: the stages.
        batch: states before.
        numbers: of these states in the whole search.
        hand, key: indices of the keys that are put down and picked up.
    """

    def __init__(self, before: Stage, after: Stage, batch: Batch, numbers: Numbers, hand: int, key: int) -> None:
        self._before = before
        self._after = after
        self._batch = batch
        self._numbers = numbers
        self._hand = hand
        self._key = key
        self._name = before.ground.layout.keys[hand].id

    @property
    def vanishes(self) -> bool:
        """Whether the key in hand is of no more use, and so vanishes when it is put down."""
        return self._hand not in self._after.floor

    @property
    def parts(self) -> tuple[Numbers, ...]:
        """Cells on which the key may be put down, in parts to look at one by one."""
        parts = self._before.ground.parts
        if self.vanishes:
            return (np.concatenate(parts),)
        return tuple(part for part in parts if self._can_reach(part))

    def _can_reach(self, part: Numbers) -> bool:
        """Return whether the agent can face a cell of a part.

        Without teleporters every walk can be walked back: in all states of a stage or in none.
        """
        ground = self._before.ground
        if ground.layout.portals:
            return True
        fronts = ground.faces[:, part]
        steps = self._before.walks.steps(self._batch.poses[0], fronts)
        return bool((steps < FAR).any())

    def least(self, picks: Picks, part: Numbers) -> Numbers:
        """Return lower bounds on the whole length, if the key is put down on any cell of a part."""
        lying = self._locate_floor(picks)
        bounds = self._after.bounds
        if self.vanishes:
            lengths = picks.steps + bounds.bound_states(picks.poses, lying)
        else:
            lengths = picks.steps + bounds.least(picks.poses, lying, self._name, part)
        least: Numbers = np.minimum(lengths, UNREACHABLE)
        return least

    def swaps(self, picks: Picks, part: Numbers, bound: int) -> Iterator[Swaps]:
        """Yield states after the key was put down on a cell of a part, if they may be on a way within a bound."""
        if self.vanishes:
            for some in _split(len(picks.poses), len(part)):
                yield self._drop_useless(picks.select(some), part)
            return

        # Ways by a cell are alike for picks that differ in nothing but other keys' cells: group these.
        codes = self._batch.poses[picks.states] * len(self._before.ground.places) + picks.poses
        codes = (codes * 2 + picks.on) * 2 + picks.strict
        order = np.argsort(codes, kind="stable")
        picks = picks.select(order)
        codes = codes[order]
        begins = np.flatnonzero(np.diff(codes, prepend=-1))
        ends = np.append(begins[1:], len(codes))

        for groups in _split(len(begins), len(part)):
            if not len(groups):
                continue
            begin = begins[groups[0]]
            end = ends[groups[-1]]
            grouped = picks.select(np.arange(begin, end))
            yield self._swap_groups(grouped, begins[groups] - begin, part, bound)

    def ways(self, picks: Picks, part: Numbers) -> Steps:
        """Return the fewest steps to pick the other key up, if the one in hand is put down on each cell of a part.

        Returns:
            Shape (picks, cells), without the two actions; ``FAR`` or more where it cannot be put down.
        """
        ways = self._ways(picks, part)
        for other in self._before.locate_others(picks.cells, self._key):
            ways[part == other[:, None]] = FAR
        return ways

    def _drop_useless(self, picks: Picks, part: Numbers) -> Swaps:
        ways = self.ways(picks, part).min(axis=1).astype(np.int64)
        steps = self._batch.steps[picks.states] + ways + 2
        batch = Batch(picks.poses, picks.cells, steps, self._numbers[picks.states])
        return Swaps(batch.select(ways < FAR), UNREACHABLE)

    def _swap_groups(self, picks: Picks, begins: Numbers, part: Numbers, bound: int) -> Swaps:
        """Swap for sorted picks; ``begins`` says where those begin that differ only in other keys' cells.

        The first projection alone chooses cells; whoever takes the states looks at all. ``slack`` is what the way by a
        cell may take if the key lies on the first cell of the part, and ``worth`` corrects for the others.
        """
        view = self._after.bounds.views[0]
        steps = self._batch.steps[picks.states] + 2
        left = view.steps(picks.poses, self._locate_floor(picks), self._name, int(part[0]))
        slack = bound - steps - left

        # By group and cell: the cells that some pick of the group may use.
        ways = self._ways(picks.select(begins), part).astype(np.int64)
        possible = ways < FAR
        rated = ways + view.worth(self._name, part)
        most = np.maximum.reduceat(slack, begins)[:, None]
        within = possible & (rated <= most)
        excess = rated - most
        beyond = excess[possible & ~within].min(initial=UNREACHABLE)

        # By pick: each cell of its group becomes an entry of its own.
        rows, columns = np.nonzero(within)
        counts = np.bincount(rows, minlength=len(begins))
        sizes = np.diff(begins, append=len(steps))
        row_of = np.repeat(np.arange(len(begins)), sizes)
        chosen = np.repeat(np.arange(len(steps)), counts[row_of])
        first = np.cumsum(counts)[row_of] - np.cumsum(counts[row_of])
        columns = columns[np.arange(len(chosen)) + first[chosen]]
        rows = row_of[chosen]

        over = rated[rows, columns] - slack[chosen]
        beyond = min(beyond, over[over > 0].min(initial=UNREACHABLE))
        cells = part[columns]
        free = over <= 0
        for other in self._before.locate_others(picks.cells, self._key):
            free &= cells != other[chosen]
        chosen = chosen[free]
        rows = rows[free]
        columns = columns[free]

        after = picks.cells[chosen]
        after[:, self._hand] = cells[free]
        lengths = steps[chosen] + ways[rows, columns]
        batch = Batch(picks.poses[chosen], after, lengths, self._numbers[picks.states[chosen]])
        return Swaps(batch, int(min(bound + beyond, UNREACHABLE)))

    def _ways(self, picks: Picks, part: Numbers) -> Steps:
        """Compute :meth:`ways` as if no third key lay on the floor."""
        ground = self._before.ground
        ways = self._before.walks.detours(self._batch.poses[picks.states], picks.poses, part)
        here = ground.places.cell[picks.poses]
        there = np.where(picks.on, here, ground.places.ahead[picks.poses])

        on_the_key = part == there[:, None]
        on_agent = part == here[:, None]
        beside = ground.beside[there][:, part]
        never = on_the_key | (~picks.on[:, None] & on_agent)
        never |= picks.strict[:, None] & ~beside
        ways[never] = FAR
        return ways

    def _locate_floor(self, picks: Picks) -> Lying:
        names = self._before.ground.layout.keys
        floor = [key for key in self._before.floor if key != self._key]
        return {names[key].id: picks.cells[:, key] for key in floor}


def _split(count: int, columns: int) -> list[Numbers]:
    """Split the rows of an array so that no part holds many more than ``_MAX_NUMBERS`` numbers."""
    return np.array_split(np.arange(count), 1 + count * columns // _MAX_NUMBERS)
