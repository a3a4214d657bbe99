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


def counted_goals(goals: Goals, part: int) -> tuple[Atom, ...]:
    """Goals of a part, counted from 0, under the predicates that count for it."""
    return goals[part] if part == 0 else tuple((f"{name}_{part + 1}", *args) for name, *args in goals[part])


def in_sequence(action: Action, goals: Goals, waits: Waits) -> Action:
    """The action with what it counts for in later parts, and with what it waits for."""
    counting = tuple(
        Conditional(counted_goals(goals, part - 1), (f"{atom[0]}_{part + 1}", *atom[1:]))
        for part in range(1, len(goals))
        for atom in action.adds
        if atom[0] in {goal[0] for goal in goals[part]}
    )
    parts = sorted({part for (name, _), part in waits.items() if name == action.name and part})
    waiting = tuple(
        Implication((_wait(action.name, part), action.parameters[1][0]), counted_goals(goals, part - 1))
        for part in parts
    )
    return replace(action, conditional=counting, implications=waiting)


def wait_facts(waits: Waits) -> Iterator[Atom]:
    """The facts that hold back what is asked for in later parts only."""
    return ((_wait(action, part), name) for (action, name), part in waits.items() if part)


def sequence_predicates(action: Action, known: Mapping[str, Signature]) -> Iterator[tuple[str, Signature]]:
    """Predicates that :func:`in_sequence` added to an action, with their signatures."""
    counted = {rule.add[0] for rule in action.conditional}
    yield from ((name, known[name.rpartition("_")[0]]) for name in sorted(counted))
    yield from ((rule.premise[0], (action.parameters[1],)) for rule in action.implications)


def _wait(action: str, part: int) -> str:
    return f"{action}_in_{part + 1}"
