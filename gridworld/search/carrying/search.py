"""Exact search by events, for tasks in which nothing but keys and doors changes: pick up, open, put down.

Between two events the agent only walks, and nothing depends on its way: so a shortest way joins them, and a state is
one in which it has just picked up a key or opened a door. A key is put down only to pick up another one, so putting
down belongs to picking up. Every solution is such a chain of events, and the shortest chain is a shortest solution.

A key may be put down on any of hundreds of cells, and two keys that are moved on by turns make chains of dozens of
events, in which one order is as good as another: no bound tells such states apart. So states that differ only in
where the agent is and where keys lie are packed into arrays, a stage each, and expanded together: all that may be on
a way within a bound, which is raised as little as possible until there is one (breadth-first heuristic search; Zhou
and Hansen, 2006). Stages with more open doors come first, so that the last round soon finds a way.

Keys that are of no more use vanish when they are put down, see :meth:`gridworld.search.solver.Solver.solve`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from math import ceil
from typing import Final

import numpy as np

from gridworld.actions import Action
from gridworld.rules.layout import Layout, State
from gridworld.rules.transition import achieved
from gridworld.search.carrying.picking import find_picks
from gridworld.search.carrying.stages import Batch, Ground, Stage
from gridworld.search.carrying.swapping import Swapping
from gridworld.search.carrying.walking import FAR, NO_POSE, Walks
from gridworld.search.carrying.way import Link, find_actions
from gridworld.search.relaxation.places import Numbers
from gridworld.search.relaxation.relaxation import UNREACHABLE, Relaxation

_CELLS: Final = 1_000
"""So many cells times states are expanded by events in the time that one state takes step by step, about."""

_MAX_NUMBERS: Final = 1 << 25
"""Distances that one batch may need, about."""

_WINDOW: Final = 24
"""States of a stage are expanded together if they are within so many steps from the start of one another.

