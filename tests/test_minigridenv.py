"""A MiniGrid world: what it maps, what it tells of each attempt, and what it refuses."""

from __future__ import annotations

import ast
import inspect
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minigrid.core.constants import OBJECT_TO_IDX
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Door, WorldObj
from minigrid.envs.empty import EmptyEnv
from minigrid.minigrid_env import MiniGridEnv as Simulator
from minigrid.wrappers import ViewSizeWrapper

import minigridenv
from minigridenv import MiniGridEnv
from spca.common.errors import UserError
from spca.contracts import AgentSource, Checkpoint, LevelSpec, Outcome, Plan, PlannerMode, PlanStep, Status
from spca.errors import WorldError
from spca.protocols import World
from tests.support.bodies.grid import seen, words_of
from tests.support.contracts import truth
from tests.support.contracts.executing import methods
from tests.support.contracts.grid_world_suite import GridWorldSuite, act, assert_consistent, at_fault
from tests.support.tiers import few

MIX = (0, 1, 2, 2, 2, 2, 3, 4, 5, 6)


class TestMiniGridWorld(GridWorldSuite):
    @pytest.fixture(params=["MiniGrid-FourRooms-v0", "BabyAI-PutNextS5N2Carrying-v0", "MiniGrid-KeyCorridorS3R2-v0"])
    def make(self, request: pytest.FixtureRequest) -> Callable[[], World]:
        return lambda: MiniGridEnv(request.param, seed=5)


@pytest.fixture
def empty() -> Iterator[MiniGridEnv]:
    with closing(MiniGridEnv("MiniGrid-Empty-5x5-v0", seed=1)) as world:
        yield world


def script(*codes: int) -> AgentSource:
    return methods(f"def act(self):\n    for code in {list(codes)}:\n        yield code")


def run(world: MiniGridEnv, *codes: int) -> Outcome:
    return act(world, "act", agent=script(*codes))


# The map ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", few(24, truth.REPLAYABLE))
def test_the_map_is_the_truth_as_it_was_last_seen(env_id: str) -> None:
    """A random walk; each cell in view is written down from the simulator's own grid, by absolute place."""
    rng = random.Random(env_id)
    with closing(MiniGridEnv(env_id, seed=rng.randrange(1000))) as world:
        sim = truth.simulator(world)
        start = tuple(int(v) for v in sim.agent_pos)
        known = {start: truth.cell(sim.grid, *start)}
        for _ in range(25):
            known |= {(x, y): truth.cell(sim.grid, x, y) for x, y in truth.in_view(sim)}
            assert_map_is(world, sim, start, known)
            if world.over:
                break
            world.step(rng.choice(MIX))


def assert_map_is(world: MiniGridEnv, sim: Any, start: tuple[int, ...], known: dict[tuple[int, ...], str]) -> None:
    origin = seen(world._agent_view(), "start_position")
    mapped = {
        (int(c) - origin[1] + start[0], int(r) - origin[0] + start[1]): str(word)
        for (r, c), word in np.ndenumerate(world.full_grid)
        if word != "unseen"
    }
    assert mapped == {**known, tuple(int(v) for v in sim.agent_pos): "agent"}
    assert world.current_dir == ("East", "South", "West", "North")[sim.agent_dir]
    assert world.inventory == (truth.word(sim.carrying) if sim.carrying else None)


class Placed(Simulator):
    """One and the same room, anywhere in a solid world of any size."""

    def __init__(self, **options: Any) -> None:
        self._at = options.pop("at")
        super().__init__(MissionSpace(lambda: "get to the green goal"), max_steps=400, **options)

    def _gen_grid(self, width: int, height: int) -> None:
        self.grid, self.mission = Grid(width, height), "get to the green goal"
        left, top = self._at
        for x in range(width):
            for y in range(height):
                if not (left <= x < left + 9 and top <= y < top + 9):
                    self.put_obj(self._made("wall"), x, y)
        for y in range(9):
            if y != 6:
                self.put_obj(self._made("wall"), left + 4, top + y)
        self.put_obj(Door("red"), left + 4, top + 6)
        self.put_obj(self._made("key", 1), left + 1, top + 2)
        self.put_obj(self._made("ball", 2), left + 7, top + 7)
        self.put_obj(self._made("goal", 1), left + 8, top + 0)
        self.agent_pos, self.agent_dir = (left + 2, top + 3), 3

    @staticmethod
    def _made(kind: str, colour: int = 5) -> WorldObj:
        thing = WorldObj.decode(OBJECT_TO_IDX[kind], colour, 0)
        assert thing is not None
        return thing


