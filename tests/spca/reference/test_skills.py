"""The reference skills on real worlds: each does what its name says, and ends quietly when it cannot."""

from __future__ import annotations

from typing import Any

import gymnasium
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Door, Goal, Key
from minigrid.minigrid_env import MiniGridEnv as Simulator

from minigridenv import MiniGridEnv
from spca.bodies.grid.primitives import GridPrimitive
from spca.contracts import Outcome, Status
from tests.support.reference.skill_runs import PARAMETERS, run, solve
from tests.support.tiers import few, long

seeds = st.integers(0, 10_000)
GOAL = "goal_green"

SOLVED = [
    ("MiniGrid-SimpleCrossingS11N5-v0", 1, f"reach_goal(a1, {GOAL})"),
    ("MiniGrid-FourRooms-v0", 4, f"reach_goal(a1, {GOAL})"),
    ("MiniGrid-LavaCrossingS11N5-v0", 2, f"cross_hazard(a1, {GOAL})"),
    ("MiniGrid-DistShift2-v0", 1, f"cross_hazard(a1, {GOAL})"),
    ("MiniGrid-MultiRoom-N6-v0", 3, f"traverse_rooms(a1, {GOAL})"),
    ("MiniGrid-Dynamic-Obstacles-16x16-v0", 1, f"cross_moving_obstacles(a1, {GOAL})"),
    ("BabyAI-GoToRedBall-v0", 1, "go_to_object(a1, ball_red)"),
    ("BabyAI-OneRoomS20-v0", 2, "pick_up_object(a1, ball_any)"),
    ("MiniGrid-RedBlueDoors-8x8-v0", 1, "open_door(a1, door_red), open_door(a1, door_blue)"),
    (
        "MiniGrid-DoorKey-8x8-v0",
        1,
        f"fetch_key(a1, key_any, door_any), unlock_door(a1, door_any, key_any), reach_goal(a1, {GOAL})",
    ),
    ("BabyAI-KeyInBox-v0", 1, "fetch_key(a1, key_any, door_any), unlock_door(a1, door_any, key_any)"),
    (
        "BabyAI-KeyInBox-v0",
        2,
        "open_box(a1, box_any), fetch_key(a1, key_any, door_any), unlock_door(a1, door_any, key_any)",
    ),
    ("MiniGrid-KeyCorridorS3R3-v0", 1, "pick_up_object(a1, ball_any)"),
    ("BabyAI-UnlockToUnlock-v0", 1, "pick_up_object(a1, ball_any)"),
    ("MiniGrid-ObstructedMaze-Full-v1", 1, "pick_up_object(a1, ball_blue)"),
    ("MiniGrid-MemoryS17Random-v0", 1, "observe_cue(a1, object_any), go_to_match(a1, object_any)"),
    ("MiniGrid-MemoryS17Random-v0", 2, "go_to_match(a1, object_any)"),
]


@pytest.mark.parametrize(("env_id", "seed", "calls"), few(2, SOLVED))
def test_worlds_are_solved_without_the_mission(env_id: str, seed: int, calls: str) -> None:
    outcome = solve(env_id, seed, calls)
    assert outcome.status is Status.SUCCESS, f"{outcome.message}\n{outcome.traceback}"


@pytest.mark.parametrize("action", few(12, sorted(PARAMETERS.keys() - {"survive", "find_switch"})))
@pytest.mark.parametrize(
    "env_id",
    [
        "MiniGrid-Empty-8x8-v0",
        long("BabyAI-PickupAbove-v0"),
        "BabyAI-ActionObjDoor-v0",
    ],
)
def test_what_cannot_be_done_ends_quietly(action: str, env_id: str) -> None:
    """Nothing in these worlds is of the kinds asked for, but for the doors of the last two that may be opened."""
    arguments = {"g": "goal_red", "d": "door_any", "k": "key_any"}
    names = ", ".join(["a1", *(arguments.get(p, "box_grey_left") for p in PARAMETERS[action][1:])])
    outcome = solve(env_id, 6, f"{action}({names})")
    expected = {Status.GOAL_NOT_REACHED, Status.SUCCESS} if "BabyAI" in env_id else {Status.GOAL_NOT_REACHED}
    assert outcome.status in expected, f"{outcome.message}\n{outcome.traceback}"


@pytest.mark.long
@settings(max_examples=25)
@given(seed=seeds)
def test_lava_is_never_entered(seed: int) -> None:
    assert solve("MiniGrid-LavaCrossingS9N3-v0", seed, f"cross_hazard(a1, {GOAL})").solved


