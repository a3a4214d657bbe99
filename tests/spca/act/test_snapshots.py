"""Snapshots: what they put back is what a replay leads to, and without them it is replayed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minigridenv import MiniGridEnv
from spca.act.corrections import STRICT_SEQUENCE
from spca.act.snapshots import MAX_BYTES, MAX_KEPT, Snapshots
from spca.contracts import Checkpoint

IDS = (
    "BabyAI-BossLevel-v0",
    "MiniGrid-Dynamic-Obstacles-6x6-v0",
    "BabyAI-KeyInBox-v0",
    "BabyAI-OpenDoorsOrderN2Debug-v0",
)
DEEP = "BabyAI-BossLevel-v0"


class Counting(MiniGridEnv):
    """A world that counts its steps."""

    steps = 0

    def step(self, code: int) -> None:
        Counting.steps += 1
        super().step(code)


@pytest.fixture
def deep() -> Iterator[Counting]:
    with closing(Counting(DEEP, 1)) as world:
        for code in random.Random(1).choices((0, 1, 2, 2, 5), k=100):
            world.step(code)
        yield world


@pytest.mark.long
@settings(max_examples=12, deadline=None)
@given(st.sampled_from(IDS), st.lists(st.sampled_from((0, 1, 2, 2, 3, 4, 5)), max_size=30), st.integers(0, 29))
def test_worlds_go_on_alike_from_a_snapshot_and_from_a_replay(env_id: str, codes: list[int], middle: int) -> None:
    with closing(Counting(env_id, 3)) as saved, closing(MiniGridEnv(env_id, 3)) as replayed:
        play(saved, codes[:middle])
        checkpoint = saved.checkpoint()
        play(saved, codes)
        stepped = Counting.steps
        saved.restore(checkpoint)
        assert Counting.steps == stepped
        replayed.restore(checkpoint)
        for world in (saved, replayed):
            play(world, codes[middle:])
        assert (saved.checkpoint(), saved.sense(), saved.corrections) == (
            replayed.checkpoint(),
            replayed.sense(),
            replayed.corrections,
        )


def play(world: MiniGridEnv, codes: list[int]) -> None:
    for code in codes:
        if not world.over:
            world.step(code)


def test_a_snapshot_that_is_not_what_it_was_taken_for_is_replayed(deep: Counting) -> None:
    earlier = deep.checkpoint()
    deep.step(0)
    later, seen = deep.checkpoint(), deep.sense()
    saved: Any = deep._snapshots._saved
    saved[later] = saved[earlier]
    stepped = Counting.steps
    deep.restore(later)
    assert Counting.steps - stepped == len(later.primitives)
    assert (deep.checkpoint(), deep.sense()) == (later, seen)


def test_only_the_latest_snapshots_are_kept(deep: Counting) -> None:
    checkpoints = []
    for code in (0, 1) * MAX_KEPT:
        deep.step(code)
        checkpoints.append(deep.checkpoint())
    saved: Any = deep._snapshots._saved
    assert list(saved) == checkpoints[-MAX_KEPT:]
    deep.restore(checkpoints[0])
    assert deep.previous_actions == list(checkpoints[0].primitives)


def test_a_correction_is_judged_by_after_a_restore() -> None:
    """The correction is put on again, and what it decided before is put back."""
    with closing(MiniGridEnv("BabyAI-OpenDoorsOrderN2Debug-v0", 1)) as world:
        sequence: Any = world._env.unwrapped.instrs
        assert "verify" in vars(sequence)
        world.corrections.add(STRICT_SEQUENCE)
        checkpoint = world.checkpoint()
        world.corrections.clear()
        world.restore(checkpoint)
        assert world.corrections == {STRICT_SEQUENCE}
        renewed: Any = world._env.unwrapped.instrs
        assert renewed is not sequence
        assert "verify" in vars(renewed)


class Thing:
    """Something with attributes."""

    def __init__(self, **attributes: object) -> None:
        vars(self).update(attributes)


def test_parts_keep_their_identity_and_what_is_not_saved() -> None:
    shared = [1]
    one, other = Thing(a=shared, kept="old"), Thing(b=shared)
    one.other, parts = other, [(one, frozenset({"kept"})), (other, frozenset[str]())]  # type: ignore[attr-defined]
    made, memory = Checkpoint((), ""), Snapshots()
    memory.keep(made, parts)
    shared.append(2)
    one.kept, one.later = "new", True  # type: ignore[attr-defined]
    assert memory.load(made, parts)
    found = vars(one)
    assert found == {"a": [1], "kept": "new", "other": other}
    assert found["a"] is vars(other)["b"]


@pytest.mark.parametrize("value", [lambda: None, iter(lambda: 1, 0), bytes(MAX_BYTES)])
def test_what_cannot_be_saved_is_not(value: object) -> None:
    memory, parts = Snapshots(), [(Thing(value=value), frozenset[str]())]
    memory.keep(Checkpoint((), ""), parts)
    assert not memory.load(Checkpoint((), ""), parts)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:The system font:UserWarning")
def test_nothing_is_saved_of_a_world_in_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with closing(MiniGridEnv("MiniGrid-Empty-5x5-v0", seed=1, render=True)) as world:
        checkpoint = world.checkpoint()
        world.restore(checkpoint)
        assert not world._snapshots._saved
