"""The exact search against every state that a task has: a search that knows no bound, backward from all goals.

``check_random_tasks`` is also for the soak test, with many more tasks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, cycle
from typing import Any

from gridworld.actions import Action
from gridworld.rules.layout import Layout, State
from gridworld.rules.tilings import TILINGS
from gridworld.rules.transition import achieved, transition
from gridworld.search.relaxation.numbering import Pattern
from gridworld.search.relaxation.relaxation import COARSE, UNREACHABLE, Relaxation, whole_pattern
from gridworld.search.solver import Solution, Solver, solve
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.random_tasks import task_of

RELAXATIONS: tuple[dict[str, Any], ...] = (
    {},
    {"grains": (1, 3, COARSE)},
    {"limit": 3000, "pairs": True},
    {"limit": 250},
    {"limit": 1},
    {"worth": True},
    {"worth": True, "grains": (2, COARSE)},
    {"worth": True, "limit": 3000},
)
"""Ways to make a relaxation: as usual, as fine as can be, in parts, in smaller parts, and blind; with worth."""


def check_search(spec: TaskSpecification, tiling: str = "square", most: int = 5000) -> bool:
    """Assert that length, solution and bounds are right; False if the task has more than ``most`` states."""
    layout = Layout(spec, TILINGS[tiling])
    graph = _graph(layout, most)
    if graph is None:
        return False
    left = _distances(layout, graph)
    _check_solution(layout, left[plain(layout.start())])
    for options in RELAXATIONS:
        _check_bounds(Relaxation(layout, **options), graph, left)
    for pattern in _partial_patterns(layout):
        for worth in (False, True):
            _check_bounds(Relaxation(layout, pattern=pattern, worth=worth), graph, left)
    return True


def _partial_patterns(layout: Layout) -> Iterator[Pattern]:
    """Every thing alone, and all but one: whatever a relaxation is cut into, the rest of the task goes on around it."""
    whole = whole_pattern(layout)
    names = (*whole.keys, *whole.doors, *whole.switches, *whole.blocks)
    for some in {frozenset(some) for size in (1, len(names) - 1) if size > 0 for some in combinations(names, size)}:
        yield whole.only(some)
    targets = [name for name in layout.spec.goal.target_ids if name in whole.blocks]
    for name in targets:
        yield Pattern(loose=(name,))
        yield replace(whole, blocks=tuple(other for other in whole.blocks if other != name), loose=(name,))
    yield Pattern(loose=tuple(targets))


def check_random_tasks(seeds: Iterable[int], most: int = 5000) -> int:
    """:func:`check_search` on a random task of every seed, on the tilings in turn; how many were small enough."""
    checked = 0
    for seed, tiling in zip(seeds, cycle(TILINGS)):
        try:
            checked += check_search(TaskSpecification.from_dict(task_of(seed)), tiling, most)
        except AssertionError as error:
            raise AssertionError(f"random task {seed} on the tiling {tiling}: {error}") from error
    return checked


def plain(state: State) -> State:
    """Without what has no effect on what happens."""
    return state._replace(cooling="", touched=frozenset())


def _graph(layout: Layout, most: int) -> dict[State, list[State]] | None:
    start = plain(layout.start())
    graph: dict[State, list[State]] = {start: []}
    queue = deque([start])
    while queue:
        state = queue.popleft()
        for action in () if state.dead else Action:
            after = plain(transition(layout, state, action))
            graph[state].append(after)
            if after not in graph:
                graph[after] = []
                queue.append(after)
        if len(graph) > most:
            return None
    return graph


def _distances(layout: Layout, graph: dict[State, list[State]]) -> dict[State, int]:
    before: dict[State, list[State]] = {state: [] for state in graph}
    for state, states in graph.items():
        for after in states:
            before[after].append(state)
    left = {state: 0 for state in graph if achieved(layout, state, at_limit=True)}
    queue = deque(left)
    while queue:
        state = queue.popleft()
        for earlier in before[state]:
            if earlier not in left:
                left[earlier] = left[state] + 1
                queue.append(earlier)
    return {state: left.get(state, UNREACHABLE) for state in graph}


def _check_solution(layout: Layout, left: int) -> None:
    for solution in (solve(layout, limit=None), Solver(layout, coarse=0).solve(limit=None)):
        _check_one(layout, solution, left)


def _check_one(layout: Layout, solution: Solution, left: int) -> None:
    steps = max(1, left)
    if layout.spec.goal.goal_type == "survive_steps":
        steps = layout.spec.max_steps if left <= layout.spec.max_steps else UNREACHABLE
    assert solution.steps == (steps if solution.solved else 0), (solution.steps, steps)
    assert solution.solved == (steps < UNREACHABLE)
    state = layout.start()
    for action in solution.actions:
        state = transition(layout, state, action)
    assert not solution.solved or achieved(layout, state, at_limit=True)


def _check_bounds(relaxation: Relaxation, graph: dict[State, list[State]], left: dict[State, int]) -> None:
    bounds = {state: relaxation.distance(state) for state in graph}
    for state, states in graph.items():
        assert bounds[state] <= left[state] or state.dead, ("overestimates", bounds[state], left[state], state)
        for after in states:
            assert bounds[state] <= bounds[after] + 1, ("inconsistent", bounds[state], bounds[after], state, after)
