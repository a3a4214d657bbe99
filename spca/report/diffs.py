"""Differences of two texts, line by line, in time that does not explode (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Final

from spca.errors import PlanTextError
from spca.pddl_text import extract_actions
from spca.report.model import Diff, DiffRow
from spca.report.outline import methods
from spca.report.texts import Shelf, visible

_MAX_PAIRS: Final = 1_000_000
"""Pairs of equal lines that are weighed against each other; with more, what differs is shown as replaced."""


def diff(shelf: Shelf, old_text: str, new_text: str, language: str, context: int = 3) -> Diff | None:
    """How a text became another; None when they look the same. Both are put on the shelf.

    A gap ("@") carries the numbers of the first lines left out. ``names`` are the methods of Python, or the actions
    of PDDL, that are new or changed.
    """
    old, new = visible(old_text).split("\n"), visible(new_text).split("\n")
    if old == new:
        return None
    return Diff(
        shelf.put(old_text, language),
        shelf.put(new_text, language),
        tuple(_with_gaps(list(_rows(old, new)), context)),
        _changed(_definitions(old_text, language), _definitions(new_text, language)),
    )


def _rows(old: Sequence[str], new: Sequence[str]) -> Iterator[DiffRow]:
    """Every line of both."""
    head = sum(1 for _ in takewhile(_same, zip(old, new, strict=False)))
    most = min(len(old), len(new)) - head
    tail = (
        sum(1 for _ in takewhile(_same, zip(reversed(old[-most:]), reversed(new[-most:]), strict=True))) if most else 0
    )
    yield from (DiffRow(" ", i + 1, i + 1) for i in range(head))
    yield from _middle(old[head : len(old) - tail], new[head : len(new) - tail], head)
    for i in range(tail, 0, -1):
        yield DiffRow(" ", len(old) - i + 1, len(new) - i + 1)


def _same(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _middle(old: Sequence[str], new: Sequence[str], above: int) -> Iterator[DiffRow]:
    """The lines between what is equal at both ends; ``above`` lines are above them."""
    for tag, i1, i2, j1, j2 in _changes(old, new):
        if tag == "equal":
            yield from (
                DiffRow(" ", above + i + 1, above + j + 1) for i, j in zip(range(i1, i2), range(j1, j2), strict=True)
            )
        else:
            yield from (DiffRow("-", above + i + 1, 0) for i in range(i1, i2))
            yield from (DiffRow("+", 0, above + j + 1) for j in range(j1, j2))


def _changes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    known = Counter(old)
    if sum(times * known[line] for line, times in Counter(new).items()) > _MAX_PAIRS:
        return [("replace", 0, len(old), 0, len(new))]
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _with_gaps(rows: Sequence[DiffRow], context: int) -> Iterator[DiffRow]:
    """The rows near a change; each run of others becomes one row."""
    near = set[int]()
    for at, row in enumerate(rows):
        if row.tag != " ":
            near.update(range(at - context, at + context + 1))
    gap = False
    for at, row in enumerate(rows):
        if at in near:
            yield row
        elif not gap:
            yield DiffRow("@", row.old, row.new)
        gap = at not in near


def _definitions(text: str, language: str) -> dict[str, str] | None:
    """What a text defines, by name; None where that cannot be told."""
    if language == "python":
        lines = text.split("\n")
        return {method.name: "\n".join(lines[method.first - 1 : method.last]) for method in methods(text)} or None
    if language == "pddl":
        try:
            return {action.name: action.text for action in extract_actions(text)}
        except PlanTextError:
            return None
    return None


def _changed(old: dict[str, str] | None, new: dict[str, str] | None) -> tuple[str, ...]:
    if old is None or new is None:
        return ()
    return tuple(name for name, text in new.items() if old.get(name) != text)
