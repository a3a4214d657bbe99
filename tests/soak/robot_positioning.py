"""Positioning in the twins of levels: cell by cell and turn by turn, hundreds of moves with noise and drift.

``scripts/soak robot-positioning [--count MOVES] [--level ID,...] [--seed N]``: every move is one step of a MiniGrid
agent, driven by ``Navigation.go_to`` through the safety chain. Wrong is a move that does not arrive, ends with the
footprint's middle 0.12 m or the heading 8 degrees off, an estimate that is 5 cm or 2 degrees off, or a collision.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import degrees, hypot, pi
from random import Random

from robot_bridge.contracts import Command, NavGoalTarget, Pose, Source, wrap_angle
from robot_bridge.navigation.driving import NavStatus
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.levels import level_world
from robot_bridge.twin.worlds.world import TwinWorld, Wall
from tests.support.robot_bridge.collisions import watch_collisions

LEVELS = (
    "MiniGrid-Empty-5x5-v0",
    "MiniGrid-MultiRoom-N6-v0",
    "MiniGrid-FourRooms-v0",
    "MiniGrid-SimpleCrossingS9N3-v0",
)
PERIOD, MOST_S = 0.05, 90.0
Cell = tuple[int, int]
AHEAD: tuple[Cell, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))


@dataclass(slots=True)
class Found:
    """Metres, degrees and seconds of every move: off the goal, and the estimate off the truth."""

    place: list[float] = field(default_factory=list)
    heading: list[float] = field(default_factory=list)
    estimate: list[float] = field(default_factory=list)
    bearing: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class Course:
    """One robot in one twin without the level's things, which would only be in the way."""

    def __init__(self, level: str, seed: int) -> None:
        world = level_world(level, seed).world
        self.world = TwinWorld(world.walls, (), (), world.start, world.name)
        self.robot = MujocoRobot(self.world, seed=seed, with_camera=False)
        self.touched = watch_collisions(self.robot)
        self.navigation = Navigation(self.robot.config, Pose(0, 0, world.start.heading))
        self._chain = SafetyChain(self.robot.config)
        self._centre = self.robot.config.body.centre
        x, y = world.start.ahead(self._centre)
        self.at: tuple[Cell, int] = (round(x), round(y)), round(world.start.heading / (pi / 2)) % 4

    def tick(self) -> None:
        now, observation = self.robot.clock.now(), self.robot.observe()
        self.navigation.update(observation)
        command = Command(self.navigation.twist(now), Source.PLANNER, now + 4 * PERIOD)
        self.robot.apply(self._chain.step([command], observation, now).twist)
        self.robot.clock.wait_until(now + PERIOD)

    def is_free(self, cell: Cell) -> bool:
        return not any(_holds(wall, cell) for wall in self.world.walls)

    def drive(self, cell: Cell, direction: int, found: Found) -> None:
        """One move, and what came of it."""
        start, began = self.world.start, self.robot.clock.now()
        x, y, heading = cell[0] - start.x, cell[1] - start.y, wrap_angle(direction * pi / 2)
        self.navigation.go_to(NavGoalTarget(x, y, heading, 0.1))
        while self.navigation.status is NavStatus.DRIVING and self.robot.clock.now() - began < MOST_S:
            self.tick()
        status = self.navigation.status
        for _ in range(4):
            self.tick()
        truth, estimate = self.robot.truth, self.navigation.estimate.pose
        middle = truth.ahead(self._centre)
        off = hypot(middle[0] - x, middle[1] - y), degrees(abs(wrap_angle(truth.heading - heading)))
        wrong = truth.distance_to(estimate.x, estimate.y), degrees(abs(wrap_angle(truth.heading - estimate.heading)))
        for figures, figure in zip((found.place, found.heading), off, strict=True):
            figures.append(figure)
        for figures, figure in zip((found.estimate, found.bearing), wrong, strict=True):
            figures.append(figure)
        found.seconds.append(self.robot.clock.now() - began)
        if status is not NavStatus.ARRIVED or off[0] > 0.12 or off[1] > 8 or wrong[0] > 0.05 or wrong[1] > 2:
            found.wrong.append(f"{self.at} -> {cell}, {direction}: {status}, off {off}, estimate off {wrong}")
        self.at = cell, direction


def _holds(wall: Wall, cell: Cell) -> bool:
    return wall.x0 < cell[0] < wall.x1 and wall.y0 < cell[1] < wall.y1


def moves(course: Course, count: int, random: Random) -> Iterator[tuple[Cell, int]]:
    """Random steps and turns, steps as often as turns."""
    for _ in range(count):
        (x, y), direction = course.at
        ahead = x + AHEAD[direction][0], y + AHEAD[direction][1]
        if random.random() < 0.5 and course.is_free(ahead):
            yield ahead, direction
        else:
            yield (x, y), (direction + random.choice((1, 3))) % 4


def driven(level: str, seed: int, count: int) -> Found:
    """So many moves in one twin."""
    course, found = Course(level, seed), Found()
    for _ in range(4):
        course.tick()
    for cell, direction in moves(course, count, Random(seed)):
        course.drive(cell, direction, found)
    found.wrong += [f"collision: {each}" for each in course.touched.collisions if each.caused_by_robot]
    course.robot.close()
    return found


def main() -> int:
    """Run the levels; 1 when something is wrong."""
    parser = argparse.ArgumentParser(prog="scripts/soak robot-positioning", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="moves in every level")
    parser.add_argument("--level", type=lambda text: text.split(","), default=list(LEVELS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    is_wrong = False
    for level in options.level:
        found = driven(level, options.seed, options.count)
        print(
            f"{level}: {len(found.place)} moves, off the goal {_told(found.place, 100)} cm, "
            f"{_told(found.heading)} degrees; estimate off {_told(found.estimate, 100)} cm, {_told(found.bearing)} "
            f"degrees; {_told(found.seconds)} s a move; {len(found.wrong)} wrong",
            flush=True,
        )
        for line in found.wrong:
            print(f"  {line}")
        is_wrong |= bool(found.wrong)
    return int(is_wrong)


def _told(figures: list[float], factor: float = 1.0) -> str:
    return f"{factor * sum(figures) / len(figures):.1f} (most {factor * max(figures):.1f})"


if __name__ == "__main__":
    sys.exit(main())
