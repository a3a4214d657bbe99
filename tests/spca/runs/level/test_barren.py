"""When a model is not asked any more: which levels count, what is told of it and which levels are played again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.errors import UnusableModelError
from spca.llm.calls.ledger import Place, Record, RequestOutcome
from spca.llm.providers.base import Usage
from spca.runs.level.barren import AskedLevels, count_barren_end, flags_of_models, unusable_model
from tests.support.spca.call_requests import ref

FLAGS = flags_of_models(ref("x/large"), ref("x/small"), ref("x/coder"))
BARREN: dict[str, Any] = {"coder": {"model": "x/coder", "calls": 8, "began": "I am sorry"}}


def level(coder_calls: int = 8, planner_calls: int = 4, **unusable: Any) -> dict[str, Any]:
    counters = {"planner_calls": planner_calls, "coder_calls": coder_calls}
    return {"counters": counters, "unusable": unusable}


def numbered(*levels: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"index": number, **summary} for number, summary in enumerate(levels, 1)]


def find_error(levels: list[dict[str, Any]], records: Iterable[Record] = ()) -> UnusableModelError | None:
    """Return the error after the levels."""
    asked = AskedLevels()
    for summary in levels:
        asked.add(summary)
    return unusable_model(asked, FLAGS, records)


def request(index: int, phase: str = "coder", model: str = "x/coder", usd: str = "0.01") -> Record:
    place = Place("r", index, phase=phase)
    record = Record(index, place, 1, ref(model), "", "k", 0.0)
    return replace(record, usage=Usage(1, 1), cost=Decimal(usd), outcome=RequestOutcome.ANSWERED)


def test_two_levels_in_a_row_are_enough_and_one_is_not() -> None:
    assert find_error(numbered(level(**BARREN))) is None
    error = find_error(numbered(level(**BARREN), level(**BARREN)))
    assert str(error) == 'x/coder has not written usable code in 16 calls; its last answer began: "I am sorry"'
    assert error is not None
    assert (error.option, error.role) == ("--coder-model OTHER", "coder")


@pytest.mark.parametrize(
    ("between", "is_error"),
    [
        (level(coder_calls=0), True),
        (level(coder_calls=0, planner_calls=0), True),
        (level(coder_calls=0, planner={"model": "x/large", "calls": 9, "began": ""}), True),
        (level(), False),
        (level(coder={"model": "x/another", "calls": 8, "began": ""}), False),
    ],
    ids=["not asked", "no call", "planner barren", "usable answer", "another model"],
)
def test_a_level_in_which_the_role_was_not_asked_neither_counts_nor_ends_the_row(
    between: dict[str, Any], is_error: bool
) -> None:
    finished = numbered(level(**BARREN), between, level(**BARREN))
    assert (find_error(finished) is not None) is is_error


def test_what_it_cost_are_the_requests_of_that_role_and_model_in_those_levels() -> None:
    records = [request(2), request(3), request(3, usd="0.1725")]
    others = [request(1), request(2, "planner"), request(3, model="x/another")]
    refused = replace(request(3), outcome=RequestOutcome.REJECTED)
    finished = numbered(level(), level(**BARREN), level(**BARREN))
    error = find_error(finished, [*records, *others, refused])
    assert "in 16 calls (0.1925 USD); its last" in str(error)


@pytest.mark.parametrize(("model", "flag"), [("x/large", "--planner-model"), ("x/small", "--planner-small-model")])
def test_the_flag_is_that_of_the_model_that_answered_last(model: str, flag: str) -> None:
    barren: dict[str, Any] = {"planner": {"model": model, "calls": 10, "began": ""}}
    error = find_error(numbered(level(0, 10, **barren), level(0, 10, **barren)))
    assert str(error) == f"{model} has not written a valid plan in 20 calls; its last answer was empty"
    assert error is not None
    assert error.option == f"{flag} OTHER"


def test_one_model_for_both_planners_is_named_by_the_flag_of_the_large_one() -> None:
    assert flags_of_models(ref("x/m"), ref("x/m"), ref("x/m"))["planner"] == {"x/m": "--planner-model"}


def test_levels_at_the_end_are_played_again_up_to_one_with_usable_answers() -> None:
    barren = level(**BARREN)
    assert count_barren_end(numbered(barren, level(), barren, barren)) == 2
    assert count_barren_end(numbered(barren, level())) == 0
    assert count_barren_end([{"outcome": "fail"}]) == 0, "of an earlier version"


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), st.sampled_from(["", "coder", "planner"]))))
def test_the_levels_that_are_kept_are_those_that_matter(kinds: list[tuple[int, int, str]]) -> None:
    levels: list[dict[str, Any]] = []
    for coder_calls, planner_calls, role in kinds:
        flag = {"coder": "x/coder", "planner": "x/large"}
        unusable = {role: {"model": flag[role], "calls": 2, "began": ""}} if role else {}
        levels.append(level(coder_calls, planner_calls, **unusable))
    asked = AskedLevels()
    for summary in numbered(*levels):
        asked.add(summary)
    for role in ("planner", "coder"):
        row: list[int] = []
        for summary in reversed(numbered(*levels)):
            if summary["counters"][f"{role}_calls"]:
                if role not in summary["unusable"]:
                    break
                row.append(summary["index"])
        kept = [summary["index"] for summary in reversed(asked[role]) if role in summary["unusable"]]
        assert kept == row
