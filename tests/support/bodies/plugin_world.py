"""A plugin for tests: a corridor that is no grid of ours, draws pictures, and a scripted model that learns to walk it.

``--plugin`` takes this file. The world ``corridor-life`` is the same with one life.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete

import spca
from spca.act.frame import ReplayedWorld
from spca.contracts import LevelSpec

ENV_ID = "Lab/Corridor-v0"
MISSION = "walk to the end"


class Corridor(gymnasium.Env[Any, Any]):
    """A corridor with the agent at one end and the goal at the other; for odd seeds above 1000 it has a pit."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012  # as Gymnasium has it
    action_space = Discrete(3)
    observation_space = Discrete(100)

    def __init__(self, length: int = 4, render_mode: str | None = None) -> None:
        self.length = length
        self.render_mode = render_mode
        self.place = 0
        self.pit = -1

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.place = 0
        self.pit = 3 if seed and seed > 1000 and seed % 2 else -1
        return self.place, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        self.place = max(self.place + (action == 0) - (action == 1), 0)
        is_done = self.place == self.length
        has_fallen = action == 2 or self.place == self.pit
        return self.place, float(is_done), is_done or has_fallen, False, {}

    def render(self) -> Any:
        picture = np.zeros((8, 8 * (self.length + 1), 3), dtype=np.uint8)
        picture[:, 8 * self.place : 8 * self.place + 8] = (255, 90, 80)
        return picture


gymnasium.register(ENV_ID, Corridor)  # type: ignore[arg-type]  # as Gymnasium's own documentation does


class CorridorWorld(spca.GymnasiumWorld):
    """The corridor with the agent's place as its state."""

    body = spca.Body(
        name="corridor",
        primitives=(
            spca.Primitive("stride", "Walk one place on."),
            spca.Primitive("retreat", "Walk one place back."),
            spca.Primitive("jump", "Fall, and end the episode."),
        ),
        state=(
            spca.StateAttribute("place", spca.StateKind.VALUE, "the agent's place, from 0."),
            spca.StateAttribute("length", spca.StateKind.VALUE, "the place to reach."),
        ),
    )

    def read(self, observation: Any, info: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002
        return {"place": int(observation), "length": self.env.unwrapped.length}

    def show(self, observation: Any, info: Mapping[str, Any]) -> dict[str, Any]:
        read = self.read(observation, info)
        marks = ["@" if place == read["place"] else "." for place in range(read["length"] + 1)]
        return {**read, "map": ["".join(marks)]}


class OneLifeCorridor(CorridorWorld):
    """The corridor without a way back to an earlier state."""

    restores = "none"


DOMAIN = """(define (domain corridor) (:requirements :strips :typing) (:types way)
(:predicates (walked ?w - way))
(:action walk_to_end :parameters (?way - way) :effect (walked ?way)))"""
PROBLEM = "(define (problem task) (:domain corridor) (:objects corridor - way) (:init) (:goal (walked corridor)))"
WRITER = f"""def make_problem(snapshot):
    if snapshot["mission"] != {MISSION!r}:
        raise ValueError("another mission")
    return {PROBLEM!r}
"""
METHOD = '''def walk_to_end(self, way):
    """Walk on to the last place."""
    while self.place < self.length:
        yield self.stride()
'''
JUMP = '''def walk_to_end(self, way):
    """Walk a little, and fall."""
    yield self.stride()
    yield self.jump()
'''


class ScriptedModel:
    """A provider with one answer for the planner and one for the coder.

    Args:
        method: source of the method that the coder writes.
    """

    def __init__(self, method: str) -> None:
        self._method = method

    def complete(self, request: Any) -> spca.Response:
        if request.phase == "coder":
            return spca.Response(self._method)
        parts = {"domain": DOMAIN, "problem": PROBLEM, "writer_name": "walk", "writer": WRITER}
        return spca.Response(json.dumps(parts))


def register(registry: Any) -> None:
    registry.world("corridor", CorridorWorld.body, CorridorWorld.make)
    registry.world("corridor-life", OneLifeCorridor.body, OneLifeCorridor.make)
    registry.provider("walking", lambda _target: ScriptedModel(METHOD))
    registry.provider("falling", lambda _target: ScriptedModel(JUMP))


def make_corridor(level: LevelSpec, seed: int, /, *, upstream_rules: bool = False) -> ReplayedWorld:  # noqa: ARG001
    """Return the world, as a report builds it."""
    world = OneLifeCorridor if level.world == "corridor-life" else CorridorWorld
    return world(level, seed, None)  # type: ignore[arg-type]  # nothing is executed


CURRICULUM = {
    "world": "corridor",
    "categories": [
        {
            "category_name": "walking",
            "skill": "Walk to the end",
            "levels": [
                {
                    "name": "Walk",
                    "configs": [
                        {"id": ENV_ID, "mission": MISSION, "seeds": "1:3"},
                        {"id": ENV_ID, "mission": MISSION, "kwargs": {"length": 7}, "seed": 1},
                    ],
                }
            ],
        }
    ],
}