@pytest.mark.long
@settings(max_examples=15)
@given(seed=seeds)
def test_moving_balls_are_never_run_into(seed: int) -> None:
    assert solve("MiniGrid-Dynamic-Obstacles-Random-6x6-v0", seed, f"cross_moving_obstacles(a1, {GOAL})").solved


@pytest.mark.long
@settings(max_examples=15)
@given(seed=seeds)
def test_a_maze_of_locked_doors_hidden_keys_and_blockers_is_solved(seed: int) -> None:
    assert solve("MiniGrid-ObstructedMaze-2Dlhb-v1", seed, "pick_up_object(a1, ball_blue)").solved


@pytest.mark.long
@settings(max_examples=15)
@given(seed=seeds)
def test_the_match_of_the_cue_is_chosen(seed: int) -> None:
    assert solve("MiniGrid-MemoryS13Random-v0", seed, "observe_cue(a1, object_any), go_to_match(a1, object_any)").solved


STRICT = "BabyAI-PickupDistDebug-v0"
"""Taking anything but what the mission names ends the episode."""


@pytest.mark.parametrize(
    ("seed", "thing", "opened"),
    [
        (1082, "box_green", 1),
        (1194, "object_grey", 1),
        (1200, "object_green", 1),
        (1260, "object_purple", 0),
        (3118, "object_blue", 0),
    ],
)
def test_a_thing_that_is_shut_in_is_reached_without_taking_another(seed: int, thing: str, opened: int) -> None:
    """A box in the way is opened, unless there is a way round or another thing of that kind."""
    outcome = solve(STRICT, seed, f"pick_up_alone(a1, {thing})")
    assert outcome.solved, outcome.message
    assert outcome.primitives.count(GridPrimitive.PICK_UP) == 1
    assert outcome.primitives.count(GridPrimitive.TOGGLE) == opened


def test_where_nothing_else_is_left_the_thing_in_the_way_is_taken() -> None:
    """The same room without that rule, where it can be solved in this way alone."""
    outcome = solve("BabyAI-PickupDist-v0", 1052, "pick_up_alone(a1, object_yellow)")
    assert outcome.solved, outcome.message
    assert outcome.primitives.count(GridPrimitive.PICK_UP) == 2


def test_what_a_later_clause_may_need_is_put_aside_and_not_opened() -> None:
    outcome = solve(STRICT.replace("Debug", ""), 1082, "pick_up_object(a1, box_green)")
    assert outcome.solved, outcome.message
    assert GridPrimitive.TOGGLE not in outcome.primitives


@pytest.mark.long
@settings(max_examples=25)
@given(seed=seeds)
def test_sides_are_those_of_the_first_pose(seed: int) -> None:
    """Strict in effect: only the door on the named side of the start counts."""
    world = MiniGridEnv("BabyAI-OpenDoorLoc-v0", seed)
    where = {"left": "left", "right": "right", "front": "front", "behind": "behind"}
    side = next(name for word, name in where.items() if word in world.mission)
    assert run(world, f"open_door(a1, door_any_{side})").solved


@pytest.mark.long
@settings(max_examples=25)
@given(seed=seeds)
def test_a_careful_agent_opens_only_the_door_it_was_told_to(seed: int) -> None:
    world = MiniGridEnv("BabyAI-OpenDoorsOrderN4-v0", seed)
    colour = world.mission.split()[2]
    outcome = run(world, f"open_door(a1, door_{colour})")
    toggles = outcome.primitives.count(GridPrimitive.TOGGLE)
    opened = {name for name in outcome.shown["known_objects"] if name.startswith("door") and name.endswith("open")}
    assert toggles == 1
    assert opened == {f"door {colour} open"}


def places(outcome: Outcome, kind: str) -> set[tuple[int, int]]:
    """Where things of a kind are known to be at the end."""
    known = outcome.shown["known_objects"]
    return {(row, column) for name in known if name.split()[0] == kind for row, column in known[name]}


def test_a_door_that_stands_open_is_opened_again() -> None:
    outcome = solve("BabyAI-OpenDoorsOrderN2-v0", 3, "open_door(a1, door_purple), open_door(a1, door_purple)")
    assert outcome.status is Status.GOAL_NOT_REACHED
    assert outcome.primitives[-3:] == (GridPrimitive.TOGGLE,) * 3
    assert "door purple open" in outcome.shown["known_objects"]


