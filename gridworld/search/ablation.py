"""Removal of one mechanism from a task, to prove that the mechanism is needed (pure).

A removed door or gate is replaced by a wall, as if it never opened. Any other mechanism is taken away. If the last key
of a colour is removed, the locked doors of this colour are replaced by walls too.
"""

from __future__ import annotations

from dataclasses import fields, replace

from gridworld.task.conditions import parse_condition
from gridworld.task_spec import DoorSpec, GateSpec, GoalSpec, MazeLayout, MechanismSet, Position, TaskSpecification


def remove_mechanism(spec: TaskSpecification, name: str) -> TaskSpecification | None:
    """Return the task without a mechanism and without references to the mechanism.

    If the goal needs the mechanism, return None, because the task would be unsolvable.

    Args:
        spec: a valid task; it is not changed.
        name: id of the mechanism.
    """
    shut = _find_shut(spec, name)
    removed = {name, *(passage.id for passage in shut)}
    # If the agent starts in an open doorway, the doorway becomes floor: a wall there would make the task invalid.
    # The proof is then weaker, but still right.
    walls = [passage.position for passage in shut if passage.position != spec.maze.start]
    goal = _goal(spec.goal, removed, walls)
    if goal is None:
        return None
    return replace(
        spec,
        maze=_maze(spec.maze, walls),
        mechanisms=_mechanisms(spec.mechanisms, removed),
        rules=replace(spec.rules, hidden_mechanisms=[]),
        goal=goal,
        dependency_chain=None,
        distractors=None,
        metadata=None,
    )


def _find_shut(spec: TaskSpecification, name: str) -> list[DoorSpec | GateSpec]:
    """Return the doors and gates that can never open after a mechanism is removed, including the mechanism itself."""
    mechanisms = spec.mechanisms
    remaining_colours = {key.color for key in mechanisms.keys if key.id != name}
    shut: list[DoorSpec | GateSpec] = []
    for door in mechanisms.doors:
        is_keyless = door.initial_state == "locked" and door.requires_key not in remaining_colours
        if door.id == name or is_keyless:
            shut.append(door)
    shut += [gate for gate in mechanisms.gates if gate.id == name]
    return shut


def _maze(maze: MazeLayout, walls: list[Position]) -> MazeLayout:
    """Return the maze with additional walls."""
    floor = None if maze.floor is None else [cell for cell in maze.floor if cell not in walls]
    new_walls = [cell for cell in walls if cell not in maze.walls]
    # Validation forbids maze.goal on a wall. The goal of the task is goal.target, which is never on a door or gate.
    goal = maze.start if maze.goal in walls else maze.goal
    return replace(maze, walls=[*maze.walls, *new_walls], floor=floor, goal=goal)


def _mechanisms(mechanisms: MechanismSet, removed: set[str]) -> MechanismSet:
    """Return the mechanisms that are not removed; removed gates are also deleted from the controls of switches."""
    kept = MechanismSet()
    for kind in fields(mechanisms):
        things = getattr(mechanisms, kind.name)
        setattr(kept, kind.name, [thing for thing in things if thing.id not in removed])
    for index, switch in enumerate(kept.switches):
        controls = [gate for gate in switch.controls if gate not in removed]
        kept.switches[index] = replace(switch, controls=controls)
    return kept


def _goal(goal: GoalSpec, removed: set[str], walls: list[Position]) -> GoalSpec | None:
    """Return the goal without the removed mechanisms, or None if the goal cannot be achieved without them.

    A condition is left out if it always holds because its mechanism is removed or its cell becomes a wall.
    """
    if not removed.isdisjoint(goal.target_ids):
        return None
    wall_cells = {wall.to_tuple() for wall in walls}
    conditions: list[str] = []
    for text in goal.auxiliary_conditions:
        condition = parse_condition(text)
        if condition.id not in removed and condition.position not in wall_cells:
            conditions.append(text)
        elif not condition.negated:
            return None
    return replace(goal, auxiliary_conditions=conditions)
