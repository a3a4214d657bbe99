"""What a task asks for, in words, for tasks that do not describe themselves.

Things are named by what can be seen of them: nobody who plays a task sees their ids.
"""

from __future__ import annotations

from gridworld.task.conditions import Condition, parse_condition
from gridworld.task.records import Position, Task

_CONDITIONS = {
    "collected": ("have collected {}", "never have collected {}"),
    "carrying": ("carry {}", "do not carry {}"),
    "open": ("have {} open", "leave {} closed"),
    "active": ("have {} on", "have {} off"),
    "at": ("have {} at {}", "do not have {} at {}"),
}


def mission_text(spec: Task) -> str:
    """Return the description of the task, or its goal and conditions as sentences; also if it is not valid."""
    if spec.description:
        return spec.description
    names = _names(spec)
    sentences = [_goal(spec, names)]
    for text in spec.goal.auxiliary_conditions:
        try:
            sentences.append(f"In the end, {_condition(parse_condition(text), names)}.")
        except ValueError:
            sentences.append(f"In the end: {text}.")
    return " ".join(sentences)


def _goal(spec: Task, names: dict[str, str]) -> str:
    goal = spec.goal
    if goal.goal_type == "reach_position":
        where = f" at {_cell(goal.target.to_tuple())}" if goal.target else ""
        return f"Reach the goal{where}."
    if goal.goal_type == "survive_steps":
        return f"Survive for {spec.max_steps} steps."
    if goal.goal_type == "push_block_to":
        return f"Push {_join_words(_describe_pushes(spec, names))}."

    made = spec.mechanisms
    wanted = set(goal.target_ids)
    tasks = (
        ("Collect", [key.id for key in made.keys]),
        ("Switch on", [switch.id for switch in made.switches]),
        ("Open", [*(door.id for door in made.doors), *(gate.id for gate in made.gates)]),
    )
    sentences = list[str]()
    for verb, ids in tasks:
        words = [names[name] for name in ids if name in wanted]
        if words:
            sentences.append(f"{verb} {_join_words(words)}.")
    return " ".join(sentences) or "Collect all."


def _describe_pushes(spec: Task, names: dict[str, str]) -> list[str]:
    pushes = list[str]()
    for block, target in zip(spec.goal.target_ids, spec.goal.target_positions, strict=False):
        pushes.append(f"{names.get(block, block)} to {_cell(target.to_tuple())}")
    return pushes


def _condition(condition: Condition, names: dict[str, str]) -> str:
    words = _CONDITIONS[condition.kind][condition.negated]
    cell = _cell(condition.position) if condition.position else ""
    return words.format(names.get(condition.id, condition.id), cell)


def _names(spec: Task) -> dict[str, str]:
    """Return words for what a goal may name, by id: "the red key", or "the 2nd of 3 red keys (row by row)"."""
    return {name: _distinguish(*told) for name, told in looks(spec).items()}


def looks(spec: Task, fixed: str = "fixed ") -> dict[str, tuple[str, int, int]]:
    """Return, by id of what a goal may name, its look such as "red key", its number among those alike, their count.

    Those alike are numbered row by row.

    Args:
        fixed: what the look of a block that cannot be pushed begins with; "" counts it among the others.
    """
    made = spec.mechanisms
    found = list[tuple[str, Position, str]]()
    found += [(f"{key.color} key", key.position, key.id) for key in made.keys]
    found += [(f"{door.requires_key} door", door.position, door.id) for door in made.doors]
    found += [(f"{switch.color} switch", switch.position, switch.id) for switch in made.switches]
    found += [(f"{gate.color} gate", gate.position, gate.id) for gate in made.gates]
    for block in made.blocks:
        kind = "" if block.pushable else fixed
        found.append((f"{kind}{block.color} block", block.position, block.id))

    alike: dict[str, list[tuple[int, int, str]]] = {}
    for look, position, name in found:
        alike.setdefault(look, []).append((position.y, position.x, name))
    numbered: dict[str, tuple[str, int, int]] = {}
    for look, places in alike.items():
        for number, (_, _, name) in enumerate(sorted(places), 1):
            numbered[name] = (look, number, len(places))
    return numbered


def _distinguish(look: str, number: int, count: int) -> str:
    if count == 1:
        return f"the {look}"
    plural = f"{look}es" if look.endswith("switch") else f"{look}s"
    return f"the {ordinal(number)} of {count} {plural} (row by row)"


def ordinal(number: int) -> str:
    """Return "1st", "2nd", "11th"."""
    if number % 100 in {11, 12, 13}:
        return f"{number}th"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _cell(cell: tuple[int, int]) -> str:
    return f"column {cell[0]}, row {cell[1]}"


def _join_words(words: list[str]) -> str:
    if not words:
        return "nothing"
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} and {words[-1]}"
