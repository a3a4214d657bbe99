"""Planning domains and problems as Python objects, and the PDDL texts of these objects (pure).

An :data:`Atom` is a predicate followed by its arguments: ``("holding", "?a", "?o")``. Variables begin with "?".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Atom: TypeAlias = tuple[str, ...]
Signature: TypeAlias = tuple[tuple[str, str], ...]
"""Pairs (name, type) of variables, objects or types, in order; in the pair of a type, the second item is its supertype.
"""


@dataclass(frozen=True, slots=True)
class Conditional:
    """A conditional effect: the action adds ``add`` only if all atoms of ``condition`` hold before the action."""

    condition: tuple[Atom, ...]
    add: Atom


@dataclass(frozen=True, slots=True)
class Implication:
    """A precondition: if ``premise`` holds, all ``facts`` have to hold too."""

    premise: Atom
    facts: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Universal:
    """A precondition on all objects of a type: if ``premise`` holds for an object, ``fact`` has to hold for the object
    too.

    ``variable`` is the pair (variable, type); the variable stands for the object in ``premise`` and ``fact``.
    """

    variable: tuple[str, str]
    premise: Atom
    fact: Atom


@dataclass(frozen=True, slots=True)
class Action:
    """A STRIPS action, extended by further preconditions and by conditional effects.

    Attributes:
        needs: the atoms that have to hold before the action.
        adds: the atoms that the action makes true.
        deletes: the atoms that the action makes false.
        conditional: the conditional effects.
        implications: further preconditions.
        universals: further preconditions, on all objects of a type.
    """

    name: str
    parameters: Signature
    needs: tuple[Atom, ...] = ()
    adds: tuple[Atom, ...] = ()
    deletes: tuple[Atom, ...] = ()
    conditional: tuple[Conditional, ...] = ()
    implications: tuple[Implication, ...] = ()
    universals: tuple[Universal, ...] = ()


@dataclass(frozen=True, slots=True)
class Domain:
    """A planning domain; ``types`` are pairs (type, supertype)."""

    name: str
    types: Signature
    constants: Signature
    predicates: Mapping[str, Signature]
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """A planning problem: the atoms of ``init`` are true at the start, those of ``goal`` have to be made true."""

    name: str
    objects: Signature
    init: tuple[Atom, ...]
    goal: tuple[Atom, ...]


def domain_forms(domain: Domain) -> tuple[str, ...]:
    """Return the parts of the domain, each as a PDDL text.

    The order of the parts is: requirements, types, constants if the domain has any, each predicate, each action.
    """
    types = f"(:types {_format_typed(domain.types)})"
    predicates = [f"({name} {_format_typed(signature)})" for name, signature in domain.predicates.items()]
    actions = map(action_text, domain.actions)

    constants = []
    if domain.constants:
        constants.append(f"(:constants {_format_typed(domain.constants)})")
    return (_format_requirements(domain), types, *constants, *predicates, *actions)


def _format_requirements(domain: Domain) -> str:
    """Return the ``(:requirements ...)`` text with the PDDL features that the domain's actions use."""
    has_conditional = any(action.conditional for action in domain.actions)
    has_implications = any(action.implications for action in domain.actions)
    has_universals = any(action.universals for action in domain.actions)

    features = [":strips", ":typing"]
    if has_conditional:
        features.append(":conditional-effects")
    if has_implications or has_universals:
        # (imply ...) counts as a disjunctive precondition.
        features.append(":disjunctive-preconditions")
    if has_universals:
        features.append(":universal-preconditions")
    return f"(:requirements {' '.join(features)})"


def domain_text(domain: Domain) -> str:
    """Return the text of a PDDL file with the domain."""
    forms = domain_forms(domain)
    first_action = len(forms) - len(domain.actions)
    first_predicate = first_action - len(domain.predicates)

    head = "\n".join(f"  {form}" for form in forms[:first_predicate])
    predicates = "".join(f"\n    {form}" for form in forms[first_predicate:first_action])
    actions = "\n\n".join(f"  {form}" for form in forms[first_action:])
    return f"(define (domain {domain.name})\n{head}\n  (:predicates{predicates})\n\n{actions})\n"


def action_text(action: Action) -> str:
    """Return the ``(:action ...)`` block of the action."""
    effects = [_format_atom(atom) for atom in action.adds]
    effects += [f"(not {_format_atom(atom)})" for atom in action.deletes]
    effects += map(_format_conditional, action.conditional)

    conditions = [_format_atom(atom) for atom in action.needs]
    conditions += map(_format_implication, action.implications)
    conditions += map(_format_universal, action.universals)

    lines = [f"(:action {action.name}", f"    :parameters ({_format_typed(action.parameters)})"]
    if conditions:
        lines.append(f"    :precondition {_format_and(conditions)}")
    lines.append(f"    :effect {_format_and(effects)})")
    return "\n".join(lines)


def problem_text(problem: Problem, domain: str) -> str:
    """Return the text of a PDDL file with the problem; ``domain`` is the name of the problem's domain."""
    objects = "".join(f"\n    {name} - {kind}" for name, kind in problem.objects)
    init = "".join(f"\n    {_format_atom(atom)}" for atom in problem.init)
    goal = _format_and(map(_format_atom, problem.goal))
    head = f"(define (problem {problem.name})\n  (:domain {domain})\n"
    return f"{head}  (:objects{objects})\n  (:init{init})\n  (:goal {goal}))\n"


def _format_conditional(effect: Conditional) -> str:
    condition = _format_and(map(_format_atom, effect.condition))
    return f"(when {condition} {_format_atom(effect.add)})"


def _format_implication(implication: Implication) -> str:
    facts = _format_and(map(_format_atom, implication.facts))
    return f"(imply {_format_atom(implication.premise)} {facts})"


def _format_universal(universal: Universal) -> str:
    variable = _format_typed((universal.variable,))
    implication = f"(imply {_format_atom(universal.premise)} {_format_atom(universal.fact)})"
    return f"(forall ({variable}) {implication})"


def _format_atom(atom: Atom) -> str:
    return f"({' '.join(atom)})"


def _format_and(conjuncts: Iterable[str]) -> str:
    return f"(and {' '.join(conjuncts)})"


def _format_typed(signature: Signature) -> str:
    return " ".join(f"{name} - {kind}" for name, kind in signature)
