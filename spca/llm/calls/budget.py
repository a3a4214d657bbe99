"""Caps on what a run may spend, checked before every request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from spca.common.errors import BudgetReached, SettingsError
from spca.common.text import format_count
from spca.llm.calls.ledger import Record, RequestOutcome
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_ref import ModelRef

_Amounts: TypeAlias = Sequence[tuple[Decimal | int | None, Decimal | int]]
"""Pairs (amount that a request used, or None if unknown; guess for the unknown amount), in USD or tokens."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of a run over all sessions of the run; None for no limit."""

    cost_usd: float | None = None
    calls: int | None = None
    tokens: int | None = None

    def check(self, records: Sequence[Record], catalogue: Catalogue) -> None:
        """Refuse the next request if the requests in ``records`` have reached a cap.

        A lost request may have been billed. Its unknown tokens or cost count as the largest known amount of any
        request. If an answer as long as the lost prompt would have been dearer, that amount counts instead.

        Raises:
            BudgetReached: names the cap, and the flag with which the user can raise the cap.
        """
        if self.calls is not None and len(records) >= self.calls:
            verb = "was" if len(records) == 1 else "were"
            sent = f"{format_count(len(records), 'request')} {verb} sent"
            raise BudgetReached(f"budget: {sent} (--max-calls {self.calls})", "--max-calls")
        if self.tokens is None and self.cost_usd is None:
            return
        billable = [record for record in records if record.outcome is not RequestOutcome.REJECTED]
        if self.tokens is not None:
            tokens = [(record.tokens, 2 * record.asked_tokens) for record in billable]
            used = _sum_amounts(tokens)
            if used >= self.tokens:
                total = _describe_total(f"{used:.0f} tokens", "used", tokens)
                raise BudgetReached(f"budget: {total} (--max-tokens {self.tokens})", "--max-tokens")
        if self.cost_usd is not None:
            costs = [(record.cost, _estimate_cost(record, catalogue)) for record in billable]
            spent = _sum_amounts(costs)
            if 0 < spent >= Decimal(str(self.cost_usd)):
                total = _describe_total(f"{spent:.4f} USD", "spent", costs)
                raise BudgetReached(f"budget: {total} (--max-cost {self.cost_usd:g})", "--max-cost")


def require_caps(models: Iterable[ModelRef], catalogue: Catalogue, asked: Caps, default_usd: float) -> Caps:
    """Return the caps that the user asked for; add a default cost cap if the user gave none and all prices are known.

    Args:
        default_usd: the cost cap in USD if the user asked for no cost cap.

    Raises:
        SettingsError: the cost cannot be capped because a price is unknown, or the cap is 0 although a model is not
            free; the message says what to change.
    """
    prices = {model: catalogue.price(model) for model in models}
    unpriced = [model for model, price in prices.items() if price is None]
    has_cost_cap = asked.cost_usd is not None
    has_other_cap = asked.calls is not None or asked.tokens is not None
    needs_prices = has_cost_cap or not has_other_cap
    if unpriced and needs_prices:
        model = unpriced[0]
        cap = "--max-cost" if has_cost_cap else f"the cost cap of {default_usd:g} USD"
        fix = "leave it out and give" if has_cost_cap else "give"
        fault = f"the price of {model} is unknown{catalogue.suggest(model)}, so {cap} cannot hold"
        raise SettingsError(
            f"{fault}: {fix} --max-calls N or --max-tokens N, or its price with --model-table FILE (docs/models.md)"
        )
    paid_models = [model for model, price in prices.items() if price and not price.is_free]
    if asked.cost_usd == 0 and paid_models:
        raise SettingsError(f"--max-cost 0 leaves no call of {paid_models[0]}, which is paid for: give an amount")
    takes_default = not has_cost_cap and not unpriced
    cost = default_usd if takes_default else asked.cost_usd
    return Caps(cost, asked.calls, asked.tokens)


def _sum_amounts(amounts: _Amounts) -> Decimal:
    """Return the sum of all amounts.

    An unknown amount counts as its guess or as the largest known amount, whichever is larger.
    """
    largest_known = max((known for known, _ in amounts if known is not None), default=0)
    total = Decimal(0)
    for known, guess in amounts:
        amount = max(largest_known, guess) if known is None else known
        total += Decimal(amount)
    return total


def _describe_total(total: str, done: str, amounts: _Amounts) -> str:
    """Return a phrase about the total amount, which says whether the total contains guesses.

    Args:
        total: the amount with its unit.
        done: "spent" or "used".
    """
    has_guess = any(known is None for known, _ in amounts)
    return f"up to {total} may have been {done}" if has_guess else f"{total} were {done}"


def _estimate_cost(record: Record, catalogue: Catalogue) -> Decimal:
    """Return the highest possible cost (USD) of a request without a known cost, 0 if the model has no known price.

    The answer is taken to be as long as the prompt, and the dearest price tier to apply. Return 0 if the cost is known.
    """
    if record.cost is not None:
        return Decimal(0)
    price = catalogue.price(record.model, record.started)
    return price.most(record.asked_tokens) if price else Decimal(0)
