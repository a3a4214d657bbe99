"""Parse the data after a name in Minecraft's commands, such as ``{Items:[{id:"stick",Count:2b}]}``."""

from __future__ import annotations

import re
from typing import Final

from explorer.errors import SceneError

Tag = str | int | float | list["Tag"] | dict[str, "Tag"]
_TOKEN: Final = re.compile(
    r"""\s*(?:([{}\[\]:,;])|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([A-Za-z0-9_.+-]+))""", re.DOTALL
)
_NUMBER: Final = re.compile(r"([+-]?\d{1,18})[bsl]?|([+-]?\d{1,15}\.\d{0,15}|[+-]?\.\d{1,15})[fd]?", re.IGNORECASE)
_DEEPEST: Final = 12


def parse_snbt(text: str) -> dict[str, Tag]:
    """Return a compound; booleans are 0 and 1, as in the game.

    Raises:
        SceneError: the text is not a compound.
    """
    tokens = []
    at = 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise SceneError(f"cannot read the data {text[at : at + 20]!a}: write {{Key:value}}")
        tokens.append((found[1] or "", found[2] if found[2] is not None else found[3], found[4] or ""))
        at = found.end()
    reader = _Reader(tokens)
    value = reader.value(0)
    if not isinstance(value, dict) or reader.at < len(tokens):
        raise SceneError(f"cannot read the data {text[:20]!a}: write {{Key:value}}")
    return value


class _Reader:
    """Reads tokens: (mark, quoted text or None, bare word)."""

    def __init__(self, tokens: list[tuple[str, str | None, str]]) -> None:
        self._tokens = tokens
        self.at = 0

    def value(self, depth: int) -> Tag:
        if depth > _DEEPEST:
            raise SceneError(f"the data is nested more than {_DEEPEST} levels deep")
        mark, quoted, bare = self._next()
        if mark == "{":
            return self._compound(depth)
        if mark == "[":
            return self._list(depth)
        if mark:
            raise SceneError(f"the data has {mark!a} where a value belongs")
        return re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else _word(bare)

    def _compound(self, depth: int) -> dict[str, Tag]:
        made: dict[str, Tag] = {}
        while not self._closes("}"):
            _, quoted, bare = self._next()
            key = bare if quoted is None else quoted
            if not key or self._next()[0] != ":":
                raise SceneError("the data has a key without a value: write {Key:value}")
            made[key] = self.value(depth + 1)
            self._comma("}")
        return made

    def _list(self, depth: int) -> list[Tag]:
        if [token[0] or token[2] for token in self._tokens[self.at : self.at + 2]] in (
            ["B", ";"],
            ["I", ";"],
            ["L", ";"],
        ):
            self.at += 2
        made: list[Tag] = []
        while not self._closes("]"):
            made.append(self.value(depth + 1))
            self._comma("]")
        return made

    def _next(self) -> tuple[str, str | None, str]:
        if self.at == len(self._tokens):
            raise SceneError("the data ends too early: a bracket is missing")
        self.at += 1
        return self._tokens[self.at - 1]

    def _closes(self, bracket: str) -> bool:
        if self.at < len(self._tokens) and self._tokens[self.at][0] == bracket:
            self.at += 1
            return True
        return False

    def _comma(self, bracket: str) -> None:
        if self.at < len(self._tokens) and self._tokens[self.at][0] == bracket:
            return
        if self._next()[0] != ",":
            raise SceneError(f"the data lacks a comma or a {bracket!a}")


def _word(text: str) -> Tag:
    if text in ("true", "false"):
        return int(text == "true")
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return int(number[1]) if number[1] else float(number[2])
