"""Differences of two texts, line by line, in time that does not explode (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final, NamedTuple

from spca.common.text import visible
from spca.errors import PlanTextError
from spca.plan.pddl import extract_actions
from spca.report.level.texts import Shelf
from spca.report.read.model import Diff, DiffRow, Method
from spca.report.read.outline import methods

_MAX_PAIRS: Final = 1_000_000
"""Pairs of equal lines that are weighed against each other; with more, what differs is shown as replaced."""


class _Block(NamedTuple):
    """Lines from ``i1`` up to ``i2`` of the old text, ``j1`` up to ``j2`` of the new one, counted from 0."""

    equal: bool
    i1: int
    i2: int
    j1: int
    j2: int


def diff(
    shelf: Shelf,
    old_text: str,
    new_text: str,
    language: str,
    context: int = 3,
    written: tuple[tuple[Method, ...], tuple[Method, ...]] = ((), ()),
) -> Diff | None:
    """How a text became another; None when they look the same. Both are put on the shelf.

    A gap ("@") carries the numbers of the first lines left out. ``names`` are the methods of Python, or the actions
    of PDDL, that are new or changed.

    Args:
        written: the methods of both, of agents.
    """
    old, new = visible(old_text).split("\n"), visible(new_text).split("\n")
    if old == new:
        return None
    return Diff(
        shelf.put(old_text, language, written[0]),
        shelf.put(new_text, language, written[1]),
        tuple(_rows(_blocks(old, new), context)),
        _changed(_definitions(old_text, language), _definitions(new_text, language)),
    )


def _blocks(old: Sequence[str], new: Sequence[str]) -> list[_Block]:
    """What is equal and what is not, in order; the equal ends are found first, since most of a text stays."""
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    most = shorter - head
    tail = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    i, j = len(old) - tail, len(new) - tail
    inner = [
        _Block(tag == "equal", head + i1, head + i2, head + j1, head + j2)
        for tag, i1, i2, j1, j2 in _changes(old[head:i], new[head:j])
    ]
    ends = _Block(True, 0, head, 0, head), _Block(True, i, len(old), j, len(new))
    return [ends[0], *inner, ends[1]]


def _changes(old: Sequence[str], new: Sequence[str]) -> Sequence[tuple[str, int, int, int, int]]:
    known = Counter(old)
    if sum(times * known[line] for line, times in Counter(new).items()) > _MAX_PAIRS:
        return [("replace", 0, len(old), 0, len(new))]
    return SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def _rows(blocks: Sequence[_Block], context: int) -> Iterator[DiffRow]:
    """Changed lines, and those around them; each run of others becomes one row. The first and last block are equal."""
    for at, block in enumerate(blocks):
        if not block.equal:
            yield from (DiffRow("-", i + 1, 0) for i in range(block.i1, block.i2))
            yield from (DiffRow("+", 0, j + 1) for j in range(block.j1, block.j2))
            continue
        size = block.i2 - block.i1
        below = min(context, size) if at > 0 else 0
        above = max(below, size - context) if at < len(blocks) - 1 else size
        yield from (DiffRow(" ", block.i1 + n + 1, block.j1 + n + 1) for n in range(below))
        if above > below:
            yield DiffRow("@", block.i1 + below + 1, block.j1 + below + 1)
        yield from (DiffRow(" ", block.i1 + n + 1, block.j1 + n + 1) for n in range(above, size))


@lru_cache(maxsize=16)
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
