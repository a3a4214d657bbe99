"""The checks of :mod:`gridworld.task.validation`: places, references and goals.

Each check yields its problems as lines "field: reason".
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gridworld.task.conditions import parse_condition
from gridworld.task.reading import shown
from gridworld.task.records import (
    BlockSpec,
    DoorSpec,
    GateSpec,
    HazardSpec,
    KeySpec,
    MechanismSet,
    Position,
    SwitchSpec,
    Task,
    TeleporterSpec,
)

Cell: TypeAlias = tuple[int, int]
Mechanism: TypeAlias = KeySpec | DoorSpec | SwitchSpec | GateSpec | BlockSpec | TeleporterSpec | HazardSpec

KINDS = {
    "keys": "key",
    "doors": "door",
    "switches": "switch",
    "gates": "gate",
    "blocks": "block",
    "teleporters": "teleporter",
    "hazards": "hazard",
}


@dataclass(frozen=True, slots=True)
class Thing:
    """A mechanism with its kind ("key", ...) and the path of its field ("mechanisms.keys[0]")."""

    field: str
    kind: str
    spec: Mechanism

    def __str__(self) -> str:
        return f"{self.kind} {shown(self.spec.id)}"

    @property
    def passage(self) -> bool:
        """Whether the mechanism may stand on a wall and so replaces the wall."""
        return isinstance(self.spec, DoorSpec | GateSpec)

    def cells(self) -> Iterator[tuple[str, Cell]]:
        """Yield (path of the field, cell) for each cell of the mechanism."""
        if isinstance(self.spec, TeleporterSpec):
            yield f"{self.field}.position_a", self.spec.position_a.to_tuple()
            yield f"{self.field}.position_b", self.spec.position_b.to_tuple()
        else:
            yield f"{self.field}.position", self.spec.position.to_tuple()


def things_of(mechanisms: MechanismSet) -> tuple[Thing, ...]:
    """Return all mechanisms, in the order of the file format."""
    return tuple(
        Thing(f"mechanisms.{name}[{index}]", kind, spec)
        for name, kind in KINDS.items()
        for index, spec in enumerate(getattr(mechanisms, name))
    )


def repeats(items: Sequence[Hashable]) -> list[int]:
    """Return the index of each item that equals an earlier item."""
    seen: set[Hashable] = set()
    indices = []
    for index, item in enumerate(items):
        if item in seen:
            indices.append(index)
        seen.add(item)
    return indices


class Grid:
    """The cells of a maze whose dimensions are within bounds."""

    def __init__(self, spec: Task) -> None:
        self.width, self.height = spec.maze.dimensions
        self.walls = spec.maze.wall_cells()

    def on_border(self, cell: Cell) -> bool:
        return cell[0] in {0, self.width - 1} or cell[1] in {0, self.height - 1}

    def outside(self, field: str, cell: Cell) -> Iterator[str]:
        """Yield a problem if the cell is outside the grid."""
        if not (0 <= cell[0] < self.width and 0 <= cell[1] < self.height):
            yield f"{field}: {cell} is outside the grid of {self.width} x {self.height}"

    def on_wall(self, field: str, cell: Cell, passages: Container[Cell] = ()) -> Iterator[str]:
        """Yield a problem if the cell is outside, on the border, or on an inner wall that is not a passage."""
        outside = list(self.outside(field, cell))
        yield from outside
        if not outside and self.on_border(cell):
            yield f"{field}: {cell} is on the border, which is wall"
        elif cell in self.walls and cell not in passages:
            yield f"{field}: {cell} is on a wall"


def maze_problems(spec: Task, grid: Grid) -> Iterator[str]:
    """Check that walls and floor are inside and disjoint, and that the agent can stand on the goal of the maze."""
    maze = spec.maze
    walls = {cell.to_tuple() for cell in maze.walls}
    for index, position in enumerate(maze.walls):
        yield from grid.outside(f"maze.walls[{index}]", position.to_tuple())
    for index, position in enumerate(maze.floor or ()):
        field = f"maze.floor[{index}]"
        cell = position.to_tuple()
        yield from grid.outside(field, cell)
        if cell in walls:
            yield f"{field}: {cell} is in maze.walls too"
        elif grid.on_border(cell):
            yield f"{field}: {cell} is on the border, which is wall"
    # maze.goal may be the cell of a door or gate: place_problems reports the mechanism if it stands on goal.target.
    passages = {position.to_tuple() for position in _passages(spec)}
    yield from grid.on_wall("maze.goal", maze.goal.to_tuple(), passages)


def place_problems(spec: Task, grid: Grid, things: tuple[Thing, ...]) -> Iterator[str]:
    """Check that each mechanism is alone on its cell, and that start and target are on suitable cells.

    The cell of a mechanism must be inside the grid and must not be a wall. The agent must be able to start on the
    start, and the target must be free.
    """
    taken: dict[Cell, Thing] = {}
    for thing in things:
        for field, cell in thing.cells():
            passages = {cell} if thing.passage else ()
            yield from grid.on_wall(field, cell, passages)
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


def _passages(spec: Task) -> Iterator[Position]:
    for door in spec.mechanisms.doors:
        yield door.position
    for gate in spec.mechanisms.gates:
        yield gate.position


def _keeps_out(thing: Thing) -> bool:
    """Return whether a mechanism prevents the agent from starting on its cell."""
    if isinstance(thing.spec, DoorSpec | GateSpec):
        return thing.spec.initial_state != "open"
    return isinstance(thing.spec, BlockSpec | HazardSpec)


COLLECTABLE = ("key", "switch", "door", "gate")

_CONDITION_KINDS = {
    "collected": ("key",),
    "carrying": ("key",),
    "open": ("door", "gate"),
    "active": ("switch",),
    "at": ("block",),
}
_NO_PLACE_FOR_BLOCKS = frozenset({"door", "gate", "hazard", "teleporter"})


class Directory:
    """The mechanisms of a task by id."""

    def __init__(self, things: tuple[Thing, ...]) -> None:
        self.by_id = {thing.spec.id: thing for thing in reversed(things)}

    def unknown(self, field: str, name: str, *kinds: str) -> Iterator[str]:
        """Yield a problem if ``name`` is not the id of a mechanism of one of ``kinds``; no kinds means any kind."""
        thing = self.by_id.get(name)
        if thing is None:
            yield f"{field}: there is no {' or '.join(kinds) or 'mechanism'} {shown(name)}"
        elif kinds and thing.kind not in kinds:
            yield f"{field}: {shown(name)} is a {thing.kind}; it must be a {' or '.join(kinds)}"


def id_problems(things: tuple[Thing, ...]) -> Iterator[str]:
    """Check that ids are unique and not empty, and that they have no characters with a meaning in conditions."""
    first_by_id: dict[str, Thing] = {}
    for thing in things:
        name = thing.spec.id
        if not name:
            yield f"{thing.field}.id: must not be empty"
        elif any(char.isspace() or char in ":," for char in name):
            yield f"{thing.field}.id: {shown(name)} must not have spaces, colons or commas"
        elif name in first_by_id:
            yield f"{thing.field}.id: {shown(name)} is the id of {first_by_id[name].field} too"
        first_by_id.setdefault(name, thing)


def mechanism_problems(spec: Task, known: Directory) -> Iterator[str]:
    """Check that locked doors have a key of their colour, and that switches control gates.

    Check also that all hidden mechanisms exist.
    """
    mechanisms = spec.mechanisms
    colors = {key.color for key in mechanisms.keys}
    for index, door in enumerate(mechanisms.doors):
        if door.initial_state == "locked" and door.requires_key not in colors:
            yield f"mechanisms.doors[{index}].requires_key: there is no {door.requires_key} key for {shown(door.id)}"
    for index, switch in enumerate(mechanisms.switches):
        for number, name in enumerate(switch.controls):
            yield from known.unknown(f"mechanisms.switches[{index}].controls[{number}]", name, "gate")
    for index, name in enumerate(spec.rules.hidden_mechanisms):
        yield from known.unknown(f"rules.hidden_mechanisms[{index}]", name)


def annotation_problems(spec: Task, known: Directory) -> Iterator[str]:
    """Check that the steps of the chain are numbered from 1 to its depth.

    Check also that chain and distractors name existing mechanisms.
    """
    chain = spec.dependency_chain
    if chain is not None:
        if chain.depth != len(chain.sequence):
            yield f"dependency_chain.depth: {chain.depth} is not the number of steps, {len(chain.sequence)}"
        for index, step in enumerate(chain.sequence):
            field = f"dependency_chain.sequence[{index}]"
            if step.step != index + 1:
                yield f"{field}.step: {step.step} must be {index + 1}; steps count from 1"
            yield from known.unknown(f"{field}.element", step.element)
            yield from known.unknown(f"{field}.unlocks", step.unlocks)
    for index, item in enumerate(spec.distractors or ()):
        if item.type != "distractor_chain":  # element_id of a distractor_chain names a group, not a mechanism
            yield from known.unknown(f"distractors[{index}].element_id", item.element_id)


def goal_problems(spec: Task, grid: Grid | None, known: Directory) -> Iterator[str]:
    """Check that the goal has the fields of its type, and that conditions name mechanisms of the right kind."""
    goal = spec.goal
    if goal.goal_type == "reach_position" and goal.target is None:
        yield "goal.target: is missing; reach_position needs it"
    if goal.goal_type == "collect_all":
        if not goal.target_ids:
            yield "goal.target_ids: is empty; collect_all needs at least one"
        for index, name in enumerate(goal.target_ids):
            yield from known.unknown(f"goal.target_ids[{index}]", name, *COLLECTABLE)
    if goal.goal_type == "push_block_to":
        yield from _push_problems(spec, known)
        yield from _mark_problems(spec, grid, known)
    yield from _condition_problems(spec, grid, known)


def _push_problems(spec: Task, known: Directory) -> Iterator[str]:
    """Check the blocks of a push_block_to goal.

    Targets must be different blocks, each with one target position. A fixed block must stand on its target position
    from the start.
    """
    goal = spec.goal
    cells = [position.to_tuple() for position in goal.target_positions]
    if not goal.target_ids:
        yield "goal.target_ids: is empty; push_block_to needs at least one block"
    if len(goal.target_ids) != len(cells):
        yield f"goal.target_positions: has {len(cells)} positions for {len(goal.target_ids)} target_ids"
    for index, name in enumerate(goal.target_ids):
        yield from known.unknown(f"goal.target_ids[{index}]", name, "block")
    for index in repeats(goal.target_ids):
        yield f"goal.target_ids[{index}]: {shown(goal.target_ids[index])} is named twice"
    fixed_cells = {block.id: block.position.to_tuple() for block in spec.mechanisms.blocks if not block.pushable}
    for index, (name, cell) in enumerate(zip(goal.target_ids, cells, strict=False)):
        if name in fixed_cells and fixed_cells[name] != cell:
            yield f"goal.target_ids[{index}]: {shown(name)} is not pushable and not at {cell}"


def _mark_problems(spec: Task, grid: Grid | None, known: Directory) -> Iterator[str]:
    """Check that target positions differ and that a block can stand on each of these cells."""
    cells = [position.to_tuple() for position in spec.goal.target_positions]
    barred = _barred(known)
    for index, cell in enumerate(cells):
        yield from _no_place(f"goal.target_positions[{index}]", cell, grid, barred)
    for index in repeats(cells):
        yield f"goal.target_positions[{index}]: {cells[index]} is named twice"


def _condition_problems(spec: Task, grid: Grid | None, known: Directory) -> Iterator[str]:
    """Check the auxiliary conditions: the form of the text, the id, and the cell."""
    barred = _barred(known)
    for index, text in enumerate(spec.goal.auxiliary_conditions):
        field = f"goal.auxiliary_conditions[{index}]"
        try:
            condition = parse_condition(text)
        except ValueError as error:
            yield f"{field}: {error}"
            continue
        yield from known.unknown(field, condition.id, *_CONDITION_KINDS[condition.kind])
        if condition.position is not None:
            yield from _no_place(field, condition.position, grid, barred)


def _barred(known: Directory) -> dict[Cell, Thing]:
    """Return the cells on which no block can ever stand, each with the mechanism that stands there."""
    things = (thing for thing in known.by_id.values() if thing.kind in _NO_PLACE_FOR_BLOCKS)
    return {cell: thing for thing in things for _, cell in thing.cells()}


def _no_place(field: str, cell: Cell, grid: Grid | None, barred: dict[Cell, Thing]) -> Iterator[str]:
    """Yield the reasons why no block can stand on a cell; ``barred`` comes from :func:`_barred`."""
    if grid is not None:
        yield from grid.on_wall(field, cell, barred)
    if cell in barred:
        yield f"{field}: no block can stand on {barred[cell]} at {cell}"
