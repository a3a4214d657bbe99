"""The texts of a run as they are shown: each is kept once."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from spca.common.text import visible
from spca.common.web.packing import Text
from spca.report.read.model import AgentText, Method

_ID_DIGITS: Final = 16


class Shelf:
    """The texts of a run, each under an id made of its content; may be used from several threads."""

    def __init__(self) -> None:
        self._put: dict[str, tuple[str, str, tuple[Method, ...]]] = {}
        self._shown: dict[str, Text] = {}
        self._lock = threading.Lock()
        self._of_thread = threading.local()

    def put(self, text: str, language: str, methods: tuple[Method, ...] = ()) -> str:
        """Keep a text (``python``, ``pddl``, ``json`` or ``text``); returns its id, equal for equal texts.

        Args:
            methods: those of an agent.
        """
        origins = "".join(f"{each.level} {each.attempt} {each.call}\n" for each in methods)
        data = f"{language}\n{origins}{text}".encode(errors="surrogatepass")
        name = hashlib.sha256(data).hexdigest()[:_ID_DIGITS]
        with self._lock:
            self._put.setdefault(name, (text, language, methods))
        for collected in getattr(self._of_thread, "collections", ()):
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
            text, language, methods = self._put[id]
            lines = tuple(visible(text).split("\n"))
            shown = AgentText(language, lines, methods) if methods else Text(language, lines)
            self._shown[id] = shown
        return shown

    @contextmanager
    def collecting(self) -> Iterator[set[str]]:
        """The ids that this thread puts while the block lasts."""
        collected = set[str]()
        outer = getattr(self._of_thread, "collections", ())
        self._of_thread.collections = (*outer, collected)
        try:
            yield collected
        finally:
            self._of_thread.collections = outer
