"""Text of models, maps and files as people may read it: what nobody can see is spelled out (pure).

Characters that control a terminal, change the direction of writing, part lines or show nothing would let such a text
pass for ours, and let code read otherwise than it runs.
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
"""Where an absolute path begins, up to its last name; ``replay//home/me/run`` has one too."""


class _Spelling(dict[int, int | str]):
    """What ``str.translate`` asks: how a character is spelled, by its code."""

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
    """Return a text without characters that control a terminal, change the direction of writing or show nothing.

    Control characters become their pictures (``␛``), others their code (``⟨U+202E⟩``); line feeds and tabs stay,
    and a carriage return before a line feed goes. What comes out stays as it is when it is given again.
    """
    if text.isascii() and text.isprintable():  # most are, and this is a lot faster
        return text
    return text.replace("\r\n", "\n").translate(_SHOWN)


def one_line(text: str) -> str:
    """Return a text as :func:`visible` makes it, its line feeds and tabs spaces: it cannot pass for more lines."""
    return visible(text).replace("\n", " ").replace("\t", " ")


def beginning(text: str, length: int) -> str:
    """Return the first characters of a text in one line, its blanks single; "…" stands for what is left out."""
    words = one_line(" ".join(text[: 10 * length].split()))
    return words if len(words) <= length else f"{words[: length - 1]}…"


def fold_words(start: str, words: str, width: int = 80) -> list[str]:
    """Return lines that begin below the end of ``start``; names and addresses stay whole, to be copied."""
    return wrap(
        words,
        width,
        initial_indent=start,
        subsequent_indent=" " * len(start),
        break_on_hyphens=False,
        break_long_words=False,
    )


def strip_folders(text: str) -> str:
    """Return a text in which of absolute paths only the last name is left, addresses of servers apart."""
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
    """Return JSON in which such characters are escapes: it says the same."""
    if text.isascii() and "\x7f" not in text:  # JSON has escaped the others
        return text
    return text.translate(_JSON)


def escape_code(text: str) -> str:
    """Return Python source in which such characters are escapes and all lines end with a line feed.

    An escape is the same character in a string that is not raw, harmless in a comment, and an error anywhere else.
    NUL and halves of surrogate pairs stay: Python's parser refuses them.
    """
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_PYTHON)
