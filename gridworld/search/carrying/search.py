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
from gridworld.search.carrying.picking import picks
from gridworld.search.carrying.stages import Batch, Ground, Stage
from gridworld.search.carrying.swapping import Swapping
from gridworld.search.carrying.walking import FAR, NO_POSE, Walks
from gridworld.search.carrying.way import Link, way
from gridworld.search.relaxation.places import Numbers
from gridworld.search.relaxation.relaxation import UNREACHABLE, Relaxation

_CELLS: Final = 1_000
"""So many cells times states are expanded by events in the time that one state takes step by step, about."""

_MOST_NUMBERS: Final = 1 << 25
"""Distances that one batch may need, about."""

_WINDOW: Final = 24
"""States of a stage are expanded together if they are within so many steps from the start of one another.

In a wider one states are expanded again that were not yet reached in the fewest steps; a narrower one has less to do
at once.
"""


def is_possible(layout: Layout) -> bool:
    """Whether nothing but keys and doors can change in a task, and nothing but place and events is asked for."""
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
        most = max(1, _MOST_NUMBERS // len(self._ground.places))
        self._offer(self._stage(start), self._ground.packed(start))
        while (stage := self._next()) is not None and (limit is None or self.spent < limit):
            batch = stage.taken(_WINDOW, most)
            if not len(batch.poses):
                continue
            numbers = np.arange(self.spent, self.spent + len(batch.poses))
            self._log.append((self.spent, stage, batch))
            self.spent += len(batch.poses)
            if (end := self._finish(stage, batch)) is not None:
                return self._actions(int(numbers[end[0]]), end[1])
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
        batch = batch.at(lengths <= self._bound)
        self._leave(lengths)
        if len(batch.poses):
            stage.waiting.append(batch)

    def _leave(self, lengths: Numbers) -> None:
        self.beyond = min(self.beyond, int(lengths[lengths > self._bound].min(initial=UNREACHABLE)))

    def _finish(self, stage: Stage, batch: Batch) -> tuple[int, int] | None:
        """Which state is on a way within the bound that has no more events, and the pose where it ends."""
        if self._layout.goal_square is None:
            ends = batch.poses[:, None]
            left = np.where(self._achieved(stage, batch), 0, UNREACHABLE)[:, None]
        else:
            ends = np.flatnonzero(self._ground.places.on(self._layout.goal_square))[None, :]
            left = stage.walks.steps(batch.poses[:, None], ends)
            left[left >= FAR] = UNREACHABLE
        lengths = np.minimum(batch.steps[:, None] + left, UNREACHABLE)
        self._leave(lengths)
        if lengths.min() > self._bound:
            return None
        state, end = np.unravel_index(int(lengths.argmin()), lengths.shape)
        return int(state), int(np.broadcast_to(ends, lengths.shape)[state, end])

    def _achieved(self, stage: Stage, batch: Batch) -> Numbers:
        """Whether everything was collected, by state."""
        keys = [name for name in self._layout.spec.goal.target_ids if name in self._layout.key_index]
        done = np.full(len(batch.poses), achieved(self._layout, stage.state._replace(collected=frozenset(keys))))
        for key in (self._layout.key_index[name] for name in keys):
            if key in stage.floor:
                done &= batch.cells[:, key] != self._ground.size
        return done

    def _open(self, stage: Stage, batch: Batch, numbers: Numbers) -> None:
        state = stage.state
        if state.carrying is None:
            return
        hand = None if self._layout.spec.rules.key_consumption else state.carrying
        for cell, door in self._layout.doors.items():
            if door.requires_key != self._layout.colour_of_key[state.carrying] or door.id in state.open_doors:
                continue
            after = self._stage(self._vanished(state._replace(open_doors=state.open_doors | {door.id}, carrying=hand)))
            cells = np.full_like(batch.cells, self._ground.size)
            cells[:, after.floor] = batch.cells[:, after.floor]
            fronts = self._ground.faces[:, self._ground.places.index[cell]]
            for front in fronts[fronts != NO_POSE]:
                steps = stage.walks.steps(batch.poses, front)
                opened = Batch(np.full_like(batch.poses, front), cells, batch.steps + steps + 1, numbers)
                self._offer(after, opened.at(steps < FAR))

    def _pick(self, stage: Stage, batch: Batch, numbers: Numbers, key: int) -> None:
        found = picks(stage, batch, key)
        after = self._stage(self._picked(stage, key))
        if stage.hand is None:
            self._offer(after, Batch(found.poses, found.cells, found.steps, numbers[found.states]))
            return
        swapping = Swapping(stage, after, batch, numbers, stage.hand, key)
        for part in swapping.parts:
            lengths = swapping.least(found, part)
            self._leave(lengths)
            for swaps in swapping.swaps(found.at(lengths <= self._bound), part, self._bound):
                self.beyond = min(self.beyond, swaps.beyond)
                self._offer(after, swaps.batch)

    def _picked(self, stage: Stage, key: int) -> State:
        cells = list(stage.state.key_cells)
        cells[key] = None
        if stage.hand is not None:
            cells[stage.hand] = self._layout.keys[stage.hand].position.to_tuple()
        return self._vanished(stage.state._replace(carrying=self._layout.keys[key].id, key_cells=tuple(cells)))

    def _actions(self, number: int, end: int) -> tuple[Action, ...]:
        """The whole way to a state and from there to a pose."""
        chain = list[Link]()
        while number >= 0:
            first, stage, batch = self._log[bisect_right(self._log, number, key=lambda entry: entry[0]) - 1]
            chain.append(Link(stage, batch.at(np.array([number - first]))))
            number = int(batch.origins[number - first])
        return way(chain[::-1], end)
