"""A PDDL problem as sets. Problems that differ only in order and spelling have equal sets (pure)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spca.errors import PlanTextError
from spca.plan.pddl import python_name, shape_fault, words

Fact = Any
"""A formula: a word, a tuple of formulas, or a pair of the word ``and`` or ``or`` and a frozenset of formulas."""

_MAX_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class ProblemSets:
    """The content of a PDDL problem.

    Attributes:
        objects: (name, type) of each object.
        init: the facts of ``:init``.
        goal: the formulas whose conjunction is the goal.
    """

    objects: frozenset[tuple[str, Fact]]
    init: frozenset[Fact]
    goal: frozenset[Fact]

    @classmethod
    def from_text(cls, text: str) -> ProblemSets:
        """Return the content of a problem, with names in lower case and underscores instead of hyphens.

        Raises:
            PlanTextError: the text is not a PDDL problem.
        """
        fault = shape_fault(text)
        if fault:
            raise PlanTextError(f"the problem cannot be read: {fault}")
        sections = _parse_form(text)
        if not sections or sections[0] != "define":
            raise PlanTextError("the problem does not begin with (define")
        contents: dict[str, list[Fact]] = {":objects": [], ":init": [], ":goal": []}
        for section in sections:
            if isinstance(section, tuple) and section and section[0] in contents:
                contents[section[0]] += section[1:]
        if not contents[":goal"]:
            raise PlanTextError("the problem has no goal")
        _, goal = _normalise(("and", *contents[":goal"]))
        objects = frozenset(_read_typed(contents[":objects"]))
        init = frozenset(map(_normalise, contents[":init"]))
        return cls(objects, init, goal)

    def difference(self, other: ProblemSets) -> str:
        """Return in words how this problem differs from ``other``; "" if both are equal."""
        parts = (
            (":objects", self.objects - other.objects, other.objects - self.objects),
            (":init", self.init - other.init, other.init - self.init),
            ("the goal", self.goal - other.goal, other.goal - self.goal),
        )
        return "; ".join(filter(None, (_describe_difference(*part) for part in parts)))

    def find_undeclared(self, declared: Container[str]) -> str:
        """Return the names in ``:init`` and goal that are not in ``declared``, as text; "" if there is no such name."""
        named = {name for fact in (*self.init, *self.goal) for name in _arguments(fact)}
        return _list_facts(name for name in named if name not in declared)


def _arguments(fact: Fact) -> Iterator[str]:
    """Yield the names of objects in a formula; skip variables, types and numbers."""
    match fact:
        case (str(), frozenset() as parts):
            yield from (name for part in parts for name in _arguments(part))
        case (str() as head, *arguments) if not head.startswith("?"):
            for argument in arguments:
                if not isinstance(argument, str):
                    yield from _arguments(argument)
                elif argument[:1].isalpha():
                    yield argument


def _describe_difference(where: str, more: Iterable[Fact], less: Iterable[Fact]) -> str:
    """Return in words which facts a part of a problem has in addition (``more``), and which facts it lacks (``less``).

    Return "" if there are none.
    """
    parts: list[str] = []
    if more:
        parts.append(f"has {_list_facts(more)}")
    if less:
        parts.append(f"lacks {_list_facts(less)}")
    return f"{where} {' and '.join(parts)}" if parts else ""


def _list_facts(facts: Iterable[Fact]) -> str:
    written = sorted(map(_write_fact, facts))
    shown = written[:_MAX_SHOWN]
    if len(written) > _MAX_SHOWN:
        shown.append("...")
    return " ".join(shown)


def _write_fact(fact: Fact) -> str:
    """Return a formula as PDDL, with the operands of ``and`` and ``or`` in alphabetical order."""
    match fact:
        case str():
            return fact
        case (("and" | "or") as joint, frozenset() as parts):
            joined = " ".join(sorted(map(_write_fact, parts)))
            return f"({joint} {joined})"
        case _:
            return f"({' '.join(map(_write_fact, fact))})"


def _parse_form(text: str) -> tuple[Fact, ...]:
    """Return the single form in a text as nested tuples; :func:`shape_fault` must have accepted the text."""
    open_forms: list[list[Fact]] = [[]]
    for word in words(text) or ():
        if word == "(":
            open_forms.append([])
        elif word == ")":
            closed = tuple(open_forms.pop())
            open_forms[-1].append(closed)
        else:
            open_forms[-1].append(word if word == "-" else python_name(word))
    (whole,) = open_forms
    return whole[0] if len(whole) == 1 and isinstance(whole[0], tuple) else ()


def _read_typed(listed: Sequence[Fact]) -> Iterator[tuple[str, Fact]]:
    """Yield (name, type) for each name in a list ``a b - type c``; a name without a type, as ``c``, gets "object"."""
    names: list[str] = []
    for before, word in zip(("", *listed), listed, strict=False):
        if before == "-":
            yield from ((name, word) for name in names)
            names.clear()
        elif word != "-":
            names.append(_write_fact(word))
    yield from ((name, "object") for name in names)


def _normalise(fact: Fact) -> Fact:
    """Return a formula in which frozensets hold the operands of ``and`` and ``or``.

    An ``and`` directly within ``and`` is merged with it, and an ``or`` directly within ``or``.
    """
    if not isinstance(fact, tuple):
        return fact
    parts = tuple(map(_normalise, fact[1:]))
    if not fact or fact[0] not in ("and", "or"):
        return (*map(_normalise, fact[:1]), *parts)

    joined: list[Fact] = []
    for part in parts:
        is_same_joint = isinstance(part, tuple) and part[:1] == fact[:1]
        joined += part[1] if is_same_joint else (part,)
    return fact[0], frozenset(joined)
