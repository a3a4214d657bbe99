"""Exact search by events, for tasks in which nothing but keys and doors changes: pick up, open, put down.

Between two events the agent only walks, and nothing depends on its way: so a shortest way joins them, and a state is
one in which it has just picked up a key or opened a door. A key is put down only to pick up another one, so putting
down belongs to picking up. Every solution is such a chain of events, and the shortest chain is a shortest solution.
A key may be put down on any of hundreds of cells. Their bounds are computed at once, as arrays, and only the
successors of the bound at hand are made: A* with partial expansion (Yoshizumi, Miura and Ishida, 2000).

Keys that are of no more use vanish when they are put down, see :meth:`gridworld.solver.Solver.solve`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from gridworld.actions import Action
from gridworld.layout import Layout, State
from gridworld.relaxation import UNREACHABLE, Relaxation
from gridworld.relaxing.places import Numbers
from gridworld.relaxing.walking import Walking
from gridworld.transition import achieved, transition

STEPS_OF_AN_EVENT: Final = 15
"""States of a search step by step that take as long as making the successors of one state by events, about."""


@dataclass(frozen=True, slots=True)
class Leg:
    """What leads to a state: a walk to a pose and the action there, twice if a key is put down first."""

    before: State
    stops: tuple[tuple[int, Action], ...]


@dataclass(frozen=True, slots=True)
class _Ways:
    """Ways to put down the key in hand and pick up a certain other one.

    Attributes:
        poses: where it is picked up.
        steps: from the start until then, by pose and number of the cell that the other is put on.
        bounds: of the whole length.
    """

    poses: Numbers
    steps: Numbers
    bounds: Numbers


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
        self._layout, self._relaxation, self._vanished = layout, relaxation, vanished
        self._walking = Walking(layout, relaxation.places)
        self._legs: dict[State, Leg] = {}
        self._steps: dict[State, int] = {}
        self._border: defaultdict[int, list[tuple[int, State]]] = defaultdict(list)

    def search(self, start: State, limit: int | None) -> tuple[int, tuple[Action, ...] | None, int]:
        """Search from a state.

        Returns:
            A proven lower bound on the length of a solution, ``UNREACHABLE`` if there is none; the actions of a
            shortest one, None if there is none or the search gave up; what it cost in states of a search step by step.
        """
        start = self._vanished(start)
        self._legs, self._steps = {}, {start: 0}
        self._border.clear()
        self._border[self._relaxation.distance(start)].append((0, start))
        spent = 0
        while self._border:
            bound = min(self._border)
            if bound >= UNREACHABLE:
                break
            steps, state = self._border[bound].pop()
            if not self._border[bound]:
                del self._border[bound]
            if steps > self._steps[state]:
                continue
            if limit is not None and spent >= limit:
                return bound, None, spent
            spent += STEPS_OF_AN_EVENT
            if (end := self._finish(state)) is not None:
                if steps + end[0] <= bound:
                    return bound, self._actions(state, end[1]), spent
                self._border[steps + end[0]].append((steps, state))
            self._expand(state, steps, bound)
        return UNREACHABLE, None, spent

    def _finish(self, state: State) -> tuple[int, int] | None:
        """Steps to the goal without another event, and the pose there; None if that is not possible."""
        pose = self._walking.pose(state)
        if self._layout.goal_square is None:
            return (0, pose) if achieved(self._layout, state) else None
        far = self._walking.distances(pose, state)
        ends = np.flatnonzero(self._walking.places.on(self._layout.goal_square))
        best = int(ends[np.argmin(far[ends])])
        return (int(far[best]), best) if far[best] < UNREACHABLE else None

    def _expand(self, state: State, steps: int, bound: int) -> None:
        """Make the successors that the bound allows; come back to the state for the others."""
        later = UNREACHABLE
        far = self._walking.distances(self._walking.pose(state), state)
        for pose, action in self._events(state):
            least = steps + int(far[pose]) + 1
            if least < UNREACHABLE:
                later = min(later, self._enter(state, least, ((pose, action),), bound))
        for ways in self._drops(state, steps, far):
            for i, cell in np.argwhere(ways.bounds <= bound).tolist():
                pose = int(ways.poses[i])
                stops = ((self._walking.put_down(far, cell, pose, state), Action.DROP), (pose, Action.PICKUP))
                later = min(later, self._enter(state, int(ways.steps[i, cell]), stops, bound))
            beyond = ways.bounds[ways.bounds > bound]
            later = min(later, int(beyond.min()) if len(beyond) else UNREACHABLE)
        if later < UNREACHABLE:
            self._border[later].append((steps, state))

    def _enter(self, before: State, steps: int, stops: tuple[tuple[int, Action], ...], bound: int) -> int:
        """Take a successor in if the bound allows it; else return its bound."""
        after = before
        for pose, action in stops:
            after = self._vanished(transition(self._layout, self._walking.placed(after, pose), action))
            after = after._replace(cooling="", touched=before.touched)
        if self._steps.get(after, UNREACHABLE) <= steps:
            return UNREACHABLE
        left = self._relaxation.distance(after)
        if left >= UNREACHABLE:
            return UNREACHABLE
        if steps + left > bound:
            return steps + left
        self._steps[after], self._legs[after] = steps, Leg(before, stops)
        self._border[bound].append((steps, after))
        return UNREACHABLE

    def _events(self, state: State) -> Iterator[tuple[int, Action]]:
        """Poses and actions of the next events before which nothing is put down."""
        walking = self._walking
        if state.carrying is None:
            for cell in filter(None, state.key_cells):
                yield from ((pose, Action.PICKUP) for pose in walking.pickups(state, cell))
            return
        colour = self._layout.colour_of_key[state.carrying]
        for cell, door in self._layout.doors.items():
            if door.requires_key == colour and door.id not in state.open_doors:
                yield from ((pose, Action.TOGGLE) for pose in walking.facing(cell))

    def _drops(self, state: State, steps: int, far: Numbers) -> Iterator[_Ways]:
        """The next pickups before which the key in hand is put down."""
        if state.carrying is None:
            return
        hand = self._layout.key_index[state.carrying]
        for key, cell in enumerate(state.key_cells):
            if cell is None:
                continue
            poses, costs = self._walking.swaps(state, cell, far)
            costs += steps
            some = int(np.argmin(costs.min(axis=0)))
            lying = self._walking.lying(state, hand, some, key, int(poses[0]))
            if self._vanished(lying).key_cells[hand] is None:  # it vanishes wherever it is put
                nearest = costs.argmin(axis=1)
                bounds = np.full_like(costs, UNREACHABLE)
                for i, pose in enumerate(poses.tolist()):
                    left = self._relaxation.distance(self._walking.placed(self._vanished(lying), pose))
                    bounds[i, nearest[i]] = costs[i, nearest[i]] + left
            else:
                bounds = costs + self._relaxation.distances(lying, state.carrying, poses)
            bounds[costs >= UNREACHABLE] = UNREACHABLE
            yield _Ways(poses, costs, np.minimum(bounds, UNREACHABLE))

    def _actions(self, state: State, end: int) -> tuple[Action, ...]:
        """The whole way: the walks between the stops of all legs, and to the end."""
        legs = list[Leg]()
        last = state
        while (leg := self._legs.get(state)) is not None:
            legs.append(leg)
            state = leg.before
        pose, actions = self._walking.pose(state), list[Action]()
        for leg in reversed(legs):
            for stop, action in leg.stops:
                actions += [*self._walking.way(pose, stop, leg.before), action]
                pose = stop
        return (*actions, *self._walking.way(pose, end, last))
