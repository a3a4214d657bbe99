"""The twin of a MiniGrid level: its walls, doors and things as a world of 1 m cells, and the level itself as judge.

The middle of the cell in column c and row r lies at ``(c, -r)`` in world coordinates. At the start, the middle of the
robot's footprint is in the middle of the agent's cell, and the robot has the agent's heading. The map frame is parallel
to the level.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import pi
from typing import Any, cast

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Pose, wrap_angle
from robot_bridge.errors import SetupError
from robot_bridge.tags import LABELS
from robot_bridge.twin.worlds.judging import Cell, ShadowJudge
from robot_bridge.twin.worlds.world import DOOR_STATES, Kind, Thing, TwinWorld, Wall, merge_walls

DIRECTION_WORDS = ("east", "south", "west", "north")


def middle(cell: Cell) -> tuple[float, float]:
    """Return the middle of a cell in world coordinates."""
    return float(cell[0]), -float(cell[1])


def heading_of(direction: int) -> float:
    """Return MiniGrid's direction (0 east, 1 south, 2 west, 3 north) as a heading, radians."""
    return wrap_angle(-direction * pi / 2)


def direction_of(heading: float) -> int:
    """Return MiniGrid's direction (0 east, 1 south, 2 west, 3 north) nearest to a heading, radians."""
    return round(-heading / (pi / 2)) % 4


