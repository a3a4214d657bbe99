"""Prices of tokens: rates by size of the prompt, the cost of a request, and published prices by day.

Prices that the project sets itself are in ``models.json``. Published prices come from the data that is installed with
the package ``genai-prices``. The package is imported on first use. Its updates over the network are not used: this
module reads the installed data directly, not the snapshot that an update would replace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Final

from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Usage

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

RATES: Final = ("input", "cached", "cache_write", "output")
"""Kinds of tokens with a rate of their own.

They are new input, input that is read from the provider's cache, input that is written into the cache, and output.
"""
PUBLISHED: Final = ("openai", "anthropic", "google")
"""Prefixes whose models have published prices; the package has providers of the same names."""

_PACKAGE_NAMES: Final[Mapping[str, str]] = {
    "input": "input_mtok",
    "cached": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "output": "output_mtok",
}
"""Kind of tokens -> name of the rate in the package ``genai-prices``."""


@dataclass(frozen=True, slots=True)
class Rates:
    """USD per million tokens, by kind of tokens; ``cached`` and ``cache_write`` equal ``input`` if they are None."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None
    cache_write: Decimal | None = None

    def cost(self, usage: Usage) -> Decimal:
        """Return the USD of the counted tokens; an unknown count is 0, and cache counts are at most the input count."""
        total_input = usage.input_tokens or 0
        cached = min(usage.cached_tokens or 0, total_input)
        cache_write = min(usage.cache_write_tokens or 0, total_input - cached)
        new_input = total_input - cached - cache_write
        cached_rate = self.input if self.cached is None else self.cached
        write_rate = self.input if self.cache_write is None else self.cache_write

        millionths = new_input * self.input
        millionths += cached * cached_rate
        millionths += cache_write * write_rate
        millionths += (usage.output_tokens or 0) * self.output
        return millionths / 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """The price of a model.

    Attributes:
        tiers: size -> rates for all tokens of the request. A size is a number of tokens that the prompt has to exceed.
            The largest size that the prompt exceeds applies; the smallest size is 0.
        up_to: largest prompt (tokens) with a known price; None for no bound.
    """

    tiers: Mapping[int, Rates]
    up_to: int | None = None

    @property
    def is_free(self) -> bool:
        return all(rates.input == 0 and rates.output == 0 for rates in self.tiers.values())

    def cost(self, usage: Usage) -> Decimal | None:
        """Return the USD of one answered request; None if a count is unknown or the prompt exceeds ``up_to``."""
        if self.is_free:
            return Decimal(0)
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        if self.up_to is not None and usage.input_tokens > self.up_to:
            return None
        size = max((size for size in self.tiers if size < usage.input_tokens), default=0)
        return self.tiers[size].cost(usage)

    def most(self, tokens: int) -> Decimal:
        """Return the highest possible USD of a request with a prompt and an answer of ``tokens`` tokens each.

        All tiers are considered, because the estimated size of a prompt leaves out its pictures and tools. The prompt
        may be new, read from the cache or written into the cache.
        """
        without_cache = Usage(tokens, tokens, cached_tokens=0, reasoning_tokens=0, cache_write_tokens=0)
        read_from_cache = replace(without_cache, cached_tokens=tokens)
        written_into_cache = replace(without_cache, cache_write_tokens=tokens)
        usages = (without_cache, read_from_cache, written_into_cache)
        return max(rates.cost(usage) for usage in usages for rates in self.tiers.values())


FREE: Final = Price({0: Rates(Decimal(0), Decimal(0))})
"""The price of models that cost nothing."""


def find_published_rates(ref: ModelRef, when: float) -> dict[int, dict[str, Decimal]]:
    """Return the published rates of a model by size and kind; empty if the model has no published price.

    The rates of a size apply to prompts of more tokens than the size.

    Args:
        ref: the model; its effort does not matter.
        when: seconds since the epoch.
    """
    if ref.prefix not in PUBLISHED:
        return {}
    try:
        _, model = _read_data().find_provider_model(ref.name, None, ref.prefix, None)
    except LookupError:
        return {}
    prices = model.get_prices(datetime.fromtimestamp(when, UTC))
    tiers_by_kind = {}
    for kind, package_name in _PACKAGE_NAMES.items():
        tiers = _rates_by_size(getattr(prices, package_name))
        if tiers:
            tiers_by_kind[kind] = tiers

    sizes = {size for tiers in tiers_by_kind.values() for size in tiers}
    rates: dict[int, dict[str, Decimal]] = {}
    for size in sorted(sizes):
        rates[size] = {kind: _rate_at(size, tiers) for kind, tiers in tiers_by_kind.items()}
    return rates


@cache
def list_published_models() -> frozenset[str]:
    """Return the names of all models with a published price, with prefixes."""
    names: set[str] = set()
    for provider in _read_data().providers:
        if provider.id in PUBLISHED:
            names |= {f"{provider.id}/{model.id}" for model in provider.models}
    return frozenset(names)


def _rates_by_size(price: object) -> dict[int, Decimal]:
    """Return a price of ``genai-prices`` as rates by size; empty if the price is missing."""
    from genai_prices.types import TieredPrices

    if isinstance(price, TieredPrices):
        return {0: price.base} | {tier.start: tier.price for tier in price.tiers}
    return {0: price} if isinstance(price, Decimal) else {}


def _rate_at(size: int, tiers: Mapping[int, Decimal]) -> Decimal:
    """Return the rate of the tier with the largest size that is at most ``size``."""
    start = max(start for start in tiers if start <= size)
    return tiers[start]


@cache
def _read_data() -> DataSnapshot:
    from genai_prices.data import providers
    from genai_prices.data_snapshot import DataSnapshot

    return DataSnapshot(providers=providers, from_auto_update=False)
