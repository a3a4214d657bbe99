"""Requests, tokens and USD that models used, summed from the details of episodes (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

_TOKENS: Final = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
_AMOUNTS: Final = frozenset({"input_tokens", "output_tokens", "cost_usd"})
"""Keys that show reported usage: details of a model that reports its usage hold at least one of them."""
_MAX_NUMBER: Final = 1e12


@dataclass(frozen=True, slots=True)
class Spending:
    """Requests, tokens and USD of episodes.

    Attributes:
        estimated: number of requests whose tokens the server did not report.
        cost_usd: sum of the known costs; None if no cost is known.
        cost_unknown: number of requests whose cost is unknown and not part of ``cost_usd``.
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
        """Return the sum over episodes; None if no episode reports tokens or USD.

        Args:
            details: details of each episode, as returned by the model. Values that are no amounts are ignored.
        """
        usages = [_find_usage(each) for each in details]
        reported = [usage for usage in usages if not _AMOUNTS.isdisjoint(usage)]
        if not reported:
            return None
        without_cost = [usage for usage in reported if not is_amount(usage.get("cost_usd"))]
        names = ("requests", *_TOKENS, "estimated", "cost_unknown")
        counts = {name: round(_sum(reported, name)) for name in names}
        # In an episode that reports no cost, the cost of every request is unknown.
        counts["cost_unknown"] += round(_sum(without_cost, "requests"))
        is_unknown = len(without_cost) == len(reported)
        return cls(**counts, cost_usd=None if is_unknown else _sum(reported, "cost_usd"))

    @property
    def tokens(self) -> int:
        """Number of input and output tokens together."""
        return self.input_tokens + self.output_tokens

    @property
    def usd(self) -> str:
        """The cost as text.

        "~" marks a partly estimated cost. "+N?" stands for N requests of unknown cost. "?" means that no cost is known.
        """
        if self.cost_usd is None or (self.cost_unknown and not self.cost_usd):
            return "?"
        about = "~" if self.estimated else ""
        unknown = f"+{self.cost_unknown}?" if self.cost_unknown else ""
        return f"{about}{self.cost_usd:.4f}{unknown}"


def is_amount(value: object) -> bool:
    """Return whether a JSON value is a number from 0 to 1e12, and therefore can be a count or an amount of money."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= _MAX_NUMBER


def _find_usage(details: object) -> Mapping[str, Any]:
    """Return the counts in the details of an episode: the entry ``usage`` if present, otherwise all details."""
    mapping = details if isinstance(details, Mapping) else {}
    usage = mapping.get("usage")
    return usage if isinstance(usage, Mapping) else mapping


def _sum(usages: Iterable[Mapping[str, Any]], name: str) -> float:
    """Return the sum of the entries called ``name``; entries that are no amounts are ignored."""
    return math.fsum(usage[name] for usage in usages if is_amount(usage.get(name)))
