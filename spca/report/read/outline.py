"""Where the methods of a Python source lie, read from its lines (pure).

Unlike a syntax tree this is there for a source with a syntax error, costs a hundredth for one of thousands of versions
of an agent, and takes linear time whatever the text is. Both tell the same but for a method with an expression in
brackets whose lines begin further left than the method: there it seems to end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

MAX_CHARS: Final = 400_000
"""Longer texts have no outline."""

_COMMENT_OR_STRING: Final = re.compile(
    r"""\#[^\n]*
    |\"{3}(?:[^\\]|\\.)*?(?:\"{3}|\Z) | '{3}(?:[^\\]|\\.)*?(?:'{3}|\Z)
    |"(?:[^"\\\n]|\\.)*+"?  | '(?:[^'\\\n]|\\.)*+'?""",
    re.VERBOSE | re.DOTALL,
)
_DEFINITION: Final = re.compile(r"(?:async\s++)?def\s++(\w++)")


@dataclass(frozen=True, slots=True)
class MethodLines:
    """Where a method, or a function outside of classes, lies. Lines count from 1: decorators begin at ``first``, the
    body ends at ``last``, ``line`` is that of its ``def``."""

    name: str
    first: int
    line: int
    last: int


@lru_cache(maxsize=64)
def methods(source: str) -> tuple[MethodLines, ...]:
    """Return the methods of all classes in source order, without those inside methods; () for a very long text."""
    if len(source) > MAX_CHARS:
        return ()
    found = list[MethodLines]()
    name = ""
    margin = 0
    first = 0
    line = 0
    last = 0
    decorated = 0
    lines = zip(source.split("\n"), lines_in_strings(source), strict=True)
    for number, (text, in_string) in enumerate(lines, 1):
        code = text.lstrip()
        if in_string:
            last = number
            continue
        if not code or code[0] == "#":
            continue
        is_inner = len(text) - len(code) > margin or code[0] in ")]}"
        if name and not is_inner:
            found.append(MethodLines(name, first, line, last))
            name = ""
        if not name and (definition := _DEFINITION.match(code)):
            name = definition[1]
            margin = len(text) - len(code)
            line = number
            first = decorated or number
            decorated = 0
        elif not name and code[0] == "@":
            margin = len(text) - len(code)
            decorated = decorated or number
        elif not name and not is_inner:
            decorated = 0
        last = number
    return tuple([*found, MethodLines(name, first, line, last)] if name else found)


def lines_in_strings(source: str) -> Iterator[bool]:
    """Yield for each line of a Python source whether it begins within a string."""
    inside = set[int]()
    for match in _COMMENT_OR_STRING.finditer(source):
        if breaks := match[0].count("\n"):
            line = source.count("\n", 0, match.start())
            inside.update(range(line + 1, line + 1 + breaks))
    yield from (number in inside for number in range(source.count("\n") + 1))


def method_at(source: str, line: int) -> MethodLines | None:
    """Return the method that a line belongs to."""
    return next((method for method in methods(source) if method.first <= line <= method.last), None)


def method_named(source: str, name: str) -> MethodLines | None:
    """Return the method of a name; of several the last, which is the one that Python keeps."""
    return next((method for method in reversed(methods(source)) if method.name == name), None)
