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
    """What is known to have been spent, and how many requests may have cost something too; "?" if nothing is known."""
    if usage["cost_unknown"] and not usage["cost_usd"]:
        return "?"
    unknown = f"+{usage['cost_unknown']}?" if usage["cost_unknown"] else ""
    return f"{'~' if usage['estimated'] else ''}{usage['cost_usd']:.4f}{unknown}"


def unanswered(usage: Mapping[str, Any]) -> str:
    """How many requests ended otherwise, in brackets; "" when none did."""
    counts = [f"{usage[outcome]} {outcome}" for outcome in ("rejected", "lost", "unknown") if usage[outcome]]
    return f" ({', '.join(counts)})" if counts else ""


def brief_tokens(usage: Mapping[str, Any]) -> str:
    """The same in at most six columns: ``9,876``, ``12.3k``, ``456k``, ``7.89M``."""
    number = usage["input_tokens"] + usage["output_tokens"]
    about = "~" if usage["estimated"] else ""
    if number < 10_000:
        return f"{about}{number:,}"
    unit, size = ("k", 1e3) if number < 999_500 else ("M", 1e6)
    scaled = number / size
    return f"{about}{scaled:.{0 if scaled >= 99.95 else 1 if scaled >= 9.995 else 2}f}{unit}"


def brief_usd(usage: Mapping[str, Any], room: int) -> str:
    """What was spent, with as many decimals as there is room for, at most four; "?" behind it where it may be more."""
    forms = [_usd(usage, decimals) for decimals in (4, 3, 2, 1, 0)]
    return next((form for form in forms if len(form) <= room), forms[-1])


def so_far(usage: Mapping[str, Any]) -> tuple[str, ...]:
    """Requests, tokens and USD, in ever fewer words; without what is nothing."""
    calls = counted(usage["requests"], "call") if usage["requests"] else ""
    if not spent(usage):
        return calls, ""
    few, cost = brief_tokens(usage), usage["cost_usd"]
    if not cost and not usage["cost_unknown"]:
        return f"{calls}, {tokens(usage)} tokens", f"{calls} {few}", calls, ""
    money = f"${_usd(usage, 2 if cost >= 1 else 4)}"
    long = f"{calls}, {spent(usage)}", f"{calls}, {few} tokens, {money}"
    return (*long, f"{calls} {few} {money}", f"{calls} {money}", money, "")


def _usd(usage: Mapping[str, Any], decimals: int) -> str:
    if usage["cost_unknown"] and not usage["cost_usd"]:
        return "?"
    about, unknown = "~" if usage["estimated"] else "", "?" if usage["cost_unknown"] else ""
    return f"{about}{usage['cost_usd']:.{decimals}f}{unknown}"
