"""Parse the data that follow a name in Minecraft's commands, such as ``{Items:[{id:"stick",Count:2b}]}``.

Minecraft calls the syntax stringified NBT, or SNBT.
"""

from __future__ import annotations

import re
from typing import Final

from explorer.errors import SceneError

Tag = str | int | float | list["Tag"] | dict[str, "Tag"]
_TOKEN: Final = re.compile(
    r"""\s*(?:([{}\[\]:,;])|"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([A-Za-z0-9_.+-]+))""", re.DOTALL
)
"""Pattern of a token; the groups are a mark, a text in double quotes, a text in single quotes, and a bare word."""
_NUMBER: Final = re.compile(r"([+-]?\d{1,18})[bsl]?|([+-]?\d{1,15}\.\d{0,15}|[+-]?\.\d{1,15})[fd]?", re.IGNORECASE)
"""Pattern of a number; the groups are a whole number and a decimal fraction."""
_DEEPEST: Final = 12
"""Deepest nesting of lists and compounds."""


def parse_snbt(text: str) -> dict[str, Tag]:
    """Return the compound that a text describes; true and false become 1 and 0, as in the game.

    Raises:
        SceneError: the text is not a compound.
    """
    tokens = []
    position = 0
    while text[position:].strip():
        token = _TOKEN.match(text, position)
        if token is None:
            raise SceneError(f"cannot read the data {text[position : position + 20]!a}: write {{Key:value}}")
        mark, double_quoted, single_quoted, bare = token.groups()
        quoted = single_quoted if double_quoted is None else double_quoted
        tokens.append((mark or "", quoted, bare or ""))
        position = token.end()

    reader = _Reader(tokens)
    value = reader.read_value(0)
    if not isinstance(value, dict) or reader.position < len(tokens):
        raise SceneError(f"cannot read the data {text[:20]!a}: write {{Key:value}}")
    return value


class _Reader:
    """A recursive-descent parser of tokens.

    Args:
        tokens: triples (mark or "", quoted text or None, bare word or "").

    Attributes:
        position: index of the next token.
    """

    def __init__(self, tokens: list[tuple[str, str | None, str]]) -> None:
        self._tokens = tokens
        self.position = 0

    def read_value(self, depth: int) -> Tag:
        """Return the value that begins at the next token.

        Args:
            depth: number of lists and compounds that contain the value.
        """
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
        """Return the compound whose opening brace has already been read; read up to the closing brace."""
        tags: dict[str, Tag] = {}
        while not self._take_if_next("}"):
            _, quoted, bare = self._take_token()
            key = bare if quoted is None else quoted
            has_value = bool(key) and self._take_token()[0] == ":"
            if not has_value:
                raise SceneError("the data has a key without a value: write {Key:value}")
            tags[key] = self.read_value(depth + 1)
            self._take_comma("}")
        return tags

    def _read_list(self, depth: int) -> list[Tag]:
        """Return the list or array whose opening bracket has already been read; read up to the closing bracket."""
        self._skip_array_type()
        tags: list[Tag] = []
        while not self._take_if_next("]"):
            tags.append(self.read_value(depth + 1))
            self._take_comma("]")
        return tags

    def _skip_array_type(self) -> None:
        """Skip the type "B;", "I;" or "L;" at the beginning of an array of numbers, if present."""
        words = [mark or bare for mark, _, bare in self._tokens[self.position : self.position + 2]]
        if words in (["B", ";"], ["I", ";"], ["L", ";"]):
            self.position += 2

    def _take_token(self) -> tuple[str, str | None, str]:
        """Return the next token, and move on to the following token."""
        if self.position == len(self._tokens):
            raise SceneError("the data ends too early: a bracket is missing")
        self.position += 1
        return self._tokens[self.position - 1]

    def _is_next(self, mark: str) -> bool:
        return self.position < len(self._tokens) and self._tokens[self.position][0] == mark

    def _take_if_next(self, bracket: str) -> bool:
        """Skip the next token if it is the given bracket, and return whether it was skipped."""
        is_next = self._is_next(bracket)
        if is_next:
            self.position += 1
        return is_next

    def _take_comma(self, bracket: str) -> None:
        """Skip the comma after a value. If the closing bracket follows instead, skip nothing."""
        if self._is_next(bracket):
            return
        if self._take_token()[0] != ",":
            raise SceneError(f"the data lacks a comma or a {bracket!a}")


def _parse_word(text: str) -> Tag:
    """Return the number that a bare word denotes, or the word itself. The words true and false denote 1 and 0."""
    if text in ("true", "false"):
        return int(text == "true")
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return int(number[1]) if number[1] else float(number[2])
