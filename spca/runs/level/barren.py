"""Barren levels, in which a model gave no usable answer, and the error after too many of them in a row (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spca.common.errors import UnusableModelError
from spca.common.text import format_count
from spca.llm import spending
from spca.llm.calls.ledger import Record, RequestOutcome, sums
from spca.llm.catalogue.model_ref import ModelRef

MAX_BARREN_LEVELS: Final = 2
"""A model that gives no usable answer in this many levels in a row is not asked any more."""

_USABLE_ANSWERS: Final = {"planner": "a valid plan", "coder": "usable code"}


def flags_of_models(large: ModelRef, small: ModelRef, coder: ModelRef) -> dict[str, dict[str, str]]:
    """Return role -> model -> the flag that replaces the model."""
    return {
        "planner": {str(small): "--planner-small-model", str(large): "--planner-model"},
        "coder": {str(coder): "--coder-model"},
    }


class AskedLevels:
    """The latest levels in which models were asked: of each role, back to its last level with a usable answer.

    These levels are all that :func:`unusable_model` reads.
    """

    def __init__(self) -> None:
        self._by_role: dict[str, list[Mapping[str, Any]]] = {role: [] for role in _USABLE_ANSWERS}

    def add(self, summary: Mapping[str, Any]) -> None:
        """Add the summary of the latest finished level."""
        for role, row in self._by_role.items():
            if summary["counters"][f"{role}_calls"] > 0:
                if role not in summary.get("unusable", {}):
                    row.clear()
                row.append(summary)

    def __getitem__(self, role: str) -> Sequence[Mapping[str, Any]]:
        return self._by_role[role]


def count_barren_end(finished: Sequence[Mapping[str, Any]]) -> int:
    """Return the number of consecutive levels at the end of ``finished`` in which a model gave no usable answer.

    A resumed run plays these levels again, because their results do not depend on what was learned.
    """
    count = 0
    for summary in reversed(finished):
        if not summary.get("unusable"):
            break
        count += 1
    return count


def unusable_model(
    asked: AskedLevels, flags: Mapping[str, Mapping[str, str]], records: Iterable[Record]
) -> UnusableModelError | None:
    """Return an error that names a model without a usable answer in :data:`MAX_BARREN_LEVELS` levels in a row.

    Return None if there is no such model. Levels in which a role was not asked, such as levels that stored problem
    writers solved alone, are skipped. A row of levels ends at a level with a usable answer or with another model.

    Args:
        asked: the latest levels in which models were asked.
        flags: see :func:`flags_of_models`; only the models in ``flags`` are judged.
        records: all requests of the run.
    """
    for role, models in flags.items():
        row = _find_barren_row(asked[role], role, models)
        if len(row) >= MAX_BARREN_LEVELS:
            return _make_error(row, role, models, records)
    return None


def _find_barren_row(
    asked: Sequence[Mapping[str, Any]], role: str, models: Mapping[str, str]
) -> list[Mapping[str, Any]]:
    """Return the summaries of the latest levels in a row in which ``role`` gave no usable answer, the newest first.

    The row ends at a level with a model that is not in ``models``.
    """
    row: list[Mapping[str, Any]] = []
    for summary in reversed(asked):
        barren = summary.get("unusable", {}).get(role)
        if barren is None or barren["model"] not in models:
            break
        row.append(summary)
    return row


def _make_error(
    row: Sequence[Mapping[str, Any]], role: str, models: Mapping[str, str], records: Iterable[Record]
) -> UnusableModelError:
    """Return the error on a model; ``row`` are the summaries of levels without a usable answer, the newest first."""
    latest = row[0]["unusable"][role]
    levels = {summary["index"] for summary in row}
    requests: list[Record] = []
    for record in records:
        is_of_role = record.place.index in levels and record.place.phase == role
        if is_of_role and str(record.model) in models and record.outcome is not RequestOutcome.REJECTED:
            requests.append(record)

    usage = sums(requests)
    counted_calls = sum(summary["unusable"][role]["calls"] for summary in row)
    calls = max(len(requests), counted_calls)
    is_paid = usage["cost_usd"] or usage["cost_unknown"]
    price = f" ({spending.usd(usage)} USD)" if is_paid else ""
    answer = f'its last answer began: "{latest["began"]}"' if latest["began"] else "its last answer was empty"
    model = latest["model"]
    calls_text = format_count(calls, "call")
    message = f"{model} has not written {_USABLE_ANSWERS[role]} in {calls_text}{price}; {answer}"
    return UnusableModelError(message, models[model], role)
