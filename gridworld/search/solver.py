"""Exact search: find a shortest sequence of actions that solves a task, or prove that it is unsolvable.

A* (Hart, Nilsson and Raphael, 1968) on :func:`gridworld.rules.transition.transition`, the rules themselves, with the
lower bounds of :mod:`gridworld.search.relaxation`. The task's ``max_steps`` is ignored, except for ``survive_steps``.
"""

from __future__ import annotations

from collections import defaultdict
from copy import copy
from dataclasses import dataclass, replace
from typing import Final, Literal

from gridworld.actions import Action
from gridworld.errors import SearchLimitError
from gridworld.rules.layout import NOTHING, Layout, State
from gridworld.rules.tilings import SQUARE, Tiling
from gridworld.rules.transition import achieved, transition
from gridworld.search.carrying.search import Carrying, is_possible
from gridworld.search.relaxation.numbering import collect_named_ids
from gridworld.search.relaxation.relaxation import COARSE, UNREACHABLE, Relaxation
from gridworld.task_spec import KeySpec, TaskSpecification

DEFAULT_LIMIT: Final = 300_000
"""Number of states that a search expands before it gives up."""

_COARSE_LEAST: Final = 1_000
_COARSE_MOST: Final = 4_000
"""States to expand before a finer relaxation pays: a tenth of the limit, but within these bounds."""

_FINE_GRAINS: Final = (2, 3, 4, 6, 8, COARSE)
_FINE_LIMIT: Final = 2_500_000

_ACTIONS: Final = tuple(action for action in Action if action is not Action.DONE)
"""All actions but waiting, which changes nothing that a shortest solution could need."""

_VANISHING: Final = frozenset({Action.DROP, Action.TOGGLE})
"""After these actions a key on the floor may have become useless."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The result of the search.

    Attributes:
        status: "solved", or "unsolvable", which is proven.
        actions: a shortest sequence that solves the task; empty if the task is unsolvable.
        expanded: states whose successors were generated, or an equivalent effort; 0 if the relaxation alone decided.
    """

    status: Literal["solved", "unsolvable"]
    actions: tuple[Action, ...]
    expanded: int

    @property
    def solved(self) -> bool:
        return self.status == "solved"

    @property
    def steps(self) -> int:
        """Return the length of ``actions``."""
        return len(self.actions)


