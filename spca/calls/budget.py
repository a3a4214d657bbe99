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
            raise BudgetReached(f"budget: {len(records)} requests were sent (--max-calls {self.calls})", "--max-calls")
        sent = [record for record in records if record.outcome is not Outcome.REJECTED]
        if self.tokens is not None:
            used = _bound([None if record.tokens is None else Decimal(record.tokens) for record in sent])
            if used >= self.tokens:
                raise BudgetReached(f"budget: {used:.0f} tokens were used (--max-tokens {self.tokens})", "--max-tokens")
        if self.cost_usd is not None:
            spent = _bound([record.cost for record in sent])
            if 0 < spent >= Decimal(str(self.cost_usd)):
                words = f"budget: {spent:.4f} USD were spent (--max-cost {self.cost_usd:g})"
                raise BudgetReached(words, "--max-cost")


def _bound(amounts: Sequence[Decimal | None]) -> Decimal:
    """The sum, in which an unknown amount counts as the largest known one."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) + (len(amounts) - len(known)) * max(known, default=Decimal(0))