In a wider one states are expanded again that were not yet reached in the fewest steps; a narrower one has less to do
at once.
"""


def is_possible(layout: Layout) -> bool:
    """Return whether only keys and doors can change, and the goal asks only for places and events."""
    goal = layout.spec.goal.goal_type
    static = not layout.switches and not any(layout.pushable) and not layout.conditions
    return static and bool(layout.keys and layout.doors) and goal in ("reach_position", "collect_all")


class Carrying:
    """Searches one task.

    Args:
        layout: for which :func:`is_possible` holds.
        relaxation: of it.
        vanished: a state without the keys on the floor that are of no more use.
    """

    def __init__(self, layout: Layout, relaxation: Relaxation, vanished: Callable[[State], State]) -> None:
        self._layout = layout
        self._relaxation = relaxation
        self._vanished = vanished
        self._ground = Ground(layout, relaxation)
        self._walks: dict[frozenset[str], Walks] = {}

    def search(self, start: State, limit: int | None) -> tuple[int, tuple[Action, ...] | None, int]:
        """Search from a state.

        Args:
            start: the state.
            limit: of what it may cost, in states of a search step by step, about; None for no limit.

        Returns:
            A proven lower bound on the length of a solution, ``UNREACHABLE`` if the task is unsolvable; the actions of
            a shortest solution, or None if the task is unsolvable or the search gave up; the cost of the search. Where
            keys vanish, the actions solve the task in which they do: try them in the task itself.
        """
        start = self._vanished(start)
        bound = self._relaxation.distance(start)
        spent = 0
        cost = max(0.5, self._ground.size / _CELLS)
        while bound < UNREACHABLE:
            search = _Round(self._layout, self._ground, self._walks, self._vanished, bound)
            actions = search.search(start, None if limit is None else (limit - spent) / cost)
            spent += ceil(search.spent * cost)
            if actions is not None or (limit is not None and spent >= limit):
                return bound, actions, spent
            bound = search.beyond
        return UNREACHABLE, None, spent


class _Round:
    """A search for a way no longer than a bound.

    Attributes:
        beyond: no way is shorter, if the search has ended without one and without the limit; ``UNREACHABLE`` if nothing
            was left out.
        spent: states expanded.
    """

    def __init__(
        self,
        layout: Layout,
        ground: Ground,
        walks: dict[frozenset[str], Walks],
        vanished: Callable[[State], State],
        bound: int,
    ) -> None:
        self._layout = layout
        self._ground = ground
        self._walks = walks
        self._vanished = vanished
        self._bound = bound
        self.beyond = UNREACHABLE
        self.spent = 0
        self._stages: dict[tuple[object, ...], Stage] = {}
        self._log: list[tuple[int, Stage, Batch]] = []

    def search(self, start: State, limit: float | None) -> tuple[Action, ...] | None:
        """Return the actions of a solution within the bound, or None if no such solution is found within the limit."""
        most = max(1, _MAX_NUMBERS // len(self._ground.places))
        self._offer(self._stage(start), self._ground.pack_state(start))
        while (stage := self._next()) is not None:
            if limit is not None and self.spent >= limit:
                break
            batch = stage.take_batch(_WINDOW, most)
            if not len(batch.poses):
                continue

            numbers = np.arange(self.spent, self.spent + len(batch.poses))
            self._log.append((self.spent, stage, batch))
            self.spent += len(batch.poses)

            if (end := self._finish(stage, batch)) is not None:
                state, pose = end
                return self._trace_actions(int(numbers[state]), pose)
            self._open(stage, batch, numbers)
            for key in stage.floor:
                self._pick(stage, batch, numbers, key)
        return None

    def _next(self) -> Stage | None:
        waiting = [stage for stage in self._stages.values() if stage.waiting]
        return min(waiting, key=lambda stage: (-len(stage.state.open_doors), stage.first()), default=None)

    def _stage(self, state: State) -> Stage:
        name = state.open_doors, state.carrying, tuple(cell is None for cell in state.key_cells)
        if name not in self._stages:
            if state.open_doors not in self._walks:
                self._walks[state.open_doors] = Walks(self._layout, self._ground.places, state)
            self._stages[name] = Stage(self._ground, self._walks[state.open_doors], state)
        return self._stages[name]

    def _offer(self, stage: Stage, batch: Batch) -> None:
        """Put states on the list of their stage if they may be on a way within the bound."""
        lengths = np.minimum(batch.steps + stage.left(batch), UNREACHABLE)
        batch = batch.select(lengths <= self._bound)
        self._leave(lengths)
        if len(batch.poses):
            stage.waiting.append(batch)

    def _leave(self, lengths: Numbers) -> None:
        longer = lengths[lengths > self._bound]
        self.beyond = min(self.beyond, int(longer.min(initial=UNREACHABLE)))

    def _finish(self, stage: Stage, batch: Batch) -> tuple[int, int] | None:
        """Return a state on a way within the bound without further events, and the pose where it ends; None without."""
        square = self._layout.goal_square
        if square is None:
            ends = batch.poses[:, None]
            left = np.where(self._find_achieved(stage, batch), 0, UNREACHABLE)[:, None]
        else:
            ends = np.flatnonzero(self._ground.places.on(square))[None, :]
            left = stage.walks.steps(batch.poses[:, None], ends)
            left[left >= FAR] = UNREACHABLE

        lengths = np.minimum(batch.steps[:, None] + left, UNREACHABLE)
        self._leave(lengths)
        if lengths.min() > self._bound:
            return None

        state, column = np.unravel_index(int(lengths.argmin()), lengths.shape)
        end = np.broadcast_to(ends, lengths.shape)[state, column]
        return int(state), int(end)

    def _find_achieved(self, stage: Stage, batch: Batch) -> Numbers:
        """Return whether everything was collected, by state."""
        key_index = self._layout.key_index
        names = [name for name in self._layout.spec.goal.target_ids if name in key_index]
        # Which keys were collected differs from state to state; all else is the same in a stage.
        all_keys = stage.state._replace(collected=frozenset(names))
        done = np.full(len(batch.poses), achieved(self._layout, all_keys))
        for name in names:
            key = key_index[name]
            if key in stage.floor:
                done &= batch.cells[:, key] != self._ground.size
        return done

    def _open(self, stage: Stage, batch: Batch, numbers: Numbers) -> None:
        state = stage.state
        if state.carrying is None:
            return
        layout = self._layout
        ground = self._ground
        colour = layout.colour_of_key[state.carrying]
        hand = None if layout.spec.rules.key_consumption else state.carrying

        for cell, door in layout.doors.items():
            if door.requires_key != colour or door.id in state.open_doors:
                continue
            open_doors = state.open_doors | {door.id}
            after = self._stage(self._vanished(state._replace(open_doors=open_doors, carrying=hand)))
            cells = np.full_like(batch.cells, ground.size)
            cells[:, after.floor] = batch.cells[:, after.floor]

            fronts = ground.faces[:, ground.places.index[cell]]
            for front in fronts[fronts != NO_POSE]:
                steps = stage.walks.steps(batch.poses, front)
                poses = np.full_like(batch.poses, front)
                opened = Batch(poses, cells, batch.steps + steps + 1, numbers)
                self._offer(after, opened.select(steps < FAR))

    def _pick(self, stage: Stage, batch: Batch, numbers: Numbers, key: int) -> None:
        found = find_picks(stage, batch, key)
        after = self._stage(self._pick_key(stage, key))
        if stage.hand is None:
            batch_after = Batch(found.poses, found.cells, found.steps, numbers[found.states])
            self._offer(after, batch_after)
            return

        swapping = Swapping(stage, after, batch, numbers, stage.hand, key)
        for part in swapping.parts:
            lengths = swapping.least(found, part)
            self._leave(lengths)
            for swaps in swapping.swaps(found.select(lengths <= self._bound), part, self._bound):
                self.beyond = min(self.beyond, swaps.beyond)
                self._offer(after, swaps.batch)

    def _pick_key(self, stage: Stage, key: int) -> State:
        keys = self._layout.keys
        cells = list(stage.state.key_cells)
        cells[key] = None
        if stage.hand is not None:
            cells[stage.hand] = keys[stage.hand].position.to_tuple()
        return self._vanished(stage.state._replace(carrying=keys[key].id, key_cells=tuple(cells)))

    def _trace_actions(self, number: int, end: int) -> tuple[Action, ...]:
        """Return the actions of the whole way to a state and from there to a pose."""
        chain = list[Link]()
        while number >= 0:
            place = bisect_right(self._log, number, key=lambda entry: entry[0]) - 1
            first, stage, batch = self._log[place]
            row = number - first
            chain.append(Link(stage, batch.select(np.array([row]))))
            number = int(batch.origins[row])
        return find_actions(chain[::-1], end)
