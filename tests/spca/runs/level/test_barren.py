"""When a model is not asked any more: which levels count, what is told of it and which levels are played again."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from spca.llm.calls.ledger import Place, Record, RequestOutcome
from spca.llm.providers.base import Usage
from spca.runs.level.barren import count_barren_end, flags_of_models, unusable_model
from tests.support.spca.call_requests import ref

FLAGS = flags_of_models(ref("x/large"), ref("x/small"), ref("x/coder"))
BARREN: dict[str, Any] = {"coder": {"model": "x/coder", "calls": 8, "began": "I am sorry"}}


def level(coder_calls: int = 8, planner_calls: int = 4, **unusable: Any) -> dict[str, Any]:
    counters = {"planner_calls": planner_calls, "coder_calls": coder_calls}
    return {"counters": counters, "unusable": unusable}


def numbered(*levels: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"index": number, **summary} for number, summary in enumerate(levels, 1)]


def request(index: int, phase: str = "coder", model: str = "x/coder", usd: str = "0.01") -> Record:
    place = Place("r", index, phase=phase)
    record = Record(index, place, 1, ref(model), "", "k", 0.0)
    return replace(record, usage=Usage(1, 1), cost=Decimal(usd), outcome=RequestOutcome.ANSWERED)


def test_two_levels_in_a_row_are_enough_and_one_is_not() -> None:
    assert unusable_model(numbered(level(**BARREN)), FLAGS, []) is None
    error = unusable_model(numbered(level(**BARREN), level(**BARREN)), FLAGS, [])
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
    assert (unusable_model(finished, FLAGS, []) is not None) is is_error


def test_what_it_cost_are_the_requests_of_that_role_and_model_in_those_levels() -> None:
    records = [request(2), request(3), request(3, usd="0.1725")]
    others = [request(1), request(2, "planner"), request(3, model="x/another")]
    refused = replace(request(3), outcome=RequestOutcome.REJECTED)
    finished = numbered(level(), level(**BARREN), level(**BARREN))
    error = unusable_model(finished, FLAGS, [*records, *others, refused])
    assert "in 16 calls (0.1925 USD); its last" in str(error)


@pytest.mark.parametrize(("model", "flag"), [("x/large", "--planner-model"), ("x/small", "--planner-small-model")])
def test_the_flag_is_that_of_the_model_that_answered_last(model: str, flag: str) -> None:
    barren: dict[str, Any] = {"planner": {"model": model, "calls": 10, "began": ""}}
    error = unusable_model(numbered(level(0, 10, **barren), level(0, 10, **barren)), FLAGS, [])
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
