"""Worlds of plugins that are fed with observations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

import spca
from spca.body import render_agent
from spca.common.errors import SettingsError
from spca.contracts import AgentSource, LevelSpec, Plan, PlannerMode, PlanStep
from spca.errors import WorldError
from spca.evaluation.episodes import Episode
from spca.evaluation.playing.player import Planning
from spca.plugins.registry import RegisteredWorld
from spca.policy.learned_policy import LearnedPolicy
from spca.policy.observed_worlds import make_world_starter
from spca.policy.policy_episode import PolicyLevel
from spca.sense.renaming import TRUE_WORDS
from tests.support.inprocess import InProcessExecutor


class Corridor(spca.GymnasiumWorld):
    """A corridor: its observation is the distance to the end."""

    body = spca.Body(
        name="corridor",
        primitives=(spca.Primitive("go", "Go on."), spca.Primitive("back", "Go back.")),
        state=(spca.StateAttribute("left", spca.StateKind.VALUE, "cells to go."),),
    )

    def read(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002
        return {"left": observation}

    def show(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002
        return {"left": observation}


class Peeking(Corridor):
    def read(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002
        return {"left": self.env.unwrapped.left}


class Striding(Corridor):
    def take_step(self, code: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        super().take_step(code)
        return super().take_step(code)


WALK = '''
    def walk(self):
        """Go to the end."""
        while self.left:
            yield self.go()
'''
AGENT = AgentSource(render_agent(Corridor.body) + WALK)
PLAN = Plan((PlanStep("walk", ()),), "", "", (), PlannerMode.COMPILED)


def registered(make: Callable[..., Any]) -> RegisteredWorld:
    return RegisteredWorld("corridor", Corridor.body, make, "a test")


def policy_of(world: type[Corridor]) -> LearnedPolicy:
    level = LevelSpec("Lab/Corridor-v0", mission="walk to the end")
    start = make_world_starter(registered(world.make), level, InProcessExecutor(), TRUE_WORDS)
    planning = Planning(lambda *_: (PLAN,), "", lambda *_: pytest.fail("no model is asked"))
    found = PolicyLevel(Episode(0, level.id, 0, "", "", ""), AGENT, planning, start)
    return LearnedPolicy(Corridor.body, lambda _level: found, None, lambda: None)


def test_a_world_that_reads_observations_has_a_policy() -> None:
    policy = policy_of(Corridor)
    for length in (3, 1):
        policy.reset(length, {})
        assert [policy.act(length - done) for done in range(length)] == [0] * length


def test_without_a_primitive_to_wait_with_the_end_of_the_plans_is_an_error() -> None:
    policy = policy_of(Corridor)
    policy.reset(1)
    assert policy.act(1) == 0
    with pytest.raises(WorldError, match="no further plan, and the body corridor no primitive to wait with"):
        policy.act(0)
    assert {failed.status for failed in policy.failed_plans} == {"goal_not_reached"}


def test_a_world_that_looks_into_its_environment_is_told_so() -> None:
    with pytest.raises(WorldError, match="reads 'unwrapped' of its environment: a policy has observation and info"):
        policy_of(Peeking).reset(3)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda *_: None, "only a spca.GymnasiumWorld registered with its own make"),
        (Striding.make, r"it has its own take_step\(\), which needs the environment"),
    ],
)
def test_other_worlds_are_refused(make: Callable[..., Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        make_world_starter(registered(make), LevelSpec("x"), InProcessExecutor(), TRUE_WORDS)
