"""Effects in the real twin, refused wherever the robot does not truly stand right."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from math import pi, radians

import pytest

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import EffectResult, Pose, Twist
from robot_bridge.protocols import Effects
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.effects import TwinEffects
from robot_bridge.twin.worlds.levels import level_world
from robot_bridge.twin.worlds.world import Obstacle, Thing, TwinWorld, Wall

EAST = Pose()
RED_KEY = Thing("key", "red", "", 1, 0)


def in_hand(thing: Thing) -> Thing:
    return Thing(thing.kind, thing.color, thing.state, 0, 0, is_present=False)


@contextmanager
def twin(
    *things: Thing, at: Pose = EAST, walls: tuple[Wall, ...] = (), obstacles: tuple[Obstacle, ...] = ()
) -> Iterator[MujocoRobot]:
    """A robot whose footprint's middle is at ``at``."""
    start = Pose(*at.ahead(-RobotConfig().body.centre), at.heading)
    world = TwinWorld(walls, things, obstacles, start, "test")
    with closing(MujocoRobot(world, with_camera=False)) as robot:
        yield robot


def test_they_are_effects() -> None:
    with twin() as robot:
        effects: Effects = TwinEffects(robot)
        assert not effects.pick_up().success


def test_a_thing_is_carried_and_set_down_elsewhere() -> None:
    with twin(RED_KEY) as robot:
        effects = TwinEffects(robot)
        assert effects.pick_up() == EffectResult(True, "", "key", "red", "")
        assert effects.carrying is not None
        assert not robot.things[0].is_present
        assert effects.pick_up().reason == "there is nothing ahead"
        assert effects.drop() == EffectResult(True, "", "key", "red", "")
        assert effects.drop().reason == "the hand is empty"
        assert (robot.things[0].is_present, robot.things[0].x, robot.things[0].y) == (True, 1, 0)


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        (Pose(0.25, 0.2), "0.32 m off the middle"),
        (Pose(0, 0, radians(30)), "30 degrees past"),
        (Pose(0, 0.28, radians(15)), "degrees past"),
        (Pose(-0.27, 0), "1.27 m away"),
        (Pose(0, 0, pi / 2), "there is nothing ahead"),
    ],
)
def test_out_of_reach(at: Pose, reason: str) -> None:
    with twin(RED_KEY, at=at) as robot:
        result = TwinEffects(robot).pick_up()
        assert not result.success
        assert reason in result.reason
        assert robot.things[0].is_present


@pytest.mark.parametrize("at", [Pose(0.2, 0.2), Pose(-0.2, 0), Pose(0, 0, radians(24)), Pose(0, -0.28, radians(5))])
def test_within_reach(at: Pose) -> None:
    with twin(RED_KEY, at=at) as robot:
        assert TwinEffects(robot).pick_up().success


def test_nothing_is_done_while_moving() -> None:
    with twin(RED_KEY) as robot:
        for _ in range(10):
            robot.apply(Twist(0.1))
            robot.clock.wait_until(robot.clock.now() + 0.05)
        assert TwinEffects(robot).pick_up().reason == "the robot is moving"


def test_a_hand_holds_one_thing() -> None:
    with twin(RED_KEY, in_hand(Thing("ball", "blue", "", 0, 0))) as robot:
        result = TwinEffects(robot, carrying=1).pick_up()
        assert result.reason == "the hand already holds the blue ball"


@pytest.mark.parametrize(
    ("thing", "reason"),
    [
        (Thing("door", "red", "closed", 1, 0), "a door cannot be picked up"),
        (Thing("goal", "green", "", 1, 0), "a goal cannot be picked up"),
    ],
)
def test_not_everything_is_portable(thing: Thing, reason: str) -> None:
    with twin(thing) as robot:
        assert TwinEffects(robot).pick_up().reason == reason


