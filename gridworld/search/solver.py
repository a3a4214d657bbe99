"""Exact search for a shortest solution of a task, or for a proof that the task is unsolvable.

The search is A* (Hart, Nilsson and Raphael, 1968). Successors of a state come from
:func:`gridworld.rules.transition.transition`, and lower bounds from :mod:`gridworld.search.relaxation`. The task's
``max_steps`` is ignored, except for ``survive_steps``.
"""

from __future__ import annotations

from collections import defaultdict
from copy import copy
from dataclasses import dataclass, replace
from typing import Final, Literal

from gridworld.actions import Action
from gridworld.errors import SearchLimitError
from gridworld.rules.layout import NOTHING, Layout, State
from gridworld.rules.tilings import SQUARE, Cell, Tiling
from gridworld.rules.transition import achieved, transition
from gridworld.search.carrying.search import Carrying, is_possible
from gridworld.search.relaxation.numbering import collect_named_ids
from gridworld.search.relaxation.relaxation import COARSE, UNREACHABLE, Relaxation
from gridworld.task_spec import KeySpec, TaskSpecification

DEFAULT_LIMIT: Final = 300_000
"""Default of the number of states that a search expands before it gives up."""

_COARSE_LEAST: Final = 1_000
_COARSE_MOST: Final = 4_000
"""``_COARSE_LEAST`` and ``_COARSE_MOST`` bound the number of states to expand before the finer relaxation is built.

Within these bounds, the number is a tenth of the limit.
"""

_FINE_GRAINS: Final = (2, 3, 4, 6, 8, COARSE)
_FINE_LIMIT: Final = 2_500_000

_ACTIONS: Final = tuple(action for action in Action if action is not Action.DONE)
"""All actions except waiting, which no shortest solution needs."""

_VANISHING: Final = frozenset({Action.DROP, Action.TOGGLE})
"""Actions that may make a key on the floor useless."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The result of the search.

    Attributes:
        status: "solved", or "unsolvable" if the task is proven to be unsolvable.
        actions: a shortest sequence that solves the task; empty if the task is unsolvable.
        expanded: number of states whose successors were generated, or an equivalent effort. The value is 0 if the
            relaxation alone decided the task.
    """

    status: Literal["solved", "unsolvable"]
    actions: tuple[Action, ...]
    expanded: int

    @property
    def solved(self) -> bool:
        return self.status == "solved"

    @property
    def steps(self) -> int:
        """The length of ``actions``."""
        return len(self.actions)


