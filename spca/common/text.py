"""Safe display of texts from models, maps and files: invisible characters are spelled out (pure).

Characters that control a terminal, reverse the direction of writing, break lines or show nothing could make such a text
look like output of this program. They could also make code look different from what it does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from textwrap import wrap
from typing import Final

_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_FILLERS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]"
)
"""Invisible characters, except the selectors of text and emoji style."""
_FOLDERS: Final = re.compile(r"(?:(?<![\w:/.<~-])|(?<=(?<!:)/))/(?:[^\s/:,;'\"]+/)*(?=[\w.~])")
"""The folders of an absolute path without its last name; also found within ``replay//home/me/run``."""


class _Spelling(dict[int, int | str]):
    """A table for ``str.translate``: code of a character -> its spelling."""

    def __init__(self, spell: Callable[[int], str]) -> None:
        super().__init__((code, code) for code in (*b"\n\t", *range(0x20, 0x7F)))
        self._spell = spell

    def __missing__(self, code: int) -> int | str:
        character = chr(code)
        hidden = unicodedata.category(character) in _HIDDEN_CATEGORIES or _FILLERS.match(character)
        return self._spell(code) if hidden else code


def _show_control(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def _json(code: int) -> str:
    halves = chr(code).encode("utf-16-be", "surrogatepass")
    units = [halves[at : at + 2].hex() for at in range(0, len(halves), 2)]
    return "".join(f"\\u{unit}" for unit in units)


def _python(code: int) -> str:
    if code == 0 or 0xD800 <= code < 0xE000:
        return chr(code)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


_SHOWN = _Spelling(_show_control)
_JSON = _Spelling(_json)
_PYTHON = _Spelling(_python)


def visible(text: str) -> str:
    """Return a text with the code or picture of each character that is invisible or controls the display.

    Such a character controls a terminal, changes the direction of writing, or shows nothing. Control characters become
    their pictures (``␛``), the other characters become their codes (``⟨U+202E⟩``). Line feeds and tabs stay, and a
    carriage return before a line feed is removed. A second call changes nothing more.
    """
    if text.isascii() and text.isprintable():  # the usual case, and a lot faster
        return text
    return text.replace("\r\n", "\n").translate(_SHOWN)


def one_line(text: str) -> str:
    """Return the :func:`visible` form of a text as one line, with spaces in place of line feeds and tabs."""
    return visible(text).replace("\n", " ").replace("\t", " ")


def beginning(text: str, length: int) -> str:
    """Return the first ``length`` characters of a text in one line; a cut text ends in "…".

    White space in the text is reduced to single spaces.
    """
    words = one_line(" ".join(text[: 10 * length].split()))
    return words if len(words) <= length else f"{words[: length - 1]}…"


def fold_words(start: str, words: str, width: int = 80) -> list[str]:
    """Return the lines of ``start`` and ``words``, wrapped to ``width``.

    Further lines are indented by the length of ``start``. Names and addresses are not broken, so that a user can copy
    them.
    """
    return wrap(
        words,
        width,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_on_hyphens=False,
        break_long_words=False,
    )


def strip_folders(text: str) -> str:
    """Return a text in which absolute paths are shortened to their last name; addresses of servers stay."""
    return _FOLDERS.sub("", text)


def format_count(number: int, what: str) -> str:
    """Return a number with its noun: ``1 request``, ``2,000 requests``."""
    plural = "" if number == 1 else "s"
    return f"{number:,} {what}{plural}"


def clock(seconds: float) -> str:
    """Return a time as ``0:42``, ``12:03`` or ``1:02:03``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}"


def escape_json(text: str) -> str:
    """Return JSON with invisible characters escaped; the JSON still holds the same data."""
    if text.isascii() and "\x7f" not in text:  # JSON has escaped the others
        return text
    return text.translate(_JSON)


def escape_code(text: str) -> str:
    """Return Python source with invisible characters escaped; all lines end with a line feed.

    In a string that is not raw, an escape means the same character. In a comment, an escape is harmless; elsewhere, it
    is a syntax error. NUL and halves of surrogate pairs stay, because Python's parser refuses them.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_PYTHON)
