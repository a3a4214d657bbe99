"""Equal states hash equally, unequal ones do not, and replaying leads back to the same state in every environment."""

from __future__ import annotations

import itertools
import random
from collections import deque
from collections.abc import Callable
from contextlib import closing
from enum import Enum
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from minigrid.core.world_object import Ball
from minigrid.envs.empty import EmptyEnv

from minigridenv import MiniGridEnv
from spca.act.state_hash import hash_state
from spca.contracts import Checkpoint
from spca.errors import RestoreError
from tests.support.contracts import truth
from tests.support.tiers import few

MIX = (0, 1, 2, 2, 2, 3, 4, 5, 6)

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner) | st.sets(st.integers())
    ),
)


def walk(world: MiniGridEnv, length: int, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(length):
        if world.over:
            return
        world.step(rng.choice(MIX))


def rebuilt(value: Any) -> Any:
    """An equal value that shares nothing with the first."""
    if isinstance(value, dict):
        return {rebuilt(k): rebuilt(v) for k, v in reversed(value.items())}
    if isinstance(value, list | tuple | set):
        return type(value)(rebuilt(v) for v in value)
    return value


class Colour(Enum):
    RED = 1


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x: object) -> None:
        self.x = x


class Plain:
    def __init__(self, x: object) -> None:
        self.x = x


class Listed(list[int]):
    extra = 0


def cyclic(x: object) -> Plain:
    one = Plain(x)
    one.other = one  # type: ignore[attr-defined]
    return one


def listed(extra: int) -> Listed:
    made = Listed([1])
    made.extra = extra
    return made


def generator(draws: int) -> np.random.Generator:
    rng = np.random.default_rng(5)
    rng.random(draws)
    return rng


@pytest.mark.long
@given(values)
def test_equal_values_hash_equally(value: Any) -> None:
    assert hash_state(value) == hash_state(rebuilt(value))


@pytest.mark.long
@given(values, values)
def test_unequal_values_hash_differently(one: Any, other: Any) -> None:
    if repr(one) != repr(other) and one != other:
        assert hash_state(one) != hash_state(other)


@pytest.mark.parametrize(
    "make",
    [
        lambda x: x,
        Plain,
        Slotted,
        cyclic,
        listed,
        generator,
        np.array,
        lambda x: np.array([None, Plain(x)], dtype=object),
        lambda x: deque([x]),
        lambda x: {"a": [(Plain(x),)]},
        lambda x: np.int64(x),
        lambda x: np.zeros((x + 1, 2)),
        lambda x: {x, 7},
    ],
)
def test_any_kind_of_part_counts(make: Callable[[int], Any]) -> None:
    assert hash_state(make(1)) == hash_state(make(1))
    assert hash_state(make(1)) != hash_state(make(2))
    assert hash_state(make(1), Colour.RED) != hash_state(make(1))


def test_sharing_counts() -> None:
    shared = [1]
    assert hash_state([shared, shared]) == hash_state([shared, shared])
    assert hash_state([shared, shared]) != hash_state([[1], [1]])


def test_what_only_displays_does_not_count() -> None:
    one, other = Plain(1), Plain(1)
    one.window, other.render_mode = object(), "human"  # type: ignore[attr-defined]
    assert hash_state(one) == hash_state(other)


@pytest.mark.parametrize("env_id", few(24, truth.REPLAYABLE))
def test_reset_and_replay_lead_to_the_same_state(env_id: str) -> None:
    """By hash of all that the agent and the simulator hold, put back in the same world, replayed in another."""
    with closing(MiniGridEnv(env_id, seed=7)) as world, closing(MiniGridEnv(env_id, seed=7)) as other:
        walk(world, 20, seed=1)
        middle, seen = world.checkpoint(), world.sense()
        walk(world, 10, seed=2)
        for either in (world, other):
            either.restore(middle)
            assert either.sense() == seen
            walk(either, 5, seed=3)
        assert world.checkpoint() == other.checkpoint()


@pytest.mark.parametrize("env_id", few(5, truth.REPLAYABLE[::20]))
def test_the_hash_changes_with_whatever_a_primitive_changes(env_id: str) -> None:
    """The step counter is held still, so that only the world and the agent in it can differ."""
    with closing(MiniGridEnv(env_id, seed=2)) as world:
        sim, rng = truth.simulator(world), random.Random(3)
        sim.step_count, changes = 0, 0
        for _ in range(30):
            before, hashed = facts(sim), hash_state(sim)
            world.step(rng.choice(MIX))
            sim.step_count = 0
            if facts(sim) != before:
                assert hash_state(sim) != hashed
                changes += 1
            if world.over:
                break
        assert changes > 0


def facts(sim: Any) -> tuple[Any, ...]:
    held = None if sim.carrying is None else truth.word(sim.carrying)
    grid = sim.grid.encode().tobytes()
    return grid, tuple(sim.agent_pos), sim.agent_dir, held, repr(sim.np_random.bit_generator.state)


