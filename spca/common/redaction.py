"""Keys taken out of texts: what a server or a library says may repeat the key that was sent."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

HIDDEN: Final = "[hidden]"
"""What stands where a key was."""

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
    """Return a text without keys: values of variables that hold one, user names in addresses, and what looks like one.

    Args:
        text: any text.
        environment: variables to look in; those of this process when None.
    """
    return _KEY_SHAPES.sub(HIDDEN, _USERINFO.sub(HIDDEN, redact_keys(text, environment)))


def redact_keys(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Return a text without the values of variables that hold a key, and otherwise as it is: answers are code.

    Values shorter than 8 characters are words, not keys.
    """
    variables = os.environ if environment is None else environment
    values: set[str] = set()
    for name, value in variables.items():
        key = value.strip()
        holds_key = name in _TAKEN or name.upper().endswith(_SECRET_NAMES)
        if holds_key and len(key) >= _MIN_SECRET:
            values.add(key)

    for value in sorted(values, key=lambda v: (-len(v), v)):  # a key may be a part of a longer one
        text = text.replace(value, HIDDEN)
    return text


def error_chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it came from; ``raise ... from None`` hides a context but keeps it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def redact_error(error: BaseException) -> None:
    """Take keys out of the texts of a library's error and of its causes, which a traceback shows."""
    for link in error_chain(error):
        link.args = tuple(redact(each) if isinstance(each, str) else each for each in link.args)
        texts = {name: value for name, value in vars(link).items() if isinstance(value, str)}
        link.__dict__.update({name: redact(text) for name, text in texts.items()})