class Solver:
    """Searches from any number of states of one task; relaxations are built once, the finer one only if needed.

    Args:
        layout: the task.
        start: a state from which all states searched from can be reached; the task's own start by default.
        coarse: states to expand before the finer relaxation is built; by default as many as pay.
    """

    def __init__(self, layout: Layout, start: State | None = None, coarse: int | None = None) -> None:
        self._layout = copy(layout)
        self._coarse = coarse
        # Touching changes only what is seen, not what happens.
        self._layout.hidden = NOTHING
        self._start = _simplify(layout.start() if start is None else start)
        self._relaxation = Relaxation(self._layout, self._start)
        self._fine = False
        self._doors_of_keys = [_find_doors(self._layout, key) for key in layout.keys]

    def distance(self, state: State) -> int:
        """Return a lower bound on the steps left; ``UNREACHABLE`` if the goal cannot be reached."""
        return self._relaxation.distance(state)

    def solve(self, state: State | None = None, limit: int | None = DEFAULT_LIMIT) -> Solution:
        """Search from a state, by default the start; a ``survive_steps`` goal counts its steps from there.

        Raises:
            SearchLimitError: undecided after expanding ``limit`` states (None: no limit); has a lower bound.
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
        # The goal is looked at after a step only.
        return solution if solution.actions else Solution("solved", (Action.DONE,), solution.expanded)

    def _decide(self, start: State, limit: int | None) -> Solution:
        spent = 0
        bound = 1
        if not self._fine:
            coarse = self._patience(limit)
            if isinstance(found := self._search(start, coarse), Solution):
                return found
            spent = coarse
            bound = max(bound, found)
        if limit is None or spent < limit:
            self._refine()
            found = self._search_thoroughly(start, None if limit is None else limit - spent)
            if isinstance(found, Solution):
                return replace(found, expanded=found.expanded + spent)
            bound = max(bound, found)
        if self._layout.spec.goal.goal_type == "survive_steps":
            bound = max(bound, self._layout.spec.max_steps)
        raise SearchLimitError(
            f"task {self._layout.spec.task_id!a} is not decided after {limit} states: raise the limit, "
            "or make the task smaller",
            bound,
        )

    def _patience(self, limit: int | None) -> int:
        if self._coarse is not None:
            return self._coarse
        if limit is None:
            return _COARSE_MOST
        share = max(_COARSE_LEAST, min(_COARSE_MOST, limit // 10))
        return min(limit, share)

    def _search_thoroughly(self, start: State, limit: int | None) -> Solution | int:
        """Search first as if useless keys vanished from the floor.

        Then they block nothing, and nothing is lost: instead of picking one up or dropping it the agent could wait.
        So every solution of the task has one there that is no longer, and a shortest solution there that also solves
        the task is a shortest solution of the task.
        """
        found = self._search_quickly(start, limit, vanishing=True)
        if not isinstance(found, Solution) or not found.solved or self._solves(start, found.actions):
            return found
        exact = self._search_quickly(start, None if limit is None else limit - found.expanded, vanishing=False)
        if isinstance(exact, Solution):
            return replace(exact, expanded=exact.expanded + found.expanded)
        return max(exact, found.steps)

    def _search_quickly(self, start: State, limit: int | None, vanishing: bool) -> Solution | int:
        """Search by events if possible, else step by step."""
        if not is_possible(self._layout):
            return self._search(start, limit, vanishing)
        vanished = self._drop_useless_keys if vanishing else _keep_state
        bound, actions, spent = Carrying(self._layout, self._relaxation, vanished).search(start, limit)
        if bound >= UNREACHABLE:
            return Solution("unsolvable", (), spent)
        return bound if actions is None else Solution("solved", actions, spent)

    def _solves(self, state: State, actions: tuple[Action, ...]) -> bool:
        for action in actions:
            state = transition(self._layout, state, action)
        return achieved(self._layout, state, at_limit=True)

    def _drop_useless_keys(self, state: State) -> State:
        """Return the state without keys on the floor that fit no locked door and are not named by the goal."""
        cells = tuple(
            None if doors is not None and doors <= state.open_doors else cell
            for cell, doors in zip(state.key_cells, self._doors_of_keys, strict=True)
        )
        return state if cells == state.key_cells else state._replace(key_cells=cells)

    def _refine(self) -> None:
        """Add worth to the relaxation; if that does not raise the bound, distinguish more places of dropped keys.

        The latter is not for a search by events: it distinguishes these places itself, and needs few parts.
        """
        if not self._fine:
            coarse = self._relaxation.distance(self._start)
            self._relaxation = Relaxation(self._layout, self._start, limit=_FINE_LIMIT, pairs=True, worth=True)
            if self._relaxation.distance(self._start) <= coarse and not is_possible(self._layout):
                self._relaxation = Relaxation(
                    self._layout, self._start, grains=_FINE_GRAINS, limit=_FINE_LIMIT, pairs=True
                )
            self._fine = True

    def _search(self, start: State, limit: int | None, vanishing: bool = False) -> Solution | int:
        """Return the solution, or a lower bound on its length if undecided after ``limit`` states."""
        if vanishing:
            start = self._drop_useless_keys(start)
        bound = self._relaxation.distance(start)
        if bound >= UNREACHABLE:
            return Solution("unsolvable", (), 0)
        reached: dict[State, tuple[int, State, Action]] = {start: (0, start, Action.DONE)}
        # Keyed by the length of the whole way; among equals the newest is taken first, as it is the farthest.
        border: defaultdict[int, list[tuple[int, State]]] = defaultdict(list)
        border[bound].append((0, start))
        done: set[State] = set()
        while border:
            total, steps, state = _pop_shortest(border)
            if state in done:
                continue
            if steps == total and achieved(self._layout, state, at_limit=True):
                return Solution("solved", _trace_actions(reached, state), len(done))
            if len(done) == limit:
                return total
            done.add(state)
            for action in _ACTIONS:
                after = self._follow(state, action, vanishing)
                known = reached.get(after)
                if after.dead or (known is not None and known[0] <= steps + 1):
                    continue
                left = self._relaxation.distance(after)
                if left < UNREACHABLE:
                    reached[after] = steps + 1, state, action
                    border[steps + 1 + left].append((steps + 1, after))
        return Solution("unsolvable", (), len(done))

    def _follow(self, state: State, action: Action, vanishing: bool) -> State:
        """Return the state after an action."""
        after = _simplify(transition(self._layout, state, action))
        return self._drop_useless_keys(after) if vanishing and action in _VANISHING else after


def _pop_shortest(border: dict[int, list[tuple[int, State]]]) -> tuple[int, int, State]:
    """Take a state of the shortest way from the border: (length of the whole way, steps so far, state)."""
    total = min(border)
    steps, state = border[total].pop()
    if not border[total]:
        del border[total]
    return total, steps, state


def solve(
    task: TaskSpecification | Layout,
    *,
    tiling: Tiling = SQUARE,
    limit: int | None = DEFAULT_LIMIT,
    start: State | None = None,
) -> Solution:
    """Return a shortest solution of a task, or the proof that it is unsolvable.

    Args:
        task: the task to solve; it is not changed.
        tiling: tiling of a specification; a layout has its own.
        limit: most states to expand; None for no limit.
        start: a state to start from other than the task's start.

    Raises:
        TaskError: the specification is invalid.
        SearchLimitError: undecided within the limit.
    """
    layout = task if isinstance(task, Layout) else Layout(task, tiling)
    return Solver(layout, start).solve(limit=limit)


def _find_doors(layout: Layout, key: KeySpec) -> frozenset[str] | None:
    """Return the doors that a key fits; None if goal or conditions name it, so that it is always useful."""
    if key.id in collect_named_ids(layout):
        return None
    return frozenset(door.id for door in layout.doors.values() if door.requires_key == key.color)


def _keep_state(state: State) -> State:
    return state


def _simplify(state: State) -> State:
    """Return the state without what cannot affect it: a cooldown ends before the next action, a touch is only seen."""
    return state._replace(cooling="", touched=NOTHING) if state.cooling or state.touched else state


def _trace_actions(reached: dict[State, tuple[int, State, Action]], state: State) -> tuple[Action, ...]:
    actions: list[Action] = []
    while (step := reached[state])[0]:
        _, state, action = step
        actions.append(action)
    return tuple(reversed(actions))
