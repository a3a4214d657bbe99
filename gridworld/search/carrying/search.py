"""Exact search by events, for tasks in which only keys and doors change.

The events are: pick up a key, open a door, put down a key. Between two events the agent only walks, and nothing depends
on the walk, so a shortest walk joins the events. The states of the search are therefore the states directly after the
agent picks up a key or opens a door. The agent puts down a key only to pick up another key, so a pickup includes the
putting down. Every solution is a chain of events, and a shortest chain is a shortest solution.

The agent may put down a key on any of hundreds of cells. If the agent moves two keys in turns, dozens of events can be
put into many equally good orders, and no bound distinguishes the resulting states. Therefore states that differ only in
the pose of the agent and in the cells of keys form a group, called a stage. The states of a stage are packed into
arrays and expanded together.

The search is a breadth-first heuristic search (Zhou and Hansen, 2006). A round expands all states that may be on a
solution within a bound. Each round raises the bound as little as possible, until a round finds a solution. Stages with
more open doors are expanded first, so that the last round finds a solution early.

A key that has no further use may vanish when the agent puts it down; see the method ``_search_thoroughly`` of
:class:`gridworld.search.solver.Solver`.
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
"""Approximate number of cells of a grid on which a state takes equally long by events and step by step.

The number converts the cost of a search by events to a number of states of a search step by step.
"""

_MAX_NUMBERS: Final = 1 << 25
"""Approximate greatest number of distances for one batch."""

_WINDOW: Final = 24
"""Greatest difference, in steps from the start, between states of a stage that are expanded together.

