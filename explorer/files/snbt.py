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
        mark, double_quoted, single_quoted, bare = found.groups()
        quoted = single_quoted if double_quoted is None else double_quoted
        tokens.append((mark or "", quoted, bare or ""))
        at = found.end()

    reader = _Reader(tokens)
    value = reader.read_value(0)
    if not isinstance(value, dict) or reader.at < len(tokens):
        raise SceneError(f"cannot read the data {text[:20]!a}: write {{Key:value}}")
    return value


class _Reader:
    """Reads tokens: (mark, quoted text or None, bare word)."""

    def __init__(self, tokens: list[tuple[str, str | None, str]]) -> None:
        self._tokens = tokens
        self.at = 0

    def read_value(self, depth: int) -> Tag:
        if depth > _DEEPEST:
            raise SceneError(f"the data is nested more than {_DEEPEST} levels deep")
        mark, quoted, bare = self._take_token()
        if mark == "{":
            return self._read_compound(depth)
        if mark == "[":
            return self._read_list(depth)
        if mark:
            raise SceneError(f"the data has {mark!a} where a value belongs")
        if quoted is None:
            return _parse_word(bare)
        return re.sub(r"\\(.)", r"\1", quoted)

    def _read_compound(self, depth: int) -> dict[str, Tag]:
        tags: dict[str, Tag] = {}
        while not self._skip("}"):
            _, quoted, bare = self._take_token()
            key = bare if quoted is None else quoted
            if not key or self._take_token()[0] != ":":
                raise SceneError("the data has a key without a value: write {Key:value}")
            tags[key] = self.read_value(depth + 1)
            self._skip_comma("}")
        return tags

    def _read_list(self, depth: int) -> list[Tag]:
        self._skip_array_type()
        tags: list[Tag] = []
        while not self._skip("]"):
            tags.append(self.read_value(depth + 1))
            self._skip_comma("]")
        return tags

    def _skip_array_type(self) -> None:
        """Skip the "B;", "I;" or "L;" that begins an array of numbers."""
        words = [mark or bare for mark, _, bare in self._tokens[self.at : self.at + 2]]
        if words in (["B", ";"], ["I", ";"], ["L", ";"]):
            self.at += 2

    def _take_token(self) -> tuple[str, str | None, str]:
        if self.at == len(self._tokens):
            raise SceneError("the data ends too early: a bracket is missing")
        self.at += 1
        return self._tokens[self.at - 1]

    def _is_next(self, mark: str) -> bool:
        return self.at < len(self._tokens) and self._tokens[self.at][0] == mark

    def _skip(self, bracket: str) -> bool:
        """Skip a bracket; return whether it was there."""
        found = self._is_next(bracket)
        self.at += found
        return found

    def _skip_comma(self, bracket: str) -> None:
        """Skip the comma after a value, unless the closing bracket comes next."""
        if self._is_next(bracket):
            return
        if self._take_token()[0] != ",":
            raise SceneError(f"the data lacks a comma or a {bracket!a}")


def _parse_word(text: str) -> Tag:
    """Return the number or text that a bare word stands for."""
    if text in ("true", "false"):
        return int(text == "true")
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return int(number[1]) if number[1] else float(number[2])
