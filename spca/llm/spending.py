"""Texts about the requests, tokens and USD of models, from the sums of :func:`spca.llm.calls.ledger.sums` (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spca.common.text import format_count


def spent(usage: Mapping[str, Any]) -> str:
    """Return tokens and USD as one phrase, "" if both are zero and no cost is unknown."""
    if not usage["input_tokens"] and not usage["output_tokens"] and not usage["cost_unknown"]:
        return ""
    reasoning_part = f" ({reasoning(usage)} reasoning)" if usage["reasoning_tokens"] else ""
    return f"{tokens(usage)} tokens{reasoning_part}, {usd(usage)} USD"


def tokens(usage: Mapping[str, Any]) -> str:
    """Return the number of input and output tokens together, after "~" if part of the number is estimated."""
    sign = "~" if usage["estimated"] else ""
    total = usage["input_tokens"] + usage["output_tokens"]
    return f"{sign}{total:,}"


def reasoning(usage: Mapping[str, Any]) -> str:
    """Return the number of output tokens that servers reported as reasoning."""
    return f"{usage['reasoning_tokens']:,}"


def usd(usage: Mapping[str, Any]) -> str:
    """Return the known USD and the number of requests with an unknown cost, such as "0.1200+2?".

    Return "?" if no cost is known. "~" precedes the amount if tokens are estimated.
    """
    if usage["cost_unknown"] and not usage["cost_usd"]:
        return "?"
    unknown = f"+{usage['cost_unknown']}?" if usage["cost_unknown"] else ""
    sign = "~" if usage["estimated"] else ""
    return f"{sign}{usage['cost_usd']:.4f}{unknown}"


def count_unanswered(usage: Mapping[str, Any]) -> str:
    """Return the numbers of rejected, lost and unknown requests, in brackets; "" if all requests were answered."""
    counts = []
    for outcome in ("rejected", "lost", "unknown"):
        count = usage[outcome]
        if count:
            counts.append(f"{count} {outcome}")
    return f" ({', '.join(counts)})" if counts else ""


def so_far(usage: Mapping[str, Any]) -> str:
    """Return requests, tokens and USD as one phrase, without the parts that are zero."""
    calls = format_count(usage["requests"], "call") if usage["requests"] else ""
    return ", ".join(filter(None, (calls, spent(usage))))


def cells(usage: Mapping[str, Any]) -> dict[str, str]:
    """Return the cells of a table row: tokens, reasoning tokens and USD, by column head."""
    return {"tokens": tokens(usage), "reasoning": reasoning(usage), "USD": usd(usage)}
