"""Remove one mechanism from a task, to prove that it is needed (pure).

A door or gate is replaced by a wall, so that it stays shut for good. Other mechanisms are removed; with the last key of
a colour, the locked doors of that colour are shut for good.
"""

from __future__ import annotations

from dataclasses import fields, replace

from gridworld.task.conditions import parse_condition
from gridworld.task_spec import DoorSpec, GateSpec, GoalSpec, MazeLayout, MechanismSet, Position, TaskSpecification


def without(spec: TaskSpecification, name: str) -> TaskSpecification | None:
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
    made = spec.mechanisms
    colours = {key.color for key in made.keys if key.id != name}
    doors = [d for d in made.doors if d.id == name or (d.initial_state == "locked" and d.requires_key not in colours)]
    return [*doors, *(gate for gate in made.gates if gate.id == name)]


def _maze(maze: MazeLayout, walls: list[Position]) -> MazeLayout:
    floor = None if maze.floor is None else [cell for cell in maze.floor if cell not in walls]
    new = [cell for cell in walls if cell not in maze.walls]
    return replace(maze, walls=[*maze.walls, *new], floor=floor, goal=maze.start if maze.goal in walls else maze.goal)


def _mechanisms(made: MechanismSet, gone: set[str]) -> MechanismSet:
    kept = MechanismSet()
    for kind in fields(made):
        setattr(kept, kind.name, [thing for thing in getattr(made, kind.name) if thing.id not in gone])
    kept.switches = [replace(s, controls=[gate for gate in s.controls if gate not in gone]) for s in kept.switches]
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
