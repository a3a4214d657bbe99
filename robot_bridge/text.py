"""Make untrusted text (models, files, signs in a picture) safe for a prompt, a log or a terminal (pure).

Newlines and whatever controls a terminal or the direction of writing would let such a text pass for ours.
"""

from __future__ import annotations

import re
from typing import Final

from spca.common.text import visible

_OTHER: Final = re.compile(r"[^\w .+\-/]")
_BLANKS: Final = re.compile(r"\s+")
_SEEN_OF: Final = 8
"""A text is cut to so many times its limit before anything is looked at: megabytes cost nothing."""


def harmless(text: object, limit: int) -> str:
    """Return one line of at most ``limit`` characters; spell out what cannot be seen, as ``⟨U+202E⟩``.

    The result stays as it is when it is given again.
    """
    beginning = str(text)[: limit * _SEEN_OF]
    line = visible(_BLANKS.sub(" ", beginning)).strip()
    if len(line) <= limit:
        return line
    return line[: limit - 1].rstrip() + "…"


def plain(text: object, size: int) -> str:
    """Return letters, digits and a little punctuation in one line of at most ``size`` bytes of UTF-8.

    No markup, quotes, brackets or separators; bytes because they bound the tokens of any script.
    """
    words = _OTHER.sub(" ", harmless(text, size * 2))
    line = _BLANKS.sub(" ", words).strip()
    return line.encode()[:size].decode(errors="ignore").rstrip()
