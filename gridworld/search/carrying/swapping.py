"""Putting down the carried key on the way to another key, computed for many states at once (pure)."""

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
"""Approximate greatest size of an array of steps by pick and cell."""


class Swaps(NamedTuple):
    """Successors of the states of one stage, in which the agent has swapped keys.

    Attributes:
        batch: the successors that are not left out.
        next_bound: lower bound on the length of the solutions through successors that are left out; these successors
            exceed the current bound.
    """

    batch: Batch
    next_bound: int


class Swapping:
    """Swaps of keys: the agent puts down the carried key and picks up another key.

    Args:
        before, after: the stages before and after the swap.
        batch: the states before the swap.
        numbers: the numbers of these states in the whole search.
        hand: index of the key that the agent puts down.
        key: index of the key that the agent picks up.
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
        """Whether the carried key has no further use and therefore vanishes when the agent puts the key down."""
        return self._hand not in self._after.floor

    @property
    def parts(self) -> tuple[Numbers, ...]:
        """The cells on which the agent may put down the key, grouped into parts of the grid.

        The caller handles one part at a time.
        """
        parts = self._before.ground.parts
        if self.vanishes:
            return (np.concatenate(parts),)
        return tuple(part for part in parts if self._can_reach(part))

    def _can_reach(self, part: Numbers) -> bool:
        """Return whether the agent may be able to face at least one cell of ``part``.

        Without teleporters, every walk is reversible, so the agent can face a cell either in all states of a stage or
        in no state. Therefore only the first state is checked.
        """
        ground = self._before.ground
        if ground.layout.portals:
            return True
        fronts = ground.faces[:, part]
        steps = self._before.walks.steps(self._batch.poses[0], fronts)
        return bool((steps < FAR).any())

    def least(self, picks: Picks, part: Numbers) -> Numbers:
        """Return for each pick a lower bound on the length of solutions in which the key is put down in ``part``."""
        lying = self._locate_floor(picks)
        bounds = self._after.bounds
        if self.vanishes:
            lengths = picks.steps + bounds.bound_states(picks.poses, lying)
        else:
            lengths = picks.steps + bounds.least(picks.poses, lying, self._name, part)
        capped: Numbers = np.minimum(lengths, UNREACHABLE)
        return capped

    def swaps(self, picks: Picks, part: Numbers, bound: int) -> Iterator[Swaps]:
        """Yield the states after the agent has put down the key on a cell of ``part`` and picked up the other key.

        States are left out if they cannot be on a solution within ``bound``.
        """
        if self.vanishes:
            for rows in _split(len(picks.poses), len(part)):
                yield self._drop_useless(picks.select(rows), part)
            return

        # Picks with the same start pose, end pose, ``on`` and ``strict`` have the same ways, so these picks form a
        # group. The picks of a group differ only in the cells of other keys.
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
        """Return for each pick and each cell of ``part`` the fewest steps if the carried key is put down on the cell.

        Returns:
            An array of shape (picks, cells). The steps do not include the two actions of putting down and picking up.
            The value is ``FAR`` or more if the key cannot be put down on the cell.
        """
        ways = self._ways_without_others(picks, part)
        for other in self._before.locate_others(picks.cells, self._key):
            ways[part == other[:, None]] = FAR
        return ways

    def _drop_useless(self, picks: Picks, part: Numbers) -> Swaps:
        """Return the swaps if the carried key vanishes; the agent puts it down where this costs the fewest steps."""
        ways = self.ways(picks, part).min(axis=1).astype(np.int64)
        steps = self._batch.steps[picks.states] + ways + 2
        batch = Batch(picks.poses, picks.cells, steps, self._numbers[picks.states])
        return Swaps(batch.select(ways < FAR), UNREACHABLE)

    def _swap_groups(self, picks: Picks, begins: Numbers, part: Numbers, bound: int) -> Swaps:
        """Return the swaps of sorted picks within a bound.

        In this method, only the first projection decides which cells are within the bound; the caller checks the states
        with all projections. In the code, ``slack`` is the greatest number of steps of the walk if the key lies on the
        first cell of the part. The worths (:mod:`gridworld.search.relaxation.worth`) correct the bound for the other
        cells of the part.

        Args:
            picks: picks sorted by group.
            begins: index of the first pick of each group.
            part: cells on which the agent may put down the key.
            bound: greatest length of a solution.
        """
        view = self._after.bounds.views[0]
        steps = self._batch.steps[picks.states] + 2  # put down, pick up
        remaining = view.steps(picks.poses, self._locate_floor(picks), self._name, int(part[0]))
        slack = bound - steps - remaining

        # By group and cell: the cells that at least one pick of the group may use.
        ways = self._ways_without_others(picks.select(begins), part).astype(np.int64)
        possible = ways < FAR
        rated = ways + view.worth(self._name, part)
        most_slack = np.maximum.reduceat(slack, begins)[:, None]
        within = possible & (rated <= most_slack)
        excess = rated - most_slack
        least_excess = excess[possible & ~within].min(initial=UNREACHABLE)

        # Make an entry for each pick and each cell of its group: entry i has the pick chosen[i], whose group is
        # rows[i], and the cell part[columns[i]].
        rows, columns = np.nonzero(within)
        counts = np.bincount(rows, minlength=len(begins))
        sizes = np.diff(begins, append=len(steps))
        group_of_pick = np.repeat(np.arange(len(begins)), sizes)
        chosen = np.repeat(np.arange(len(steps)), counts[group_of_pick])
        # Difference between the index of a group's first cell and the index of a pick's first entry.
        offset = np.cumsum(counts)[group_of_pick] - np.cumsum(counts[group_of_pick])
        columns = columns[np.arange(len(chosen)) + offset[chosen]]
        rows = group_of_pick[chosen]

        over = rated[rows, columns] - slack[chosen]
        least_excess = min(least_excess, over[over > 0].min(initial=UNREACHABLE))
        cells = part[columns]
        kept = over <= 0
        for other in self._before.locate_others(picks.cells, self._key):
            kept &= cells != other[chosen]
        chosen = chosen[kept]
        rows = rows[kept]
        columns = columns[kept]

        cells_after = picks.cells[chosen]
        cells_after[:, self._hand] = cells[kept]
        lengths = steps[chosen] + ways[rows, columns]
        batch = Batch(picks.poses[chosen], cells_after, lengths, self._numbers[picks.states[chosen]])
        return Swaps(batch, int(min(bound + least_excess, UNREACHABLE)))

    def _ways_without_others(self, picks: Picks, part: Numbers) -> Steps:
        """Return the result of :meth:`ways`, as if only the two swapped keys existed."""
        ground = self._before.ground
        ways = self._before.walks.detours(self._batch.poses[picks.states], picks.poses, part)
        agent_cell = ground.places.cell[picks.poses]
        key_cell = np.where(picks.on, agent_cell, ground.places.ahead[picks.poses])

        is_key_cell = part == key_cell[:, None]
        is_agent_cell = part == agent_cell[:, None]
        is_beside_key = ground.beside[key_cell][:, part]
        # If the agent picks up from the cell before, a key dropped on that cell would be picked up instead.
        forbidden = is_key_cell | (~picks.on[:, None] & is_agent_cell)
        forbidden |= picks.strict[:, None] & ~is_beside_key
        ways[forbidden] = FAR
        return ways

    def _locate_floor(self, picks: Picks) -> Lying:
        """Return, by id of each key that stays on the floor, its cell in each pick, in the form for the bounds."""
        names = self._before.ground.layout.keys
        floor = [key for key in self._before.floor if key != self._key]
        return {names[key].id: picks.cells[:, key] for key in floor}


def _split(count: int, columns: int) -> list[Numbers]:
    """Split the indices 0 to ``count`` - 1 of the rows of an array into pieces.

    The rows of a piece have at most about ``_MAX_NUMBERS`` numbers; each row has ``columns`` numbers.
    """
    return np.array_split(np.arange(count), 1 + count * columns // _MAX_NUMBERS)
