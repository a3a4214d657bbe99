"""Requests, tokens and cost: as files sum them up, or summed from the books (pure)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final

from spca.report.read.lenient import count, number, table
from spca.report.read.model import Usage

_TOKENS: Final = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
_COUNTS: Final = (*_TOKENS, "cost_unknown", "estimated")


def usage_of(entry: object) -> Usage:
    """Usage as summaries and ``run.json`` hold it."""
    entry = table(entry)
    cost = max(0.0, number(entry.get("cost_usd")) or 0.0)
    return Usage(cost_usd=cost, **{name: count(entry.get(name)) for name in (*_COUNTS, "requests", "answered")})


def used(records: Iterable[Mapping[str, Any]]) -> Usage:
    """Sums over lines of the books, as :func:`spca.llm.calls.ledger.sums` makes them of whole ones."""
    records = list(records)
    known = [cost for record in records if (cost := number(record.get("cost"))) is not None and cost >= 0]
    return Usage(
        requests=len(records),
        answered=sum(record.get("outcome") == "answered" for record in records),
        cost_usd=math.fsum(known),
        cost_unknown=len(records) - len(known),
        estimated=sum(record.get("estimated") is True for record in records),
        **{name: sum(count(record.get(name)) for record in records) for name in _TOKENS},
    )


def total(usages: Iterable[Usage]) -> Usage:
    """Everything together."""
    usages = list(usages)
    counts = {name: sum(getattr(usage, name) for usage in usages) for name in (*_COUNTS, "requests", "answered")}
    return Usage(cost_usd=math.fsum(usage.cost_usd for usage in usages), **counts)
