"""Parser of the seeds that a user writes (no input or output)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Self

MAX_EPISODES: Final = 200_000
_MAX_SEED: Final = 10**9
_RANGE: Final = re.compile(r"(\d{1,10})(?::(\d{1,10}))?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Seeds:
    """Seeds that a user has named.

    Attributes:
        text: the user's text, such as ``1000:1020,5000``; the end of a range is excluded.
        values: the distinct seeds in ascending order.
    """

    text: str = field(compare=False)
    values: tuple[int, ...]

    @classmethod
    def read(cls, text: str) -> Self:
        """Return the seeds that ``text`` lists, such as ``7,1000:1020``.

        Raises:
            ValueError: the text is not a list of seeds and ranges, or a seed or a range is too large.
        """
        limits = f"{MAX_EPISODES:,} seeds of at most 1,000,000,000"
        values: set[int] = set()
        for part in text.split(","):
            match = _RANGE.fullmatch(part.strip())
            if match is None:
                raise ValueError(f"invalid seeds {text!a:.80}: expected a list such as 1000:1100 or 7,1000:1020")
            first = int(match[1])
            end = int(match[2]) if match[2] else first + 1
            if end <= first:
                raise ValueError(f"invalid seeds {part.strip()}: the end, which is excluded, must be above {first}")
            if end - 1 > _MAX_SEED or end - first > MAX_EPISODES:
                raise ValueError(f"invalid seeds {part.strip()}: at most {limits}")
            values.update(range(first, end))
        return cls(text, tuple(sorted(values)))

    def __str__(self) -> str:
        return self.text
