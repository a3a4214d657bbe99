"""What a task asks for, in words, for tasks that do not describe themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gridworld.conditions import Condition, parse_condition

if TYPE_CHECKING:
    from gridworld.task_spec import TaskSpecification

_CONDITIONS = {
    "collected": ("have collected {}", "never have collected {}"),
    "carrying": ("carry {}", "do not carry {}"),
    "open": ("have {} open", "leave {} closed"),
    "active": ("have {} on", "have {} off"),
    "at": ("have {} at {}", "do not have {} at {}"),
}


def mission_text(spec: TaskSpecification) -> str:
    """The description of the task, or its goal and conditions as sentences; also if it is not valid."""
    if spec.description:
        return spec.description
    sentences = [_goal(spec)]
    for text in spec.goal.auxiliary_conditions:
        try:
            sentences.append(f"In the end, {_condition(parse_condition(text))}.")
        except ValueError:
            sentences.append(f"In the end: {text}.")
    return " ".join(sentences)


def _goal(spec: TaskSpecification) -> str:
    goal = spec.goal
    if goal.goal_type == "reach_position":
        return f"Reach the goal{f' at {_cell(goal.target.to_tuple())}' if goal.target else ''}."
    if goal.goal_type == "survive_steps":
        return f"Survive for {spec.max_steps} steps."
    if goal.goal_type == "push_block_to":
        targets = zip(goal.target_ids, goal.target_positions, strict=False)
        return f"Push {_listed([f'{block} to {_cell(cell.to_tuple())}' for block, cell in targets])}."
    made, wanted = spec.mechanisms, set(goal.target_ids)
    tasks = [
        ("Collect", [key.id for key in made.keys if key.id in wanted]),
        ("Switch on", [switch.id for switch in made.switches if switch.id in wanted]),
        (
            "Open",
            [name for name in (*(d.id for d in made.doors), *(g.id for g in made.gates)) if name in wanted],
        ),
    ]
    return " ".join(f"{verb} {_listed(ids)}." for verb, ids in tasks if ids) or "Collect all."


def _condition(condition: Condition) -> str:
    words = _CONDITIONS[condition.kind][condition.negated]
    return words.format(condition.id, _cell(condition.position) if condition.position else "")


def _cell(cell: tuple[int, int]) -> str:
    return f"column {cell[0]}, row {cell[1]}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "nothing"
