"""Caps on what a run may spend, checked before every request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from spca.calls.ledger import Outcome, Record
from spca.errors import BudgetReached


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of a run over all its sessions; None where there is none."""

    cost_usd: float | None = None
    calls: int | None = None
    tokens: int | None = None

    def check(self, records: Sequence[Record]) -> None:
        """Refuse one more request when a cap is reached by those already sent.

        A request that got lost may have been billed: it counts as much as the dearest one that was answered.

        Raises:
            BudgetReached: names the cap and the flag that raises it.
        """
        if self.calls is not None and len(records) >= self.calls:
            raise BudgetReached(f"budget: {len(records)} requests were sent (--max-calls {self.calls})")
        answered = [record for record in records if record.outcome is Outcome.ANSWERED]
        lost = sum(record.outcome in (Outcome.LOST, Outcome.UNKNOWN) for record in records)
        if self.tokens is not None:
            self._check_tokens(self.tokens, answered, lost)
        if self.cost_usd is not None:
            self._check_cost(self.cost_usd, answered, lost)

    def _check_tokens(self, cap: int, answered: Sequence[Record], lost: int) -> None:
        counts = [record.tokens for record in answered]
        if None in counts:
            raise BudgetReached(f"budget: {_silent(answered, counts)} reports no tokens, so --max-tokens cannot hold")
        known = [count for count in counts if count is not None]
        spent = sum(known) + lost * max(known, default=0)
        if spent >= cap:
            raise BudgetReached(f"budget: {spent} tokens were used (--max-tokens {cap})")

    def _check_cost(self, cap: float, answered: Sequence[Record], lost: int) -> None:
        costs = [record.cost for record in answered]
        if None in costs:
            model = _silent(answered, costs)
            raise BudgetReached(f"budget: the cost of a call of {model} is unknown, so --max-cost cannot hold")
        known = [value for value in costs if value is not None]
        spent = sum(known, Decimal(0)) + lost * max(known, default=Decimal(0))
        if spent > 0 and spent >= Decimal(str(cap)):
            raise BudgetReached(f"budget: {spent:.4f} USD were spent (--max-cost {cap:g})")


def _silent(answered: Sequence[Record], values: Sequence[object]) -> str:
    return next(record.model for record, value in zip(answered, values, strict=True) if value is None)
