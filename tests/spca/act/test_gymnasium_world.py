"""Contracts of worlds on a random toy environment, for each way to go back."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any, ClassVar

import gymnasium
import pytest
from gymnasium.spaces import Box, Discrete
from hypothesis import given
from hypothesis import strategies as st

import spca
from spca.act.gymnasium_world import Restores
from spca.body import render_agent
from spca.contracts import AgentSource, Checkpoint, LevelSpec, Plan, PlannerMode, PlanStep, Status
from spca.errors import RestoreError, WorldError
from tests.support.inprocess import InProcessExecutor
from tests.support.machine.stove import LIMIT, SMELLS, STIR, STOVE, WARM, CopiedStove, OneStove, ReplayedStove

CODES = st.lists(st.integers(0, 3), max_size=40)
TOY = "MyLab/Toy-v0"


class Toy(gymnasium.Env[Any, int]):
    """Counters that a primitive changes at random, by the seed of the episode; an end that may come at any time."""

    action_space: Any = Discrete(4)

    def __init__(self, **_options: Any) -> None:
        pass

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.counters = [0] * 4
        return {"mission": "count"}, {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.counters[action] += int(self.np_random.integers(1, 4))
        is_over = self.np_random.random() < 0.02
        reward = float(self.np_random.choice([0, 1]))
        return {}, reward, bool(is_over), False, {}


gymnasium.register(TOY, Toy)


class ToyWorld(spca.GymnasiumWorld):
    restores: ClassVar[Restores] = "replay"
    body = spca.Body(
        name="toy",
        primitives=tuple(spca.Primitive(f"count_{name}", f"Count {name}.") for name in "abcd"),
        state=(spca.StateAttribute("counters", spca.StateKind.NUMBERS, "the counters."),),
    )

    def read(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002
        return {"counters": self.env.unwrapped.counters}

    def show(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"counters": list(self.read(observation, info)["counters"])}

    def list_features(self, observation: Any, info: Mapping[str, Any]) -> list[str]:  # noqa: ARG002
        return [f"{name} over 9" for name, count in zip("abcd", self.env.unwrapped.counters, strict=True) if count > 9]


class CopiedToy(ToyWorld):
    restores: ClassVar[Restores] = "copy"


KINDS = pytest.mark.parametrize("kind", [ToyWorld, CopiedToy])


def make(kind: type[spca.GymnasiumWorld], level: str = TOY, seed: int = 1) -> Any:
    return kind(LevelSpec(level), seed, InProcessExecutor())


def walk(world: Any, codes: list[int]) -> None:
    for code in codes:
        if world.over:
            return
        world.step(code)


@KINDS
@given(before=CODES, after=CODES, seed=st.integers(0, 9))
def test_a_restored_state_is_the_state_of_its_checkpoint(
    kind: type[spca.GymnasiumWorld], before: list[int], after: list[int], seed: int
) -> None:
    with closing(make(kind, seed=seed)) as world:
        walk(world, before)
        made = world.checkpoint()
        seen = (world.sense(), world._agent_view().values[0], world.over, world.reward)
        walk(world, after)
        end = (world.checkpoint(), world.sense())

        world.restore(made)
        assert world.checkpoint() == made
        assert (world.sense(), world._agent_view().values[0], world.over, world.reward) == seen

        walk(world, after)  # what follows is the same as the first time
        assert (world.checkpoint(), world.sense()) == end
        assert world.restore_count == 1


@KINDS
@given(codes=CODES, seed=st.integers(0, 9))
def test_another_world_of_the_same_making_restores_the_checkpoint(
    kind: type[spca.GymnasiumWorld], codes: list[int], seed: int
) -> None:
    with closing(make(kind, seed=seed)) as world, closing(make(kind, seed=seed)) as other:
        walk(world, codes)
        other.restore(world.checkpoint())
        assert other.checkpoint() == world.checkpoint()
        assert other.sense() == world.sense()


@KINDS
def test_a_checkpoint_that_was_tampered_with_is_refused(kind: type[spca.GymnasiumWorld]) -> None:
    with closing(make(kind)) as world:
        walk(world, [0, 1, 2])
        true = world.checkpoint()
        for changed in (
            Checkpoint(true.primitives, "0" * len(true.state_hash)),
            Checkpoint(true.primitives[:-1], true.state_hash),
            Checkpoint((9, *true.primitives), true.state_hash),
        ):
            with pytest.raises(RestoreError):
                world.restore(changed)
        world.restore(true)
        assert world.checkpoint() == true


@given(codes=CODES)
def test_nothing_is_discovered_twice(codes: list[int]) -> None:
    with closing(make(CopiedToy)) as world:
        start = world.checkpoint()
        walk(world, codes)
        first = world.pop_discoveries()
        assert len(set(first)) == len(first)
        world.restore(start)
        walk(world, codes)
        assert world.pop_discoveries() == ()


def plan(*names: str) -> Plan:
    return Plan(tuple(PlanStep(name, ()) for name in names), "", "", (), PlannerMode.FRESH)


def agent(*methods: str) -> AgentSource:
    return AgentSource(render_agent(OneStove.body) + "".join(f"\n    {method}\n" for method in methods))


@pytest.mark.parametrize("kind", [OneStove, CopiedStove, ReplayedStove])
def test_an_attempt_tells_what_was_done_and_found(kind: type[spca.GymnasiumWorld]) -> None:
    smelling = agent(
        "def sniff(self):\n        yield self.warm()\n        yield self.stir()\n        yield self.stir()"
    )
    with closing(make(kind, STOVE)) as world:
        outcome = world.run_sim(plan("sniff", "sniff"), smelling)
        assert outcome.status is Status.GOAL_NOT_REACHED
        assert outcome.primitives == (WARM, STIR, STIR) * 2
        assert [step.position for step in outcome.trace] == [0] * 3 + [1] * 3
        assert outcome.found == (SMELLS[1], SMELLS[2])
        assert outcome.shown == {"degrees": 2, "smell": SMELLS[2]}
        assert outcome.state_hash == world.checkpoint().state_hash
        assert world.run_sim(plan(), smelling).found == ()


def test_an_episode_without_progress_is_stuck() -> None:
    waiting = agent("def wait(self):\n        while True:\n            yield self.cool()")
    with closing(make(OneStove, STOVE)) as world:
        outcome = world.run_sim(plan("wait"), waiting)
        assert (outcome.status, outcome.steps) == (Status.STUCK, OneStove.body.budgets.patience)


def test_what_does_not_count_as_progress_leaves_an_agent_stuck() -> None:
    class Clock(OneStove):
        body = spca.Body(
            name="clock",
            primitives=OneStove.body.primitives,
            state=(
                spca.StateAttribute("degrees", spca.StateKind.VALUE, "the temperature."),
                spca.StateAttribute("time", spca.StateKind.VALUE, "the time.", is_progress=False),
            ),
        )

        def read(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002
            return {"degrees": self.env.unwrapped.degrees, "time": self.env.unwrapped.steps}

    waiting = agent("def wait(self):\n        while True:\n            yield self.cool()")
    with closing(make(Clock, STOVE)) as world:
        assert world.run_sim(plan("wait"), waiting).status is Status.STUCK
        assert world.previous_actions == [1] * Clock.body.budgets.patience


def test_the_step_limit_ends_the_episode_without_success() -> None:
    moving = agent("def move(self):\n        while True:\n            yield self.warm()\n            yield self.cool()")
    with closing(make(OneStove, STOVE)) as world:
        walk(world, [STIR] * (LIMIT - 1))
        outcome = world.run_sim(plan("move"), moving)
        assert outcome.status is Status.REWARD_FAILED
        assert "the step limit was reached" in outcome.message
        with pytest.raises(WorldError, match="the episode is over"):
            world.run_sim(plan("move"), moving)
        with pytest.raises(WorldError, match="the episode is over"):
            world.step(WARM)


def test_actions_that_are_not_discrete_are_refused_in_one_line() -> None:
    class Dial(Toy):
        action_space = Box(0.0, 1.0)

    gymnasium.register("MyLab/Dial-v0", Dial)
    with pytest.raises(WorldError, match=r"its actions are Box.*, not Discrete: write take_step\(code\) for them"):
        make(ToyWorld, "MyLab/Dial-v0")

    class Turning(ToyWorld):
        def take_step(self, code: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
            result: tuple[Any, float, bool, bool, dict[str, Any]] = self.env.step(code)
            return result

    with closing(make(Turning, "MyLab/Dial-v0")) as world:
        world.step(3)
        assert world.previous_actions == [3]


@pytest.mark.parametrize("fault", ["raise OSError('no gas')", "return {'smell': 'mint'}", "return {}"])
def test_an_error_of_the_subclass_is_one_line_that_names_the_level(fault: str) -> None:
    class Faulty(OneStove):
        def read(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002
            if fault.startswith("raise"):
                raise OSError("no gas")
            return {"smell": "mint"} if "mint" in fault else {}

        def show(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002
            return {}

    with pytest.raises(WorldError) as caught:
        make(Faulty, STOVE)
    assert str(caught.value).startswith(f"{STOVE}: read failed")
    assert "\n" not in str(caught.value)
