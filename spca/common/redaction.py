"""Removal of keys from texts: messages of servers and libraries may repeat the key that was sent."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Final

HIDDEN: Final = "[hidden]"
"""Replacement for a key."""

_MIN_SECRET: Final = 8
_SECRET_NAMES: Final = ("_API_KEY", "_TOKEN", "_SECRET")
_KEY_VARIABLES: Final[set[str]] = set()
"""Names of the environment variables from which this process has read a key; users may choose these names."""
_USERINFO: Final = re.compile(r"(?<=://)[^/\s?#]+(?=@)")
_KEY_SHAPES: Final = re.compile(
    r"(?:(?<=Bearer )|(?<=[?&]key=))[^\s&\"']+"
    r"|\b(?:sk|gsk|hf|xai)[-_][\w*.-]{6,}"
    r"|\bAIza[\w*-]{6,}"
)


def hide(variable: str) -> None:
    """Treat the value of the environment variable ``variable`` as a key from now on, whatever the name is."""
    _KEY_VARIABLES.add(variable)


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Return a text without keys, user names in addresses, and words that have the shape of a key.

    Args:
        text: any text.
        environment: variables that may hold keys; None for the environment of this process.
    """
    return _KEY_SHAPES.sub(HIDDEN, _USERINFO.sub(HIDDEN, redact_keys(text, environment)))


def redact_keys(text: str, environment: Mapping[str, str] | None = None) -> str:
    """Return a text without the values of variables that hold a key.

    Nothing else is changed, because the text may be a model's answer, which is code. Values shorter than 8 characters
    do not count as keys.
    """
    variables = os.environ if environment is None else environment
    values: set[str] = set()
    for name, value in variables.items():
        key = value.strip()
        holds_key = name in _KEY_VARIABLES or name.upper().endswith(_SECRET_NAMES)
        if holds_key and len(key) >= _MIN_SECRET:
            values.add(key)

    for value in sorted(values, key=lambda v: (-len(v), v)):  # a key may be a part of a longer one
        text = text.replace(value, HIDDEN)
    return text


def error_chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, its cause, the cause of that cause, and so on.

    A context that ``raise ... from None`` has hidden counts as a cause, too.
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def redact_error(error: BaseException) -> None:
    """Remove keys from the texts of a library's error and of its causes, because a traceback shows these texts."""
    for link in error_chain(error):
        link.args = tuple(redact(each) if isinstance(each, str) else each for each in link.args)
        texts = {name: value for name, value in vars(link).items() if isinstance(value, str)}
        link.__dict__.update({name: redact(text) for name, text in texts.items()})
