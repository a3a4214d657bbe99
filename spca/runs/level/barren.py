"""Levels in which a model gave no usable answer, and when there were enough of them to stop asking it (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spca.common.errors import UnusableModelError
from spca.common.text import format_count
from spca.llm import spending
from spca.llm.calls.ledger import Outcome, Record, sums
from spca.llm.catalogue.model_ref import ModelRef

MAX_BARREN_LEVELS: Final = 2
"""Levels in a row after which a model that gives no usable answer is not asked any more."""

_WRITES: Final = {"planner": "a valid plan", "coder": "usable code"}


def flags_of_models(large: ModelRef, small: ModelRef, coder: ModelRef) -> dict[str, dict[str, str]]:
    """Return for each role its models, each with the flag that names another one."""
    return {
        "planner": {str(small): "--planner-small-model", str(large): "--planner-model"},
        "coder": {str(coder): "--coder-model"},
    }


def count_barren_end(finished: Sequence[Mapping[str, Any]]) -> int:
    """Return how many of the latest levels were played with a model that gave no usable answer.

    Such levels say nothing of what can be learned, so that a run that goes on plays them again.
    """
    count = 0
    for summary in reversed(finished):
        if not summary.get("unusable"):
            break
        count += 1
    return count


def unusable_model(
    finished: Sequence[Mapping[str, Any]], flags: Mapping[str, Mapping[str, str]], records: Iterable[Record]
) -> UnusableModelError | None:
    """Return the error that names a model that has given no usable answer in the latest levels in a row.

    Only levels count in which its role was asked. One in which it was not, such as a level that stored problem writers
    have solved alone, neither counts nor ends the row. A level with a usable answer, or of another model, ends it.

    Args:
        finished: summaries of levels, in order.
        flags: of the models that are asked now (:func:`flags_of_models`).
        records: requests of the run.
    """
    kept = tuple(records)
    for role, models in flags.items():
        row = _barren_row(finished, role, models)
        if len(row) >= MAX_BARREN_LEVELS:
            return _describe_model(row, role, models, kept)
    return None


def _barren_row(finished: Sequence[Mapping[str, Any]], role: str, models: Mapping[str, str]) -> list[Mapping[str, Any]]:
    """Return the summaries of the latest levels without a usable answer of a role, the newest first."""
    row: list[Mapping[str, Any]] = []
    for summary in reversed(finished):
        if not summary["counters"][f"{role}_calls"]:
            continue
        barren = summary.get("unusable", {}).get(role)
        if barren is None or barren["model"] not in models:
            break
        row.append(summary)
    return row


def _describe_model(
    row: Sequence[Mapping[str, Any]], role: str, models: Mapping[str, str], records: Sequence[Record]
) -> UnusableModelError:
    last = row[0]["unusable"][role]
    levels = {summary["index"] for summary in row}
    asked = list[Record]()
    for record in records:
        is_of_role = record.place.index in levels and record.place.phase == role
        if is_of_role and str(record.model) in models and record.outcome is not Outcome.REJECTED:
            asked.append(record)

    usage = sums(asked)
    counted_calls = sum(summary["unusable"][role]["calls"] for summary in row)
    calls = max(len(asked), counted_calls)
    is_paid = usage["cost_usd"] or usage["cost_unknown"]
    price = f" ({spending.usd(usage)} USD)" if is_paid else ""
    answer = f'its last answer began: "{last["began"]}"' if last["began"] else "its last answer was empty"
    model = last["model"]
    calls_text = format_count(calls, "call")
    words = f"{model} has not written {_WRITES[role]} in {calls_text}{price}; {answer}"
    return UnusableModelError(words, models[model], role)
