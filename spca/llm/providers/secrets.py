"""Untrusted words made fit for a log: keys taken out, one line, a bounded length.

What a server says, and what a library says of a request, may repeat the key that was sent. Everything that
leaves a provider as the text of an error goes through :func:`quoted`.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Mapping
from typing import Final

HIDDEN: Final = "[hidden]"
"""What stands where a key was."""

_MAX_QUOTED: Final = 300
_MIN_SECRET: Final = 8
_SECRET_NAMES: Final = ("_API_KEY", "_TOKEN", "_SECRET")
_TAKEN: Final[set[str]] = set()
"""Variables that this process has taken a key from; users choose their names."""
_USERINFO: Final = re.compile(r"(?<=://)[^/\s?#]+(?=@)")
_KEY_SHAPES: Final = re.compile(
    r"(?:(?<=Bearer )|(?<=[?&]key=))[^\s&\"']+"
    r"|\b(?:sk|gsk|hf|xai)[-_][\w*.-]{6,}"
    r"|\bAIza[\w*-]{6,}"
)


def hide(variable: str) -> None:
    """Take the value of a variable out of all texts from now on, whatever its name is."""
    _TAKEN.add(variable)


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """``text`` without keys: values of variables that hold one, user names in addresses, and whatever looks like one.

    Args:
        text: any text.
        environment: variables to look in; those of this process when None.
    """
    return _KEY_SHAPES.sub(HIDDEN, _USERINFO.sub(HIDDEN, without_keys(text, environment)))


def without_keys(text: str, environment: Mapping[str, str] | None = None) -> str:
    """``text`` without the values of variables that hold a key, and otherwise as it is: for answers, which are code.

    Values shorter than 8 characters are words, not keys.
    """
    variables = os.environ if environment is None else environment
    values = {
        value.strip()
        for name, value in variables.items()
        if (name in _TAKEN or name.upper().endswith(_SECRET_NAMES)) and len(value.strip()) >= _MIN_SECRET
    }
    for value in sorted(values, key=lambda v: (-len(v), v)):  # a key may be a part of a longer one
        text = text.replace(value, HIDDEN)
    return text


def quoted(words: object, environment: Mapping[str, str] | None = None) -> str:
    """``words`` as one line of at most 300 characters, without keys and without characters that steer a terminal."""
    printable = "".join(" " if unicodedata.category(c).startswith("C") else c for c in str(words))
    line = redact(" ".join(printable.split()), environment)  # before the cut: half a key would not be found
    return line if len(line) <= _MAX_QUOTED else f"{line[: _MAX_QUOTED - 1]}…"
