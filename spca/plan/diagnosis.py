"""Reasons why a planning problem has no solution, derived from the predicates alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_planning.model import FNode, Problem


def why_unsolvable(task: Problem) -> str:
    """Return a sentence about a goal predicate that no action can ever make true; "" if there is no such predicate.

    This analysis ignores the arguments of predicates and all deletions. Therefore a reported reason is certain, but
    an unsolvable problem may have no reported reason.
    """
    true_atoms = [atom for atom, value in task.initial_values.items() if value.is_true()]
    initial = {atom.fluent().name for atom in true_atoms}
    reachable, blocked = _reach(task, initial)
    for goal in (atom for condition in task.goals for atom in _iterate_required(condition)):
        if goal not in reachable:
            return _explain(goal, task, blocked)
    return ""


def _reach(task: Problem, initial: set[str]) -> tuple[set[str], dict[str, set[str]]]:
    """Return the predicates that can become true, and the missing predicates by action.

    The second value contains only actions that can never be applied.
    """
    reachable = set(initial)
    waiting = {action.name: _needed_predicates(action) for action in task.actions}
    changes = {action.name: _changed_predicates(action) for action in task.actions}
    while ready := [name for name, needs in waiting.items() if needs <= reachable]:
        for name in ready:
            reachable |= changes[name]
            del waiting[name]
    return reachable, {name: needs - reachable for name, needs in waiting.items()}


def _needed_predicates(action: Any) -> set[str]:
    return {atom for condition in action.preconditions for atom in _iterate_required(condition)}


def _changed_predicates(action: Any) -> set[str]:
    return {effect.fluent.fluent().name for effect in action.effects}


def _iterate_required(condition: FNode) -> Iterator[str]:
    """Yield the predicates of the positive literals in a conjunction; every other condition counts as satisfiable."""
    if condition.is_and():
        for part in condition.args:
            yield from _iterate_required(part)
    elif condition.is_fluent_exp():
        yield condition.fluent().name


def _explain(goal: str, task: Problem, blocked: dict[str, set[str]]) -> str:
    """Return why the goal predicate cannot become true.

    ``blocked`` maps each action that can never be applied to its missing predicates.
    """
    stuck = [action for action in task.actions if action.name in blocked]
    makers = [action.name for action in stuck if goal in _changed_predicates(action)]
    if not makers:
        return f"No action has ({goal} ...) as an effect, and :init does not state it."
    missing = sorted(blocked[makers[0]] - {goal}) or [goal]
    needs = ", ".join(f"({name} ...)" for name in missing)
    return f"({goal} ...) can only come from {makers[0]}, which needs {needs}: no action or :init provides it."
