"""Caps on what a run may spend, checked before every request."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from spca.common.errors import BudgetReached, SettingsError
from spca.common.text import counted
from spca.llm.calls.ledger import Outcome, Record
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_ref import ModelRef

_Amounts: TypeAlias = Sequence[tuple[Decimal | int | None, Decimal | int]]
"""What each request took, None where that is unknown, and a guess of it."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of a run over all its sessions; None: unlimited."""

    cost_usd: float | None = None
    calls: int | None = None
    tokens: int | None = None

    def check(self, records: Sequence[Record], catalogue: Catalogue) -> None:
        """Refuse one more request when a cap is reached by those already sent.

        A request that got lost may have been billed: it counts as much as the dearest one that is known, and at least
        as its prompt with an answer of the same length.

        Raises:
            BudgetReached: names the cap and the flag that raises it.
        """
        if self.calls is not None and len(records) >= self.calls:
            verb = "was" if len(records) == 1 else "were"
            sent = f"{counted(len(records), 'request')} {verb} sent"
            raise BudgetReached(f"budget: {sent} (--max-calls {self.calls})", "--max-calls")
        worked = [record for record in records if record.outcome is not Outcome.REJECTED]
        if self.tokens is not None:
            tokens = [(record.tokens, 2 * record.asked_tokens) for record in worked]
            used = _sum_amounts(tokens)
            if used >= self.tokens:
                total = _describe_total(f"{used:.0f} tokens", "used", tokens)
                raise BudgetReached(f"budget: {total} (--max-tokens {self.tokens})", "--max-tokens")
        if self.cost_usd is not None:
            costs = [(record.cost, _estimate_cost(record, catalogue)) for record in worked]
            spent = _sum_amounts(costs)
            if 0 < spent >= Decimal(str(self.cost_usd)):
                total = _describe_total(f"{spent:.4f} USD", "spent", costs)
                raise BudgetReached(f"budget: {total} (--max-cost {self.cost_usd:g})", "--max-cost")


def require_caps(models: Iterable[ModelRef], catalogue: Catalogue, asked: Caps, default_usd: float) -> Caps:
    """Return the caps on models: those asked for, with one on the cost wherever prices are known.

    Args:
        default_usd: the cap on the cost where none is asked for.

    Raises:
        SettingsError: the cost cannot be capped, because a price is unknown; names the ways out.
    """
    prices = {model: catalogue.price(model) for model in models}
    unknown = [model for model, price in prices.items() if price is None]
    others = asked.calls is not None or asked.tokens is not None
    if unknown and (asked.cost_usd is not None or not others):
        cap = "--max-cost" if asked.cost_usd is not None else f"the cost cap of {default_usd:g} USD"
        fix = "leave it out and give" if asked.cost_usd is not None else "give"
        hint = catalogue.suggest(unknown[0])
        raise SettingsError(
            f"the price of {unknown[0]} is unknown{hint}, so {cap} cannot hold: {fix} --max-calls N or --max-tokens N, "
            "or its price with --model-table FILE (docs/models.md)"
        )
    dear = [model for model, price in prices.items() if price and not price.is_free]
    if asked.cost_usd == 0 and dear:
        raise SettingsError(f"--max-cost 0 leaves no call of {dear[0]}, which is paid for: give an amount")
    cost = default_usd if asked.cost_usd is None and not unknown else asked.cost_usd
    return Caps(cost, asked.calls, asked.tokens)


def _sum_amounts(amounts: _Amounts) -> Decimal:
    """Return the sum of all amounts; unknown ones count as max(largest known, guess)."""
    largest = max((known for known, _ in amounts if known is not None), default=0)
    total = Decimal(0)
    for known, guess in amounts:
        total += Decimal(max(largest, guess) if known is None else known)
    return total


def _describe_total(total: str, done: str, amounts: _Amounts) -> str:
    """Return what was spent or used, in words that say whether part of the total is a guess."""
    is_guess = any(known is None for known, _ in amounts)
    return f"up to {total} may have been {done}" if is_guess else f"{total} were {done}"


def _estimate_cost(record: Record, catalogue: Catalogue) -> Decimal:
    """Return the most that a request without a known cost may have cost: an answer as long, in the dearest tier."""
    price = catalogue.price(record.model, record.started) if record.cost is None else None
    return price.most(record.asked_tokens) if price else Decimal(0)
