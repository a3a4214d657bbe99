"""Remove one mechanism from a task, to prove that it is needed (pure).

A door or gate is replaced by a wall, so that it stays shut for good. Other mechanisms are removed; with the last key of
a colour, the locked doors of that colour are shut for good.
"""

from __future__ import annotations

from dataclasses import fields, replace

from gridworld.task.conditions import parse_condition
from gridworld.task_spec import DoorSpec, GateSpec, GoalSpec, MazeLayout, MechanismSet, Position, TaskSpecification


def remove_mechanism(spec: TaskSpecification, name: str) -> TaskSpecification | None:
    """Return the task without a mechanism and all references to it; None if the goal names it, so it is unsolvable.

    Args:
        spec: a valid task; it is not changed.
        name: id of the mechanism.
    """
    shut = _shut(spec, name)
    gone = {name, *(passage.id for passage in shut)}
    # An agent that starts in an open doorway has passed it: no wall there, which proves less, but nothing wrong.
    walls = [passage.position for passage in shut if passage.position != spec.maze.start]
    goal = _goal(spec.goal, gone, walls)
    if goal is None:
        return None
    return replace(
        spec,
        maze=_maze(spec.maze, walls),
        mechanisms=_mechanisms(spec.mechanisms, gone),
        rules=replace(spec.rules, hidden_mechanisms=[]),
        goal=goal,
        dependency_chain=None,
        distractors=None,
        metadata=None,
    )


def _shut(spec: TaskSpecification, name: str) -> list[DoorSpec | GateSpec]:
    """Return the doors and gates that never open without a mechanism."""
    mechanisms = spec.mechanisms
    colours = {key.color for key in mechanisms.keys if key.id != name}
    shut = list[DoorSpec | GateSpec]()
    for door in mechanisms.doors:
        is_keyless = door.initial_state == "locked" and door.requires_key not in colours
        if door.id == name or is_keyless:
            shut.append(door)
    shut += [gate for gate in mechanisms.gates if gate.id == name]
    return shut


def _maze(maze: MazeLayout, walls: list[Position]) -> MazeLayout:
    floor = None if maze.floor is None else [cell for cell in maze.floor if cell not in walls]
    new = [cell for cell in walls if cell not in maze.walls]
    goal = maze.start if maze.goal in walls else maze.goal
    return replace(maze, walls=[*maze.walls, *new], floor=floor, goal=goal)


def _mechanisms(made: MechanismSet, gone: set[str]) -> MechanismSet:
    kept = MechanismSet()
    for kind in fields(made):
        things = getattr(made, kind.name)
        setattr(kept, kind.name, [thing for thing in things if thing.id not in gone])
    for number, switch in enumerate(kept.switches):
        controls = [gate for gate in switch.controls if gate not in gone]
        kept.switches[number] = replace(switch, controls=controls)
    return kept


def _goal(goal: GoalSpec, gone: set[str], walls: list[Position]) -> GoalSpec | None:
    """Return the goal without conditions that always hold; None if it has become unsolvable."""
    if not gone.isdisjoint(goal.target_ids):
        return None
    shut = {wall.to_tuple() for wall in walls}
    conditions: list[str] = []
    for text in goal.auxiliary_conditions:
        condition = parse_condition(text)
        if condition.id not in gone and condition.position not in shut:
            conditions.append(text)
        elif not condition.negated:
            return None
    return replace(goal, auxiliary_conditions=conditions)
