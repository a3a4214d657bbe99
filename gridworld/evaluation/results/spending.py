"""What models took, from what the details of episodes tell: requests, tokens, USD (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

_TOKENS: Final = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
_AMOUNTS: Final = frozenset({"input_tokens", "output_tokens", "cost_usd"})
"""One of these is in the details of a model that tells what it took."""
_MOST: Final = 1e12


@dataclass(frozen=True, slots=True)
class Spending:
    """Requests, tokens and USD of episodes.

    Attributes:
        estimated: requests whose tokens the server did not tell.
        cost_usd: what is known to have been spent; None where nothing is known of it.
        cost_unknown: requests that may have cost something besides.
    """

    requests: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    cache_write_tokens: int
    reasoning_tokens: int
    estimated: int
    cost_usd: float | None
    cost_unknown: int

    @classmethod
    def of(cls, details: Iterable[object]) -> Self | None:
        """Sum over episodes; return None if neither tokens nor USD are known of any.

        Args:
            details: of each episode as a model told them; what cannot be a count is left out.
        """
        usages = [_usage(each) for each in details]
        told = [usage for usage in usages if not _AMOUNTS.isdisjoint(usage)]
        if not told:
            return None
        without = [usage for usage in told if not is_amount(usage.get("cost_usd"))]
        names = ("requests", *_TOKENS, "estimated", "cost_unknown")
        counts = {name: round(_sum(told, name)) for name in names}
        counts["cost_unknown"] += round(_sum(without, "requests"))
        is_unknown = len(without) == len(told)
        return cls(**counts, cost_usd=None if is_unknown else _sum(told, "cost_usd"))

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    @property
    def usd(self) -> str:
        """USD as they are shown: "~" before what is partly estimated, "?" for what is unknown."""
        if self.cost_usd is None or (self.cost_unknown and not self.cost_usd):
            return "?"
        unknown = f"+{self.cost_unknown}?" if self.cost_unknown else ""
        return f"{'~' if self.estimated else ''}{self.cost_usd:.4f}{unknown}"


def is_amount(value: object) -> bool:
    """Return whether a value of JSON can be a count or an amount of money."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= _MOST


def _usage(details: object) -> Mapping[str, Any]:
    """Return where in the details of an episode the counts are."""
    found = details if isinstance(details, Mapping) else {}
    inner = found.get("usage")
    return inner if isinstance(inner, Mapping) else found


def _sum(told: Iterable[Mapping[str, Any]], name: str) -> float:
    return math.fsum(each[name] for each in told if is_amount(each.get(name)))
