"""The goal of a task in words, for tasks without a description.

Mechanisms are named by their visible look, because a player does not see their ids.
"""

from __future__ import annotations

from gridworld.task.conditions import Condition, parse_condition
from gridworld.task.records import Position, Task

# By kind of condition: the words of the condition, and the words of its negation.
_CONDITIONS = {
    "collected": ("have collected {}", "never have collected {}"),
    "carrying": ("carry {}", "do not carry {}"),
    "open": ("have {} open", "leave {} closed"),
    "active": ("have {} on", "have {} off"),
    "at": ("have {} at {}", "do not have {} at {}"),
}


def mission_text(spec: Task) -> str:
    """Return the description of a task; if the task has none, return its goal and conditions as sentences.

    The task need not be valid.
    """
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
    """Return the goal as sentences; ``names`` are the words for each mechanism by id."""
    goal = spec.goal
    if goal.goal_type == "reach_position":
        where = f" at {_cell(goal.target.to_tuple())}" if goal.target else ""
        return f"Reach the goal{where}."
    if goal.goal_type == "survive_steps":
        return f"Survive for {spec.max_steps} steps."
    if goal.goal_type == "push_block_to":
        return f"Push {_join_words(_describe_pushes(spec, names))}."

    mechanisms = spec.mechanisms
    targets = set(goal.target_ids)
    ids_by_verb = (
        ("Collect", [key.id for key in mechanisms.keys]),
        ("Switch on", [switch.id for switch in mechanisms.switches]),
        ("Open", [*(door.id for door in mechanisms.doors), *(gate.id for gate in mechanisms.gates)]),
    )
    sentences: list[str] = []
    for verb, ids in ids_by_verb:
        words = [names[name] for name in ids if name in targets]
        if words:
            sentences.append(f"{verb} {_join_words(words)}.")
    return " ".join(sentences) or "Collect all."


def _describe_pushes(spec: Task, names: dict[str, str]) -> list[str]:
    """Return "BLOCK to CELL" for each block of the goal."""
    pushes: list[str] = []
    for block, target in zip(spec.goal.target_ids, spec.goal.target_positions, strict=False):
        pushes.append(f"{names.get(block, block)} to {_cell(target.to_tuple())}")
    return pushes


def _condition(condition: Condition, names: dict[str, str]) -> str:
    asserted, negated = _CONDITIONS[condition.kind]
    words = negated if condition.negated else asserted
    cell = _cell(condition.position) if condition.position else ""
    return words.format(names.get(condition.id, condition.id), cell)


def _names(spec: Task) -> dict[str, str]:
    """Return words for each mechanism by id: "the red key", or "the 2nd of 3 red keys (row by row)"."""
    return {name: _distinguish(look, number, count) for name, (look, number, count) in looks(spec).items()}


def looks(spec: Task, fixed: str = "fixed ") -> dict[str, tuple[str, int, int]]:
    """Return (look, number, count) for each key, door, switch, gate and block, by id.

    A look is a text such as "red key"; ``count`` mechanisms have the same look. ``number`` counts these mechanisms row
    by row, from 1.

    Args:
        fixed: prefix of the look of a block that cannot be pushed; with "", all blocks of a colour look the same.
    """
    mechanisms = spec.mechanisms
    placed: list[tuple[str, Position, str]] = []
    placed += [(f"{key.color} key", key.position, key.id) for key in mechanisms.keys]
    placed += [(f"{door.requires_key} door", door.position, door.id) for door in mechanisms.doors]
    placed += [(f"{switch.color} switch", switch.position, switch.id) for switch in mechanisms.switches]
    placed += [(f"{gate.color} gate", gate.position, gate.id) for gate in mechanisms.gates]
    for block in mechanisms.blocks:
        prefix = "" if block.pushable else fixed
        placed.append((f"{prefix}{block.color} block", block.position, block.id))

    places_by_look: dict[str, list[tuple[int, int, str]]] = {}
    for look, position, name in placed:
        places_by_look.setdefault(look, []).append((position.y, position.x, name))
    numbered: dict[str, tuple[str, int, int]] = {}
    for look, places in places_by_look.items():
        for number, (_, _, name) in enumerate(sorted(places), 1):
            numbered[name] = (look, number, len(places))
    return numbered


def _distinguish(look: str, number: int, count: int) -> str:
    """Return words for mechanism ``number`` of the ``count`` mechanisms with the same look."""
    if count == 1:
        return f"the {look}"
    plural = f"{look}es" if look.endswith("switch") else f"{look}s"
    return f"the {ordinal(number)} of {count} {plural} (row by row)"


def ordinal(number: int) -> str:
    """Return the English ordinal of a number: "1st", "2nd", "11th"."""
    if number % 100 in {11, 12, 13}:
        return f"{number}th"
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _cell(cell: tuple[int, int]) -> str:
    column, row = cell
    return f"column {column}, row {row}"


def _join_words(words: list[str]) -> str:
    if not words:
        return "nothing"
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} and {words[-1]}"