PLACES = {"Corner": (11, (1, 1)), "Middle": (31, (12, 9)), "Edge": (20, (10, 3))}
for name, (side, corner) in PLACES.items():
    gymnasium.register(
        f"TestPlaced{name}-v0", Placed, kwargs={"grid_size": side, "at": corner}, disable_env_checker=True
    )


@pytest.mark.long
@settings(max_examples=8, deadline=None)
@given(st.lists(st.sampled_from(MIX), max_size=80))
def test_nothing_depends_on_grid_size_or_absolute_position(codes: list[int]) -> None:
    told = []
    for place in PLACES:
        with closing(MiniGridEnv(f"TestPlaced{place}-v0", seed=1)) as world:
            start, shown = world.checkpoint(), [world.sense()]
            for code in codes:
                world.step(code)
                shown.append(world.sense())
                if world.over:
                    break
            world.restore(start)
            told.append((shown, replace(run(world, *codes), state_hash="")))  # only proves, tells nobody
    assert told[0] == told[1] == told[2]


def test_of_the_simulator_only_displacement_and_observation_are_read() -> None:
    """Everything else that is known of the world comes through the 7x7 view.

    Hashing proves, and tells nobody; frames are for those who watch, and nothing in the world itself asks for one.
    """
    tree = ast.parse(inspect.getsource(minigridenv))
    watching = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == "frame")
    asked = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == "frame"]
    watching.body = []
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("self._sim", "self._env.unwrapped")
    }
    assert read == {"agent_pos", "gen_obs"}
    assert asked == []


@pytest.mark.parametrize(("facing", "ahead"), [("E", (0, 1)), ("S", (1, 0)), ("W", (0, -1)), ("N", (-1, 0))])
def test_the_agents_place_in_the_map_stays_right_while_it_is_padded(facing: str, ahead: tuple[int, int]) -> None:
    grown = 0
    with closing(MiniGridEnv("MiniGrid-FourRooms-v0", seed=1)) as world:
        while world.current_dir[0] != facing:
            world.step(1)
        for _ in range(3):
            rows, columns = np.subtract(world._map.index(world._position), seen(world._agent_view(), "start_position"))
            shape = world.full_grid.shape
            world.step(2)
            position = world._map.index(world._position)
            start = seen(world._agent_view(), "start_position")
            moved = (position[0] - start[0] - rows, position[1] - start[1] - columns)
            assert moved == ahead
            assert world.full_grid[position] == "agent"
            grown += world.full_grid.shape != shape
    assert grown == 3


def test_the_view_north_up_has_the_agent_in_it(empty: MiniGridEnv) -> None:
    places = {"East": (3, 0), "South": (0, 3), "West": (3, 6), "North": (6, 3)}
    for _ in range(4):
        assert empty.current_observation.shape == (7, 7)
        assert empty.current_observation[places[empty.current_dir]] == "agent"
        empty.step(1)


def test_what_is_written_into_a_map_handed_out_is_lost(empty: MiniGridEnv) -> None:
    before = empty.checkpoint()
    empty.full_grid[:] = "lava"
    empty.current_observation[:] = "lava"
    assert "lava" not in empty.full_grid
    assert "lava" not in empty.current_observation
    assert empty.checkpoint() == before


def test_generated_code_cannot_write_into_the_worlds_map(empty: MiniGridEnv) -> None:
    vandal = methods("def act(self):\n    yield 0\n    grid = self.full_grid\n    grid[:] = 'lava'\n    yield 0")
    outcome = act(empty, "act", agent=vandal)
    assert (outcome.status, outcome.steps) == (Status.RUNTIME_ERROR, 1)
    assert "read-only" in outcome.message
    assert "lava" not in {word for row in words_of(empty) for word in row}
    assert "~" not in "".join(outcome.shown["map"])


