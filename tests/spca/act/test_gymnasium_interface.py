"""Any Gymnasium environment as a world: the promises of a world, defaults, and mistakes told in one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import Any, ClassVar

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

import spca
from spca.act.gymnasium_world import GymnasiumWorld, Restores
from spca.contracts import LevelSpec, Status
from spca.errors import WorldError
from spca.protocols import World
from spca.testing import WorldSuite
from spca.testing.world_suite import ACTOR, make_plan
from tests.support.inprocess import InProcessExecutor

LAKE = "FrozenLake-v1"
DRY = {"is_slippery": False}
SOLUTION = (1, 1, 2, 2, 1, 2)
LOSS = (2, 1)
KINDS = {"S": "start", "F": "frozen", "H": "hole", "G": "goal"}


class Lake(GymnasiumWorld):
    """The frozen lake."""

    body = spca.Body(
        name="lake",
        primitives=tuple(spca.Primitive(f"go_{way}", f"Go {way}.") for way in ("left", "down", "right", "up")),
        state=(
            spca.StateAttribute("place", spca.StateKind.VALUE, "(row, column) of the agent."),
            spca.StateAttribute("ice", spca.StateKind.WORDS, "the lake as words."),
        ),
        words=tuple(KINDS.values()),
    )

    def read(self, observation: Any, info: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: ARG002
        letters = self.env.unwrapped.desc.astype(str)
        ice = [[KINDS[letter] for letter in row] for row in letters]
        return {"place": divmod(observation, len(letters)), "ice": ice}

    def describe_loss(self, observation: Any, info: Mapping[str, Any]) -> str:  # noqa: ARG002
        return "the ice broke"


class CopiedLake(Lake):
    restores: ClassVar[Restores] = "copy"


class OnceLake(Lake):
    restores: ClassVar[Restores] = "none"


def make_level(env_id: str = LAKE, mission: str = "get to the goal", **kwargs: Any) -> LevelSpec:
    return LevelSpec(env_id, kwargs or (DRY if env_id == LAKE else {}), mission)


def make_world(world_class: type[GymnasiumWorld] = Lake, level: LevelSpec | None = None, seed: int = 1) -> Any:
    return world_class(level or make_level(), seed, InProcessExecutor())


class TestLake(WorldSuite):
    """Restored by replaying; the upper edge stops a step upwards."""

    idle = 3
    solution = SOLUTION
    loss = LOSS

    @pytest.fixture
    def make(self) -> Callable[[], World]:
        return make_world


class TestSlipperyLake(WorldSuite):
    @pytest.fixture
    def make(self) -> Callable[[], World]:
        return lambda: make_world(level=make_level(is_slippery=True))


class TestCopiedLake(WorldSuite):
    idle = 3
    solution = SOLUTION
    loss = LOSS

    @pytest.fixture
    def make(self) -> Callable[[], World]:
        return lambda: make_world(CopiedLake)


class TestOnceLake(WorldSuite):
    one_life = True
    idle = 3
    solution = SOLUTION
    loss = LOSS

    @pytest.fixture
    def make(self) -> Callable[[], World]:
        return lambda: make_world(OnceLake)


def test_what_is_read_is_shown_by_default() -> None:
    with closing(make_world()) as world:
        world.step(1)
        shown = world.sense().shown
        assert shown["place"] == [1, 0]
        assert shown["ice"][3] == ["hole", "frozen", "frozen", "goal"]
        view = dict(zip(("mission", "place", "ice"), world._agent_view().values, strict=True))
        assert view["place"] == (1, 0)
        assert view["ice"].tolist()[3] == [2, 1, 1, 3]


def test_an_end_is_told_in_the_worlds_words() -> None:
    with closing(make_world()) as world:
        lost = world.run_sim(make_plan(("act", "1 2")), ACTOR)
        assert (lost.status, lost.message.rpartition(": ")[2]) == (Status.REWARD_FAILED, "the ice broke")
    with closing(make_world(level=make_level(is_slippery=False, max_episode_steps=3))) as world:
        late = world.run_sim(make_plan(("act", "1 1 3 3")), ACTOR)
        assert (late.status, late.message.rpartition(": ")[2]) == (Status.REWARD_FAILED, "the step limit was reached")
    with closing(make_world()) as world:
        assert world.run_sim(make_plan(("act", "1 1 2 2 1 2")), ACTOR).solved


def test_the_seed_decides_what_chance_does() -> None:
    trails = []
    for seed in (1, 1, 2, 3, 4):
        with closing(make_world(level=make_level(is_slippery=True), seed=seed)) as world:
            for _ in range(3):
                if not world.over:
                    world.step(0)
            trails.append((world.checkpoint(), world.sense()))
    assert trails[0] == trails[1]
    assert len({str(trail) for trail in trails}) > 1


class Dial(gymnasium.Env[Any, int]):
    """A dial whose actions begin at 5, and which always observes the same array."""

    action_space: Any = Discrete(2, start=5)
    observation_space = Box(-9, 9, (1,))

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.marks = np.zeros(3)
        return {"marks": self.marks, **self.fields}, {"mission": "mark the end"}

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.marks[action - 5] += 1
        return {"marks": self.marks, **self.fields}, 0.0, False, False, {}


gymnasium.register("Test/Dial-v0", Dial)


class DialWorld(GymnasiumWorld):
    body = spca.Body(
        name="dial",
        primitives=(spca.Primitive("mark_first", "Mark the first."), spca.Primitive("mark_second", "Mark the second.")),
        state=(spca.StateAttribute("marks", spca.StateKind.NUMBERS, "number of marks of each place."),),
    )


def test_a_dict_needs_nothing_but_a_body() -> None:
    level = make_level("Test/Dial-v0", "")
    with closing(make_world(DialWorld, level)) as world:
        assert world.mission == "mark the end"
        before = world._agent_view()
        world.step(1)
        assert before.values[1].tolist() == [0, 0, 0]  # although the environment has one array only
        assert world._agent_view().values[1].tolist() == [0, 1, 0]
        assert world.sense().shown == {"marks": [0.0, 1.0, 0.0]}


def with_method(base: type[GymnasiumWorld], **methods: Any) -> type[GymnasiumWorld]:
    return type("Mistaken", (base,), methods)


def with_body(base: type[GymnasiumWorld], **fields: Any) -> type[GymnasiumWorld]:
    old = base.body
    kept = {name: getattr(old, name) for name in ("name", "primitives", "state", "words")}
    return type("Mistaken", (base,), {"body": spca.Body(**(kept | fields))})


def read_as(**values: Any) -> Any:
    return lambda *_: {"place": (0, 0), "ice": ["start"], **values}


NUMBERS_OF_ICE = (
    spca.StateAttribute("place", spca.StateKind.VALUE, "where."),
    spca.StateAttribute("ice", spca.StateKind.NUMBERS, "what."),
)


@pytest.mark.parametrize(
    ("world_class", "words"),
    [
        (with_body(Lake, primitives=Lake.body.primitives[:3]), "3 primitives, the environment 4 actions"),
        (with_method(Lake, read=lambda *_: {"place": 1}), "'ice' is missing"),
        (with_method(Lake, read=lambda *_: 1 // 0), "read failed (test_gymnasium_interface.py, line "),
        (with_method(Lake, read=GymnasiumWorld.read), "the observation is no dict, but int: write read("),
        (with_method(Lake, read=read_as(ice=["snow"])), "'ice' has the word 'snow', which is not among the body's"),
        (with_method(Lake, read=read_as(ice=[9])), "'ice' has the index 9 of a word; the body has 4 words"),
        (with_method(Lake, read=read_as(ice=[["hole"], []])), "'ice' is no array, because its rows have different"),
        (with_method(Lake, read=read_as(place={1})), "'place' holds a value of type set: make it a number"),
        (
            with_body(Lake, state=NUMBERS_OF_ICE),
            "'ice' is of the kind NUMBERS, but holds words: give it",
        ),
        (with_method(Lake, describe_mission=lambda *_: ""), 'no mission: give the level a "mission"'),
        (
            with_method(Lake, show=lambda *_: {"mission": "x"}),
            "'mission' is added by the loop",
        ),
        (with_method(Lake, show=lambda *_: {"map": "ab"}), "'map' is no list of rows of text"),
        (with_method(Lake, show=lambda *_: {"x": float("nan")}), "'x' is no value of JSON"),
        (with_method(Lake, show=lambda *_: {"x": b"raw"}), "'x' holds a value of type bytes"),
        (
            with_method(Lake, take_step=lambda *_: (0, float("nan"), False, False, {})),
            "step failed: ValueError: a reward",
        ),
        (with_method(Lake, take_step=lambda *_: 3), "step failed: TypeError"),
        (with_method(Lake, list_features=lambda *_: None), "list_features failed: TypeError"),
        (with_method(Lake, list_features=lambda *_: "tree"), "it returned 'tree' instead of a list of names"),
        (with_method(Lake, list_features=lambda *_: [1]), "it returned [1] instead of a list of names"),
        (with_method(Lake, read=read_as(ice=[-1, 0])), "'ice' has the index -1 of a word; the body has 4 words"),
    ],
)
def test_a_mistake_is_told_in_one_line(world_class: type[GymnasiumWorld], words: str) -> None:
    def act() -> None:
        with closing(make_world(world_class)) as world:
            world.sense()
            world.step(0)

    with pytest.raises(WorldError) as caught:
        act()
    message = str(caught.value)
    assert message.startswith("FrozenLake-v1+")
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (make_level("FrozenLak-v1"), "build failed: NameNotFound"),
        (make_level(slippery=True), "build failed: TypeError"),
        (make_level("Pendulum-v1"), "not Discrete: write take_step(code)"),
    ],
)
def test_a_level_that_cannot_be_built_is_told_in_one_line(level: LevelSpec, words: str) -> None:
    with pytest.raises(WorldError) as caught:
        make_world(level=level)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
