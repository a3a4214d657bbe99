"""The store of a level's texts, in which equal texts are stored once."""

from __future__ import annotations

import hashlib
from typing import Final

from spca.common.web.packing import Text
from spca.report.read.model import AgentText, Method

_ID_DIGITS: Final = 16


class Shelf:
    """The store of a level's texts.

    Attributes:
        texts: texts by id; an id is a hash of the content.
    """

    def __init__(self) -> None:
        self.texts: dict[str, Text] = {}

    def put(self, text: str, language: str, methods: tuple[Method, ...] = ()) -> str:
        """Store a text and return its id; for an empty text, store nothing and return "".

        Args:
            language: ``python``, ``pddl``, ``json`` or ``text``.
            methods: if the text is an agent, its methods with their origins. Texts with different origins get different
                ids.
        """
        if not text:
            return ""
        origins = "".join(f"{method.level} {method.attempt} {method.call}\n" for method in methods)
        data = f"{language}\n{origins}{text}".encode(errors="surrogatepass")
        name = hashlib.sha256(data).hexdigest()[:_ID_DIGITS]
        if name not in self.texts:
            lines = tuple(text.replace("\r\n", "\n").split("\n"))
            self.texts[name] = AgentText(language, lines, methods) if methods else Text(language, lines)
        return name
