"""A plugin for tests: a stove that can be played only once, and the same stove with each way to go back.

What is cooked boils over at ten degrees, which ends the episode. Stirring at some degrees discovers a smell. Serving at
the wanted degree completes the mission.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import signal
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

import gymnasium
from gymnasium.spaces import Discrete, Text

import spca
from spca.act.gymnasium_world import Restores

STOVE: Final = "MyLab/Stove-v0"
SMELLS: Final = {1: "mint", 2: "basil", 3: "anise", 4: "thyme", 5: "cumin", 6: "clove"}
HOTTEST: Final = 10
LIMIT: Final = 300
WARM, COOL, STIR, SERVE = range(4)
ASKED_VARIABLE: Final = "SPCA_TEST_ASKED"
"""Environment variable with a file to which each question to the model adds a character."""
KILL_VARIABLE: Final = "SPCA_TEST_KILL"
"""Environment variable with the number of the moment in which the process kills itself."""

_MOMENTS: Final[Iterator[int]] = itertools.count(1)


def pass_moment() -> None:
    """Count a question or a primitive, and kill the process if this is its last moment."""
    if str(next(_MOMENTS)) == os.environ.get(KILL_VARIABLE):
        os.kill(os.getpid(), signal.SIGKILL)


class Stove(gymnasium.Env[Any, int]):
    """A pot with a temperature and a smell."""

    action_space: Any = Discrete(4)
    observation_space = Text(1)

    def __init__(self, wanted: int = 5, **_options: Any) -> None:
        self.wanted = wanted

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.degrees = 0
        self.steps = 0
        self.smell = "nothing"
        return {"mission": f"serve the soup at {self.wanted} degrees"}, {}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        pass_moment()
        self.steps += 1
        if action == WARM:
            self.degrees += 1
        elif action == COOL:
            self.degrees = max(self.degrees - 1, 0)
        elif action == STIR:
            self.smell = self.find_smell()
        is_served = action == SERVE and self.degrees == self.wanted
        is_over = is_served or self.degrees >= HOTTEST
        return {}, float(is_served), is_over, self.steps >= LIMIT, {}

    def find_smell(self) -> str:
        return SMELLS.get(self.degrees, "nothing")


class HashedStove(Stove):
    """A stove whose smells lie in a set of words, so that every process smells them in another order."""

    def find_smell(self) -> str:
        return list(frozenset(SMELLS.values()))[self.degrees % len(SMELLS)]


gymnasium.register(STOVE, Stove)
gymnasium.register("MyLab/HashedStove-v0", HashedStove)


class OneStove(spca.GymnasiumWorld):
    """The stove with one life."""

    restores: ClassVar[Restores] = "none"
    body = spca.Body(
        name="stove",
        primitives=(
            spca.Primitive("warm", "Make it one degree warmer."),
            spca.Primitive("cool", "Make it one degree cooler."),
            spca.Primitive("stir", "Stir and smell."),
            spca.Primitive("serve", "Serve the soup."),
        ),
        state=(
            spca.StateAttribute("degrees", spca.StateKind.VALUE, "the temperature."),
            spca.StateAttribute("smell", spca.StateKind.VALUE, "what the soup smelt of when it was stirred last."),
        ),
    )

    def read(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002
        stove = self.env.unwrapped
        return {"degrees": stove.degrees, "smell": stove.smell}

    def show(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.read(observation, info)

    def list_features(self, observation: Any, info: Mapping[str, Any]) -> Iterable[str]:  # noqa: ARG002
        return [self.env.unwrapped.smell]


class CopiedStove(OneStove):
    """The stove that is copied."""

    restores: ClassVar[Restores] = "copy"


class ReplayedStove(OneStove):
    """The stove whose primitives are replayed."""

    restores: ClassVar[Restores] = "replay"


METHODS: Final = {
    "explore": "yield self.warm()\n    yield self.stir()\n    yield self.warm()\n    yield self.stir()",
    "cook": "for _ in range(20):\n        if self.degrees >= int(at[1:]):\n            break\n"
    "        yield self.warm()\n    yield self.serve()",
    "burn": "for _ in range(20):\n        yield self.warm()",
}
"""Bodies of the methods that the scripted model writes."""


class CookingModel:
    """A scripted model: it explores, cooks with a crash first, and burns the soup for a mission of eight degrees."""

    def complete(self, request: Any) -> spca.Response:
        """Return the answer to a question."""
        pass_moment()
        if path := os.environ.get(ASKED_VARIABLE):
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(".")
        blocks = dict(re.findall(r"^<(\w+)>\n(.*?)\n</\1>$", request.messages[1].text, re.DOTALL | re.MULTILINE))
        if request.phase == "coder":
            return spca.Response(_write_code(blocks))
        wanted = int(re.findall(r"at (\d+) degrees", blocks["snapshot"])[0])
        action = "burn" if wanted == 8 else "cook"
        return spca.Response(_write_plan(action if "feedback" in blocks else "explore", f"t{wanted}"))


def _write_code(blocks: Mapping[str, str]) -> str:
    (action, *_) = json.loads(blocks["task"])["actions"]
    if action == "cook" and "error" not in blocks:
        return f"def {action}(self, at):\n    yield self.warm()\n    raise ValueError('too hot')\n"
    return f"def {action}(self, at):\n    {METHODS[action]}\n"


def _write_plan(action: str, degrees: str) -> str:
    domain = (
        "(define (domain stove) (:requirements :strips :typing) (:types degree) (:predicates (served ?at - degree))"
        f" (:action {action} :parameters (?at - degree) :effect (served ?at)))"
    )
    problem = (
        f"(define (problem soup) (:domain stove) (:objects {degrees} - degree) (:init) (:goal (served {degrees})))"
    )
    return json.dumps({"domain": domain, "problem": problem})


def register(registry: Any) -> None:
    """Register the worlds ``stove`` and ``copied-stove``, and the provider ``cook``."""
    registry.world("stove", OneStove.body, OneStove.make)
    registry.world("copied-stove", CopiedStove.body, CopiedStove.make)
    registry.provider("cook", lambda _target: CookingModel())
