"""Published prices by the day, from the package ``genai-prices``, whose data is part of its installation.

The package is imported on first use. Its updates over the network are not used: they run only for programs that start
them, and the data is read here past the place where they would put theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Final

from spca.llm.calls.rates import RATES

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

PROVIDERS: Final = ("openai", "anthropic", "google")
"""Prefixes of models that are providers there, under the same names."""

_NAMES: Final = dict(zip(RATES, ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok"), strict=True))


def rates(model: str, when: float) -> dict[int, dict[str, Decimal]]:
    """Rates of a model (name with prefix) by the size that a prompt has to exceed, at ``when`` (seconds since 1970).

    Empty for a model that is not known.
    """
    prefix, _, name = model.partition("/")
    if prefix not in PROVIDERS:
        return {}
    try:
        _, found = _data().find_provider_model(name, None, prefix, None)
    except LookupError:
        return {}
    prices = found.get_prices(datetime.fromtimestamp(when, UTC))
    known = {kind: tiers for kind, key in _NAMES.items() if (tiers := _by_size(getattr(prices, key)))}
    sizes = sorted({size for tiers in known.values() for size in tiers})
    return {size: {kind: _at(size, tiers) for kind, tiers in known.items()} for size in sizes}


@cache
def names() -> frozenset[str]:
    """Return the names of all models with a published price, with prefixes."""
    return frozenset(
        f"{provider.id}/{model.id}"
        for provider in _data().providers
        if provider.id in PROVIDERS
        for model in provider.models
    )


def _by_size(price: object) -> dict[int, Decimal]:
    from genai_prices.types import TieredPrices

    if isinstance(price, TieredPrices):
        return {0: price.base} | {tier.start: tier.price for tier in price.tiers}
    return {0: price} if isinstance(price, Decimal) else {}


def _at(size: int, tiers: Mapping[int, Decimal]) -> Decimal:
    return tiers[max(start for start in tiers if start <= size)]


@cache
def _data() -> DataSnapshot:
    from genai_prices.data import providers
    from genai_prices.data_snapshot import DataSnapshot

    return DataSnapshot(providers=providers, from_auto_update=False)
