"""Keeping the parts of a mission in the order asked (pure).

The parameters of an action are the arguments of the agent's method, so no action can say which part of the mission it
serves, and plain STRIPS cannot tell two uses of one action apart. Two additions to the actions do:

- *Counting*: what is done in a later part counts (``picked_2`` beside ``picked``) only where the goals of the part
  before it hold already: a conditional effect.
- *Waiting*: what is asked for in a later part only is not done before: (imply (open_door_in_2 ?d) (goals of part 1)).

Missions of one part need neither and stay STRIPS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from spca.reference.pddl_writer import Action, Atom, Conditional, Implication, Signature

Goals: TypeAlias = tuple[tuple[Atom, ...], ...]
"""The goals of each part."""

Waits: TypeAlias = Mapping[tuple[str, str], int]
"""The first part, counted from 0, in which an action on an object is asked for; (action, object) -> part."""


def list_counted_goals(goals: Goals, part: int) -> tuple[Atom, ...]:
    """Return the goals of a part, counted from 0, under the predicates that count for it."""
    if part == 0:
        return goals[0]
    return tuple(_count_in(atom, part) for atom in goals[part])


def sequence_action(action: Action, goals: Goals, waits: Waits) -> Action:
    """Return the action with what it counts for in later parts, and with what it waits for."""
    counting = []
    for part in range(1, len(goals)):
        goal_names = {goal[0] for goal in goals[part]}
        for atom in action.adds:
            if atom[0] in goal_names:
                counting.append(Conditional(list_counted_goals(goals, part - 1), _count_in(atom, part)))

    later_parts = {part for (name, _), part in waits.items() if part and name == action.name}
    waiting = []
    for part in sorted(later_parts):
        target = action.parameters[1][0]
        premise = (_wait(action.name, part), target)
        waiting.append(Implication(premise, list_counted_goals(goals, part - 1)))

    return replace(action, conditional=tuple(counting), implications=tuple(waiting))


def wait_facts(waits: Waits) -> Iterator[Atom]:
    """Yield the facts that hold back what is asked for in later parts only."""
    for (action, name), part in waits.items():
        if part:
            yield _wait(action, part), name


def sequence_predicates(action: Action, known: Mapping[str, Signature]) -> Iterator[tuple[str, Signature]]:
    """Yield the predicates that :func:`sequence_action` added to an action, with their signatures."""
    counted = {rule.add[0] for rule in action.conditional}
    for name in sorted(counted):
        plain_name = name.rpartition("_")[0]
        yield name, known[plain_name]

    for rule in action.implications:
        yield rule.premise[0], (action.parameters[1],)


def _count_in(atom: Atom, part: int) -> Atom:
    """Return the atom under the predicate that counts for a later part."""
    name, *arguments = atom
    return f"{name}_{part + 1}", *arguments


def _wait(action: str, part: int) -> str:
    return f"{action}_in_{part + 1}"
