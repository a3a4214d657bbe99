"""What a task asks for, in words, for tasks that do not describe themselves.

Things are named by what can be seen of them: nobody who plays a task sees their ids.
"""

from __future__ import annotations

from gridworld.task.conditions import Condition, parse_condition
from gridworld.task.records import Task

_CONDITIONS = {
    "collected": ("have collected {}", "never have collected {}"),
    "carrying": ("carry {}", "do not carry {}"),
    "open": ("have {} open", "leave {} closed"),
    "active": ("have {} on", "have {} off"),
    "at": ("have {} at {}", "do not have {} at {}"),
}


def mission_text(spec: Task) -> str:
    """The description of the task, or its goal and conditions as sentences; also if it is not valid."""
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
        return f"Reach the goal{f' at {_cell(goal.target.to_tuple())}' if goal.target else ''}."
    if goal.goal_type == "survive_steps":
        return f"Survive for {spec.max_steps} steps."
    if goal.goal_type == "push_block_to":
        targets = zip(goal.target_ids, goal.target_positions, strict=False)
        pushes = [f"{names.get(block, block)} to {_cell(cell.to_tuple())}" for block, cell in targets]
        return f"Push {_listed(pushes)}."
    made = spec.mechanisms
    wanted = set(goal.target_ids)
    tasks = [
        ("Collect", [key.id for key in made.keys]),
        ("Switch on", [switch.id for switch in made.switches]),
        ("Open", [*(door.id for door in made.doors), *(gate.id for gate in made.gates)]),
    ]
    found = [(verb, [names[name] for name in ids if name in wanted]) for verb, ids in tasks]
    return " ".join(f"{verb} {_listed(words)}." for verb, words in found if words) or "Collect all."


def _condition(condition: Condition, names: dict[str, str]) -> str:
    words = _CONDITIONS[condition.kind][condition.negated]
    cell = _cell(condition.position) if condition.position else ""
    return words.format(names.get(condition.id, condition.id), cell)


def _names(spec: Task) -> dict[str, str]:
    """Words for what a goal may name, by id: "the red key", or "the 2nd of 3 red keys (row by row)"."""
    return {name: _told_apart(*told) for name, told in looks(spec).items()}


def looks(spec: Task, fixed: str = "fixed ") -> dict[str, tuple[str, int, int]]:
    """By id of what a goal may name: its look, such as "red key", its number among those alike, and their count.

    Those alike are numbered row by row.

    Args:
        fixed: what the look of a block that cannot be pushed begins with; "" counts it among the others.
    """
    made = spec.mechanisms
    found = [
        *((f"{key.color} key", key.position, key.id) for key in made.keys),
        *((f"{door.requires_key} door", door.position, door.id) for door in made.doors),
        *((f"{switch.color} switch", switch.position, switch.id) for switch in made.switches),
        *((f"{gate.color} gate", gate.position, gate.id) for gate in made.gates),
        *((f"{'' if block.pushable else fixed}{block.color} block", block.position, block.id) for block in made.blocks),
    ]
    alike: dict[str, list[tuple[int, int, str]]] = {}
    for look, position, name in found:
        alike.setdefault(look, []).append((position.y, position.x, name))
    return {
        name: (look, number, len(places))
        for look, places in alike.items()
        for number, (_, _, name) in enumerate(sorted(places), 1)
    }


def _told_apart(look: str, number: int, count: int) -> str:
    plural = f"{look}es" if look.endswith("switch") else f"{look}s"
    return f"the {ordinal(number)} of {count} {plural} (row by row)" if count > 1 else f"the {look}"


def ordinal(number: int) -> str:
    """ "1st", "2nd", "11th"."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _cell(cell: tuple[int, int]) -> str:
    return f"column {cell[0]}, row {cell[1]}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else "nothing"