# The inventory and hidden things --------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", [name for name in truth.REPLAYABLE if "Carrying" in name])
def test_what_is_in_hand_at_the_start_is_known(env_id: str) -> None:
    """These levels put it there after the first observation was made."""
    with closing(MiniGridEnv(env_id, seed=2)) as world:
        held = truth.word(truth.simulator(world).carrying)
        assert world.inventory == held == world.sense().shown["inventory"]
        assert f"{held}: here" not in world.sense().shown["visible_objects"]
        assert all((thing.forward, thing.right) != (0, 0) for thing in world._visible_objects() if thing.name == held)
        world.step(0)
        world.restore(Checkpoint((), MiniGridEnv(env_id, seed=2).checkpoint().state_hash))
        assert world.inventory == held


def test_a_key_in_a_box_is_seen_when_the_box_is_opened_and_not_before() -> None:
    with closing(MiniGridEnv("BabyAI-KeyInBox-v0", seed=1)) as world:
        sim = truth.simulator(world)
        box = next(thing for thing in sim.grid.grid if thing is not None and thing.type == "box")
        key = truth.word(box.contains)
        walk_to(world, box.cur_pos)
        assert not any("key" in word for word in world.full_grid.ravel())
        world.step(5)
        assert (world.full_grid == key).sum() == 1
        world.step(3)
        assert world.inventory == key
        assert (world.full_grid == key).sum() == 0


def walk_to(world: MiniGridEnv, target: tuple[int, int]) -> None:
    """Stand in front of ``target``, by the shortest way over empty ground, with the simulator's own eyes."""
    sim = truth.simulator(world)
    start = (int(sim.agent_pos[0]), int(sim.agent_pos[1]), int(sim.agent_dir))
    paths, queue = {start: ()}, [start]
    steps = ((1, 0), (0, 1), (-1, 0), (0, -1))
    for x, y, direction in queue:
        front = (x + steps[direction][0], y + steps[direction][1])
        path: tuple[int, ...] = paths[x, y, direction]
        if front == tuple(target):
            for code in path:
                world.step(code)
            return
        ways = [((x, y, (direction - 1) % 4), 0), ((x, y, (direction + 1) % 4), 1)]
        ways += [((*front, direction), 2)] if sim.grid.get(*front) is None else []
        for state, code in ways:
            if state not in paths:
                paths[state] = (*path, code)  # type: ignore[assignment]
                queue.append(state)
    raise AssertionError("no way")


# How attempts end -----------------------------------------------------------------------------------------------------

TO_GOAL = (2, 2, 1, 2, 2)


def test_reaching_the_goal_is_success(empty: MiniGridEnv) -> None:
    outcome = run(empty, *TO_GOAL, 0, 0, 0)
    assert_consistent(outcome, ["act"])
    assert at_fault(outcome) == (Status.SUCCESS, None, None, ())
    assert outcome.primitives == TO_GOAL
    assert outcome.reward == pytest.approx(1 - 0.9 * 5 / 100)
    assert empty.over
    assert empty.reward == outcome.reward


def used_up(world: MiniGridEnv, left: int) -> None:
    """Spend all but ``left`` of Empty-5x5's hundred steps on the spot."""
    for _ in range(100 - left):
        world.step(6)


def test_success_on_the_very_last_step_is_success(empty: MiniGridEnv) -> None:
    used_up(empty, len(TO_GOAL))
    outcome = run(empty, *TO_GOAL)
    assert outcome.status is Status.SUCCESS
    assert outcome.reward == pytest.approx(0.1)
    assert truth.simulator(empty).step_count == 100


def test_a_truncated_episode_is_reward_failed_at_the_step_under_way(empty: MiniGridEnv) -> None:
    used_up(empty, 3)
    plan = Plan(tuple(PlanStep("act", (str(i),)) for i in range(9)), "", "", (), PlannerMode.FRESH)
    outcome = empty.run_sim(plan, methods("def act(self, i):\n    yield 0"))
    assert at_fault(outcome) == (Status.REWARD_FAILED, 2, "act", ("2",))
    assert outcome.steps == 3
    assert "step limit" in outcome.message


