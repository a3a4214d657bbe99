"""The ledger: one line a request, whatever happened to the process that sent it."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.errors import FileError, SettingsError
from spca.errors import ResumeError
from spca.llm.calls.ledger import BOOK, IN_FLIGHT, Ledger, Place, Record, RequestOutcome, sums
from spca.llm.providers.base import Usage
from tests.support.spca.call_requests import any_text, ref, usages

PLACE = Place("run-1", 3, "doors", "MiniGrid-DoorKey-5x5-v0", 7, 2, "coder", "semantic")
RECORD = Record(1, PLACE, 2, ref("openai/o3"), "json_schema", "k" * 64, 1234.567, asked_tokens=300)
DONE = replace(
    RECORD,
    latency_s=1.5,
    usage=Usage(9, 8, 2, 6, 5),
    cost=Decimal("0.0022"),
    outcome=RequestOutcome.ANSWERED,
    transcript="llm/1",
)

records = st.builds(
    Record,
    number=st.integers(1, 10**6),
    place=st.sampled_from([PLACE, Place(), replace(PLACE, category="ü\u2028", round=None)]),
    attempt=st.integers(1, 9),
    model=st.just(ref("m")),
    form=st.sampled_from(["", "text"]),
    key=st.just("k"),
    started=st.integers(0, 2 * 10**12).map(lambda value: value / 1000),
    latency_s=st.integers(0, 10**7).map(lambda value: value / 10**4),
    usage=usages,
    estimated=st.booleans(),
    cost=st.none() | st.integers(0, 10**13).map(lambda value: Decimal(value) / 10**9),
    outcome=st.sampled_from(RequestOutcome),
    status=st.sampled_from([None, 200, 429]),
    asked_tokens=st.integers(0, 10**7),
)


def kept(folder: Path) -> tuple[Record, ...]:
    """What a new process reads."""
    return tuple(Ledger(folder).records)


def entered(folder: Path, *each: Record) -> Ledger:
    ledger = Ledger(folder)
    for record in each:
        ledger.begin(replace(record, number=ledger.next_number))
        ledger.end(replace(record, number=ledger.next_number))
    return ledger


@given(records)
def test_a_record_survives_its_line(record: Record) -> None:
    again = Record.from_dict(json.loads(json.dumps(record.to_dict())))
    assert again == record
    assert again.cost is None or isinstance(again.cost, Decimal)


def test_a_line_of_an_older_run_tells_nothing_of_cache_writes() -> None:
    line = DONE.to_dict()
    del line["cache_write_tokens"]
    assert Record.from_dict(line) == replace(DONE, usage=replace(DONE.usage, cache_write_tokens=None))


def test_a_line_names_everything_an_auditor_wants() -> None:
    assert DONE.to_dict() == {
        "number": 1,
        "run": "run-1",
        "index": 3,
        "category": "doors",
        "level": "MiniGrid-DoorKey-5x5-v0",
        "seed": 7,
        "round": 2,
        "phase": "coder",
        "mode": "semantic",
        "attempt": 2,
        "model": "openai/o3",
        "form": "json_schema",
        "key": "k" * 64,
        "started": 1234.567,
        "asked_tokens": 300,
        "latency_s": 1.5,
        "input_tokens": 9,
        "output_tokens": 8,
        "cached_tokens": 2,
        "reasoning_tokens": 6,
        "cache_write_tokens": 5,
        "estimated": False,
        "cost": 0.0022,
        "outcome": "answered",
        "status": None,
        "error": "",
        "transcript": "llm/1",
    }


def test_the_intent_is_on_disk_before_and_the_end_after_the_request(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    assert ledger.next_number == 1
    ledger.begin(RECORD)
    intent = json.loads((tmp_path / IN_FLIGHT).read_text())
    assert Record.from_dict(intent) == RECORD
    assert intent["outcome"] == "unknown"
    assert not (tmp_path / BOOK).exists()
    ledger.end(DONE)
    assert not (tmp_path / IN_FLIGHT).exists()
    assert kept(tmp_path) == (DONE,)
    assert ledger.next_number == 2


@pytest.mark.long
@given(st.lists(records, max_size=4), any_text)
def test_the_books_of_any_records_are_read_back(each: list[Record], error: str) -> None:
    with TemporaryDirectory() as name:
        ledger = entered(Path(name), *(replace(record, error=error) for record in each))
        again = kept(Path(name))
    assert [record.number for record in again] == list(range(1, len(each) + 1))
    for before, after in zip(ledger.records, again, strict=True):
        assert after == replace(before, error=after.error)
        # Two halves of a pair of surrogates become the character that they stand for.
        assert after.error.encode("utf-16", "surrogatepass") == before.error.encode("utf-16", "surrogatepass")


def test_without_a_folder_the_books_are_kept_in_memory() -> None:
    ledger = Ledger()
    ledger.begin(RECORD)
    ledger.end(DONE)
    assert (ledger.records, ledger.next_number) == ([DONE], 2)


def test_a_request_that_a_dead_process_had_in_flight_is_in_the_books_as_unknown(tmp_path: Path) -> None:
    entered(tmp_path, DONE).begin(replace(RECORD, number=2))
    again = Ledger(tmp_path)
    assert [(record.number, record.outcome) for record in again.records] == [(1, "answered"), (2, "unknown")]
    assert not (tmp_path / IN_FLIGHT).exists()
    assert kept(tmp_path) == tuple(again.records)


def test_what_became_of_it_may_be_known(tmp_path: Path) -> None:
    Ledger(tmp_path).begin(RECORD)
    seen: list[Record] = []

    def recover(record: Record) -> Record:
        seen.append(record)
        return DONE

    assert Ledger(tmp_path, recover).records == [DONE]
    assert seen == [RECORD]
    assert kept(tmp_path) == (DONE,)


def test_a_death_between_entering_and_tidying_up_doubles_nothing(tmp_path: Path) -> None:
    entered(tmp_path, DONE).begin(RECORD)  # its intent, left over beside its end
    assert kept(tmp_path) == (DONE,)
    assert not (tmp_path / IN_FLIGHT).exists()


def test_where_the_file_system_lost_the_end_of_the_book_the_intent_is_still_entered(tmp_path: Path) -> None:
    entered(tmp_path, DONE, DONE).begin(replace(RECORD, number=3))
    (tmp_path / BOOK).write_bytes((tmp_path / BOOK).read_bytes()[:-10])
    assert [(record.number, record.outcome.value) for record in kept(tmp_path)] == [(1, "answered"), (2, "unknown")]


@pytest.mark.parametrize("cut", [0, 1, 100, -1])
def test_a_torn_last_line_is_entered_again_from_its_intent(tmp_path: Path, cut: int) -> None:
    entered(tmp_path, DONE).begin(replace(RECORD, number=2))
    whole = (tmp_path / BOOK).read_bytes()
    (tmp_path / BOOK).write_bytes(whole + whole[: cut - 1 if cut < 0 else cut])
    assert [record.outcome.value for record in kept(tmp_path)] == ["answered", "unknown"]
    assert len((tmp_path / BOOK).read_bytes().splitlines()) == 2


@pytest.mark.parametrize("content", ["", "{", '{"number": 1}', "null", "[]", "\x00" * 50, "\u00e9"])
def test_a_torn_intent_was_never_sent(tmp_path: Path, content: str) -> None:
    entered(tmp_path, DONE)
    (tmp_path / IN_FLIGHT).write_bytes(content.encode("latin-1"))
    assert kept(tmp_path) == (DONE,)
    assert not (tmp_path / IN_FLIGHT).exists()


@pytest.mark.parametrize("line", ["x", "{}", "[]", json.dumps(DONE.to_dict() | {"outcome": "lucky"})])
def test_a_foreign_line_in_the_middle_is_no_book(tmp_path: Path, line: str) -> None:
    entered(tmp_path, DONE)
    (tmp_path / BOOK).write_text(f"{line}\n{json.dumps(DONE.to_dict())}\n")
    with pytest.raises(ResumeError, match=r"calls\.jsonl cannot be read") as caught:
        Ledger(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", [BOOK, IN_FLIGHT])
def test_books_that_cannot_be_opened_are_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(parents=True)
    with pytest.raises((ResumeError, FileError), match=rf"{name} cannot be read"):
        Ledger(tmp_path)


@pytest.mark.parametrize("name", [BOOK, IN_FLIGHT])
def test_a_full_disk_is_a_users_matter(tmp_path: Path, name: str) -> None:
    ledger = Ledger(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).symlink_to("/dev/full")
    with pytest.raises(SettingsError, match=rf"cannot write .*{name}: No space left") as caught:
        entered_by(ledger)
    assert "\n" not in str(caught.value)


def entered_by(ledger: Ledger) -> None:
    ledger.begin(RECORD)
    ledger.end(DONE)


def test_the_tokens_of_a_request_are_known_when_both_counts_are() -> None:
    assert DONE.tokens == 17
    assert replace(DONE, usage=Usage(1, None)).tokens is replace(DONE, usage=Usage(None, 1)).tokens is None
    assert replace(DONE, usage=Usage(0, 0)).tokens == 0


@pytest.mark.long
@given(st.lists(records, max_size=6))
def test_sums_add_up(each: list[Record]) -> None:
    total = sums(each)
    assert total["requests"] == len(each) == sum(total[outcome.value] for outcome in RequestOutcome)
    for name in ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cache_write_tokens"):
        assert total[name] == sum(getattr(record.usage, name) or 0 for record in each)
    assert total["cost_usd"] == float(sum((record.cost or Decimal(0) for record in each), Decimal(0)))
    assert total["cost_unknown"] == sum(record.cost is None for record in each)
    assert total["estimated"] == sum(record.estimated for record in each)


@given(st.lists(records, max_size=6), st.integers(0, 6))
def test_sums_of_parts_are_the_sum(each: list[Record], cut: int) -> None:
    def counts(total: dict[str, Any]) -> dict[str, int]:
        return {name: value for name, value in total.items() if isinstance(value, int)}

    whole, first, rest = (counts(sums(part)) for part in (each, each[:cut], each[cut:]))
    assert whole == {name: first[name] + rest[name] for name in whole}


def test_the_sum_of_many_small_costs_is_exact() -> None:
    assert sums([replace(DONE, cost=Decimal("0.1"))] * 3)["cost_usd"] == 0.3
    assert sums([])["cost_usd"] == 0.0


@given(st.lists(st.tuples(records, st.sampled_from([None, 1, 2]), st.sampled_from("ab")), max_size=8))
def test_sums_of_levels_and_categories_are_those_of_their_records(each: list[tuple[Record, int | None, str]]) -> None:
    ledger = Ledger()
    for record, index, category in each:
        ledger.end(replace(record, place=replace(record.place, index=index, category=category)))
    assert ledger.sums() == sums(ledger.records)
    for index in (1, 2, 3):
        assert ledger.sums_of_level(index) == sums(record for record in ledger.records if record.place.index == index)
    names = dict.fromkeys(record.place.category for record in ledger.records)
    assert list(ledger.sums_by_category()) == list(names)
    for name, category_sums in ledger.sums_by_category().items():
        assert category_sums == sums(record for record in ledger.records if record.place.category == name)
