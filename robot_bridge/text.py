"""Make untrusted text (from models, files or signs in a picture) safe for a prompt, a log or a terminal (pure).

Newlines and characters that control a terminal or the direction of writing could make untrusted text look like ours.
"""

from __future__ import annotations

import re
from typing import Final

from spca.common.text import visible

_NOT_PLAIN: Final = re.compile(r"[^\w .+\-/]")
_BLANKS: Final = re.compile(r"\s+")
_READ_PER_LIMIT: Final = 8
"""A text is first cut to this multiple of its limit, so that a text of megabytes costs little time."""


def harmless(text: object, limit: int) -> str:
    """Return the text as one line of at most ``limit`` characters, with invisible characters written ``⟨U+202E⟩``.

    The function is idempotent.
    """
    beginning = str(text)[: limit * _READ_PER_LIMIT]
    line = visible(_BLANKS.sub(" ", beginning)).strip()
    if len(line) <= limit:
        return line
    return line[: limit - 1].rstrip() + "…"


def plain(text: object, size: int) -> str:
    """Return the letters, digits, underscores and ``.+-/`` of a text, in one line of at most ``size`` bytes of UTF-8.

    Every other character becomes a blank. The limit counts bytes because bytes bound the tokens of any script.
    """
    words = _NOT_PLAIN.sub(" ", harmless(text, size * 2))
    line = _BLANKS.sub(" ", words).strip()
    return line.encode()[:size].decode(errors="ignore").rstrip()