def test_what_is_in_hand_is_picked_up_afresh() -> None:
    world = MiniGridEnv("BabyAI-PickupDist-v0", 3)
    outcome = run(world, "pick_up_object(a1, object_any), pick_up_object(a1, object_any)")
    picked = [code for code in outcome.primitives if code in (GridPrimitive.PICK_UP, GridPrimitive.DROP)]
    assert picked[:3] == [GridPrimitive.PICK_UP, GridPrimitive.DROP, GridPrimitive.PICK_UP] or outcome.solved


def test_blockers_are_moved_before_the_key_is_fetched() -> None:
    outcome = solve("MiniGrid-BlockedUnlockPickup-v0", 1, "clear_blocker(a1, door_any)")
    assert outcome.status is Status.GOAL_NOT_REACHED
    handled = [code for code in outcome.primitives if code in (GridPrimitive.PICK_UP, GridPrimitive.DROP)]
    assert handled == [GridPrimitive.PICK_UP, GridPrimitive.DROP]
    doors, balls = places(outcome, "door"), places(outcome, "ball")
    assert doors
    assert all((r, c - 1) not in balls for r, c in doors)


def test_going_to_a_door_and_announcing_it() -> None:
    world = MiniGridEnv("MiniGrid-GoToDoor-8x8-v0", 2)
    colour = world.mission.split()[3]
    assert run(world, f"go_to_door(a1, door_{colour}), announce(a1, door_{colour})").solved


@pytest.mark.parametrize(
    "env_id", ["BabyAI-PutNextLocalS5N3-v0", "BabyAI-MoveTwoAcrossS8N9-v0", "MiniGrid-PutNear-8x8-N3-v0"]
)
@pytest.mark.parametrize("seed", [1, 16])
def test_things_are_put_where_the_mission_wants_them(env_id: str, seed: int) -> None:
    world = MiniGridEnv(env_id, seed)
    action = "put_near" if "PutNear" in env_id else "put_next_to"
    calls = []
    for clause in world.mission.replace(",", "").split(" then "):
        words = clause.split()
        thing, target = f"{words[3]}_{words[2]}", f"{words[-1]}_{words[-2]}"
        calls.append(f"pick_up_object(a1, {thing}), {action}(a1, {thing}, {target})")
    assert run(world, ", ".join(calls)).solved


@pytest.mark.long
def test_what_is_carried_from_the_start_counts_when_put_down_at_once() -> None:
    world = MiniGridEnv("BabyAI-PutNextS5N2Carrying-v0", 43)
    assert world.inventory == "ball green"
    assert run(world, "put_next_to(a1, ball_green, box_purple)").solved


@pytest.mark.long
def test_dropping_what_is_held_leaves_doors_usable() -> None:
    outcome = solve("BabyAI-UnlockLocal-v0", 1, "fetch_key(a1, key_any, door_any), drop_held(a1, key_any)")
    keys = places(outcome, "key")
    assert outcome.primitives.count(GridPrimitive.DROP) == 1
    assert keys
    beside = {(r + down, c + right) for r, c in keys for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))}
    assert beside.isdisjoint(places(outcome, "door"))


class BigKey(Key):
    """Nobody sees past it: so it is to a robot."""

    def see_behind(self) -> bool:
        return False


class KeyInTheWay(Simulator):
    """A key lies in the only way to the door, which cannot be seen before."""

    def __init__(self, **options: Any) -> None:
        space = MissionSpace(mission_func=lambda: "use the key to open the door and then get to the goal")
        super().__init__(mission_space=space, grid_size=9, max_steps=200, **options)

    def _gen_grid(self, width: int, height: int) -> None:
        self.grid = Grid(width, height)
        for x in range(width):
            for y in range(height):
                if (x, y) not in {(2, 1), *((3, row) for row in range(1, 8))}:
                    self.grid.wall_rect(x, y, 1, 1)
        self.put_obj(BigKey("yellow"), 3, 1)
        self.put_obj(Door("yellow", is_locked=True), 3, 6)
        self.put_obj(Goal(), 3, 7)
        self.agent_pos, self.agent_dir = (2, 1), 2
        self.mission = "use the key to open the door and then get to the goal"


gymnasium.register("TestKeyInTheWay-v0", KeyInTheWay, disable_env_checker=True)


@pytest.mark.long
def test_a_key_in_the_only_way_is_taken_before_its_door_is_known() -> None:
    plan = "fetch_key(a1, key_any, door_any), unlock_door(a1, door_any, key_any), reach_goal(a1, goal_green)"
    assert solve("TestKeyInTheWay-v0", 1, plan).status is Status.SUCCESS