@pytest.mark.parametrize("taken", ["thing", "goal", "door", "wall", "obstacle"])
def test_things_are_set_down_on_free_floor_only(taken: str) -> None:
    things = {"thing": RED_KEY, "goal": Thing("goal", "green", "", 1, 0), "door": Thing("door", "red", "open", 1, 0)}
    walls = (Wall(0.5, -0.5, 1.5, 0.5),) if taken == "wall" else ()
    obstacles = (Obstacle.pole(1.2, 0.2),) if taken == "obstacle" else ()
    ball = in_hand(Thing("ball", "blue", "", 0, 0))
    there = (things[taken],) if taken in things else ()
    with twin(ball, *there, walls=walls, obstacles=obstacles) as robot:
        effects = TwinEffects(robot, carrying=0)
        assert effects.drop().reason == "the place ahead is not free"
        assert effects.carrying is not None
    with twin() as robot:
        assert TwinEffects(robot).drop().reason == "the hand is empty"


def test_doors_open_and_close() -> None:
    with twin(Thing("door", "red", "closed", 1, 0)) as robot:
        effects = TwinEffects(robot)
        assert effects.toggle() == EffectResult(True, "", "door", "red", "open")
        assert robot.things[0].state == "open"
        assert effects.toggle() == EffectResult(True, "", "door", "red", "closed")


@pytest.mark.parametrize(
    ("hand", "opens"),
    [(("key", "red"), True), (("key", "blue"), False), (("ball", "red"), False), (None, False)],
)
def test_locked_doors_need_their_key(hand: tuple[str, str] | None, opens: bool) -> None:
    carried = tuple(in_hand(t) for t in (RED_KEY, Thing("key", "blue", "", 0, 0), Thing("ball", "red", "", 0, 0)))
    with twin(Thing("door", "red", "locked", 1, 0), *carried) as robot:
        carrying = next((i for i, t in enumerate(robot.things) if (t.kind, t.color) == hand), None)
        result = TwinEffects(robot, carrying=carrying).toggle()
        assert result.success == opens
        assert robot.things[0].state == ("open" if opens else "locked")
        assert opens or result.reason == "the red door is locked: it needs the red key in hand"


def test_a_door_does_not_close_on_something() -> None:
    with twin(Thing("door", "red", "open", 1, 0), Thing("ball", "blue", "", 1.2, 0)) as robot:
        assert TwinEffects(robot).toggle().reason == "something stands in the red door"


def test_boxes_give_what_is_in_them_or_vanish() -> None:
    box, key = Thing("box", "purple", "", 1, 0), Thing("key", "red", "", 1, 0, is_present=False)
    with twin(box, key) as robot:
        effects = TwinEffects(robot, contents={0: 1})
        assert effects.toggle() == EffectResult(True, "", "key", "red", "")
        assert [thing.is_present for thing in robot.things] == [False, True]
        assert effects.toggle().reason == "nothing opens on a key"
    with twin(box) as robot:
        assert TwinEffects(robot).toggle() == EffectResult(True)
        assert not robot.things[0].is_present


def test_what_is_in_a_box_moves_with_it() -> None:
    box, key = Thing("box", "purple", "", 5, 5), Thing("key", "red", "", 5, 5, is_present=False)
    with twin(in_hand(box), key) as robot:
        effects = TwinEffects(robot, contents={0: 1}, carrying=0)
        assert effects.drop().success
        assert effects.toggle().kind == "key"
        assert (robot.things[1].x, robot.things[1].y) == (1, 0)


def test_a_level_and_its_judge_agree_after_effects() -> None:
    level = level_world("BabyAI-PutNextS5N2Carrying-v0", 0)
    with closing(MujocoRobot(level.world, with_camera=False)) as robot:
        effects = TwinEffects(robot, contents=level.contents, carrying=level.carrying)
        assert level.difference(robot.truth, robot.things) == ""
        assert effects.drop().success
        assert level.difference(robot.truth, robot.things) != ""
        level.judge.step(4)
        assert level.difference(robot.truth, robot.things) == ""
