"""What tokens cost: rates by the size of the prompt, and the arithmetic of a request (pure, exact)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from spca.llm.providers.base import Usage

RATES: Final = ("input", "cached", "cache_write", "output")
"""Kinds of tokens that have a price: read afresh, read from the provider's cache, written into it, answered."""


@dataclass(frozen=True, slots=True)
class Rates:
    """USD per million tokens; input that is read from or written into the cache costs the same unless it is said."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None
    cache_write: Decimal | None = None

    def cost(self, usage: Usage) -> Decimal:
        """USD of counted tokens; a server cannot have cached more than it was sent."""
        sent = usage.input_tokens or 0
        cached = min(usage.cached_tokens or 0, sent)
        written = min(usage.cache_write_tokens or 0, sent - cached)
        millionths = (
            (sent - cached - written) * self.input
            + cached * (self.input if self.cached is None else self.cached)
            + written * (self.input if self.cache_write is None else self.cache_write)
            + (usage.output_tokens or 0) * self.output
        )
        return millionths / 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """Rates by size: those of the largest key of ``tiers`` that the prompt exceeds hold for all of its tokens.

    The smallest key is 0. Of prompts over ``up_to`` tokens no price is known.
    """

    tiers: Mapping[int, Rates]
    up_to: int | None = None

    @property
    def is_free(self) -> bool:
        return all(rates.input == 0 and rates.output == 0 for rates in self.tiers.values())

    def cost(self, usage: Usage) -> Decimal | None:
        """USD of one answered request; None when a count or the price of its size is unknown."""
        if self.is_free:
            return Decimal(0)
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        if self.up_to is not None and usage.input_tokens > self.up_to:
            return None
        size = max((size for size in self.tiers if size < usage.input_tokens), default=0)
        return self.tiers[size].cost(usage)

    def most(self, tokens: int) -> Decimal:
        """USD of a prompt and an answer of so many tokens each at worst, in whatever tier and way of caching.

        The size of a prompt is an estimate without its pictures and tools, so that its tier is not known.
        """
        sent = (Usage(tokens, tokens, cached, 0, written) for cached, written in ((0, 0), (tokens, 0), (0, tokens)))
        return max(rates.cost(usage) for usage in sent for rates in self.tiers.values())