def test_a_retry_has_what_the_step_limit_leaves_at_its_checkpoint(empty: MiniGridEnv) -> None:
    used_up(empty, 7)
    start = empty.checkpoint()
    for _ in range(3):
        outcome = run(empty, *[0, 1, 2] * 9)
        assert (outcome.status, outcome.steps) == (Status.REWARD_FAILED, 7)
        empty.restore(start)


@pytest.mark.parametrize(
    ("env_id", "codes", "reward"),
    [
        ("MiniGrid-LavaGapS5-v0", (1, 1, 0, 0, 2, 2, 2, 1, 2, 2, 2), 0),
        ("MiniGrid-Dynamic-Obstacles-5x5-v0", (0, 2, 2), -1),
    ],
)
def test_a_fatal_step_is_reward_failed(env_id: str, codes: tuple[int, ...], reward: float) -> None:
    """Into lava; into a wall where walls hurt."""
    for seed in range(40):
        with closing(MiniGridEnv(env_id, seed)) as world:
            outcome = run(world, *codes)
            if outcome.status is Status.REWARD_FAILED:
                assert at_fault(outcome) == (Status.REWARD_FAILED, 0, "act", ())
                assert outcome.reward == reward
                assert "fatal" in outcome.message
                assert "step limit" not in outcome.message
                return
    raise AssertionError("nothing fatal happened")


def test_an_episode_that_is_over_refuses_to_go_on_until_it_is_restored(empty: MiniGridEnv) -> None:
    start = empty.checkpoint()
    assert run(empty, *TO_GOAL).solved
    with pytest.raises(WorldError, match="over"):
        empty.step(0)
    with pytest.raises(WorldError, match="over"):
        run(empty, 0)
    empty.restore(start)
    assert run(empty, *TO_GOAL).solved


def test_attempts_do_not_share_an_agent(empty: MiniGridEnv) -> None:
    counting = methods("kept = []\n\ndef act(self):\n    yield len(self.kept)\n    self.kept.append(1)")
    outcomes = [act(empty, "act", "act", agent=counting) for _ in range(3)]
    assert [outcome.primitives for outcome in outcomes] == [(0, 1)] * 3


def test_generated_code_is_told_of_all_primitives_since_the_reset(empty: MiniGridEnv) -> None:
    told = methods("def act(self):\n    yield len(self.previous_actions)\n    yield self.previous_actions[-1]")
    empty.step(6)
    empty.step(0)
    assert act(empty, "act", agent=told).primitives == (2, 2)
    assert empty.previous_actions == [6, 0, 2, 2]


def test_the_last_map_is_the_map_at_the_end(empty: MiniGridEnv) -> None:
    outcome = run(empty, 0, 0)
    assert outcome.shown == empty.sense().shown


# Building -------------------------------------------------------------------------------------------------------------


def test_an_unknown_id_is_refused_with_the_nearest_known_one() -> None:
    minigridenv.check_ids(["MiniGrid-Empty-8x8-v0", "BabyAI-GoTo-v0"])
    with pytest.raises(UserError, match=r"'MiniGrid-Emtpy-8x8-v0'.*'MiniGrid-Empty-8x8-v0'"):
        minigridenv.check_ids(["BabyAI-GoTo-v0", "MiniGrid-Emtpy-8x8-v0"])


@pytest.fixture
def registered() -> Iterator[str]:
    """An id of somebody else, whose wrapper changes the view."""

    def make(**options: Any) -> gymnasium.Env[Any, Any]:
        small: gymnasium.Env[Any, Any] = ViewSizeWrapper(EmptyEnv(size=6, **options), 5)  # type: ignore[no-untyped-call]
        return small

    gymnasium.register("MyLab-Small-View-v0", entry_point=make)
    yield "MyLab-Small-View-v0"
    del gymnasium.registry["MyLab-Small-View-v0"]


