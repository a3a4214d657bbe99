"""What models took, in words: requests, tokens, USD (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spca.common.text import counted


def spent(usage: Mapping[str, Any]) -> str:
    """Tokens and USD; "" where there were none and nothing is unknown."""
    if not usage["input_tokens"] and not usage["output_tokens"] and not usage["cost_unknown"]:
        return ""
    thought = f" ({reasoning(usage)} reasoning)" if usage["reasoning_tokens"] else ""
    return f"{tokens(usage)} tokens{thought}, {usd(usage)} USD"


def tokens(usage: Mapping[str, Any]) -> str:
    """Input and output together; "~" before what is partly estimated."""
    about = "~" if usage["estimated"] else ""
    return f"{about}{usage['input_tokens'] + usage['output_tokens']:,}"


def reasoning(usage: Mapping[str, Any]) -> str:
    """How many of the tokens were spent on thinking, as far as servers tell."""
    return f"{usage['reasoning_tokens']:,}"


def usd(usage: Mapping[str, Any]) -> str:
    """Return the known USD, and how many requests may have cost something too; "?" if nothing is known."""
    if usage["cost_unknown"] and not usage["cost_usd"]:
        return "?"
    unknown = f"+{usage['cost_unknown']}?" if usage["cost_unknown"] else ""
    about = "~" if usage["estimated"] else ""
    return f"{about}{usage['cost_usd']:.4f}{unknown}"


def unanswered(usage: Mapping[str, Any]) -> str:
    """Return how many requests ended otherwise, in brackets; "" when none did."""
    counts = [f"{usage[outcome]} {outcome}" for outcome in ("rejected", "lost", "unknown") if usage[outcome]]
    return f" ({', '.join(counts)})" if counts else ""


def so_far(usage: Mapping[str, Any]) -> str:
    """Return requests, tokens and USD; without what is nothing."""
    calls = counted(usage["requests"], "call") if usage["requests"] else ""
    return ", ".join(filter(None, (calls, spent(usage))))


def cells(usage: Mapping[str, Any]) -> dict[str, str]:
    """Return tokens, those of reasoning, and USD, as they stand in tables, by the heads of the columns."""
    return {"tokens": tokens(usage), "reasoning": reasoning(usage), "USD": usd(usage)}
