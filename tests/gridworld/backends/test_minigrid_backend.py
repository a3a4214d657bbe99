"""The MiniGrid environment: its grid is the state, its observation is MiniGrid's and tells no more than is known."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import minigrid.wrappers
import numpy as np
import pytest
from hypothesis import given
from minigrid.core.constants import COLOR_TO_IDX, IDX_TO_OBJECT, OBJECT_TO_IDX, STATE_TO_IDX
from minigrid.core.grid import Grid
from minigrid.core.world_object import Ball, Door, Goal, Wall, WorldObj
from minigrid.minigrid_env import MiniGridEnv
from numpy.typing import NDArray

from gridworld.backends.minigrid_backend import MiniGridBackend
from gridworld.custom_env import CustomMiniGridEnv
from gridworld.errors import BackendError, TaskError
from gridworld.minigrid.objects import Block, Gate, GroundKey, Hazard, Hidden, Switch, Target, TeleporterEnd
from gridworld.minigrid.view import TaskGrid, encode, picture, specimen
from gridworld.rules.observation import CODES, LOOKS, Look
from gridworld.task_spec import GoalSpec, Position
from tests.support.contracts.grid_corridor import DONE, FORWARD, KEY, LEFT, PICKUP, TOGGLE, played, task
from tests.support.gridworld.naive import NaiveWorld, cell_of
from tests.support.gridworld.random_tasks import seeds
from tests.support.gridworld.random_tasks import task_of as random_task_of
from tests.support.gridworld.walks import walk

wrappers: Any = minigrid.wrappers  # without types
stock_ball: Any = Ball
stock_view: Any = MiniGridEnv.gen_obs_grid


def started(spec: Any, **options: Any) -> CustomMiniGridEnv:
    env = CustomMiniGridEnv(spec, **options)
    env.reset(seed=0)
    return env


def rendered(env: CustomMiniGridEnv) -> NDArray[np.uint8]:
    image = env.render()
    assert image is not None
    return image


def expected(world: NaiveWorld, env: CustomMiniGridEnv) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """(cell, description) of what is on top of cells that are not floor, from the state and the second simulator."""
    state, found = env.state, dict[Any, tuple[Any, ...]]()
    found |= dict.fromkeys(world.walls, (Wall,))
    if world.goal_square:
        found[world.goal_square] = (Goal,)
    if world.goal["type"] == "push_block_to":
        found |= {cell_of(position): (Target,) for position in world.goal["target_positions"]}
    found |= {cell_of(h["position"]): (Hazard, h.get("hazard_type", "lava")) for h in world.hazards.values()}
    for end in world.teleporters.values():
        found[cell_of(end["position_a"])] = (TeleporterEnd, True)
        found[cell_of(end["position_b"])] = (TeleporterEnd, end.get("bidirectional", True))
    found |= {cell_of(s["position"]): (Switch, i in state.active_switches) for i, s in world.switches.items()}
    found |= {cell_of(d["position"]): (Door, d["requires_key"], i in state.open_doors) for i, d in world.doors.items()}
    found |= {cell_of(g["position"]): (Gate, i in state.open_gates) for i, g in world.gates.items()}
    found |= {cell: (GroundKey, world.keys[i]["color"]) for i, cell in world.key_at.items()}
    found |= {cell: (Block, world.blocks[i].get("pushable", True)) for i, cell in state.block_positions.items()}
    yield from found.items()


def description(thing: WorldObj | None) -> tuple[Any, ...]:
    if isinstance(thing, Hidden):
        return description(thing.thing)
    fields = {
        Hazard: ("hazard_type",),
        TeleporterEnd: ("entrance",),
        Switch: ("is_active",),
        Door: ("color", "is_open"),
        Gate: ("is_open",),
        GroundKey: ("color",),
        Block: ("pushable",),
    }
    return (type(thing), *(getattr(thing, name) for name in fields.get(type(thing), ())))


@pytest.mark.long
@given(seed=seeds)
def test_the_grid_is_the_state(seed: int) -> None:
    data, rng = random_task_of(seed), random.Random(seed)
    env, world = started(data), NaiveWorld(data)
    for action in walk(world, rng, 30):
        env.step(action)
        world.step(action)
        state, things = env.state, dict(expected(world, env))
        for column in range(env.width):
            for row in range(env.height):
                found = env.grid.get(column, row)
                assert description(found) == things.get((column, row), (type(None),)), (column, row)
                assert found is None or found.cur_pos == (column, row)
        assert (env.agent_pos, env.agent_dir, env.step_count) == (world.at, world.heading, state.step_count)
        hand = None if world.hand is None else world.keys[world.hand]["color"]
        assert getattr(env.carrying, "color", None) == hand


@pytest.mark.long
@given(seed=seeds)
def test_the_view_is_what_minigrid_computes_from_what_is_known(seed: int) -> None:
    """Its own way, by turning pieces of the grid, for tasks in which everything that is seen may be known."""
    data, rng = random_task_of(seed), random.Random(seed)
    data["rules"]["hidden_mechanisms"] = []
    env, world = started(data), NaiveWorld(data)
    for action in walk(world, rng, 20):
        obs = env.step(action)[0]
        world.step(action)
        grid, mask = stock_view(env)
        here = env.grid.get(*env.agent_pos)
        if here is None or here.see_behind():  # MiniGrid knows no agent that stands in a closed gate
            assert np.array_equal(obs["image"], grid.encode(mask))
        assert obs in env.observation_space


def test_what_is_hidden_is_in_the_grid_and_in_no_view() -> None:
    things = {"gates": [{"id": "g", "position": [2, 1]}], "blocks": [{"id": "b", "position": [3, 1]}]}
    bare = started(task(), render_mode="rgb_array")
    env = started(task(things, hidden_mechanisms=["g", "b"]), render_mode="rgb_array")
    gate = env.grid.get(2, 1)
    assert isinstance(gate, Hidden)
    assert isinstance(gate.thing, Gate)
    assert gate.can_overlap() is gate.see_behind() is False
    assert np.array_equal(bare.gen_obs()["image"], env.gen_obs()["image"])
    assert np.array_equal(bare.grid.encode(), env.grid.encode())
    assert rendered(bare).tobytes() == rendered(env).tobytes()
    image = env.step(FORWARD)[0]["image"]
    assert env.state.agent_position == (1, 1)
    assert isinstance(env.grid.get(2, 1), Gate)
    assert isinstance(env.grid.get(3, 1), Hidden)
    assert tuple(image[3, 5]) == (OBJECT_TO_IDX["door"], COLOR_TO_IDX["grey"], 1)


def test_a_hidden_block_leaves_the_mark_below_it_in_view() -> None:
    spec = task({"blocks": [{"id": "b", "position": [3, 1]}]}, hidden_mechanisms=["b"])
    spec.goal = GoalSpec("push_block_to", target_ids=["b"], target_positions=[Position(3, 1)])
    env = started(spec)
    assert isinstance(env.grid.get(3, 1), Hidden)
    assert tuple(env.gen_obs()["image"][3, 4]) == Target().encode()


def test_the_hand_is_seen_where_the_agent_stands() -> None:
    env = started(task(KEY), render_mode="rgb_array")
    for action in (FORWARD, PICKUP):
        image = env.step(action)[0]["image"]
    assert isinstance(env.carrying, GroundKey)
    assert tuple(image[3, 6]) == (OBJECT_TO_IDX["key"], COLOR_TO_IDX["blue"], 0)
    empty = started(task(), render_mode="rgb_array")
    empty.step(FORWARD)
    empty.step(DONE)
    assert rendered(env).tobytes() != rendered(empty).tobytes()


@pytest.mark.parametrize("mode", ["full", "fog_of_war"])
def test_the_picture_of_what_is_seen_is_that_of_the_grid(mode: str) -> None:
    things = KEY | {
        "gates": [{"id": "g", "position": [6, 1]}],
        "switches": [{"id": "s", "position": [4, 1], "controls": ["g"]}],
    }
    env = started(task(things, observability=mode), render_mode="rgb_array", tile_size=12)
    env.step(FORWARD)
    drawn, seen = rendered(env), env.observe().visible.repeat(12, axis=0).repeat(12, axis=1)
    assert drawn.shape == (36, 132, 3)
    assert np.array_equal(drawn[seen], env.grid.render(12, env.state.agent_position, env.agent_dir)[seen])
    assert seen.all() is np.bool_(mode == "full")


def test_codes_are_told_apart_and_known_to_minigrid() -> None:
    codes = encode(np.arange(len(LOOKS), dtype=np.uint8))
    assert len({tuple(code) for code in codes.tolist()}) == len(LOOKS)
    assert codes[:, 0].max() <= max(IDX_TO_OBJECT)
    assert codes[:, 1].max() <= max(COLOR_TO_IDX.values())
    assert codes[:, 2].max() <= max(STATE_TO_IDX.values())
    assert tuple(codes[CODES[Look("floor")]]) == (1, 0, 0)
    grid, _ = Grid.decode(codes[:, np.newaxis].repeat(3, axis=1))
    for number, look in enumerate(LOOKS):
        mine, stock = specimen(number), grid.get(number, 0)
        assert (mine is None) == (stock is None), look
        assert mine is None or stock is None or mine.see_behind() == stock.see_behind(), look


def test_looks_are_told_apart_in_pictures_of_any_size() -> None:
    for size in (10, 24):
        tiles = {TaskGrid.render_tile(specimen(code), tile_size=size).tobytes() for code in range(1, len(LOOKS))}
        assert len(tiles) == len(LOOKS) - 1


def test_tiles_of_other_environments_are_left_alone() -> None:
    ball: Any = stock_ball("red")
    before = Grid.render_tile(ball, tile_size=8).copy()
    switch = TaskGrid.render_tile(Switch("red", is_active=False), tile_size=8)
    assert ball.encode() == Switch("red", is_active=False).encode()
    assert not np.array_equal(before, switch)
    assert np.array_equal(Grid.render_tile(ball, tile_size=8), before)


@pytest.mark.parametrize("mode", ["full", "view_cone"])
@pytest.mark.parametrize(
    "wrap",
    [
        wrappers.FullyObsWrapper,
        wrappers.ImgObsWrapper,
        wrappers.OneHotPartialObsWrapper,
        lambda env: wrappers.RGBImgObsWrapper(env, tile_size=8),
        lambda env: wrappers.RGBImgPartialObsWrapper(env, tile_size=8),
        lambda env: wrappers.ViewSizeWrapper(env, agent_view_size=5),
    ],
)
def test_wrappers_of_minigrid_work(wrap: Any, mode: str) -> None:
    env = wrap(CustomMiniGridEnv(task(KEY, observability=mode), tile_size=8, render_mode="rgb_array"))
    seen = [env.reset(seed=1)[0], *(env.step(action)[0] for action in (FORWARD, PICKUP, FORWARD, LEFT))]
    assert all(obs in env.observation_space for obs in seen)


def test_a_larger_view_of_a_wrapper_shows_no_more() -> None:
    env = wrappers.ViewSizeWrapper(CustomMiniGridEnv(task(KEY, observability="view_cone", view_size=3)), 11)
    image = env.reset()[0]["image"]
    assert image.shape == (11, 11, 3)
    assert np.count_nonzero(image[..., 0]) == 9
    assert OBJECT_TO_IDX["key"] in image[..., 0]


@pytest.mark.parametrize("seed", [None, 0, -5, 2**63 - 1, np.int64(3)])
def test_any_seed_begins_the_same_episode(seed: Any) -> None:
    env = CustomMiniGridEnv(task(KEY))
    first = env.reset(seed=0)[0]["image"]
    env.step(FORWARD)
    assert np.array_equal(env.reset(seed=seed)[0]["image"], first)
    assert env.state.step_count == 0


def test_info_tells_success() -> None:
    env = started(task(max_steps=8))
    told = [env.step(FORWARD)[1:] for _ in range(8)]
    assert [info for *_, info in told] == [{"is_success": False}] * 7 + [{"is_success": True}]
    assert told[-1][:3] == (1 - 0.9, True, False)


def test_misuse_is_named() -> None:
    env = CustomMiniGridEnv(task())
    for call in (lambda: env.step(0), env.observe, lambda: env.state):
        with pytest.raises(BackendError, match=r"reset\(\)"):
            call()
    with pytest.raises(TaskError, match=r"nowhere\.json"):
        CustomMiniGridEnv("nowhere.json")
    wrong: list[dict[str, Any]] = [{"render_mode": "human"}, {"render_mode": []}, {"tile_size": 7}, {"tile_size": 16.0}]
    for options in wrong:
        with pytest.raises(BackendError, match=next(iter(options))):
            MiniGridBackend(**options)


def test_the_backend_shows_its_tiles_as_large_as_asked() -> None:
    backend = MiniGridBackend(tile_size=10)
    played(backend, task(KEY), FORWARD, TOGGLE)
    assert backend.render().shape == (30, 110, 3)
    assert np.array_equal(backend.render(), picture(backend.observe(), 10))
    assert isinstance(backend.env, CustomMiniGridEnv)
