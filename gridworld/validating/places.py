"""Checks of the maze and of where things stand."""

from __future__ import annotations

from collections.abc import Container, Iterator

from gridworld.task_spec import BlockSpec, DoorSpec, GateSpec, HazardSpec, Position, TaskSpecification
from gridworld.validating.things import Cell, Thing


class Grid:
    """The cells of a maze whose dimensions make sense."""

    def __init__(self, spec: TaskSpecification) -> None:
        self.width, self.height = spec.maze.dimensions
        self.walls = spec.maze.wall_cells()

    def on_border(self, cell: Cell) -> bool:
        return cell[0] in {0, self.width - 1} or cell[1] in {0, self.height - 1}

    def outside(self, field: str, cell: Cell) -> Iterator[str]:
        """A problem if the cell is not in the grid."""
        if not (0 <= cell[0] < self.width and 0 <= cell[1] < self.height):
            yield f"{field}: {cell} is outside the grid of {self.width} x {self.height}"

    def on_wall(self, field: str, cell: Cell, passages: Container[Cell] = ()) -> Iterator[str]:
        """A problem if the cell is outside, on the border, or on an inner wall that is not one of the passages."""
        outside = list(self.outside(field, cell))
        yield from outside
        if not outside and self.on_border(cell):
            yield f"{field}: {cell} is on the border, which is wall"
        elif cell in self.walls and cell not in passages:
            yield f"{field}: {cell} is on a wall"


def maze_problems(spec: TaskSpecification, grid: Grid) -> Iterator[str]:
    """Walls and floor are inside and agree; the goal of the maze can be stood on."""
    maze = spec.maze
    walls = {cell.to_tuple() for cell in maze.walls}
    for index, position in enumerate(maze.walls):
        yield from grid.outside(f"maze.walls[{index}]", position.to_tuple())
    for index, position in enumerate(maze.floor or ()):
        field, cell = f"maze.floor[{index}]", position.to_tuple()
        yield from grid.outside(field, cell)
        if cell in walls:
            yield f"{field}: {cell} is in maze.walls too"
        elif grid.on_border(cell):
            yield f"{field}: {cell} is on the border, which is wall"
    # A door or gate there is either none of the goal's business or named as what takes its place.
    passages = {position.to_tuple() for position in _passages(spec)}
    yield from grid.on_wall("maze.goal", maze.goal.to_tuple(), passages)


def place_problems(spec: TaskSpecification, grid: Grid, things: tuple[Thing, ...]) -> Iterator[str]:
    """Everything stands inside, on no wall, and alone; the agent can be where it starts."""
    taken: dict[Cell, Thing] = {}
    for thing in things:
        for field, cell in thing.cells():
            yield from grid.on_wall(field, cell, {cell} if thing.passage else ())
            if cell in taken:
                yield f"{field}: {cell} is taken by {taken[cell]}"
            taken.setdefault(cell, thing)
    start = spec.maze.start.to_tuple()
    yield from grid.on_wall("maze.start", start, taken)
    if start in taken and _keeps_out(taken[start]):
        yield f"maze.start: the agent cannot start on {taken[start]}"
    if spec.goal.goal_type == "reach_position" and spec.goal.target is not None:
        target = spec.goal.target.to_tuple()
        yield from grid.on_wall("goal.target", target, taken)
        if target in taken:
            yield f"goal.target: {target} is taken by {taken[target]}"


def _passages(spec: TaskSpecification) -> Iterator[Position]:
    for door in spec.mechanisms.doors:
        yield door.position
    for gate in spec.mechanisms.gates:
        yield gate.position


def _keeps_out(thing: Thing) -> bool:
    if isinstance(thing.spec, DoorSpec | GateSpec):
        return thing.spec.initial_state != "open"
    return isinstance(thing.spec, BlockSpec | HazardSpec)
