"""One truth: walks through a task on every simulator at once, and what they disagree about.

Held against the naive simulator (:mod:`tests.support.gridworld.naive`): both backends on the square tiling, MultiGrid
on the hexagonal one, and the transition function as the exact solver uses it. :func:`run` is what the soak test calls.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gridworld.actions import Action
from gridworld.backends.base import AbstractGridBackend, GridState
from gridworld.backends.minigrid_backend import MiniGridBackend
from gridworld.backends.multigrid_backend import MultiGridBackend
from gridworld.generating.generator import generate
from gridworld.rules.layout import Layout
from gridworld.rules.observation import Look, Observation
from gridworld.rules.tilings import TILINGS
from gridworld.rules.transition import achieved, transition
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.naive import NaiveWorld
from tests.support.gridworld.naive_view import NaiveView
from tests.support.gridworld.random_tasks import random_task
from tests.support.gridworld.walks import walk

LENGTH = 40
"""Actions of a walk, at most."""

LARGE = 1000
"""Walks of a sample in which everything has to happen, not only what is common."""

_COMMON = """
    wall_refused closed_refused pushed pushed_on_switch push_refused unpushable_refused death teleported teleported_back
    one_way_end collected picked_own_cell picked_ahead picked_again pickup_refused dropped drop_refused door_opened
    consumed door_refused door_out_of_reach toggled_underfoot switched_on switched_off one_shot one_shot_again
    hold_toggled switch_ahead_toggled_in_vain block_toggled_in_vain held_by_agent held_by_block released inside_closed
    hidden_touched condition_missing truncated success_reach_position success_collect_all success_push_block_to
    success_survive_steps
