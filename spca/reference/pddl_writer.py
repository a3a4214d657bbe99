"""Planning domains and problems as values, and their PDDL text (pure).

An :data:`Atom` is a predicate with its arguments, variables with their question mark: ``("holding", "?a", "?o")``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

Atom: TypeAlias = tuple[str, ...]
Signature: TypeAlias = tuple[tuple[str, str], ...]
"""Variables or objects with their types, in order."""


@dataclass(frozen=True, slots=True)
class Conditional:
    """An effect that takes place only where ``condition`` holds before the action."""

    condition: tuple[Atom, ...]
    add: Atom


@dataclass(frozen=True, slots=True)
class Implication:
    """A condition that asks for ``facts`` only where ``premise`` holds."""

    premise: Atom
    facts: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Universal:
    """A condition on every object of a type: where ``premise`` holds of it, ``fact`` has to."""

    variable: tuple[str, str]
    premise: Atom
    fact: Atom


@dataclass(frozen=True, slots=True)
class Action:
    """A STRIPS action, with implications among its conditions and conditional additions among its effects."""

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
    """A domain; ``types`` are pairs of type and supertype."""

    name: str
    types: Signature
    constants: Signature
    predicates: Mapping[str, Signature]
    actions: tuple[Action, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Objects, the atoms true at first, and those to be made true."""

    name: str
    objects: Signature
    init: tuple[Atom, ...]
    goal: tuple[Atom, ...]


def domain_forms(domain: Domain) -> tuple[str, ...]:
    """Return the parts of a domain as text: requirements, types, constants, each predicate, each action."""
    features = [":strips", ":typing"]
    if any(action.conditional for action in domain.actions):
        features.append(":conditional-effects")
    if any(action.implications or action.universals for action in domain.actions):
        features.append(":disjunctive-preconditions")
    if any(action.universals for action in domain.actions):
        features.append(":universal-preconditions")

    requirements = f"(:requirements {' '.join(features)})"
    constants = (f"(:constants {_format_typed(domain.constants)})",) if domain.constants else ()
    predicates = (f"({name} {_format_typed(signature)})" for name, signature in domain.predicates.items())
    types = f"(:types {_format_typed(domain.types)})"
    return (requirements, types, *constants, *predicates, *map(action_text, domain.actions))


def domain_text(domain: Domain) -> str:
    """Return the domain as a PDDL file."""
    forms = domain_forms(domain)
    first_action = len(forms) - len(domain.actions)
    first_predicate = first_action - len(domain.predicates)

    head = "\n".join(f"  {form}" for form in forms[:first_predicate])
    predicates = "".join(f"\n    {form}" for form in forms[first_predicate:first_action])
    actions = "\n\n".join(f"  {form}" for form in forms[first_action:])
    return f"(define (domain {domain.name})\n{head}\n  (:predicates{predicates})\n\n{actions})\n"


def action_text(action: Action) -> str:
    """Return one ``(:action ...)`` block."""
    effects = [_atom(atom) for atom in action.adds]
    effects += [f"(not {_atom(atom)})" for atom in action.deletes]
    effects += map(_format_conditional, action.conditional)

    conditions = [_atom(atom) for atom in action.needs]
    conditions += map(_format_implication, action.implications)
    conditions += map(_format_universal, action.universals)

    needs = f"\n    :precondition {_all(conditions)}" if conditions else ""
    parameters = f"\n    :parameters ({_format_typed(action.parameters)})"
    return f"(:action {action.name}{parameters}{needs}\n    :effect {_all(effects)})"


def problem_text(problem: Problem, domain: str) -> str:
    """Return the problem as a PDDL file for the domain of that name."""
    objects = "".join(f"\n    {name} - {kind}" for name, kind in problem.objects)
    init = "".join(f"\n    {_atom(atom)}" for atom in problem.init)
    goal = _all(map(_atom, problem.goal))
    head = f"(define (problem {problem.name})\n  (:domain {domain})\n"
    return f"{head}  (:objects{objects})\n  (:init{init})\n  (:goal {goal}))\n"


def _format_conditional(rule: Conditional) -> str:
    condition = _all(map(_atom, rule.condition))
    return f"(when {condition} {_atom(rule.add)})"


def _format_implication(rule: Implication) -> str:
    facts = _all(map(_atom, rule.facts))
    return f"(imply {_atom(rule.premise)} {facts})"


def _format_universal(rule: Universal) -> str:
    variable = _format_typed((rule.variable,))
    return f"(forall ({variable}) (imply {_atom(rule.premise)} {_atom(rule.fact)}))"


def _atom(atom: Atom) -> str:
    return f"({' '.join(atom)})"


def _all(parts: Iterable[str]) -> str:
    return f"(and {' '.join(parts)})"


def _format_typed(signature: Signature) -> str:
    return " ".join(f"{name} - {kind}" for name, kind in signature)
