"""Reads PDDL as Unified Planning does, without its grammar, which takes most of the time that a short problem costs.

The words are cut here and handed to Unified Planning's own reader, which makes the problem of them. Only what is
plainly written is read this way: anything else, and anything wrong, is left to the grammar, whose messages say where.
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
    """The text is not written plainly enough, or is wrong."""


class _Node:
    """What pyparsing's ``Located`` makes; its places are for messages, and those come from the grammar."""

    __slots__ = ("value",)
    locn_start = locn_end = 0

    def __init__(self, value: Sequence[Any]) -> None:
        self.value = ParseResults(value)


def parse_plain(reader: PDDLReader, domain: str, problem: str) -> Problem:
    """Return the problem that ``reader`` makes of the texts, without its grammar.

    Raises:
        UnusualError: the grammar has to read them.
        Exception: whatever the reader raises for names and types that do not fit.
    """
    described = _domain(_form(domain)), "", _problem(_form(problem)), ""
    return copy(reader)._parse_problem(*described)


def _form(text: str) -> _Form:
    """Return the only form of a text."""
    found = words(text)
    outermost: list[_Form] = []
    above = list[list[_Form]]()
    inner = outermost
    for word in found or ():
        if word == "(":
            above.append(inner)
            inner = []
            above[-1].append(inner)
        elif word == ")" and above:
            inner = above.pop()
        else:
            inner.append(word)
    if above or len(outermost) != 1:
        raise UnusualError
    return outermost[0]


def _domain(form: _Form) -> Mapping[str, Any]:
    name, sections = _defined(form, "domain")
    described: dict[str, Any] = {"name": name, "actions": []}
    _flags(sections)
    if types := _section(sections, ":types", at_least=1):
        described["types"] = list(_typed(types))
    if constants := _section(sections, ":constants"):
        described["constants"] = [_Node(group) for group in _typed(constants)]
    if predicates := _section(sections, ":predicates", at_least=1):
        described["predicates"] = [_predicate(_listed(each)) for each in predicates]
    for section in sections:
        described["actions"].append(_action(_listed(section)))
    return described


def _problem(form: _Form) -> Mapping[str, Any]:
    name, sections = _defined(form, "problem")
    match _section(sections, ":domain", at_least=1):
        case [str(domain)] if _NAME.fullmatch(domain):
            pass
        case _:
            raise UnusualError
    _flags(sections)
    objects = list(_typed(_section(sections, ":objects") or []))
    if not sections or sections[0][:1] != [":init"]:
        raise UnusualError
    init = [_expression(_listed(each)) for each in _section(sections, ":init") or []]
    goal = _section(sections, ":goal", at_least=1)
    if sections or goal is None or len(goal) != 1:
        raise UnusualError
    return {"name": name, "objects": objects, "init": init, "goal": [_expression(_listed(goal[0]))]}


def _defined(form: _Form, kind: str) -> tuple[str, list[list[_Form]]]:
    """Return the name of ``(define (kind name) ...)``, and what follows it."""
    match form:
        case ["define", [head, str(name)], *sections] if head == kind and _NAME.fullmatch(name):
            return name, [_listed(section) for section in sections]
    raise UnusualError


def _listed(form: _Form) -> list[_Form]:
    if isinstance(form, str):
        raise UnusualError
    return form


def _section(sections: list[list[_Form]], head: str, at_least: int = 0) -> list[_Form] | None:
    """Take off the first section, if it has that head, and return its contents, else None."""
    if not sections or sections[0][:1] != [head]:
        return None
    contents = sections.pop(0)[1:]
    if len(contents) < at_least:
        raise UnusualError
    return contents


def _flags(sections: list[list[_Form]]) -> None:
    for flag in _section(sections, ":requirements", at_least=1) or []:
        if not isinstance(flag, str) or flag not in _FLAGS:
            raise UnusualError


def _typed(forms: Sequence[_Form], mark: str = "") -> Iterator[list[Any]]:
    """Yield the groups of ``a b - type c``: names, which are written after ``mark``, and their type if any."""
    names: list[str] = []
    parts = iter(forms)
    for form in parts:
        if not isinstance(form, str):
            raise UnusualError
        if form == "-" and names:
            yield [names, _named(next(parts, ""))]
            names = []
        elif form.startswith(mark):
            names.append(_named(form[len(mark) :]))
        else:
            raise UnusualError
    if names:
        yield [names]


def _named(form: _Form) -> str:
    if not isinstance(form, str) or not _NAME.fullmatch(form):
        raise UnusualError
    return form


def _predicate(form: list[_Form]) -> list[Any]:
    if not form:
        raise UnusualError
    return [_named(form[0]), [_Node(group) for group in _typed(form[1:], "?")]]


def _action(form: list[_Form]) -> Mapping[str, Any]:
    match form:
        case [":action", str(name), ":parameters", list(parameters), *rest]:
            action: dict[str, Any] = {
                "name": _named(name),
                "params": [_Node(group) for group in _typed(parameters, "?")],
            }
        case _:
            raise UnusualError
    for key, part in _PARTS.items():
        if rest[:1] == [key] and len(rest) > 1:
            action[part] = [_expression(_listed(rest[1]))]
            rest = rest[2:]
    if rest:
        raise UnusualError
    return action


def _expression(form: list[_Form]) -> _Node:
    return _Node([_Node([each]) if isinstance(each, str) else _expression(each) for each in form])
