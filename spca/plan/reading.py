"""A fast reader of plain PDDL, which replaces Unified Planning's grammar.

For a short problem, the grammar takes most of the time. This module splits the text into nested forms, and passes them
to Unified Planning's own reader, which builds the problem. It refuses texts with unusual constructs or errors. The
grammar reads those texts, because its messages name the place of an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any, Final, TypeAlias

from pyparsing import ParseResults
from unified_planning.io import PDDLReader
from unified_planning.model import Problem

from spca.plan.pddl import words

_FLAGS: Final = frozenset(
    f":{name}"
    for name in (
        "strips",
        "typing",
        "negative-preconditions",
        "disjunctive-preconditions",
        "equality",
        "adl",
        "existential-preconditions",
        "universal-preconditions",
        "quantified-preconditions",
        "conditional-effects",
    )
)
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*", re.ASCII)
_PARTS: Final = {":precondition": "pre", ":effect": "eff"}

_Form: TypeAlias = "str | list[_Form]"


class UnusualError(Exception):
    """The text contains an unusual construct or an error."""


class _Node:
    """A replacement for the result of pyparsing's ``Located``.

    The locations are always 0, because Unified Planning uses locations only in messages.
    """

    __slots__ = ("value",)
    locn_start = locn_end = 0

    def __init__(self, value: Sequence[Any]) -> None:
        self.value = ParseResults(value)


def parse_plain(reader: PDDLReader, domain: str, problem: str) -> Problem:
    """Return the problem that ``reader`` builds from the texts without using its grammar.

    Raises:
        UnusualError: only the grammar can read the texts.
        Exception: any error of the reader, if names or types do not match.
    """
    described = _domain(_form(domain)), "", _problem(_form(problem)), ""
    return copy(reader)._parse_problem(*described)


def _form(text: str) -> _Form:
    """Return a text as nested lists of words; the text must be a single form."""
    outermost: list[_Form] = []
    parents: list[list[_Form]] = []
    current = outermost
    for word in words(text) or ():
        if word == "(":
            parents.append(current)
            current = []
            parents[-1].append(current)
        elif word == ")" and parents:
            current = parents.pop()
        else:
            current.append(word)
    if parents or len(outermost) != 1:
        raise UnusualError
    return outermost[0]


def _domain(form: _Form) -> Mapping[str, Any]:
    """Return a domain as the mapping that the reader expects; sections must stand in the usual order."""
    name, sections = _read_define(form, "domain")
    described: dict[str, Any] = {"name": name, "actions": []}
    _skip_requirements(sections)
    if types := _take_section(sections, ":types", at_least=1):
        described["types"] = list(_iterate_typed(types))
    if constants := _take_section(sections, ":constants"):
        described["constants"] = [_Node(group) for group in _iterate_typed(constants)]
    if predicates := _take_section(sections, ":predicates", at_least=1):
        described["predicates"] = [_predicate(_require_list(each)) for each in predicates]
    for section in sections:
        described["actions"].append(_action(_require_list(section)))
    return described


def _problem(form: _Form) -> Mapping[str, Any]:
    """Return a problem as the mapping that the reader expects; sections must stand in the usual order."""
    name, sections = _read_define(form, "problem")
    match _take_section(sections, ":domain", at_least=1):
        case [str(domain)] if _NAME.fullmatch(domain):
            pass
        case _:
            raise UnusualError
    _skip_requirements(sections)
    objects = list(_iterate_typed(_take_section(sections, ":objects") or []))
    if not sections or sections[0][:1] != [":init"]:
        raise UnusualError
    init = [_expression(_require_list(each)) for each in _take_section(sections, ":init") or []]
    goal = _take_section(sections, ":goal", at_least=1)
    if sections or goal is None or len(goal) != 1:
        raise UnusualError
    return {"name": name, "objects": objects, "init": init, "goal": [_expression(_require_list(goal[0]))]}


def _read_define(form: _Form, kind: str) -> tuple[str, list[list[_Form]]]:
    """Return the name in ``(define (kind name) ...)``, and the list of the sections that follow."""
    match form:
        case ["define", [head, str(name)], *sections] if head == kind and _NAME.fullmatch(name):
            return name, [_require_list(section) for section in sections]
    raise UnusualError


def _require_list(form: _Form) -> list[_Form]:
    if isinstance(form, str):
        raise UnusualError
    return form


def _take_section(sections: list[list[_Form]], head: str, at_least: int = 0) -> list[_Form] | None:
    """If the first section begins with ``head``, remove the section and return its contents; else return None."""
    if not sections or sections[0][:1] != [head]:
        return None
    contents = sections.pop(0)[1:]
    if len(contents) < at_least:
        raise UnusualError
    return contents


def _skip_requirements(sections: list[list[_Form]]) -> None:
    """Remove a leading ``:requirements`` section; raise UnusualError if this module does not support a flag."""
    for flag in _take_section(sections, ":requirements", at_least=1) or []:
        if not isinstance(flag, str) or flag not in _FLAGS:
            raise UnusualError


def _iterate_typed(forms: Sequence[_Form], mark: str = "") -> Iterator[list[Any]]:
    """Yield each group of a list ``a b - type c`` as [names, type], or as [names] if the group has no type.

    In the text every name begins with ``mark``; the yielded names are without ``mark``.
    """
    names: list[str] = []
    parts = iter(forms)
    for form in parts:
        if not isinstance(form, str):
            raise UnusualError
        if form == "-" and names:
            yield [names, _require_name(next(parts, ""))]
            names = []
        elif form.startswith(mark):
            names.append(_require_name(form[len(mark) :]))
        else:
            raise UnusualError
    if names:
        yield [names]


def _require_name(form: _Form) -> str:
    if not isinstance(form, str) or not _NAME.fullmatch(form):
        raise UnusualError
    return form


def _predicate(form: list[_Form]) -> list[Any]:
    if not form:
        raise UnusualError
    return [_require_name(form[0]), [_Node(group) for group in _iterate_typed(form[1:], "?")]]


def _action(form: list[_Form]) -> Mapping[str, Any]:
    """Return an action as the mapping that the reader expects; its parts must stand in the usual order."""
    match form:
        case [":action", str(name), ":parameters", list(parameters), *rest]:
            action: dict[str, Any] = {
                "name": _require_name(name),
                "params": [_Node(group) for group in _iterate_typed(parameters, "?")],
            }
        case _:
            raise UnusualError
    for key, part in _PARTS.items():
        if rest[:1] == [key] and len(rest) > 1:
            action[part] = [_expression(_require_list(rest[1]))]
            rest = rest[2:]
    if rest:
        raise UnusualError
    return action


def _expression(form: list[_Form]) -> _Node:
    return _Node([_Node([each]) if isinstance(each, str) else _expression(each) for each in form])
