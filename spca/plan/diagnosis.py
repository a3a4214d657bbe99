"""Why a planning problem has no solution, as far as predicates alone can tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from unified_planning.model import FNode, Problem


def why_unsolvable(task: Problem) -> str:
    """Return a sentence on goal predicates that no action can ever make true; empty when none is found.

    Predicates are taken without their arguments and deletions are ignored, so what is reported is certain, but a
    problem may be unsolvable without a report.
    """
    true_atoms = [atom for atom, value in task.initial_values.items() if value.is_true()]
    initial = {atom.fluent().name for atom in true_atoms}
    reachable, blocked = _reach(task, initial)
    for goal in (atom for condition in task.goals for atom in _required(condition)):
        if goal not in reachable:
            return _explain(goal, task, blocked)
    return ""


def _reach(task: Problem, initial: set[str]) -> tuple[set[str], dict[str, set[str]]]:
    """Return the predicates that can become true, and for each action that can never apply those it waits for."""
    reachable = set(initial)
    waiting = {action.name: _needs(action) for action in task.actions}
    makes = {action.name: _changes(action) for action in task.actions}
    while ready := [name for name, needs in waiting.items() if needs <= reachable]:
        for name in ready:
            reachable |= makes[name]
            del waiting[name]
    return reachable, {name: needs - reachable for name, needs in waiting.items()}


def _needs(action: Any) -> set[str]:
    return {atom for condition in action.preconditions for atom in _required(condition)}


def _changes(action: Any) -> set[str]:
    return {effect.fluent.fluent().name for effect in action.effects}


def _required(condition: FNode) -> Iterator[str]:
    """Yield the predicates of the positive literals of a conjunction; anything else is taken as satisfiable."""
    if condition.is_and():
        for part in condition.args:
            yield from _required(part)
    elif condition.is_fluent_exp():
        yield condition.fluent().name


def _explain(goal: str, task: Problem, blocked: dict[str, set[str]]) -> str:
    stuck = [action for action in task.actions if action.name in blocked]
    makers = [action.name for action in stuck if goal in _changes(action)]
    if not makers:
        return f"No action has ({goal} ...) as an effect, and :init does not state it."
    missing = sorted(blocked[makers[0]] - {goal}) or [goal]
    needs = ", ".join(f"({name} ...)" for name in missing)
    return f"({goal} ...) can only come from {makers[0]}, which needs {needs}: no action or :init provides it."