class Solver:
    """A solver for any number of searches in one task; searches share the relaxations.

    The finer relaxation is built only if a search with the coarse relaxation does not decide the task.

    Args:
        layout: the task.
        start: a state from which the start states of all searches can be reached; None means the task's start.
        coarse: number of states to expand before the finer relaxation is built. None means a number that depends on the
            limit.
    """

    def __init__(self, layout: Layout, start: State | None = None, coarse: int | None = None) -> None:
        self._layout = copy(layout)
        self._coarse = coarse
        # Touching a hidden mechanism changes only what a model sees, not what happens.
        self._layout.hidden = NOTHING
        self._start = _simplify(layout.start() if start is None else start)
        self._relaxation = Relaxation(self._layout, self._start)
        self._fine = False
        self._doors_of_keys = [_find_doors(self._layout, key) for key in layout.keys]

    def distance(self, state: State) -> int:
        """Return a lower bound on the remaining steps; ``UNREACHABLE`` if the goal cannot be reached."""
        return self._relaxation.distance(state)

    def solve(self, state: State | None = None, limit: int | None = DEFAULT_LIMIT) -> Solution:
        """Return a shortest solution from a state, or the result "unsolvable", which is proven.

        Args:
            state: the first state; None means the start. A ``survive_steps`` goal counts its steps from this state.
            limit: greatest number of states to expand; None for no limit.

        Raises:
            SearchLimitError: the search expanded ``limit`` states and is undecided; the error has a lower bound.
        """
        start = self._start if state is None else _simplify(state)
        solution = self._decide(start, limit)
        if not solution.solved:
            return solution
        if self._layout.spec.goal.goal_type == "survive_steps":
            waiting = self._layout.spec.max_steps - solution.steps
            if waiting < 0:
                return Solution("unsolvable", (), solution.expanded)
            return Solution("solved", solution.actions + (Action.DONE,) * waiting, solution.expanded)
        # The goal is checked only after a step, so a solution has at least one action.
        return solution if solution.actions else Solution("solved", (Action.DONE,), solution.expanded)

    def _decide(self, start: State, limit: int | None) -> Solution:
        """Return the result of a search with the coarse relaxation or, if undecided, with the finer relaxation.

        Raises:
            SearchLimitError: both searches are undecided.
        """
        spent = 0
        bound = 1
        if not self._fine:
            coarse_limit = self._coarse_limit(limit)
            result = self._search(start, coarse_limit)
            if isinstance(result, Solution):
                return result
            spent = coarse_limit
            bound = max(bound, result)
        if limit is None or spent < limit:
            self._refine()
            result = self._search_thoroughly(start, None if limit is None else limit - spent)
            if isinstance(result, Solution):
                return replace(result, expanded=result.expanded + spent)
            bound = max(bound, result)
        if self._layout.spec.goal.goal_type == "survive_steps":
            bound = max(bound, self._layout.spec.max_steps)
        raise SearchLimitError(
            f"task {self._layout.spec.task_id!a} is not decided after {limit} states: raise the limit, "
            "or make the task smaller",
            bound,
        )

    def _coarse_limit(self, limit: int | None) -> int:
        """Return the number of states to expand with the coarse relaxation."""
        if self._coarse is not None:
            return self._coarse
        if limit is None:
            return _COARSE_MOST
        share = max(_COARSE_LEAST, min(_COARSE_MOST, limit // 10))
        return min(limit, share)

    def _search_thoroughly(self, start: State, limit: int | None) -> Solution | int:
        """Return the solution or, if undecided after ``limit`` states, a lower bound on its length.

        The search first solves a simplified task, in which useless keys vanish from the floor and so do not block a
        cell. For every solution of the task, the simplified task has an equally short or shorter solution, because the
        agent can wait instead of picking up or dropping a useless key. If a shortest solution of the simplified task
        also solves the task, it is therefore a shortest solution of the task. Otherwise the task itself is searched.
        """
        simplified = self._search_quickly(start, limit, vanishing=True)
        if not isinstance(simplified, Solution):
            return simplified
        if not simplified.solved or self._solves(start, simplified.actions):
            return simplified
        limit_left = None if limit is None else limit - simplified.expanded
        exact = self._search_quickly(start, limit_left, vanishing=False)
        if isinstance(exact, Solution):
            return replace(exact, expanded=exact.expanded + simplified.expanded)
        return max(exact, simplified.steps)

    def _search_quickly(self, start: State, limit: int | None, vanishing: bool) -> Solution | int:
        """Return the result of a search by events if the task permits it, otherwise of a search step by step.

        The result is as for :meth:`_search`.
        """
        if not is_possible(self._layout):
            return self._search(start, limit, vanishing)
        vanished = self._drop_useless_keys if vanishing else _keep_state
        bound, actions, spent = Carrying(self._layout, self._relaxation, vanished).search(start, limit)
        if bound >= UNREACHABLE:
            return Solution("unsolvable", (), spent)
        return bound if actions is None else Solution("solved", actions, spent)

    def _solves(self, state: State, actions: tuple[Action, ...]) -> bool:
        """Return whether the actions, played from a state, solve the task."""
        for action in actions:
            state = transition(self._layout, state, action)
        return achieved(self._layout, state, at_limit=True)

    def _drop_useless_keys(self, state: State) -> State:
        """Return the state without keys on the floor that fit no locked door and are not named by the goal."""
        cells: list[Cell | None] = []
        for cell, doors in zip(state.key_cells, self._doors_of_keys, strict=True):
            is_useless = doors is not None and doors <= state.open_doors
            cells.append(None if is_useless else cell)
        key_cells = tuple(cells)
        return state if key_cells == state.key_cells else state._replace(key_cells=key_cells)

    def _refine(self) -> None:
        """Replace the coarse relaxation by a finer relaxation; do nothing if it is replaced already.

        The finer relaxation uses worths (:mod:`gridworld.search.relaxation.worth`). If worths do not raise the bound at
        the start, the finer relaxation distinguishes more places of dropped keys instead. A search by events
        distinguishes all places by itself, so it keeps the relaxation with worths.
        """
        if not self._fine:
            coarse_bound = self._relaxation.distance(self._start)
            self._relaxation = Relaxation(self._layout, self._start, limit=_FINE_LIMIT, pairs=True, worth=True)
            is_better = self._relaxation.distance(self._start) > coarse_bound
            if not is_better and not is_possible(self._layout):
                self._relaxation = Relaxation(
                    self._layout, self._start, grains=_FINE_GRAINS, limit=_FINE_LIMIT, pairs=True
                )
            self._fine = True

    def _search(self, start: State, limit: int | None, vanishing: bool = False) -> Solution | int:
        """Search step by step.

        Return the solution or, if undecided after ``limit`` states, a lower bound on its length.

        Args:
            vanishing: whether useless keys vanish from the floor.
        """
        if vanishing:
            start = self._drop_useless_keys(start)
        bound = self._relaxation.distance(start)
        if bound >= UNREACHABLE:
            return Solution("unsolvable", (), 0)
        # For each state: steps from the start, the state before, and the action in between.
        reached: dict[State, tuple[int, State, Action]] = {start: (0, start, Action.DONE)}
        # (steps, state) by the bound on the length of the whole way. Among equals, the newest state is taken first,
        # because it is the farthest from the start.
        frontier: defaultdict[int, list[tuple[int, State]]] = defaultdict(list)
        frontier[bound].append((0, start))
        done: set[State] = set()
        while frontier:
            total, steps, state = _pop_shortest(frontier)
            if state in done:
                continue
            if steps == total and achieved(self._layout, state, at_limit=True):
                return Solution("solved", _trace_actions(reached, state), len(done))
            if len(done) == limit:
                return total
            done.add(state)
            for action in _ACTIONS:
                after = self._follow(state, action, vanishing)
                earlier = reached.get(after)
                if after.dead or (earlier is not None and earlier[0] <= steps + 1):
                    continue
                remaining = self._relaxation.distance(after)
                if remaining < UNREACHABLE:
                    reached[after] = steps + 1, state, action
                    frontier[steps + 1 + remaining].append((steps + 1, after))
        return Solution("unsolvable", (), len(done))

    def _follow(self, state: State, action: Action, vanishing: bool) -> State:
        """Return the state after an action, without useless keys if ``vanishing``."""
        after = _simplify(transition(self._layout, state, action))
        return self._drop_useless_keys(after) if vanishing and action in _VANISHING else after


def _pop_shortest(frontier: dict[int, list[tuple[int, State]]]) -> tuple[int, int, State]:
    """Remove the state with the least bound; return (bound on the length of the whole way, steps so far, state)."""
    total = min(frontier)
    steps, state = frontier[total].pop()
    if not frontier[total]:
        del frontier[total]
    return total, steps, state


def solve(
    task: TaskSpecification | Layout,
    *,
    tiling: Tiling = SQUARE,
    limit: int | None = DEFAULT_LIMIT,
    start: State | None = None,
) -> Solution:
    """Return a shortest solution of a task, or the result "unsolvable", which is proven.

    Args:
        task: the task to solve; it is not changed.
        tiling: the tiling for a specification; ignored for a layout, which has a tiling.
        limit: greatest number of states to expand; None for no limit.
        start: the first state; None means the task's start.

    Raises:
        TaskError: the specification is invalid.
        SearchLimitError: the search expanded ``limit`` states and is undecided.
    """
    layout = task if isinstance(task, Layout) else Layout(task, tiling)
    return Solver(layout, start).solve(limit=limit)


def _find_doors(layout: Layout, key: KeySpec) -> frozenset[str] | None:
    """Return the doors that a key fits; None if the goal names the key, because the key is then always useful."""
    if key.id in collect_named_ids(layout):
        return None
    return frozenset(door.id for door in layout.doors.values() if door.requires_key == key.color)


def _keep_state(state: State) -> State:
    return state


def _simplify(state: State) -> State:
    """Return the state without cooldown and touched mechanisms, which do not affect later states.

    A cooldown ends before the next action, and a touch changes only what a model sees.
    """
    return state._replace(cooling="", touched=NOTHING) if state.cooling or state.touched else state


def _trace_actions(reached: dict[State, tuple[int, State, Action]], state: State) -> tuple[Action, ...]:
    """Return the actions from the start to a state; ``reached`` has (steps, state before, action) by state."""
    actions: list[Action] = []
    steps, before, action = reached[state]
    while steps > 0:
        actions.append(action)
        steps, before, action = reached[before]
    return tuple(reversed(actions))
