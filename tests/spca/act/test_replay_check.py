"""Worlds that say that they can be replayed are put to the test, also in a fresh process."""

from __future__ import annotations

import subprocess
from contextlib import closing
from typing import Any, ClassVar

import gymnasium
import pytest
from gymnasium.utils import EzPickle

from spca.act import replay_check
from spca.act.gymnasium_world import Restores
from spca.act.replay_check import find_copy_fault, find_replay_fault
from spca.contracts import LevelSpec
from spca.errors import ForeignCheckpointError, RestoreError
from tests.support.inprocess import InProcessExecutor
from tests.support.machine.stove import STOVE, WARM, OneStove, ReplayedStove, Stove

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
    assert find_replay_fault(ReplayedStove, STOCK) == ""
    with closing(ReplayedStove(STOCK, 1, InProcessExecutor())) as world:
        assert world.can_restore
        start = world.checkpoint()
        world.step(WARM)
        world.restore(start)
        assert world.sense().shown["degrees"] == 0


def test_words_in_a_set_are_found_out_in_a_fresh_process() -> None:
    first, second = replay_check._play_two_episodes(ReplayedStove, HASHED)
    assert first == second
    fault = "the same seed and primitives led to different states in another process"
    assert find_replay_fault(ReplayedStove, HASHED) == fault
    with closing(ReplayedStove(HASHED, 1, InProcessExecutor())) as world:
        assert world.one_life_reason == fault
        start = world.checkpoint()
        with pytest.raises(RestoreError, match="one life"):
            world.restore(start)


def test_a_world_that_differs_in_its_own_process_is_found_out_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def start_process(*_arguments: object, **_options: object) -> None:
        pytest.fail("no other process is needed")

    monkeypatch.setattr(subprocess, "run", start_process)
    assert find_replay_fault(ForgetfulStove, STOCK) == "the same seed and primitives led to different states"


def test_a_world_that_a_fresh_process_cannot_build_has_one_life() -> None:
    fault = find_replay_fault(LateStove, STOCK)
    assert fault.startswith("it cannot be built in another process: AttributeError: module")
    assert "NoSuchStove" in fault


def test_the_result_is_remembered_for_each_level(monkeypatch: pytest.MonkeyPatch) -> None:
    played: list[str] = []

    def play(_world_class: object, level: LevelSpec) -> tuple[str, str]:
        played.append(level.name)
        return "alike", "alike"

    monkeypatch.setattr(replay_check, "_play_two_episodes", play)
    monkeypatch.setattr(replay_check, "_play_in_fresh_process", lambda _world_class, _level: "alike")
    levels = [LevelSpec(STOVE, {"wanted": wanted}) for wanted in (3, 4, 3)]
    assert [find_replay_fault(OneStove, level) for level in levels] == [""] * 3
    assert len(played) == 2


class FragileStove(Stove):
    """A stove that cannot be stirred."""

    def find_smell(self) -> str:
        raise ValueError("the spoon is gone")


class RebuiltStove(Stove, EzPickle):
    """A stove whose pickled form has nothing but its arguments, like many simulators with parts in C."""

    def __init__(self, **options: Any) -> None:
        EzPickle.__init__(self, **options)
        Stove.__init__(self, **options)


class CopiedStove(ReplayedStove):
    restores: ClassVar[Restores] = "copy"


for env_id, kind in (("MyLab/FragileStove-v0", FragileStove), ("MyLab/RebuiltStove-v0", RebuiltStove)):
    gymnasium.register(env_id, kind)


def test_a_forbidden_primitive_is_a_state_like_others() -> None:
    first, second = replay_check._play_two_episodes(ReplayedStove, LevelSpec("MyLab/FragileStove-v0"))
    assert first == second


def test_a_copy_that_is_none_is_found_out() -> None:
    assert find_copy_fault(CopiedStove, STOCK) == ""
    level = LevelSpec("MyLab/RebuiltStove-v0")
    with closing(CopiedStove(level, 1, InProcessExecutor())) as world:
        assert world.one_life_reason == "a copy of its state led to other states"


def test_a_checkpoint_that_only_its_own_world_can_restore_is_refused_elsewhere() -> None:
    level = LevelSpec("MyLab/HashedStove-v0")
    executor = InProcessExecutor()
    with closing(CopiedStove(level, 1, executor)) as world, closing(CopiedStove(level, 1, executor)) as other:
        world.step(WARM)
        made = world.checkpoint()
        world.step(WARM)
        world.restore(made)
        with pytest.raises(ForeignCheckpointError, match="only the world that made"):
            other.restore(made)


def test_an_unknown_way_to_go_back_is_refused() -> None:
    with pytest.raises(ValueError, match=r"restores is 'deepcopy': it is one of replay, copy, none"):
        type("Wrong", (ReplayedStove,), {"restores": "deepcopy"})