def cell_at(x: float, y: float) -> Cell:
    """Return the cell in which a point of the world lies."""
    return round(x), round(-y)


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A level and its twin.

    ``contents`` maps the index of a box among the world's things to the index of the thing in the box. ``carrying`` is
    the index of the thing in the agent's hand at the start, or None. Things in boxes and in hand are among the world's
    things, but not present. ``centre`` is the distance from the rear axle ahead to the footprint's middle, metres.
    """

    world: TwinWorld
    judge: ShadowJudge
    contents: Mapping[int, int]
    carrying: int | None
    centre: float

    def stands(self, pose: Pose) -> tuple[Cell, int]:
        """Return (cell, direction): the cell of the footprint's middle and the robot's direction, 0 to 3.

        ``pose`` is the pose of the rear axle in the map frame.
        """
        x, y = pose.ahead(self.centre)
        start = self.world.start
        cell = cell_at(x + start.x, y + start.y)
        return cell, direction_of(pose.heading)

    def difference(self, truth: Pose, things: Sequence[Thing]) -> str:
        """Return a text that says how the twin and its judge differ, or "" if twin and judge agree.

        Args:
            truth: the robot's true pose in the map frame.
            things: the present things of the twin, in world coordinates.
        """
        cell, direction = self.stands(truth)
        judged_cell = self.judge.cell
        judged_direction = self.judge.direction
        if (cell, direction) != (judged_cell, judged_direction):
            here = f"the robot is in {cell} looking {DIRECTION_WORDS[direction]}"
            return f"{here}, its judge has it in {judged_cell}, {DIRECTION_WORDS[judged_direction]}"

        in_twin = _describe_present(things)
        in_judge = _describe_present(_read_things(self.judge.simulator))
        different = [description for description in in_twin if description not in in_judge]
        different += [description for description in in_judge if description not in in_twin]
        return f"the twin and its judge do not agree about {different[0]}" if different else ""


def level_world(env_id: str, seed: int, *, config: RobotConfig | None = None) -> Level:
    """Return a level of MiniGrid with the twin built from it.

    Args:
        env_id: the name of the level in MiniGrid.
        seed: the seed with which the level is reset.
        config: the configuration of the robot; by default the usual robot.

    Raises:
        SetupError: the level does not exist, cannot be built, or holds a thing without a tag.
    """
    judge = ShadowJudge(env_id, seed)
    simulator = judge.simulator
    centre = (config or RobotConfig()).body.centre

    things = list(_read_things(simulator))
    contents = _add_contents(simulator, things)
    carrying = None
    if simulator.carrying is not None:
        carrying = len(things)
        carried = _convert_thing(simulator.carrying, judge.cell)
        things.append(replace(carried, is_present=False))
        _add_inside(simulator.carrying, carrying, things, contents)
    for thing in things:
        if (thing.kind, thing.color, thing.state) not in LABELS:
            raise SetupError(f"{env_id}: no sign says '{thing.color} {thing.kind}': choose another level")

    heading = heading_of(judge.direction)
    x, y = Pose(*middle(judge.cell), heading).ahead(-centre)
    start = Pose(x, y, heading)
    walls = _merge_visible_walls(simulator.grid)
    world = TwinWorld(walls, tuple(things), (), start, f"{env_id} seed {seed}")
    return Level(world, judge, contents, carrying, centre)


def _describe_present(things: Iterable[Thing]) -> list[str]:
    return sorted(_describe_thing(thing) for thing in things if thing.is_present)


def _describe_thing(thing: Thing) -> str:
    words = filter(None, (thing.state, thing.color, thing.kind))
    return f"{' '.join(words)} in {cell_at(thing.x, thing.y)}"


def _list_cells(grid: Any) -> list[tuple[Cell, Any]]:
    """Return (cell, item) for every cell, row by row; the item of bare floor is None."""
    cells = []
    for row in range(grid.height):
        for column in range(grid.width):
            cells.append(((column, row), grid.get(column, row)))
    return cells


def _find_walls(grid: Any) -> set[Cell]:
    return {cell for cell, item in _list_cells(grid) if item is not None and item.type == "wall"}


def _read_things(simulator: Any) -> tuple[Thing, ...]:
    """Return the things that are in the cells of the level now, row by row."""
    walls = _find_walls(simulator.grid)
    things = []
    for cell, item in _list_cells(simulator.grid):
        if item is not None and item.type not in ("wall", "floor"):
            things.append(_convert_thing(item, cell, walls))
    return tuple(things)


def _convert_thing(item: Any, cell: Cell, walls: set[Cell] | frozenset[Cell] = frozenset()) -> Thing:
    """Return MiniGrid's ``item`` as a thing.

    ``walls`` are the cells that are walls. The heading of a door is perpendicular to the line of walls around the door.
    """
    column, row = cell
    state = ""
    heading = 0.0
    if item.type == "door":
        state = DOOR_STATES[item.encode()[2]]
        walls_east_west = sum((column + step, row) in walls for step in (-1, 1))
        walls_north_south = sum((column, row + step) in walls for step in (-1, 1))
        heading = pi / 2 if walls_east_west > walls_north_south else 0.0
    x, y = middle(cell)
    return Thing(cast(Kind, item.type), str(item.color), state, x, y, heading)


def _add_contents(simulator: Any, things: list[Thing]) -> dict[int, int]:
    """Append the things in boxes to ``things``.

    Return a dictionary from the index of each full box to the index of the thing in the box.
    """
    contents: dict[int, int] = {}
    for index, thing in enumerate(tuple(things)):
        item = simulator.grid.get(*cell_at(thing.x, thing.y))
        _add_inside(item, index, things, contents)
    return contents


def _add_inside(item: Any, index: int, things: list[Thing], contents: dict[int, int]) -> None:
    """If a thing is a full box, add the thing in the box to ``things`` and ``contents``.

    ``item`` is the thing in MiniGrid, ``index`` its index in ``things``. Boxes may be nested.
    """
    if item.contains is None:
        return
    container = things[index]
    inside = _convert_thing(item.contains, cell_at(container.x, container.y))
    contents[index] = len(things)
    things.append(replace(inside, is_present=False))
    _add_inside(item.contains, contents[index], things, contents)


def _merge_visible_walls(grid: Any) -> tuple[Wall, ...]:
    """Return the walls as few boxes; wall cells whose eight neighbours are all walls are left out."""
    walls = _find_walls(grid)
    open_cells = set(product(range(grid.width), range(grid.height))) - walls

    boxes = []
    for column, row in sorted(walls):
        around = product(range(column - 1, column + 2), range(row - 1, row + 2))
        if open_cells.isdisjoint(around):
            continue
        x, y = middle((column, row))
        boxes.append(Wall(x - 0.5, y - 0.5, x + 0.5, y + 0.5))
    return merge_walls(boxes)
