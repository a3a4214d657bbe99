"""Highlighting of Python, PDDL and JSON, line by line (pure).

Made for text that nobody has vouched for, and for thousands of versions of nearly the same source: every line is
scanned once, in linear time, and remembered; what is broken is only coloured otherwise. (Lexers made for well-formed
sources take minutes for some texts of 100 KB, and 70 ms for an agent, where this takes one.)

Classes of tokens: ``k`` keyword, ``s`` string, ``c`` comment, ``n`` number, ``f`` name being defined, ``b`` builtin,
``o`` operator, ``v`` variable of PDDL or name in a JSON object.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Final, TypeAlias

from spca.report.read.model import Token

Line: TypeAlias = tuple[Token, ...]
_Scan: TypeAlias = Callable[[str, str], tuple[Line, str]]
"""Tokens of a line, given in which string it begins, and in which one it ends."""

MAX_CHARS: Final = 400_000
"""Longer texts are left plain."""

_MAX_REMEMBERED: Final = 300
"""Characters of a line that is worth remembering."""

_STRING: Final = {quote: rf"(?>(?:[^\\{quote[0]}]++|\\.?|{quote[0]}(?!{quote[1:]}))*)" for quote in ('"""', "'''")} | {
    quote: rf"(?>(?:[^\\{quote}]++|\\.?)*)" for quote in ('"', "'")
}
"""What a string of Python holds, by its quote, up to the quote or the end of the line.

Not with a possessive quantifier: before Python 3.11.5 one of a group with branches matches too little.
"""

_REST: Final = {quote: re.compile(rf"({inside})({quote})?") for quote, inside in _STRING.items()}
_NUMBER: Final = r"0[xXoObB]\w++|(?:\d[\d_]*+(?:\.[\d_]*+)?|\.\d[\d_]*+)(?:[eE][+-]?\d++)?[jJ]?"
_PYTHON: Final = re.compile(
    rf"""(?P<c>\#.*+)
    |(?P<string>(?:[rR][bBfF]?|[bBfF][rR]?|[uU])?(?P<quote>\"{{3}}|'{{3}}|"|'))
    |(?P<f>(?<=def[ ])\w++|(?<=class[ ])\w++)
    |(?P<n>{_NUMBER})
    |(?P<name>\w++)
    |(?P<attribute>\.\s*+[^\W\d]\w*+)
    |(?P<o>:=|[-+*/%@&|^~<>=!]++)""",
    re.VERBOSE,
)
_PDDL: Final = re.compile(
    r"""(?P<c>;.*+)
    |(?P<v>\?[^\s();]++)
    |(?P<f>(?<=:action[ ])[^\s();]++|(?<=\(domain[ ])[^\s();]++|(?<=\(problem[ ])[^\s();]++)
    |(?P<k>:[^\s();]++)
    |(?P<n>-?\d++(?:\.\d++)?(?![^\s();]))
    |(?P<name>[^\s();]++)""",
    re.VERBOSE,
)
_PDDL_OPERATORS: Final = "and or not forall exists when imply either assign increase decrease = < > <= >= + - * /"
_PDDL_WORDS: Final = dict.fromkeys(("define", "domain", "problem"), "k") | dict.fromkeys(_PDDL_OPERATORS.split(), "o")
_JSON: Final = re.compile(
    r"""(?P<v>"(?>(?:[^"\\]++|\\.?)*)"(?=\s*+:))
    |(?P<s>"(?>(?:[^"\\]++|\\.?)*)"?)
    |(?P<n>-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?)
    |(?P<k>\b(?:true|false|null)\b)""",
    re.VERBOSE,
)
_PYTHON_WORDS: Final = (
    dict.fromkeys((name for name in dir(builtins) if not name.startswith("_")), "b")
    | dict.fromkeys(keyword.kwlist, "k")
    | {"self": "b"}
)


def highlighted(text: str, language: str) -> tuple[Line, ...]:
    """Tokens of every line of a text; of a language that is not known, or a text that is long, the lines as they are.

    Joined, the tokens of a line are the line; lines end at line feeds only.
    """
    scan = _SCANNERS[language] if language in _SCANNERS and len(text) <= MAX_CHARS else _plain
    lines, state = list[Line](), ""
    for line in text.split("\n"):
        tokens, state = _remembering(scan, line, state) if len(line) <= _MAX_REMEMBERED else scan(line, state)
        lines.append(tokens)
    return tuple(lines)


def lines_in_strings(source: str) -> Iterator[bool]:
    """For each line of a Python source, whether it begins within a string."""
    state = ""
    for line in source.split("\n"):
        yield bool(state)
        quoted = state in line if len(state) == 3 else state or '"' in line or "'" in line
        if quoted:
            remembered = len(line) <= _MAX_REMEMBERED
            state = (_remembering(_python, line, state) if remembered else _python(line, state))[1]


@lru_cache(maxsize=1 << 16)
def _remembering(scan: _Scan, line: str, state: str) -> tuple[Line, str]:
    return scan(line, state)


def _plain(line: str, _state: str) -> tuple[Line, str]:
    return ((line,) if line else ()), ""


def _python(line: str, state: str) -> tuple[Line, str]:
    """``state`` is the quote of the string that the line begins or ends in."""
    pieces, at = list[tuple[str, str]](), 0
    if state:
        at, state = _string_end(line, 0, state)
        pieces.append(("s", line[:at]))
    while not state and (match := _PYTHON.search(line, at)):
        pieces.append(("", line[at : match.start()]))
        kind, end = match.lastgroup or "", match.end()
        if match["quote"]:
            kind = "s"
            end, state = _string_end(line, end, match["quote"])
        elif kind == "name":
            kind = _PYTHON_WORDS.get(match[0], "")
        elif kind == "attribute":
            kind = ""
        pieces.append((kind, line[match.start() : end]))
        at = end
    pieces.append(("", line[at:]))
    return _merged(pieces), state


def _string_end(line: str, at: int, quote: str) -> tuple[int, str]:
    """Where a string ends that is open at a place, and its quote if that is not on this line."""
    match = _REST[quote].match(line, at)
    if match is None or match[2]:
        return (match.end() if match else at), ""
    goes_on = len(quote) == 3 or (len(match[1]) - len(match[1].rstrip("\\"))) % 2 == 1
    return len(line), quote if goes_on else ""


def _by_words(pattern: re.Pattern[str], words: dict[str, str]) -> _Scan:
    """A scanner for a language without strings of several lines; ``words`` are classes of names."""

    def scan(line: str, _state: str) -> tuple[Line, str]:
        pieces, at = list[tuple[str, str]](), 0
        for match in pattern.finditer(line):
            kind = match.lastgroup or ""
            pieces += [("", line[at : match.start()]), (words.get(match[0], "") if kind == "name" else kind, match[0])]
            at = match.end()
        return _merged([*pieces, ("", line[at:])]), ""

    return scan


def _merged(pieces: list[tuple[str, str]]) -> Line:
    """Neighbours of one class become one token; blanks join what is before them."""
    merged = list[tuple[str, list[str]]]()
    for kind, text in pieces:
        if merged and text and (kind == merged[-1][0] or text.isspace()):
            merged[-1][1].append(text)
        elif text:
            merged.append((kind, [text]))
    return tuple((kind, "".join(parts)) if kind else "".join(parts) for kind, parts in merged)


_SCANNERS: Final[dict[str, _Scan]] = {
    "python": _python,
    "pddl": _by_words(_PDDL, _PDDL_WORDS),
    "json": _by_words(_JSON, {}),
}
