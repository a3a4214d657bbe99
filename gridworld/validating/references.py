"""Checks of everything that names a mechanism."""

from __future__ import annotations

from collections.abc import Iterator

from gridworld.conditions import parse_condition
from gridworld.reading import shown
from gridworld.task_spec import TaskSpecification
from gridworld.validating.places import Grid
from gridworld.validating.things import Cell, Thing, repeats

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
        """A problem unless ``name`` is a mechanism, and of one of the kinds if there are any."""
        thing = self.by_id.get(name)
        if thing is None:
            yield f"{field}: there is no {' or '.join(kinds) or 'mechanism'} {shown(name)}"
        elif kinds and thing.kind not in kinds:
            yield f"{field}: {shown(name)} is a {thing.kind}; it must be a {' or '.join(kinds)}"


def id_problems(things: tuple[Thing, ...]) -> Iterator[str]:
    """Ids are there, can stand in a condition, and differ."""
    first: dict[str, Thing] = {}
    for thing in things:
        name = thing.spec.id
        if not name:
            yield f"{thing.field}.id: must not be empty"
        elif any(c.isspace() or c in ":," for c in name):
            yield f"{thing.field}.id: {shown(name)} must not have spaces, colons or commas"
        elif name in first:
            yield f"{thing.field}.id: {shown(name)} is the id of {first[name].field} too"
        first.setdefault(name, thing)


def mechanism_problems(spec: TaskSpecification, known: Directory) -> Iterator[str]:
    """Locked doors have a key of their colour, switches control gates, hidden mechanisms exist."""
    made = spec.mechanisms
    colors = {key.color for key in made.keys}
    for index, door in enumerate(made.doors):
        if door.initial_state == "locked" and door.requires_key not in colors:
            yield f"mechanisms.doors[{index}].requires_key: there is no {door.requires_key} key for {shown(door.id)}"
    for index, switch in enumerate(made.switches):
        for number, name in enumerate(switch.controls):
            yield from known.unknown(f"mechanisms.switches[{index}].controls[{number}]", name, "gate")
    for index, name in enumerate(spec.rules.hidden_mechanisms):
        yield from known.unknown(f"rules.hidden_mechanisms[{index}]", name)


def annotation_problems(spec: TaskSpecification, known: Directory) -> Iterator[str]:
    """The dependency chain counts from 1 to its depth; it and the distractors name mechanisms."""
    if (made := spec.dependency_chain) is not None:
        if made.depth != len(made.sequence):
            yield f"dependency_chain.depth: {made.depth} is not the number of steps, {len(made.sequence)}"
        for index, step in enumerate(made.sequence):
            field = f"dependency_chain.sequence[{index}]"
            if step.step != index + 1:
                yield f"{field}.step: {step.step} must be {index + 1}; steps count from 1"
            yield from known.unknown(f"{field}.element", step.element)
            yield from known.unknown(f"{field}.unlocks", step.unlocks)
    for index, item in enumerate(spec.distractors or ()):
        if item.type != "distractor_chain":  # that names a group
            yield from known.unknown(f"distractors[{index}].element_id", item.element_id)


def goal_problems(spec: TaskSpecification, grid: Grid | None, known: Directory) -> Iterator[str]:
    """The goal has what its type needs; conditions can be read and name mechanisms of the right kind."""
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


def _push_problems(spec: TaskSpecification, known: Directory) -> Iterator[str]:
    """Each block can be pushed, or is there already, and has one position."""
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
    places = {block.id: block.position.to_tuple() for block in spec.mechanisms.blocks if not block.pushable}
    for index, (name, cell) in enumerate(zip(goal.target_ids, cells, strict=False)):
        if name in places and places[name] != cell:
            yield f"goal.target_ids[{index}]: {shown(name)} is not pushable and not at {cell}"


def _mark_problems(spec: TaskSpecification, grid: Grid | None, known: Directory) -> Iterator[str]:
    """Target positions are cells where a block can stand, each for one block."""
    cells = [position.to_tuple() for position in spec.goal.target_positions]
    barred = _barred(known)
    for index, cell in enumerate(cells):
        yield from _no_place(f"goal.target_positions[{index}]", cell, grid, barred)
    for index in repeats(cells):
        yield f"goal.target_positions[{index}]: {cells[index]} is named twice"


def _condition_problems(spec: TaskSpecification, grid: Grid | None, known: Directory) -> Iterator[str]:
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
    """Cells on which no block can ever stand, with what stands there."""
    things = (thing for thing in known.by_id.values() if thing.kind in _NO_PLACE_FOR_BLOCKS)
    return {cell: thing for thing in things for _, cell in thing.cells()}


def _no_place(field: str, cell: Cell, grid: Grid | None, barred: dict[Cell, Thing]) -> Iterator[str]:
    if grid is not None:
        yield from grid.on_wall(field, cell, barred)
    if cell in barred:
        yield f"{field}: no block can stand on {barred[cell]} at {cell}"
