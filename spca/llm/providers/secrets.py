"""Make untrusted texts fit for messages: one line of bounded length, without keys.

All texts of servers and SDKs that providers put into errors pass :func:`quote_line`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

from spca.common.redaction import redact

_MAX_QUOTED: Final = 300


def quote_line(words: object, environment: Mapping[str, str] | None = None) -> str:
    """Return a text as one line of at most 300 characters, without keys and control characters.

    Args:
        words: the text, or any value, which is converted to a text.
        environment: environment variables whose keys are removed; None for the environment of the process.
    """
    printable = "".join(" " if _is_control(char) else char for char in str(words))
    one_line = " ".join(printable.split())
    line = redact(one_line, environment)  # before the text is cut, because a cut key would not be recognised
    if len(line) <= _MAX_QUOTED:
        return line
    return f"{line[: _MAX_QUOTED - 1]}…"


def _is_control(char: str) -> bool:
    """Return whether a character is of a Unicode category "C": control, format, surrogate, private or unassigned."""
    return unicodedata.category(char).startswith("C")
