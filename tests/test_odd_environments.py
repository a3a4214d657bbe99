"""Environments of others that fail, or show what MiniGrid does not know: at worst the level fails, in one line."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from minigrid.core.constants import COLOR_TO_IDX, COLORS, IDX_TO_COLOR, IDX_TO_OBJECT, OBJECT_TO_IDX
from minigrid.core.world_object import Key, WorldObj
from minigrid.envs.empty import EmptyEnv

from main import load_phases
from minigridenv import MiniGridEnv
from spca.code.regression import RegressionSuite, SolvedLevel
from spca.common.files import make_folder
from spca.contracts import AgentSource, Checkpoint, LevelSpec, Plan, PlannerMode, PlanStep, Status
from spca.errors import RestoreError, WorldError
from spca.prompts.formatting import format_state
from spca.report.replay.resimulation import resimulate
from spca.runs.curriculum import Task
from spca.runs.recording.folder import RunFolder
from spca.runs.run import Run
from spca.runs.screen.display import Display
from spca.sense import map_text, perception
from tests.support.bodies.grid import planner_state
from tests.support.contracts.executing import methods
from tests.support.contracts.grid_world_suite import act
from tests.support.spca.doubles import AGENT
from tests.support.spca.scenes import EMPTY
from tests.support.spca.starting import make_settings, prepared
from tests.support.tiers import few

ODD = "MiniGrid-Odd-v0"


class Odd(EmptyEnv):
    """An empty room that fails where it says, from its second step on."""

    fault: ClassVar[Callable[..., Any] | None] = None
    where = "step"

    def __init__(self, **given: Any) -> None:
        super().__init__(size=6, **given)

    def _spoiled(self, where: str, made: Any) -> Any:
        fault = type(self).fault
        return fault(self, made) if fault and self.where == where else made

    def step(self, action: Any) -> Any:
        made = super().step(action)
        return self._spoiled("step", made) if self.step_count >= 2 else made

    def reset(self, **given: Any) -> Any:
        return self._spoiled("reset", super().reset(**given))

    def gen_obs(self) -> Any:
        return self._spoiled("gen_obs", super().gen_obs())  # type: ignore[no-untyped-call]

    def close(self) -> None:
        super().close()  # type: ignore[no-untyped-call]
        if self.where == "close":
            raise RuntimeError("oops")


@pytest.fixture
def odd() -> Iterator[type[Odd]]:
    gymnasium.register(ODD, Odd)
    yield Odd
    Odd.fault, Odd.where = None, "step"
    del gymnasium.registry[ODD]


def raising(error: BaseException) -> Callable[..., Any]:
    def fault(*_given: Any) -> Any:
        raise error

    return fault


def seen(**changed: Any) -> Callable[[Any, Any], Any]:
    """What step returns with parts of its observation changed."""
    return lambda _env, made: ({**made[0], **changed}, *made[1:])


def rewarded(reward: Any) -> Callable[[Any, Any], Any]:
    return lambda _env, made: (made[0], reward, *made[2:])


FAULTS: dict[str, Callable[[Any, Any], Any]] = {
    "key error": raising(KeyError("x")),
    "assertion": raising(AssertionError()),
    "many lines": raising(RuntimeError("one\ntwo\n" * 400)),
    "exit": raising(SystemExit(3)),
    "nothing": lambda _env, _made: None,
    "infinite reward": rewarded(math.inf),
    "no reward": rewarded(math.nan),
    "text as reward": rewarded("a"),
    "no image": lambda _env, made: ({}, *made[1:]),
    "an array": lambda _env, made: (made[0]["image"], *made[1:]),
    "flat image": seen(image=np.zeros(147, np.uint8)),
    "oblong image": seen(image=np.zeros((7, 5, 3), np.uint8)),
    "two channels": seen(image=np.zeros((7, 7, 2), np.uint8)),
    "even view": seen(image=np.zeros((6, 6, 3), np.uint8)),
    "floats": seen(image=np.full((7, 7, 3), np.nan)),
    "no view": seen(image=np.zeros((0, 0, 3), np.uint8)),
    "direction": seen(direction=7),
    "negative direction": seen(direction=-1),
    "no direction": seen(direction="East"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_step_that_fails_is_a_world_error_of_one_line(odd: type[Odd], fault: Callable[[Any, Any], Any]) -> None:
    odd.fault = fault
    with closing(MiniGridEnv(ODD, 1)) as world:
        world.step(0)
        with pytest.raises(WorldError, match=rf"^{ODD}: step failed: ") as caught:
            world.step(0)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 500
        with pytest.raises(WorldError):
            act(world, "act", agent=methods("def act(self):\n    yield 0\n    yield 0"))
        with pytest.raises(RestoreError, match="only 1 of 2 primitives can be replayed"):
            world.restore(Checkpoint((0, 0), ""))


@pytest.mark.parametrize(
    ("where", "fault"),
    [
        ("reset", raising(KeyError("x"))),
        ("reset", raising(SystemExit(3))),
        ("gen_obs", raising(KeyError("x"))),
        ("gen_obs", lambda _env, _made: None),
        ("gen_obs", lambda _env, made: made | {"mission": "a" * 70_000}),
    ],
)
def test_a_reset_that_fails_is_a_world_error(odd: type[Odd], where: str, fault: Callable[[Any, Any], Any]) -> None:
    odd.fault, odd.where = fault, where
    with pytest.raises(WorldError, match=f"^{ODD}: reset failed: "):
        MiniGridEnv(ODD, 1)


def test_a_simulator_that_cannot_be_closed_or_hashed(odd: type[Odd], monkeypatch: pytest.MonkeyPatch) -> None:
    odd.where = "close"
    world = MiniGridEnv(ODD, 1)
    world.close()
    monkeypatch.setattr("minigridenv.hash_state", raising(TypeError("no")))
    with pytest.raises(WorldError, match=f"^{ODD}: state failed: TypeError: no"):
        world._hash()


def test_a_mission_is_text_that_can_be_sent(odd: type[Odd]) -> None:
    odd.fault, odd.where = (lambda _env, made: made | {"mission": "go \ud800 there"}), "gen_obs"
    with closing(MiniGridEnv(ODD, 1)) as world:
        assert world.mission == "go ? there"
        assert act(world, "act", agent=methods("def act(self):\n    yield 0")).status is Status.GOAL_NOT_REACHED


@pytest.mark.parametrize("fault", few(1, [raising(KeyError("x")), rewarded(math.inf), seen(direction=9)]))
def test_a_level_whose_environment_fails_is_failed_and_the_next_begins(
    odd: type[Odd], fault: Callable[[Any, Any], Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd.fault = fault
    folder = RunFolder.create(tmp_path / "runs", {"settings": {}, "sandbox": "strict"}, "[]", AGENT)
    tasks = [Task(n, "a", "b", "c", env_id) for n, env_id in enumerate((ODD, EMPTY))]
    chosen = make_settings(tmp_path, workspace=tmp_path / "w", quiet=True)
    make_folder(tmp_path / "w")
    Run(prepared(chosen, folder, tasks), load_phases(), Display(tasks, quiet=True)).learn()
    assert "1 of 2 levels solved" in capsys.readouterr().out
    (failure,) = folder.read_json("summary.json")["failures"]
    assert failure["level_name"] == ODD
    assert failure["reason"].startswith(f"{ODD}: step failed: ")


def test_the_regression_check_and_replays_live_with_it(odd: type[Odd]) -> None:
    with closing(MiniGridEnv(ODD, 1)) as world:
        start = world.checkpoint()
    odd.fault = raising(KeyError("x"))
    turned = methods("def act(self):\n    yield 0\n    yield 0")
    plan = Plan((PlanStep("act", ()),), "", "", (), PlannerMode.FRESH)
    check_again = RegressionSuite(MiniGridEnv)
    check_again.extend([SolvedLevel(LevelSpec(ODD), 1, start, plan)])
    words = check_again.against(turned)(AgentSource(turned.text.replace("yield 0", "yield 1")))
    assert words is not None
    assert f"it cannot be played again: {ODD}: step failed: KeyError" in words
    recorded = {"env_id": ODD, "seed": 1, "attempts": [{"start": [], "steps": [0, 0, 0]}]}
    ((_, check),) = resimulate(MiniGridEnv, recorded).attempts
    assert check.result == "different"
    assert "step 2 of 3 cannot be replayed: MiniGrid-Odd-v0: step failed: KeyError" in check.message


@pytest.fixture
def crate() -> Iterator[Callable[[str], WorldObj]]:
    """A kind of object and a colour that only the environment knows."""
    COLORS["orange"] = np.array([255, 128, 0])
    COLOR_TO_IDX["orange"], IDX_TO_COLOR[6] = 6, "orange"
    OBJECT_TO_IDX["crate"], IDX_TO_OBJECT[11] = 11, "crate"

    class Crate(WorldObj):
        def __init__(self, colour: str) -> None:
            super().__init__("crate", colour)

        def can_pickup(self) -> bool:
            return True

        def render(self, img: Any) -> Any:
            return img

    yield Crate
    del COLORS["orange"], COLOR_TO_IDX["orange"], IDX_TO_COLOR[6], OBJECT_TO_IDX["crate"], IDX_TO_OBJECT[11]


class Storeroom(Odd):
    """A crate is ahead of the agent, another, orange, and an orange key right of it."""

    make: ClassVar[Callable[[str], WorldObj]]

    def _gen_grid(self, width: int, height: int) -> None:
        super()._gen_grid(width, height)  # type: ignore[no-untyped-call]
        make = type(self).make
        for (column, row), thing in {(2, 1): make("red"), (1, 2): make("orange"), (2, 2): Key("orange")}.items():
            self.grid.set(column, row, thing)


def test_kinds_and_colours_that_only_the_environment_knows_are_words(crate: Callable[[str], WorldObj]) -> None:
    gymnasium.register(ODD, Storeroom)
    Storeroom.make = crate
    try:
        _walk_through_the_storeroom()
    finally:
        del gymnasium.registry[ODD]


def _walk_through_the_storeroom() -> None:
    with closing(MiniGridEnv(ODD, 1)) as world:
        start = world.checkpoint()
        snapshot = world.sense()
        names = {thing.name for thing in world._visible_objects()}
        assert {"thing red", "thing other", "key other", "goal green"} <= names
        state = planner_state(snapshot)
        assert {"thing red", "thing other", "key other"} <= state["known_objects"].keys()
        assert "! thing" in state["legend"]
        format_state(state).encode()
        take = "assert self.full_grid[3, 1] == 'thing red', str(self.full_grid)\nyield 3\n"
        take += "assert self.inventory == 'thing red', self.inventory\nyield 0"
        source = "def act(self):\n" + "".join(f"    {line}\n" for line in take.splitlines())
        outcome = act(world, "act", agent=methods(source))
        assert outcome.status is Status.GOAL_NOT_REACHED, outcome.message
        assert world.inventory == "thing red"
        reached = world.checkpoint()
        world.restore(start)
        world.restore(reached)
        world.frame()
    attempt = {"start": [], "steps": [3, 0], "start_hash": start.state_hash, "end_hash": reached.state_hash}
    ((episode, check),) = resimulate(MiniGridEnv, {"env_id": ODD, "seed": 1, "attempts": [attempt]}).attempts
    assert episode is not None
    assert check.result == "equal"


def test_whatever_an_image_holds_is_a_word() -> None:
    everything = np.stack(np.meshgrid(*[np.arange(256, dtype=np.uint8)[:16]] * 3), axis=-1).reshape(1, -1, 3)
    words = set(perception.word_array()[perception.encode_view(everything)].ravel().tolist())
    assert {"thing other", "key other", "wall"} <= words
    for word in perception.VOCABULARY:
        assert len(map_text.symbol(word)) == 1
