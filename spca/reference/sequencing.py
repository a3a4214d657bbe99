"""Extend PDDL actions so that a plan does the parts of a mission in the required order (pure).

The parameters of an action are the arguments of the agent's method. An action therefore cannot name the part of the
mission for which it is used. Plain STRIPS cannot tell two uses of the same action apart. Two additions to the actions
keep the order:

- *Counting*: a fact counts for a later part (``picked_2`` beside ``picked``) only if the goals of the part before
  already hold. This is a conditional effect.
- *Waiting*: an action that only a later part asks for is not taken earlier. This is a precondition, for example
  ``(imply (open_door_in_2 ?d) (goals of part 1))``.

A mission of one part needs neither addition and stays STRIPS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias

from spca.reference.pddl_writer import Action, Atom, Conditional, Implication, Signature

Goals: TypeAlias = tuple[tuple[Atom, ...], ...]
"""The goals of each part, in the order of the parts."""

Waits: TypeAlias = Mapping[tuple[str, str], int]
"""The first part, counted from 0, that asks for an action on an object; the key is (action, object)."""


def list_counted_goals(goals: Goals, part: int) -> tuple[Atom, ...]:
    """Return the goals of ``part``, counted from 0, with the predicates that count for this part (``picked_2`` in part
    1).
    """
    if part == 0:
        return goals[0]
    return tuple(_count_in(atom, part) for atom in goals[part])


def sequence_action(action: Action, goals: Goals, waits: Waits) -> Action:
    """Return the action with the conditional effects for *counting* and the preconditions for *waiting*."""
    counting = []
    for part in range(1, len(goals)):
        goal_names = {goal[0] for goal in goals[part]}
        for atom in action.adds:
            if atom[0] in goal_names:
                counting.append(Conditional(list_counted_goals(goals, part - 1), _count_in(atom, part)))

    waiting = []
    for part in _list_later_parts(action, waits):
        target = action.parameters[1][0]  # the variable after the agent's
        premise = (_name_wait(action.name, part), target)
        waiting.append(Implication(premise, list_counted_goals(goals, part - 1)))

    return replace(action, conditional=tuple(counting), implications=tuple(waiting))


def wait_facts(waits: Waits) -> Iterator[Atom]:
    """Yield the fact ``(ACTION_in_N OBJECT)`` for each action on an object that has to wait for a later part."""
    for (action, target), part in waits.items():
        if part > 0:
            yield _name_wait(action, part), target


def sequence_predicates(action: Action, known: Mapping[str, Signature]) -> Iterator[tuple[str, Signature]]:
    """Yield the pair (name, signature) of each predicate that :func:`sequence_action` added to the action.

    Args:
        known: the signatures of the predicates without a part number.
    """
    counted_names = {effect.add[0] for effect in action.conditional}
    for name in sorted(counted_names):
        plain_name = name.rpartition("_")[0]
        yield name, known[plain_name]

    for implication in action.implications:
        yield implication.premise[0], (action.parameters[1],)


def _list_later_parts(action: Action, waits: Waits) -> list[int]:
    """Return the numbers of all parts except part 0 for which the action has to wait on some object, sorted."""
    parts = {part for (name, _), part in waits.items() if name == action.name}
    return sorted(part for part in parts if part > 0)


def _count_in(atom: Atom, part: int) -> Atom:
    """Return the atom with the predicate that counts for ``part``: ``picked`` becomes ``picked_2`` in part 1."""
    name, *arguments = atom
    return f"{name}_{part + 1}", *arguments


def _name_wait(action: str, part: int) -> str:
    """Return the name of the predicate that holds for an object if the action on the object has to wait until ``part``.

    The parts are counted from 0.
    """
    return f"{action}_in_{part + 1}"
