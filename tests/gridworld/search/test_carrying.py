"""The search by events against the search step by step, on drawn tasks of keys and doors."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gridworld.actions import Action
from gridworld.rules.layout import Layout, State
from gridworld.rules.tilings import HEX, SQUARE, Cell
from gridworld.rules.transition import achieved, transition
from gridworld.search.carrying.search import Carrying, is_possible
from gridworld.search.carrying.stages import Batch, Ground, Stage
from gridworld.search.carrying.walking import FAR, Walks, _Rows
from gridworld.search.relaxation.relaxation import UNREACHABLE, Relaxation
from gridworld.search.solver import Solution, Solver, solve
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.families import keys_and_doors
from tests.support.tiers import few, long

COLOURS = ("red", "green", "blue")


def drawn(seed: int) -> TaskSpecification:
    """A small task, solvable or not, of keys and doors among walls, teleporters, lava and blocks that stand fast."""
    rng = random.Random(seed)
    width, height = rng.randint(7, 9), rng.randint(6, 7)
    cells = [(x, y) for x in range(1, width - 1) for y in range(1, height - 1)]
    rng.shuffle(cells)
    start, goal = cells.pop(), cells.pop()
    walls = [cells.pop() for _ in range(rng.randint(0, 3))]
    doors = [cells.pop() for _ in range(rng.randint(1, 2))]
    if rng.random() < 0.6:
        column = rng.randint(2, width - 3)
        wall = [cell for cell in cells if cell[0] == column]
        doors, walls = [*doors[:1], *wall[:1]], walls + wall[1:]
        cells = [cell for cell in cells if cell[0] != column]
    locks = rng.sample(COLOURS, len(doors))
    colours = [*locks, *rng.choices(COLOURS, k=rng.randint(0, 3 - len(locks)))]
    mechanisms = {
        "doors": [_at(cell, id=f"door_{i}", requires_key=locks[i]) for i, cell in enumerate(doors)],
        "keys": [_at(cells.pop(), id=f"key_{i}", color=colour) for i, colour in enumerate(colours)],
        "hazards": [_at(cells.pop(), id="lava", hazard_type="lava")] if rng.random() < 0.3 else [],
        "blocks": [_at(cells.pop(), id="block", pushable=False)] if rng.random() < 0.3 else [],
    }
    if rng.random() < 0.3:
        mechanisms["teleporters"] = [
            {"id": "t", "position_a": cells.pop(), "position_b": cells.pop(), "bidirectional": rng.random() < 0.5}
        ]
    names = [each["id"] for kind in ("keys", "doors") for each in mechanisms[kind]]
    wanted: dict[str, Any] = {"type": "reach_position", "target": goal}
    if rng.random() < 0.3:
        wanted = {"type": "collect_all", "target_ids": rng.sample(names, 2)}
    return TaskSpecification.from_dict(
        {
            "task_id": f"drawn_{seed}",
            "seed": 0,
            "difficulty_tier": 1,
            "maze": {"dimensions": [width, height], "walls": walls, "start": start, "goal": goal},
            "mechanisms": mechanisms,
            "goal": wanted,
            "rules": {"key_consumption": rng.random() < 0.6},
            "max_steps": 500,
        }
    )


def _at(cell: Cell, **fields: object) -> dict[str, Any]:
    return {**fields, "position": cell}


@pytest.mark.parametrize("first", [0, long(30), long(60)])
def test_it_finds_what_the_search_step_by_step_finds(first: int) -> None:
    solved, unsolvable = 0, 0
    for seed in range(first, first + 30):
        layout = Layout(drawn(seed), HEX if seed % 4 == 0 else SQUARE)
        assert is_possible(layout), seed
        truth, start = _step_by_step(layout), layout.start()
        bound, actions, _ = Carrying(layout, Relaxation(layout), lambda state: state).search(start, None)
        if not truth.solved:
            assert (bound, actions) == (UNREACHABLE, None), seed
            unsolvable += 1
            continue
        assert actions is not None, seed
        assert len(actions) == bound == truth.steps, seed
        for action in actions:
            start = transition(layout, start, action)
        assert achieved(layout, start), seed
        solved += 1
    assert solved > 4
    assert unsolvable > 0


def _step_by_step(layout: Layout) -> Solution:
    found = Solver(layout)._search(layout.start(), None)
    assert isinstance(found, Solution)
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    ("spec", "steps"),
    few(
        1,
        [
            (keys_and_doors(31, 3, 25, 25, consumption=False), 167),
            (keys_and_doors(20, 5, 22, 7), 168),
            long(keys_and_doors(2, 5, 25, 25, in_row=True), 198),
        ],
    ),
    ids=lambda value: getattr(value, "task_id", ""),
)
def test_keys_in_one_room_are_proven_within_the_limit(spec: TaskSpecification, steps: int) -> None:
    layout = Layout(spec)
    solution, state = solve(spec), layout.start()
    for action in solution.actions:
        state = transition(layout, state, action)
    assert (solution.steps, achieved(layout, state)) == (steps, True)


@pytest.mark.parametrize(("seed", "steps"), [(24, 55), (30, 43), (34, 50)])
def test_a_key_of_no_more_use_in_the_way_is_seen(seed: int, steps: int) -> None:
    """Were it to vanish where it is put down, the way would be two steps shorter."""
    spec = keys_and_doors(seed, 3, 16, 5, consumption=False, in_row=True)
    solver = Solver(Layout(spec))
    solver._refine()
    bound, actions, _ = Carrying(solver._layout, solver._relaxation, solver._drop_useless_keys).search(
        solver._start, None
    )
    assert bound == steps - 2
    assert actions is not None
    assert not solver._solves(solver._start, actions)
    found = solver._search_thoroughly(solver._start, None)
    assert isinstance(found, Solution)
    assert found.steps == steps
    assert solver._solves(solver._start, found.actions)


def test_a_long_walk_is_a_walk() -> None:
    nodes = np.arange(16_000)
    rows, _, (first,) = _Rows(np.append(nodes[1:], -1)[None], nodes[None]).look_up(nodes[:1])
    assert rows[first, -2] == len(nodes) - 1 < FAR


def test_a_dead_end_in_the_middle_of_an_episode_is_proven() -> None:
    """Behind a teleporter that goes one way, with a key that is worth more elsewhere."""
    walls = [(x, 2) for x in range(1, 17) if x != 2] + [(13, 1), (16, 1)]
    layout = Layout(
        TaskSpecification.from_dict(
            {
                "task_id": "dead_end",
                "seed": 0,
                "difficulty_tier": 1,
                "maze": {"dimensions": [18, 4], "walls": walls, "start": (1, 1), "goal": (1, 1)},
                "mechanisms": {
                    "keys": [_at((3, 1), id="near", color="blue"), _at((15, 1), id="far", color="red")],
                    "doors": [_at((2, 2), id="door", requires_key="blue")],
                    "teleporters": [{"id": "t", "position_a": (12, 1), "position_b": (14, 1), "bidirectional": False}],
                },
                "goal": {"type": "collect_all", "target_ids": ["far"]},
                "max_steps": 500,
            }
        )
    )
    state = layout.start()
    for action in (Action.MOVE_FORWARD, Action.PICKUP, *10 * (Action.MOVE_FORWARD,)):
        state = transition(layout, state, action)
    for coarse in (None, 0):
        assert not Solver(layout, coarse=coarse).solve(state).solved


@pytest.mark.long
@pytest.mark.parametrize("limit", few(1, [10, 300]))
def test_a_search_that_gives_up_has_a_bound(limit: int) -> None:
    solver = Solver(Layout(keys_and_doors(20, 4, 22, 7, consumption=False)))
    solver._refine()
    search = Carrying(solver._layout, solver._relaxation, solver._drop_useless_keys)
    bound, actions, spent = search.search(solver._start, limit)
    assert actions is None
    assert solver.distance(solver._start) <= bound < 131
    assert spent >= limit


@pytest.mark.parametrize("seed", range(8))
def test_bounds_of_many_states_are_those_of_each(seed: int) -> None:
    layout = Layout(keys_and_doors(seed, 3, 16, 5, consumption=seed % 2 == 0))
    relaxation, rng = Relaxation(layout, worth=seed % 4 < 2), random.Random(seed)
    ground, stages = Ground(layout, relaxation), dict[tuple[object, ...], list[State]]()
    state = layout.start()
    for _ in range(3_000):
        state = transition(layout, state, rng.choice(list(Action)))
        stages.setdefault((state.open_doors, state.carrying, tuple(c is None for c in state.key_cells)), []).append(
            state
        )
    for states in stages.values():
        stage = Stage(ground, Walks(layout, ground.places, states[0]), states[0])
        batch = Batch(*(np.concatenate(fields) for fields in zip(*map(ground.pack_state, states), strict=True)))
        assert stage.left(batch).tolist() == [relaxation.distance(each) for each in states]
    assert len(stages) > 3


@pytest.mark.parametrize("seed", range(8))
def test_walks_are_the_shortest(seed: int) -> None:
    """Against a search step by step; poses and cells are drawn."""
    layout = Layout(drawn(seed), HEX if seed % 4 == 0 else SQUARE)
    relaxation, rng = Relaxation(layout), random.Random(seed)
    places, start = relaxation.places, layout.start()
    walks, cells = Walks(layout, places, start), list(places.index)

    def far(pose: int) -> dict[int, int]:
        found, border = {pose: 0}, [pose]
        for each in border:
            state = start._replace(position=cells[int(places.cell[each])], heading=each % places.headings)
            for action in (Action.MOVE_FORWARD, Action.TURN_LEFT, Action.TURN_RIGHT):
                after = transition(layout, state, action)
                if not after.dead and found.setdefault(places.pose(after), found[each] + 1) == found[each] + 1:
                    border.append(places.pose(after))
        return found

    for _ in range(10):
        pose, end, cell = rng.randrange(len(places)), rng.randrange(len(places)), rng.randrange(len(cells))
        true = far(pose)
        steps = int(walks.steps(np.array(pose), np.array(end)))
        assert min(steps, FAR) == true.get(end, FAR)
        if steps < FAR:
            assert len(list(walks.list_actions(pose, end))) == steps
        fronts = [int(front) for front in walks.faces[:, cell] if front >= 0]
        ways = [true.get(front, FAR) + far(front).get(end, FAR) for front in fronts]
        (detour,) = walks.detours(np.array([pose]), np.array([end]), np.array([cell]))[0].tolist()
        assert min(detour, FAR) == min([*ways, FAR])
        if detour < FAR:
            assert ways[fronts.index(walks.facing(pose, end, cell))] == detour
    same = np.arange(len(places))
    assert not walks.steps(same, same).any()