"""
COMMON = frozenset(_COMMON.split())
EVENTS = (
    COMMON
    | {"drop_refused_by_switch"}
    | {
        f"{what}_by_{kind}"
        for what in ("drop_refused", "push_refused")
        for kind in ("wall", "goal", "key", "door", "gate", "block", "teleporter", "hazard")
    }
)
"""What has to happen in a large sample."""


@dataclass
class Summary:
    """What was played and where simulators disagreed; ``missing``: events that never occurred, of those to expect."""

    tasks: int = 0
    walks: int = 0
    steps: int = 0
    events: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    naive: type[NaiveWorld] = NaiveWorld

    @property
    def missing(self) -> frozenset[str]:
        return (EVENTS if self.walks >= LARGE else COMMON) - self.events.keys()


def run(
    count_tasks: int = 500,
    sequences: int = 20,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    *,
    certified: bool = True,
    naive: type[NaiveWorld] = NaiveWorld,
) -> Summary:
    """Walk through tasks, and about a quarter as many on the hexagonal tiling; nobody may beat a certified optimum.

    Args:
        count_tasks: half of them certified by the generator, half random; all random if ``certified`` is False.
        sequences: walks through each.
        seed: of tasks and walks.
        progress: told how many tasks of how many are done.
        certified: whether to take tasks from the generator.
        naive: the simulator that everything is held against.
    """
    summary = Summary(naive=naive)
    square = MiniGridBackend(render_mode=None), MultiGridBackend(render_mode=None)
    hexagonal = (MultiGridBackend("hex", render_mode=None),)
    for index in range(count_tasks):
        _play(summary, "square", square, sequences, seed, index, certified)
        if random.Random(f"{seed}/{index}").random() < 0.25:
            _play(summary, "hex", hexagonal, sequences, seed, index, certified)
        if progress is not None:
            progress(index + 1, count_tasks)
    return summary


def _play(
    summary: Summary,
    tiling: str,
    backends: Sequence[AbstractGridBackend],
    sequences: int,
    seed: int,
    index: int,
    certified: bool,
) -> None:
    """All walks through one task, before them the certified solution."""
    rng, name = random.Random(f"{seed}/{index}/{tiling}"), f"task {index} of seed {seed}, {tiling}"
    generated = certified and index % 2 == 0
    if generated:
        spec = generate(1 + index // 2 % 5, seed, index=index, tiling=tiling)
    else:
        spec = TaskSpecification.from_dict(random_task(rng))
    stage = Stage(spec, tiling, backends)
    summary.tasks += 1
    for backend in backends:
        backend.configure(spec)
    if generated:
        _compare(summary, stage, lambda _: map(int, stage.solution), f"{name}, solution")
    for number in range(sequences):
        summary.walks += 1
        _compare(summary, stage, lambda world: walk(world, rng, LENGTH), f"{name}, walk {number}")


@dataclass(frozen=True)
class Stage:
    """A task on a tiling with the backends that were configured with it."""

    spec: TaskSpecification
    tiling: str
    backends: Sequence[AbstractGridBackend]

    @property
    def solution(self) -> str:
        """The actions of a shortest solution as digits, "" where it was not certified."""
        certificate = (self.spec.metadata or {}).get("certificate") or {}
        return str(certificate.get("actions", ""))


def _compare(summary: Summary, stage: Stage, choose: Callable[[NaiveWorld], Iterable[int]], name: str) -> None:
    """One walk; ends at the first difference."""
    world = summary.naive(stage.spec.to_dict(), stage.tiling)
    view, search = NaiveView(world), SolverWalk(stage.spec, stage.tiling)
    played: list[int] = []
    states = [backend.reset()[1] for backend in stage.backends]
    found = list(_differences(world, view, stage.backends, states, search))
    for action in () if found else choose(world):
        world.step(action)
        view.see()
        search.step(action)
        played.append(action)
        states = [_stepped(backend, action) for backend in stage.backends]
        summary.events.update((*world.happened, *_refusals(world)))
        summary.steps += 1
        found = list(_differences(world, view, stage.backends, states, search))
        if found:
            break
    if world.reached and world.steps < len(stage.solution):
        found.append(f"solved in {world.steps} steps, though {len(stage.solution)} were certified as the fewest")
    if "solution" in name and not world.reached:
        found.append("the certified solution does not solve the task")
    if found:
        summary.differences.append(f"{name}, after {played}: {'; '.join(found)}")


def _refusals(world: NaiveWorld) -> Iterator[str]:
    """What stood where nothing could be dropped or pushed to."""
    ahead = world.ahead()
    for what, cell in (("drop_refused", ahead), ("push_refused", world.neighbour(ahead, world.heading))):
        if what in world.happened:
            groups = {
                "wall": world.is_wall(cell),
                "goal": cell == world.goal_square,
                "key": world.first(world.keys, cell),
                "door": world.first(world.doors, cell),
                "gate": world.first(world.gates, cell),
                "switch": world.first(world.switches, cell),
                "block": world.first(world.blocks, cell),
                "teleporter": world.first(world.teleporters, cell),
                "hazard": world.first(world.hazards, cell),
            }
            yield from (f"{what}_by_{kind}" for kind, there in groups.items() if there)


def _stepped(backend: AbstractGridBackend, action: int) -> GridState:
    """The state after a step; what is returned beside it must agree."""
    _, reward, terminated, truncated, state, _ = backend.step(action)
    assert (reward, terminated, truncated) == (state.reward, state.terminated, state.truncated)
    return state


def _differences(
    world: NaiveWorld,
    view: NaiveView,
    backends: Sequence[AbstractGridBackend],
    states: Sequence[GridState],
    search: SolverWalk,
) -> Iterator[str]:
    expected, looks = world.state(), view.looks()
    for backend, state in zip(backends, states, strict=True):
        yield from _unequal(type(backend).__name__, expected, state.to_dict())
        yield from _unequal(f"{type(backend).__name__} shows", looks, shown(backend.observe()))
    yield from _unequal("solver", expected | {"touched": world.touched}, search.state())


def _unequal(who: str, expected: dict[Any, Any], got: dict[Any, Any]) -> Iterator[str]:
    """Every field of ``got`` that is not as expected."""
    for name, value in got.items():
        if value != expected[name]:
            yield f"{who} {name}: {value!r}, not {expected[name]!r}"


def shown(observation: Observation) -> dict[tuple[int, int], str]:
    """The looks of all cells as words, as :class:`NaiveView` has them."""
    rows, columns = observation.codes.shape
    return {(x, y): _words(observation.look((x, y))) for x in range(columns) for y in range(rows)}


def _words(look: Look) -> str:
    return f"{look.state} teleporter" if look.kind == "teleporter" else str(look)


class SolverWalk:
    """The states that the exact search goes through, stepped by its function."""

    def __init__(self, spec: TaskSpecification, tiling: str) -> None:
        self.layout = Layout(spec, TILINGS[tiling])
        self.now = self.layout.start()
        self.steps = 0

    def step(self, action: int) -> None:
        self.now = transition(self.layout, self.now, Action(action))
        self.steps += 1

    def state(self) -> dict[str, Any]:
        """What of a GridState a state of the search tells."""
        layout, now = self.layout, self.now
        reached = self.steps > 0 and achieved(layout, now, at_limit=self.steps == layout.spec.max_steps)
        return {
            "agent_position": list(now.position),
            "agent_direction": now.heading,
            "agent_carrying": now.carrying,
            "terminated": now.dead or reached,
            "goal_reached": reached,
            "open_doors": sorted(now.open_doors),
            "collected_keys": sorted(now.collected),
            "active_switches": sorted(now.active_switches),
            "open_gates": sorted(layout.open_gates(now.active_switches)),
            "block_positions": {b.id: list(cell) for b, cell in zip(layout.blocks, now.block_cells, strict=True)},
            "teleporter_cooldowns": {end: int(end == now.cooling) for end in layout.ends},
            "touched": now.touched,
        }
