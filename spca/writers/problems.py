"""A PDDL problem as what it says, whatever the order and spelling it is written in (pure)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spca.errors import PlanTextError
from spca.plan.pddl import python_name, shape_fault, words

Fact = Any
"""A formula: a word, a tuple of formulas, or (``and``/``or``, a frozenset of formulas)."""

_MOST_TOLD: Final = 3


@dataclass(frozen=True, slots=True)
class ProblemSets:
    """Objects as (name, type), the facts of ``:init``, and what the goal joins by ``and``."""

    objects: frozenset[tuple[str, Fact]]
    init: frozenset[Fact]
    goal: frozenset[Fact]

    @classmethod
    def from_text(cls, text: str) -> ProblemSets:
        """Read a problem; names are lower case, hyphens underscores.

        Raises:
            PlanTextError: the text is no problem in PDDL.
        """
        fault = shape_fault(text)
        if fault:
            raise PlanTextError(f"the problem cannot be read: {fault}")
        sections = _parse_form(text)
        if not sections or sections[0] != "define":
            raise PlanTextError("the problem does not begin with (define")
        held: dict[str, list[Fact]] = {":objects": [], ":init": [], ":goal": []}
        for section in sections:
            if isinstance(section, tuple) and section and section[0] in held:
                held[section[0]] += section[1:]
        if not held[":goal"]:
            raise PlanTextError("the problem has no goal")
        goal = _normalise(("and", *held[":goal"]))
        objects = frozenset(_read_typed(held[":objects"]))
        init = frozenset(map(_normalise, held[":init"]))
        return cls(objects, init, goal[1])

    def difference(self, other: ProblemSets) -> str:
        """Return what this problem says otherwise than ``other``, in words; "" if it says the same."""
        parts = (
            (":objects", self.objects - other.objects, other.objects - self.objects),
            (":init", self.init - other.init, other.init - self.init),
            ("the goal", self.goal - other.goal, other.goal - self.goal),
        )
        return "; ".join(filter(None, (_describe_difference(*part) for part in parts)))

    def find_undeclared(self, declared: Container[str]) -> str:
        """Return what ``:init`` and goal name beside what is declared, "" if nothing."""
        named = {name for fact in (*self.init, *self.goal) for name in _arguments(fact)}
        return _list_facts(name for name in named if name not in declared)


def _arguments(fact: Fact) -> Iterator[str]:
    """Yield the names that a formula speaks of; no variables, types or numbers."""
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
    parts: list[str] = []
    if more:
        parts.append(f"has {_list_facts(more)}")
    if less:
        parts.append(f"lacks {_list_facts(less)}")
    return f"{where} {' and '.join(parts)}" if parts else ""


def _list_facts(facts: Iterable[Fact]) -> str:
    written = sorted(map(_write_fact, facts))
    shown = written[:_MOST_TOLD]
    if len(written) > _MOST_TOLD:
        shown.append("...")
    return " ".join(shown)


def _write_fact(fact: Fact) -> str:
    match fact:
        case str():
            return fact
        case (("and" | "or") as joint, frozenset() as parts):
            joined = " ".join(sorted(map(_write_fact, parts)))
            return f"({joint} {joined})"
        case _:
            return f"({' '.join(map(_write_fact, fact))})"


def _parse_form(text: str) -> tuple[Fact, ...]:
    """Return the form that a text, which :func:`shape_fault` passed, consists of."""
    open_forms: list[list[Fact]] = [[]]
    for word in words(text) or ():
        if word == "(":
            open_forms.append([])
        elif word == ")":
            done = tuple(open_forms.pop())
            open_forms[-1].append(done)
        else:
            open_forms[-1].append(word if word == "-" else python_name(word))
    (whole,) = open_forms
    return whole[0] if len(whole) == 1 and isinstance(whole[0], tuple) else ()


def _read_typed(listed: Sequence[Fact]) -> Iterator[tuple[str, Fact]]:
    names: list[str] = []
    for before, word in zip(("", *listed), listed, strict=False):
        if before == "-":
            yield from ((name, word) for name in names)
            names.clear()
        elif word != "-":
            names.append(_write_fact(word))
    yield from ((name, "object") for name in names)


def _normalise(fact: Fact) -> Fact:
    """Return a formula in which what ``and`` and ``or`` join has no order, and no ``and`` within ``and``."""
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
