"""One truth: every simulator goes through the states of the naive one, which is right where others can tell."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from minigrid.core.grid import Grid
from minigrid.core.world_object import Wall

from gridworld.backends.base import GridState
from gridworld.backends.multigrid_backend import MultiGridBackend
from gridworld.library import task_files
from gridworld.rules.transition import transition
from gridworld.search import solver
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.naive import Cell, NaiveWorld
from tests.support.gridworld.one_truth import run
from tests.support.gridworld.random_tasks import Thing, seeds, tasks
from tests.support.gridworld.walks import walk
from tests.support.tiers import long

OPTIMA = json.loads((Path(__file__).parent / "optimal_steps.json").read_text(encoding="utf-8"))


@pytest.mark.no_cover  # tracing more than doubles its time, see tests/support/untraced.py
@pytest.mark.parametrize(("count", "all_occurs"), [(20, False), long(50, True)])
def test_every_simulator_agrees_on_random_tasks(count: int, all_occurs: bool) -> None:
    """A sample; ``scripts/soak gridworld`` plays 10,000 walks through 500 tasks."""
    summary = run(count_tasks=count, sequences=3, seed=2, certified=False)
    assert not summary.differences, "\n".join(summary.differences)
    assert summary.walks == 3 * summary.tasks >= 3 * count
    if all_occurs:  # of fewer tasks some lack a kind of thing
        assert not summary.missing


class Shortsighted(NaiveWorld):
    """Sees through doors and gates."""

    def blocks_view(self, cell: Cell) -> bool:
        return self.is_wall(cell)


class Forgetful(NaiveWorld):
    """Every mechanism is known from the start."""

    def __init__(self, task: Thing, tiling: str = "square") -> None:
        super().__init__(task, tiling)
        self.touched = set(self.hidden)


@pytest.mark.no_cover
@pytest.mark.parametrize(("wrong", "told"), [(Shortsighted, "visible_cells"), (Forgetful, "shows")])
def test_a_difference_is_told(wrong: type[NaiveWorld], told: str) -> None:
    summary = run(count_tasks=12, sequences=1, certified=False, naive=wrong)
    assert any(told in line for line in summary.differences)


def test_the_search_steps_by_the_one_transition_function() -> None:
    assert vars(solver)["transition"] is transition


@given(tasks)
def test_random_tasks_are_valid_and_survive_json(task: Thing) -> None:
    spec = TaskSpecification.from_dict(task)
    assert spec.validate() == (True, [])
    assert TaskSpecification.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec


@given(tasks, seeds, st.sampled_from(["square", "hex"]))
def test_states_survive_json(task: Thing, seed: int, tiling: str) -> None:
    backend = MultiGridBackend(tiling, render_mode=None)
    backend.configure(TaskSpecification.from_dict(task))
    states = [backend.reset()[1]]
    world = NaiveWorld(task, tiling)
    for action in walk(world, random.Random(seed), 10):
        world.step(action)
        states.append(backend.step(action)[4])
    for state in states:
        data = state.to_dict()
        assert GridState.from_dict(json.loads(json.dumps(data))) == state
        assert GridState.from_dict(data).to_dict() == data


@given(tasks, seeds)
def test_the_square_cone_is_that_of_minigrid(task: Thing, seed: int) -> None:
    task["rules"]["observability"] = "view_cone"
    world = NaiveWorld(task)
    for action in walk(world, random.Random(seed), 15):
        world.step(action)
        assert world.visible() == by_process_vis(world)


def by_process_vis(world: NaiveWorld) -> set[Cell]:
    """What MiniGrid's own code sees among the same walls."""
    grid = Grid(world.width, world.height)
    for column, row in filter(world.blocks_view, world.cells):
        grid.set(column, row, Wall())
    (x, y), size, half = world.at, world.view_size, world.view_size // 2
    left, top = ((x, y - half), (x - half, y), (x - size + 1, y - half), (x - half, y - size + 1))[world.heading]
    view = grid.slice(left, top, size, size)
    cells = {(i, j): (left + i, top + j) for i in range(size) for j in range(size)}
    for _ in range(world.heading + 1):
        view = view.rotate_left()
        cells = {(j, size - 1 - i): cell for (i, j), cell in cells.items()}
    mask = view.process_vis((half, size - 1))
    return {cell for place, cell in cells.items() if mask[place]} & world.cells


@given(tasks, seeds, st.sampled_from(["square", "hex"]))
def test_what_was_never_seen_shows_nowhere(task: Thing, seed: int, tiling: str) -> None:
    """Without the hazards that lie where nobody ever looked, everything looks the same."""
    task |= {"description": "the same words"}
    task["rules"] |= {"observability": ("view_cone", "fog_of_war")[seed % 2], "view_size": 3}
    world = NaiveWorld(task, tiling)
    actions = []
    for action in walk(world, random.Random(seed), 12):
        world.step(action)
        actions.append(action)
    hazards = task["mechanisms"]["hazards"]
    met = [hazard for hazard in hazards if tuple(hazard["position"]) in world.explored]
    fewer = task | {"mechanisms": task["mechanisms"] | {"hazards": met}}
    gone = {hazard["id"] for hazard in hazards if hazard not in met}
    fewer |= {"rules": task["rules"] | {"hidden_mechanisms": sorted({*task["rules"]["hidden_mechanisms"]} - gone)}}
    assert seen(task, tiling, actions) == seen(fewer, tiling, actions)


def seen(task: Thing, tiling: str, actions: list[int]) -> list[str]:
    """What is told in words at every step."""
    backend = MultiGridBackend(tiling, render_mode=None)
    backend.configure(TaskSpecification.from_dict(task))
    return [backend.reset()[0].text(), *(backend.step(action)[0].text() for action in actions)]


@pytest.mark.parametrize("row", [3, 4])
def test_hexagons_lie_where_geometry_puts_them(row: int) -> None:
    """Centres one apart, 60 degrees from heading to heading, clockwise as rows go down."""

    def centre(cell: Cell) -> tuple[float, float]:
        return cell[0] + cell[1] % 2 / 2, cell[1] * math.sqrt(3) / 2

    world = NaiveWorld(OPEN_FIELD, "hex")
    x, y = centre((3, row))
    for heading in range(6):
        angle = math.radians(60 * heading)
        assert centre(world.neighbour((3, row), heading)) == pytest.approx((x + math.cos(angle), y + math.sin(angle)))


OPEN_FIELD = {
    "maze": {"dimensions": [8, 8], "walls": [], "start": [1, 1], "goal": [6, 6]},
    "goal": {"type": "reach_position", "target": [6, 6]},
    "max_steps": 9,
}


def test_the_naive_simulator_needs_exactly_the_listed_steps() -> None:
    """The optimal plans of the exact search, played by who knows nothing of it, succeed at the last step only."""
    for path in [*task_files("gridworld/tasks"), *task_files("validation_10")]:
        spec = TaskSpecification.from_json(path)
        world = NaiveWorld(spec.to_dict())
        for action in solver.solve(spec).actions:
            assert not world.terminated
            world.step(int(action))
        assert (path.stem, world.reached, world.steps) == (path.stem, True, OPTIMA[path.stem]["optimal_steps"])
