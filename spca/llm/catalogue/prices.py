"""What tokens cost: rates by the size of the prompt, the arithmetic of a request, and published prices by the day.

Published prices come from the package ``genai-prices``, whose data is part of its installation. It is imported on first
use. Its updates over the network are not used: they run only for programs that start them, and the data is read here
past the place where they would put theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Final

from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Usage

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

RATES: Final = ("input", "cached", "cache_write", "output")
"""Kinds of tokens that have a price: read afresh, read from the provider's cache, written into it, answered."""
PUBLISHED: Final = ("openai", "anthropic", "google")
"""Prefixes of models that are providers in the package, under the same names."""

_NAMES: Final = dict(zip(RATES, ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok"), strict=True))


@dataclass(frozen=True, slots=True)
class Rates:
    """USD per million tokens; input that is read from or written into the cache costs the same unless it is said."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None
    cache_write: Decimal | None = None

    def cost(self, usage: Usage) -> Decimal:
        """Return the USD of counted tokens; a server cannot have cached more than it was sent."""
        sent = usage.input_tokens or 0
        cached = min(usage.cached_tokens or 0, sent)
        written = min(usage.cache_write_tokens or 0, sent - cached)
        cached_rate = self.input if self.cached is None else self.cached
        write_rate = self.input if self.cache_write is None else self.cache_write

        millionths = (sent - cached - written) * self.input
        millionths += cached * cached_rate
        millionths += written * write_rate
        millionths += (usage.output_tokens or 0) * self.output
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
        """Return the USD of one answered request; None when a count or the price of its size is unknown."""
        if self.is_free:
            return Decimal(0)
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        if self.up_to is not None and usage.input_tokens > self.up_to:
            return None
        size = max((size for size in self.tiers if size < usage.input_tokens), default=0)
        return self.tiers[size].cost(usage)

    def most(self, tokens: int) -> Decimal:
        """Return the USD of a prompt and an answer of so many tokens each at worst, in any tier and way of caching.

        The size of a prompt is an estimate without its pictures and tools, so that its tier is not known.
        """
        cached_and_written = ((0, 0), (tokens, 0), (0, tokens))
        sent = [Usage(tokens, tokens, cached, 0, written) for cached, written in cached_and_written]
        return max(rates.cost(usage) for usage in sent for rates in self.tiers.values())


def find_published_rates(ref: ModelRef, when: float) -> dict[int, dict[str, Decimal]]:
    """Return the rates of a model by the size that a prompt has to exceed; empty for a model that is not known.

    Args:
        ref: of any effort.
        when: seconds since 1970.
    """
    if ref.prefix not in PUBLISHED:
        return {}
    try:
        _, found = _read_data().find_provider_model(ref.name, None, ref.prefix, None)
    except LookupError:
        return {}
    prices = found.get_prices(datetime.fromtimestamp(when, UTC))
    by_kind = {kind: _rates_by_size(getattr(prices, key)) for kind, key in _NAMES.items()}
    known = {kind: tiers for kind, tiers in by_kind.items() if tiers}
    sizes = sorted({size for tiers in known.values() for size in tiers})
    return {size: {kind: _rate_at(size, tiers) for kind, tiers in known.items()} for size in sizes}


@cache
def list_published_models() -> frozenset[str]:
    """Return the names of all models with a published price, with prefixes."""
    return frozenset(
        f"{provider.id}/{model.id}"
        for provider in _read_data().providers
        if provider.id in PUBLISHED
        for model in provider.models
    )


def _rates_by_size(price: object) -> dict[int, Decimal]:
    from genai_prices.types import TieredPrices

    if isinstance(price, TieredPrices):
        return {0: price.base} | {tier.start: tier.price for tier in price.tiers}
    return {0: price} if isinstance(price, Decimal) else {}


def _rate_at(size: int, tiers: Mapping[int, Decimal]) -> Decimal:
    return tiers[max(start for start in tiers if start <= size)]


@cache
def _read_data() -> DataSnapshot:
    from genai_prices.data import providers
    from genai_prices.data_snapshot import DataSnapshot

    return DataSnapshot(providers=providers, from_auto_update=False)
