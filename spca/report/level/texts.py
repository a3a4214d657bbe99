"""The texts of a level as they are shown: each is kept once."""

from __future__ import annotations

import hashlib
from typing import Final

from spca.common.web.packing import Text
from spca.report.read.model import AgentText, Method

_ID_DIGITS: Final = 16


class Shelf:
    """The texts of a level.

    Attributes:
        texts: by ids made of their content.
    """

    def __init__(self) -> None:
        self.texts: dict[str, Text] = {}

    def put(self, text: str, language: str, methods: tuple[Method, ...] = ()) -> str:
        """Keep a text (``python``, ``pddl``, ``json`` or ``text``); return its id, equal for equal texts, "" for "".

        Args:
            methods: those of an agent.
        """
        if not text:
            return ""
        origins = ""
        for method in methods:
            origins += f"{method.level} {method.attempt} {method.call}\n"
        data = f"{language}\n{origins}{text}".encode(errors="surrogatepass")
        name = hashlib.sha256(data).hexdigest()[:_ID_DIGITS]
        if name not in self.texts:
            lines = tuple(text.replace("\r\n", "\n").split("\n"))
            self.texts[name] = AgentText(language, lines, methods) if methods else Text(language, lines)
        return name
