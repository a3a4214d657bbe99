"""Worlds that say that they can be replayed are put to the test, also in a fresh process."""

from __future__ import annotations

import subprocess
from contextlib import closing
from typing import Any

import pytest

from spca.act import replay_check
from spca.act.replay_check import can_replay
from spca.contracts import LevelSpec
from spca.errors import RestoreError
from tests.support.inprocess import InProcessExecutor
from tests.support.machine.stove import STOVE, WARM, OneStove, ReplayedStove

STOCK = LevelSpec(STOVE)
HASHED = LevelSpec("MyLab/HashedStove-v0")


class ForgetfulStove(ReplayedStove):
    """A stove that is warmer with each episode of its process."""

    _episodes = 0

    def read(self, observation: Any, info: Any) -> Any:
        return {**super().read(observation, info), "degrees": ForgetfulStove._episodes}

    def _reset(self) -> None:
        ForgetfulStove._episodes += 1
        super()._reset()


class LateStove(ReplayedStove):
    """A stove that does not exist in another process."""


LateStove.__qualname__ = "NoSuchStove"


def test_a_world_that_is_alike_in_every_process_can_be_replayed() -> None:
    assert can_replay(ReplayedStove, STOCK)
    with closing(ReplayedStove(STOCK, 1, InProcessExecutor())) as world:
        assert world.can_restore
        start = world.checkpoint()
        world.step(WARM)
        world.restore(start)
        assert world.sense().shown["degrees"] == 0


def test_words_in_a_set_are_found_out_in_a_fresh_process() -> None:
    assert replay_check._play_randomly(ReplayedStove, HASHED) == replay_check._play_randomly(ReplayedStove, HASHED)
    assert not can_replay(ReplayedStove, HASHED)
    with closing(ReplayedStove(HASHED, 1, InProcessExecutor())) as world:
        assert world.one_life_reason == "the same seed and primitives led to different states"
        start = world.checkpoint()
        with pytest.raises(RestoreError, match="one life"):
            world.restore(start)


def test_a_world_that_differs_in_its_own_process_is_found_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def start_process(*_arguments: object, **_options: object) -> None:
        pytest.fail("no other process is needed")

    monkeypatch.setattr(subprocess, "run", start_process)
    assert not can_replay(ForgetfulStove, STOCK)


def test_a_world_that_a_fresh_process_cannot_build_has_one_life() -> None:
    assert not can_replay(LateStove, STOCK)


def test_the_result_is_remembered_for_each_level(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[str] = []

    def play(_world_class: object, level: LevelSpec) -> str:
        played.append(level.name)
        return "alike"

    monkeypatch.setattr(replay_check, "_play_randomly", play)
    monkeypatch.setattr(replay_check, "_play_in_fresh_process", lambda _world_class, _level: "alike")
    levels = [LevelSpec(STOVE, {"wanted": wanted}) for wanted in (3, 4, 3)]
    assert [can_replay(OneStove, level) for level in levels] == [True] * 3
    assert len(played) == 2 * 2
