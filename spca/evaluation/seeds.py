"""Seeds as a user writes them (pure)."""

from __future__ import annotations

import re
from typing import Final

MAX_EPISODES: Final = 200_000
_LARGEST_SEED: Final = 10**9
_RANGE: Final = re.compile(r"(\d{1,10})(?::(\d{1,10}))?", re.ASCII)


def read_seeds(text: str) -> tuple[int, ...]:
    """Return the seeds of a list such as ``1000:1020,5000``, each once, in order; ranges exclude their end.

    Raises:
        ValueError: says what is wrong.
    """
    found: set[int] = set()
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"invalid seeds {text!a:.80}: expected a list such as 1000:1100 or 7,1000:1020")
        first = int(match[1])
        end = int(match[2]) if match[2] else first + 1
        if end <= first:
            raise ValueError(f"invalid seeds {part.strip()}: the end, which is excluded, must be above {first}")
        if end - 1 > _LARGEST_SEED or end - first > MAX_EPISODES:
            raise ValueError(f"invalid seeds {part.strip()}: at most {MAX_EPISODES:,} seeds of at most 1,000,000,000")
        found.update(range(first, end))
    return tuple(sorted(found))
