"""The twin of a MiniGrid level: its walls, doors and things as a world of 1 m cells, and the level itself as judge.

The middle of the cell in column c and row r lies at ``(c, -r)`` in world coordinates. The robot's footprint begins in
the middle of the agent's cell, and reports the heading that the agent has: the map frame is parallel to the level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import Any, cast

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Pose, wrapped
from robot_bridge.errors import SetupError
from robot_bridge.tags import LABELS
from robot_bridge.twin.worlds.judging import Cell, ShadowJudge
from robot_bridge.twin.worlds.world import DOOR_STATES, Kind, Thing, TwinWorld, Wall, merged

DIRECTION_WORDS = ("east", "south", "west", "north")


def middle(cell: Cell) -> tuple[float, float]:
    """Return the middle of a cell in world coordinates."""
    return float(cell[0]), -float(cell[1])


def heading_of(direction: int) -> float:
    """MiniGrid's direction (0 east, 1 south, 2 west, 3 north) as a heading, radians."""
    return wrapped(-direction * pi / 2)


def direction_of(heading: float) -> int:
    """The nearest of the four directions."""
    return round(-heading / (pi / 2)) % 4


def cell_at(x: float, y: float) -> Cell:
    """In which a point of the world lies."""
    return round(x), round(-y)


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A level and its twin.

    ``contents``: index of a box among the world's things -> index of what is in it; ``carrying``: what the agent has
    in hand at the beginning, None for nothing. Both are in the world's things, not present.
    """

    world: TwinWorld
    judge: ShadowJudge
    contents: Mapping[int, int]
    carrying: int | None
    centre: float

    def stands(self, pose: Pose) -> tuple[Cell, int]:
        """In which cell the footprint's middle of a robot is, and which way it looks; ``pose`` in the map frame."""
        x, y = pose.ahead(self.centre)
        return cell_at(x + self.world.start.x, y + self.world.start.y), direction_of(pose.heading)

    def difference(self, truth: Pose, things: Sequence[Thing]) -> str:
        """How the twin and its judge differ, "" where they agree.

        Args:
            truth: of the robot, in the map frame.
            things: of the twin as they are now, in world coordinates.
        """
        cell, direction = self.stands(truth)
        if (cell, direction) != (self.judge.cell, self.judge.direction):
            there = self.judge.cell
            word = DIRECTION_WORDS[self.judge.direction]
            return f"the robot is in {cell} looking {DIRECTION_WORDS[direction]}, its judge has it in {there}, {word}"
        here = sorted(_told(thing) for thing in things if thing.is_present)
        judged = sorted(_told(thing) for thing in _things(self.judge.simulator) if thing.is_present)
        odd = [words for words in here if words not in judged] + [words for words in judged if words not in here]
        return f"the twin and its judge do not agree about {odd[0]}" if odd else ""


def level_world(env_id: str, seed: int, *, config: RobotConfig | None = None) -> Level:
    """Build the twin of a level.

    Args:
        config: of the robot that is to stand in it.

    Raises:
        SetupError: there is no such level, it cannot be built, or it holds what no sign says.
    """
    judge = ShadowJudge(env_id, seed)
    centre = (config or RobotConfig()).body.centre
    things = list(_things(judge.simulator))
    contents = _contents(judge.simulator, things)
    carrying = None
    if judge.simulator.carrying is not None:
        carrying = len(things)
        things.append(replace(_thing(judge.simulator.carrying, judge.cell), is_present=False))
        _add_inside(judge.simulator.carrying, carrying, things, contents)
    for thing in things:
        if (thing.kind, thing.color, thing.state) not in LABELS:
            raise SetupError(f"{env_id}: no sign says '{thing.color} {thing.kind}': choose another level")
    heading = heading_of(judge.direction)
    x, y = Pose(*middle(judge.cell), heading).ahead(-centre)
    world = TwinWorld(_walls(judge.simulator.grid), tuple(things), (), Pose(x, y, heading), f"{env_id} seed {seed}")
    return Level(world, judge, contents, carrying, centre)


def _told(thing: Thing) -> str:
    return f"{' '.join(filter(None, (thing.state, thing.color, thing.kind)))} in {cell_at(thing.x, thing.y)}"


def _cells(grid: Any) -> list[tuple[Cell, Any]]:
    """What stands where, row by row; walls and bare floor included."""
    return [((column, row), grid.get(column, row)) for row in range(grid.height) for column in range(grid.width)]


def _things(simulator: Any) -> tuple[Thing, ...]:
    """All that stands in the level now, row by row."""
    walls = {cell for cell, item in _cells(simulator.grid) if item is not None and item.type == "wall"}
    return tuple(
        _thing(item, cell, walls)
        for cell, item in _cells(simulator.grid)
        if item is not None and item.type not in ("wall", "floor")
    )


def _thing(item: Any, cell: Cell, walls: set[Cell] | frozenset[Cell] = frozenset()) -> Thing:
    """``walls``: the cells that are walls; a door is passed across the line of walls that it stands in."""
    column, row = cell
    state = ""
    heading = 0.0
    if item.type == "door":
        state = DOOR_STATES[item.encode()[2]]
        beside = sum((column + step, row) in walls for step in (-1, 1))
        before = sum((column, row + step) in walls for step in (-1, 1))
        heading = pi / 2 if beside > before else 0.0
    return Thing(cast(Kind, item.type), str(item.color), state, *middle(cell), heading)


def _contents(simulator: Any, things: list[Thing]) -> dict[int, int]:
    """Which thing is in which; what is in a box is added to the things."""
    contents: dict[int, int] = {}
    for index, thing in enumerate(tuple(things)):
        _add_inside(simulator.grid.get(*cell_at(thing.x, thing.y)), index, things, contents)
    return contents


def _add_inside(item: Any, index: int, things: list[Thing], contents: dict[int, int]) -> None:
    if item.contains is None:
        return
    contents[index] = len(things)
    things.append(replace(_thing(item.contains, cell_at(things[index].x, things[index].y)), is_present=False))
    _add_inside(item.contains, contents[index], things, contents)


def _walls(grid: Any) -> tuple[Wall, ...]:
    """Merge visible wall cells into segments; enclosed cells are skipped."""
    walls = {cell for cell, item in _cells(grid) if item is not None and item.type == "wall"}
    inside = [(column, row) for column in range(grid.width) for row in range(grid.height)]
    open_cells = {cell for cell in inside if cell not in walls}
    steps = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    seen = (cell for cell in walls if any((cell[0] + dx, cell[1] + dy) in open_cells for dx, dy in steps))
    boxes = ((*middle(cell), 0.5) for cell in sorted(seen))
    return merged(Wall(x - half, y - half, x + half, y + half) for x, y, half in boxes)
