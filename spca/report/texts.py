"""Texts as they may be shown: what nobody can see is spelled out, and each text is highlighted once."""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from spca.report.highlighting import highlighted
from spca.report.model import Text

_ID_DIGITS: Final = 16
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_FILLERS: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]"
)
"""Letters and marks of which nothing is seen; the selectors of text and emoji style are not among them."""


class _Spelling(dict[int, int | str]):
    """What ``str.translate`` asks: how a character is spelled, by its code."""

    def __missing__(self, code: int) -> int | str:
        character = chr(code)
        if code < 0x20:
            return chr(0x2400 + code)
        if code == 0x7F:
            return "\u2421"
        hidden = unicodedata.category(character) in _HIDDEN_CATEGORIES or _FILLERS.match(character)
        return f"⟨U+{code:04X}⟩" if hidden else code


_SPELLING: Final = _Spelling((code, code) for code in (*b"\n\t", *range(0x20, 0x7F)))


def visible(text: str) -> str:
    """A text without characters that control a terminal, change the direction of writing or show nothing.

    Control characters become their pictures (``␛``), others their code (``⟨U+202E⟩``); line feeds and tabs stay,
    and a carriage return before a line feed goes. What comes out stays as it is when it is given again.
    """
    if text.isascii() and text.isprintable():  # most are, and this is a lot faster
        return text
    return text.replace("\r\n", "\n").translate(_SPELLING)


class Shelf:
    """The texts of a run, each under an id made of its content; may be used from several threads."""

    def __init__(self) -> None:
        self._put: dict[str, tuple[str, str]] = {}
        self._shown: dict[str, Text] = {}
        self._collections: dict[int, list[set[str]]] = {}
        self._lock = threading.Lock()

    def put(self, text: str, language: str) -> str:
        """Keep a text (``python``, ``pddl``, ``json`` or ``text``); returns its id, equal for equal texts."""
        data = f"{language}\n{text}".encode(errors="surrogatepass")
        name = hashlib.sha256(data).hexdigest()[:_ID_DIGITS]
        with self._lock:
            self._put.setdefault(name, (text, language))
            for collected in self._collections.get(threading.get_ident(), ()):
                collected.add(name)
        return name

    def raw(self, id: str) -> str:
        """A text as it was put.

        Raises:
            KeyError: none has this id.
        """
        return self._put[id][0]

    def text(self, id: str) -> Text:
        """A text as it is shown.

        Raises:
            KeyError: none has this id.
        """
        shown = self._shown.get(id)
        if shown is None:
            text, language = self._put[id]
            shown = self._shown[id] = Text(language, highlighted(visible(text), language))
        return shown

    @contextmanager
    def collecting(self) -> Iterator[set[str]]:
        """The ids that this thread puts while the block lasts."""
        collected, thread = set[str](), threading.get_ident()
        with self._lock:
            self._collections.setdefault(thread, []).append(collected)
        try:
            yield collected
        finally:
            with self._lock:
                mine = self._collections[thread]
                mine[:] = [other for other in mine if other is not collected]
                if not mine:
                    del self._collections[thread]
