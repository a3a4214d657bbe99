"""Line ranges of the methods in a Python source, found by indentation (no input or output).

Unlike a syntax tree, an outline can be made for a source with a syntax error. It takes a hundredth of the time, which
matters because an agent has thousands of versions. The time is linear for every text.

Outline and syntax tree agree, with one exception. If a line in brackets begins further left than its method, the
outline ends the method there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

MAX_CHARS: Final = 400_000
"""Largest length, in characters, of a text that has an outline."""

_COMMENT_OR_STRING: Final = re.compile(
    r"""\#[^\n]*
    |\"{3}(?:[^\\]|\\.)*?(?:\"{3}|\Z) | '{3}(?:[^\\]|\\.)*?(?:'{3}|\Z)
    |"(?:[^"\\\n]|\\.)*+"?  | '(?:[^'\\\n]|\\.)*+'?""",
    re.VERBOSE | re.DOTALL,
)
_DEFINITION: Final = re.compile(r"(?:async\s++)?def\s++(\w++)")


@dataclass(frozen=True, slots=True)
class MethodLines:
    """The lines, from 1, of a method or of a function outside of classes.

    Attributes:
        first: first line, which may be a decorator.
        line: line of the ``def``.
        last: last line of the body.
    """

    name: str
    first: int
    line: int
    last: int


@lru_cache(maxsize=64)
def methods(source: str) -> tuple[MethodLines, ...]:
    """Return all methods of classes, and all functions except functions inside functions, in source order.

    Return () for a text of more than :data:`MAX_CHARS` characters.
    """
    if len(source) > MAX_CHARS:
        return ()
    found: list[MethodLines] = []
    name = ""  # of the method that the current line may belong to; "" outside of methods
    indent = 0  # of that method, or of the decorators before a method
    first = 0
    line = 0
    last = 0  # the last line with code so far
    decorated = 0  # first line of the decorators before the next definition; 0 without decorators
    lines = zip(source.split("\n"), lines_in_strings(source), strict=True)
    for number, (text, in_string) in enumerate(lines, 1):
        code = text.lstrip()
        if in_string:
            last = number
            continue
        if not code or code[0] == "#":
            continue
        # A closing bracket may stand at the left of the method that it belongs to.
        is_inner = len(text) - len(code) > indent or code[0] in ")]}"
        if name and not is_inner:
            found.append(MethodLines(name, first, line, last))
            name = ""
        if not name and (definition := _DEFINITION.match(code)):
            name = definition[1]
            indent = len(text) - len(code)
            line = number
            first = decorated or number
            decorated = 0
        elif not name and code[0] == "@":
            indent = len(text) - len(code)
            decorated = decorated or number
        elif not name and not is_inner:
            decorated = 0
        last = number
    if name:
        found.append(MethodLines(name, first, line, last))
    return tuple(found)


def lines_in_strings(source: str) -> Iterator[bool]:
    """Yield, for each line of a Python source, whether the line begins within a string."""
    inside = set[int]()  # line numbers from 0
    for match in _COMMENT_OR_STRING.finditer(source):
        if breaks := match[0].count("\n"):
            line = source.count("\n", 0, match.start())
            inside.update(range(line + 1, line + 1 + breaks))
    for number in range(source.count("\n") + 1):
        yield number in inside


def method_at(source: str, line: int) -> MethodLines | None:
    """Return the method that a line belongs to; None if the line is outside of methods."""
    containing = (method for method in methods(source) if method.first <= line <= method.last)
    return next(containing, None)


def method_named(source: str, name: str) -> MethodLines | None:
    """Return the last method called ``name``, because Python keeps the last; None if there is no such method."""
    matching = (method for method in reversed(methods(source)) if method.name == name)
    return next(matching, None)