With a wider window, more states are expanded again because they were not reached in the fewest steps at first. With a
narrower window, fewer states are expanded together.
"""


def is_possible(layout: Layout) -> bool:
    """Return whether the search by events can solve the task.

    Only keys and doors may change, the goal must be ``reach_position`` or ``collect_all``, and conditions are not
    allowed.
    """
    goal = layout.spec.goal.goal_type
    has_other_changes = layout.switches or any(layout.pushable) or layout.conditions
    has_keys_and_doors = bool(layout.keys and layout.doors)
    return not has_other_changes and has_keys_and_doors and goal in ("reach_position", "collect_all")


class Carrying:
    """A search by events in one task.

    Args:
        layout: the task, for which :func:`is_possible` holds.
        relaxation: a relaxation of the task.
        vanished: function that returns a state without the keys on the floor that have no further use.
    """

    def __init__(self, layout: Layout, relaxation: Relaxation, vanished: Callable[[State], State]) -> None:
        self._layout = layout
        self._relaxation = relaxation
        self._vanished = vanished
        self._ground = Ground(layout, relaxation)
        self._walks: dict[frozenset[str], Walks] = {}

    def search(self, start: State, limit: int | None) -> tuple[int, tuple[Action, ...] | None, int]:
        """Search from a state; return (lower bound, actions, cost).

        The lower bound on the length of a solution is proven; ``UNREACHABLE`` means that the task is unsolvable. The
        actions are a shortest solution; None means that the task is unsolvable or that the search reached the limit.
        The cost has the unit of ``limit``.

        If ``vanished`` removes keys, the actions solve a simplified task. The caller must then check whether the
        actions solve the task itself.

        Args:
            start: the first state.
            limit: limit of the cost, as an approximate number of states of a search step by step; None for no limit.
        """
        start = self._vanished(start)
        bound = self._relaxation.distance(start)
        spent = 0
        cost_of_state = max(0.5, self._ground.size / _CELLS)
        while bound < UNREACHABLE:
            search = _Round(self._layout, self._ground, self._walks, self._vanished, bound)
            most_states = None if limit is None else (limit - spent) / cost_of_state
            actions = search.search(start, most_states)
            spent += ceil(search.spent * cost_of_state)
            is_at_limit = limit is not None and spent >= limit
            if actions is not None or is_at_limit:
                return bound, actions, spent
            bound = search.next_bound
        return UNREACHABLE, None, spent


class _Round:
    """One round of the search, which looks for a solution that is no longer than a bound.

    Attributes:
        next_bound: the least bound of a left-out state; states are left out if their bound exceeds the bound of this
            round. If no state was left out, the value is ``UNREACHABLE``. If the round ends without a solution and
            without reaching the limit, every solution has at least this length.
        spent: number of expanded states.
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
        self.next_bound = UNREACHABLE
        self.spent = 0
        self._stages: dict[tuple[object, ...], Stage] = {}
        # For each expanded batch: the number of its first state, its stage, and the batch.
        self._log: list[tuple[int, Stage, Batch]] = []

    def search(self, start: State, limit: float | None) -> tuple[Action, ...] | None:
        """Return the actions of a solution within the bound, or None if no solution is found within the limit.

        Args:
            start: the first state.
            limit: approximate limit of the number of expanded states; None for no limit.
        """
        most = max(1, _MAX_NUMBERS // len(self._ground.places))
        self._enqueue(self._stage_of(start), self._ground.pack_state(start))
        while (stage := self._next_stage()) is not None:
            if limit is not None and self.spent >= limit:
                break
            batch = stage.take_batch(_WINDOW, most)
            if not len(batch.poses):
                continue

            # Expanded states are numbered in the order of expansion.
            numbers = np.arange(self.spent, self.spent + len(batch.poses))
            self._log.append((self.spent, stage, batch))
            self.spent += len(batch.poses)

            end = self._find_end(stage, batch)
            if end is not None:
                state, pose = end
                return self._trace_actions(int(numbers[state]), pose)
            self._expand_openings(stage, batch, numbers)
            for key in stage.floor:
                self._expand_pickups(stage, batch, numbers, key)
        return None

    def _next_stage(self) -> Stage | None:
        """Return the stage with the most open doors among stages with waiting states; None if no state is waiting.

        Among stages with equally many open doors, the stage that was reached in the fewest steps is returned.
        """
        stages = [stage for stage in self._stages.values() if stage.waiting]
        return min(stages, key=lambda stage: (-len(stage.state.open_doors), stage.first()), default=None)

    def _stage_of(self, state: State) -> Stage:
        """Return the stage of a state; a new stage is created if needed."""
        name = state.open_doors, state.carrying, tuple(cell is None for cell in state.key_cells)
        if name not in self._stages:
            if state.open_doors not in self._walks:
                self._walks[state.open_doors] = Walks(self._layout, self._ground.places, state)
            self._stages[name] = Stage(self._ground, self._walks[state.open_doors], state)
        return self._stages[name]

    def _enqueue(self, stage: Stage, batch: Batch) -> None:
        """Append to the waiting states of ``stage`` those states of ``batch`` whose lower bound is within the bound."""
        lengths = np.minimum(batch.steps + stage.left(batch), UNREACHABLE)
        batch = batch.select(lengths <= self._bound)
        self._update_next_bound(lengths)
        if len(batch.poses):
            stage.waiting.append(batch)

    def _update_next_bound(self, lengths: Numbers) -> None:
        """Lower ``next_bound`` to the least of the lengths that exceed the bound."""
        longer = lengths[lengths > self._bound]
        self.next_bound = min(self.next_bound, int(longer.min(initial=UNREACHABLE)))

    def _find_end(self, stage: Stage, batch: Batch) -> tuple[int, int] | None:
        """Return (index of a state, final pose) of a solution that only needs walking from this state, or None.

        The solution must be within the bound.
        """
        square = self._layout.goal_square
        if square is None:
            ends = batch.poses[:, None]
            remaining = np.where(self._find_achieved(stage, batch), 0, UNREACHABLE)[:, None]
        else:
            ends = np.flatnonzero(self._ground.places.on(square))[None, :]
            remaining = stage.walks.steps(batch.poses[:, None], ends)
            remaining[remaining >= FAR] = UNREACHABLE

        lengths = np.minimum(batch.steps[:, None] + remaining, UNREACHABLE)
        self._update_next_bound(lengths)
        if lengths.min() > self._bound:
            return None

        state, column = np.unravel_index(int(lengths.argmin()), lengths.shape)
        end = np.broadcast_to(ends, lengths.shape)[state, column]
        return int(state), int(end)

    def _find_achieved(self, stage: Stage, batch: Batch) -> Numbers:
        """Return for each state whether a ``collect_all`` goal is achieved."""
        key_index = self._layout.key_index
        names = [name for name in self._layout.spec.goal.target_ids if name in key_index]
        # Only the collected keys differ between the states of a stage.
        with_all_keys = stage.state._replace(collected=frozenset(names))
        is_achieved = np.full(len(batch.poses), achieved(self._layout, with_all_keys))
        for name in names:
            key = key_index[name]
            if key in stage.floor:
                # A key that has never been taken has the number after the last cell.
                is_achieved &= batch.cells[:, key] != self._ground.size
        return is_achieved

    def _expand_openings(self, stage: Stage, batch: Batch, numbers: Numbers) -> None:
        """Enqueue the successors in which the agent has opened a door with its carried key."""
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
            after = self._stage_of(self._vanished(state._replace(open_doors=open_doors, carrying=hand)))
            cells = np.full_like(batch.cells, ground.size)
            cells[:, after.floor] = batch.cells[:, after.floor]

            fronts = ground.faces[:, ground.places.index[cell]]
            for front in fronts[fronts != NO_POSE]:
                steps = stage.walks.steps(batch.poses, front)
                poses = np.full_like(batch.poses, front)
                opened = Batch(poses, cells, batch.steps + steps + 1, numbers)
                self._enqueue(after, opened.select(steps < FAR))

    def _expand_pickups(self, stage: Stage, batch: Batch, numbers: Numbers, key: int) -> None:
        """Enqueue the states after the agent puts down its carried key, if any, and picks up ``key``."""
        picks = find_picks(stage, batch, key)
        after = self._stage_of(self._example_after_pickup(stage, key))
        if stage.hand is None:
            batch_after = Batch(picks.poses, picks.cells, picks.steps, numbers[picks.states])
            self._enqueue(after, batch_after)
            return

        swapping = Swapping(stage, after, batch, numbers, stage.hand, key)
        for part in swapping.parts:
            lengths = swapping.least(picks, part)
            self._update_next_bound(lengths)
            for swaps in swapping.swaps(picks.select(lengths <= self._bound), part, self._bound):
                self.next_bound = min(self.next_bound, swaps.next_bound)
                self._enqueue(after, swaps.batch)

    def _example_after_pickup(self, stage: Stage, key: int) -> State:
        """Return an example of the states after a key is picked up; the cell of a dropped key is arbitrary."""
        keys = self._layout.keys
        cells = list(stage.state.key_cells)
        cells[key] = None
        if stage.hand is not None:
            cells[stage.hand] = keys[stage.hand].position.to_tuple()
        return self._vanished(stage.state._replace(carrying=keys[key].id, key_cells=tuple(cells)))

    def _trace_actions(self, number: int, end: int) -> tuple[Action, ...]:
        """Return the actions from the start, through the expanded state with this number, to the final pose ``end``."""
        chain: list[Link] = []
        while number >= 0:  # the start has the origin -1
            index = bisect_right(self._log, number, key=lambda entry: entry[0]) - 1
            first, stage, batch = self._log[index]
            row = number - first
            chain.append(Link(stage, batch.select(np.array([row]))))
            number = int(batch.origins[row])
        return find_actions(chain[::-1], end)