def draw(sim: Any) -> None:
    sim.np_random.random()


def fill_box(sim: Any) -> None:
    box = next(thing for thing in sim.grid.grid if thing is not None and thing.type == "box")
    box.contains = Ball("blue") if box.contains is None else None  # type: ignore[no-untyped-call]


def mark_verified(sim: Any) -> None:
    assert sim.instrs.a_done != "success"
    sim.instrs.a_done = "success"


def remember_position(sim: Any) -> None:
    thing = next(thing for thing in sim.grid.grid if thing is not None and thing.type in ("ball", "box", "key"))
    thing.init_pos = (0, 0)


def give_time(sim: Any) -> None:
    sim.max_steps += 1


@pytest.mark.parametrize(
    ("env_id", "change"),
    [
        ("MiniGrid-Empty-5x5-v0", draw),
        ("MiniGrid-Dynamic-Obstacles-6x6-v0", draw),
        ("BabyAI-KeyInBox-v0", fill_box),
        ("MiniGrid-ObstructedMaze-2Dlh-v0", fill_box),
        ("BabyAI-GoToSeq-v0", mark_verified),
        ("BabyAI-PickupLoc-v0", remember_position),
        ("MiniGrid-DoorKey-5x5-v0", give_time),
    ],
)
def test_one_hidden_difference_is_found(env_id: str, change: Callable[[Any], None]) -> None:
    """Nothing that the agent sees differs, only the simulator's inside."""
    with closing(MiniGridEnv(env_id, seed=4)) as world, closing(MiniGridEnv(env_id, seed=4)) as other:
        seen = other.sense()
        change(truth.simulator(other))
        assert other.sense() == world.sense() == seen
        assert other.checkpoint() != world.checkpoint()
        with pytest.raises(RestoreError, match="another state"):
            world.restore(other.checkpoint())


class Drifting(EmptyEnv):
    """A simulator whose resets are alike to look at, but never the same."""

    resets = itertools.count()

    def reset(self, **options: Any) -> Any:
        self.hidden = next(self.resets)
        return super().reset(**options)


gymnasium.register("TestDrifting-v0", entry_point=Drifting, disable_env_checker=True)


def test_a_simulator_that_does_not_come_back_is_found_out() -> None:
    with closing(MiniGridEnv("TestDrifting-v0", seed=1)) as world, pytest.raises(RestoreError):
        world.restore(world.checkpoint())


def test_a_checkpoint_of_another_seed_or_world_is_refused() -> None:
    with closing(MiniGridEnv("MiniGrid-FourRooms-v0", seed=1)) as world:
        for env_id, seed in (("MiniGrid-FourRooms-v0", 2), ("MiniGrid-Empty-8x8-v0", 1)):
            with closing(MiniGridEnv(env_id, seed)) as other, pytest.raises(RestoreError):
                other.restore(world.checkpoint())


def test_another_way_to_the_same_state_is_not_the_recorded_one() -> None:
    with closing(MiniGridEnv("MiniGrid-Empty-5x5-v0", seed=1)) as world:
        world.step(6)
        world.step(0)
        recorded = world.checkpoint()
        with pytest.raises(RestoreError, match="another state"):
            world.restore(Checkpoint((0, 6), recorded.state_hash))


def test_primitives_beyond_the_end_of_the_episode_are_refused() -> None:
    with closing(MiniGridEnv("MiniGrid-Empty-5x5-v0", seed=1)) as world:
        for code in (2, 2, 1, 2, 2):
            world.step(code)
        assert world.over
        ended = world.checkpoint()
        world.restore(ended)
        assert world.over
        with pytest.raises(RestoreError, match="only 5 of 6"):
            world.restore(Checkpoint((*ended.primitives, 6), ended.state_hash))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:The system font:UserWarning")
def test_showing_a_window_is_not_part_of_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints of a rendered run are re-run by the regression check and by --resume without a window."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with closing(MiniGridEnv("MiniGrid-Empty-5x5-v0", seed=1, render=True)) as shown:
        shown.step(2)
        with closing(MiniGridEnv("MiniGrid-Empty-5x5-v0", seed=1)) as headless:
            headless.restore(shown.checkpoint())


def test_recorded_hashes_stay_what_they_are() -> None:
    """Recordings hold them."""
    shared = [1, (None, True), "a"]
    hashed = hash_state(
        shared,
        {"b": shared, "a": {2.5, 3}},
        Plain(1),
        np.arange(3, dtype=np.uint8),
        np.int64(4),
        generator(1),
        Colour.RED,
        len,
    )
    assert hashed == "44e8193291ba08d3f93248dfe26325ac3d4b6fa15f3b81658305e86b431cd876"
