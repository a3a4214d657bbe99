"""Untrusted words made fit for a line: keys taken out, one line, a bounded length.

Everything that leaves a provider as the text of an error goes through :func:`quote_line`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

from spca.common.redaction import redact

_MAX_QUOTED: Final = 300


def quote_line(words: object, environment: Mapping[str, str] | None = None) -> str:
    """Return words as one line of at most 300 characters, without keys and without characters that steer a terminal."""
    printable = "".join(" " if unicodedata.category(char).startswith("C") else char for char in str(words))
    one_line = " ".join(printable.split())
    line = redact(one_line, environment)  # before the cut: half a key would not be found
    if len(line) <= _MAX_QUOTED:
        return line
    return f"{line[: _MAX_QUOTED - 1]}…"
