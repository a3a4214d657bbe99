"""Where the methods of a Python source lie, read from its lines (pure).

Unlike a syntax tree this is there for a source with a syntax error, costs a hundredth for one of thousands of versions
of an agent, and takes linear time whatever the text is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from spca.report.highlighting import MAX_CHARS, lines_in_strings

_DEFINITION: Final = re.compile(r"\s*+(?:async\s++)?def\s++(\w++)")


@dataclass(frozen=True, slots=True)
class Method:
    """A method, or a function outside of classes. Lines count from 1: decorators begin at ``first``, the body ends at
    ``last``, ``line`` is that of its ``def``."""

    name: str
    first: int
    line: int
    last: int


@lru_cache(maxsize=64)
def methods(source: str) -> tuple[Method, ...]:
    """The methods of all classes in source order, those within methods left out; none for a very long text."""
    if len(source) > MAX_CHARS:
        return ()
    found = list[Method]()
    margin, decorated = -1, 0
    for number, (line, in_string) in enumerate(zip(source.split("\n"), lines_in_strings(source), strict=True), 1):
        code = line.strip()
        if in_string:
            if margin >= 0:
                found[-1] = _until(found[-1], number)
            continue
        if not code or code.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip())
        if indent <= margin and code[0] not in ")]}":
            margin = -1
        if margin >= 0:
            found[-1] = _until(found[-1], number)
        elif definition := _DEFINITION.match(line):
            found.append(Method(definition[1], decorated or number, number, number))
            margin = indent
        decorated = (decorated or number) if margin < 0 and code.startswith("@") else 0
    return tuple(found)


def method_at(source: str, line: int) -> Method | None:
    """The method that a line belongs to."""
    return next((method for method in methods(source) if method.first <= line <= method.last), None)


def method_named(source: str, name: str) -> Method | None:
    """The method of a name; of several the last, which is the one that Python keeps."""
    return next((method for method in reversed(methods(source)) if method.name == name), None)


def _until(method: Method, last: int) -> Method:
    return Method(method.name, method.first, method.line, last)