def test_any_registered_id_plays_as_its_wrappers_show_it(registered: str) -> None:
    minigridenv.check_ids([registered, f"gymnasium:{registered}"])
    with closing(MiniGridEnv(f"gymnasium:{registered}", seed=1)) as world:
        assert world.current_observation.shape == (5, 5)
        world.step(2)
        assert world.current_observation.shape == (5, 5)


def test_the_module_of_an_id_has_to_be_loaded() -> None:
    words = "planted:MiniGrid-Empty-5x5-v0: the module planted is not loaded: give --plugin planted"
    with pytest.raises(UserError, match=words):
        minigridenv.check_ids(["planted:MiniGrid-Empty-5x5-v0"])
    with pytest.raises(UserError, match=words):
        MiniGridEnv("planted:MiniGrid-Empty-5x5-v0", seed=1)


def test_an_environment_of_another_kind_is_refused() -> None:
    words = "CartPole-v1: cannot be played in the minigrid world: CartPoleEnv is not derived from MiniGridEnv"
    with pytest.raises(WorldError, match=words):
        MiniGridEnv("CartPole-v1", seed=1)


def test_a_world_that_cannot_be_built_is_a_world_error() -> None:
    with pytest.raises(WorldError, match="NoSuchThing"):
        MiniGridEnv("MiniGrid-NoSuchThing-v0", seed=1)


class Hopeless(Placed):
    def _gen_grid(self, width: int, height: int) -> None:  # noqa: ARG002
        raise RecursionError("no room for the agent")


gymnasium.register("TestHopeless-v0", Hopeless, kwargs={"grid_size": 9, "at": (0, 0)}, disable_env_checker=True)


def test_a_level_that_cannot_be_generated_is_a_world_error() -> None:
    with pytest.raises(WorldError, match=r"TestHopeless-v0.*no room for the agent"):
        MiniGridEnv("TestHopeless-v0", seed=1)


def test_a_code_that_is_no_primitive_is_refused(empty: MiniGridEnv) -> None:
    before = empty.checkpoint()
    with pytest.raises(ValueError, match="7"):
        empty.step(7)
    assert empty.checkpoint() == before


@pytest.mark.long
def test_the_libraries_prints_stay_out_of_our_output(capfd: pytest.CaptureFixture[str]) -> None:
    """These reject many samples while generating, and say so; the old MultiRoom is "out of date"."""
    for env_id in ("BabyAI-GoToSeq-v0", "BabyAI-BossLevel-v0", "MiniGrid-MultiRoom-N4-S5-v0"):
        for seed in range(5):
            with closing(MiniGridEnv(env_id, seed)) as world:
                world.restore(world.checkpoint())
    captured = capfd.readouterr()
    assert captured.out + captured.err == ""


def test_a_level_may_have_arguments() -> None:
    with closing(MiniGridEnv(LevelSpec("MiniGrid-Empty-5x5-v0", {"size": 9, "max_steps": 3}), 1)) as world:
        assert world.frame().truth.shape == (9, 9)
        assert run(world, 0, 0, 0, 0).message.endswith("after 3 primitives with reward 0: the step limit was reached")


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (LevelSpec("MiniGrid-Empty-5x5-v0", {"sise": 9}), "cannot be built: TypeError: "),
        (LevelSpec("MiniGrid-Empty-5x5-v0", {"size": "x"}), "cannot be built: "),
        (LevelSpec("MiniGrid-Empty-5x5-v0", {"size": -3}), "cannot be built: "),
        (LevelSpec("MiniGrid-Empty-5x5-v0", {"render_mode": "human"}), "cannot be built: TypeError: "),
        (LevelSpec("MiniGrid-Empty-5x5-v0", mission="go"), 'has its own mission: leave out "mission"'),
    ],
)
def test_arguments_that_do_not_fit_are_a_world_error(level: LevelSpec, words: str) -> None:
    with pytest.raises(WorldError) as caught:
        MiniGridEnv(level, 1)
    assert words in str(caught.value)
    assert str(caught.value).startswith("MiniGrid-Empty-5x5-v0+")
    assert "\n" not in str(caught.value)
