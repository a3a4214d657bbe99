"""The desk: every request is written down, paid for, repeated where that helps, and never where it does not."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca.errors import (
    BadAnswerError,
    ProviderConfigError,
    ProviderDownError,
    ProviderError,
    ReplayMissError,
    TransientError,
    UnknownModelError,
    UnsupportedFormError,
)
from spca.llm.calls.ledger import IN_FLIGHT, RequestOutcome, sums
from spca.llm.calls.retry import RetryPolicy
from spca.llm.providers.base import Form as Forms
from spca.llm.providers.base import Request, Response, Usage
from tests.support.spca.call_requests import PAID, USAGE, Answers, Desk, Form, book, request, transcripts
from tests.support.spca.doubles import Scripted, ScriptedProvider

BUSY = TransientError("x: busy", status=429)
GONE = TransientError("x: the connection broke", lost=True)
OK = Response("yes", USAGE)


def test_an_answered_request_is_one_record_with_its_place(tmp_path: Path) -> None:
    desk = Desk(tmp_path).level(3)
    progress: list[tuple[int, str]] = []
    desk.desk.noting_rounds(lambda number, phase: progress.append((number, phase)))(2, "plan")
    answered = desk.ask(ScriptedProvider(OK), request("?", schema=Form))
    assert progress == [(2, "plan")]
    assert (answered.answer.get().text, answered.source) == ("yes", "model")
    (line,) = book(tmp_path)
    place = {"run": "run-1", "index": 3, "category": "doors", "level": "Level-3", "seed": 7, "round": 2}
    assert place.items() <= line.items()
    assert (line["phase"], line["mode"], line["attempt"], line["model"]) == ("planner", "fresh", 1, PAID)
    told = {"input_tokens": 1000, "output_tokens": 100, "cached_tokens": 400, "reasoning_tokens": 60}
    assert told.items() <= line.items()
    assert (line["cost"], line["outcome"], line["estimated"]) == (0.0022, "answered", False)
    assert line["form"] == "json_schema"
    assert line["key"] == answered.call.key
    (path,) = transcripts(tmp_path)
    assert line["transcript"] == answered.transcript == f"llm/{path.name}"
    assert 0 <= line["latency_s"] < 5
    assert desk.desk.ledger.records == list(answered.records)


def test_a_new_level_begins_before_its_first_round() -> None:
    desk = Desk().level(1)
    desk.desk.noting_rounds(lambda _number, _phase: None)(4, "code")
    desk.level(2)
    (record,) = desk.ask(ScriptedProvider(OK)).records
    assert (record.place.index, record.place.round) == (2, None)


def test_the_intent_is_written_before_the_request_leaves(tmp_path: Path) -> None:
    seen: list[str] = []

    def look(_text: str) -> Response:
        seen.append((tmp_path / IN_FLIGHT).read_text())
        return OK

    Desk(tmp_path).ask(Answers(look))
    assert '"outcome": "unknown"' in seen[0]
    assert not (tmp_path / IN_FLIGHT).exists()


def test_the_answer_is_on_disk_before_the_request_is_closed(tmp_path: Path) -> None:
    """What is in the ledger as answered can always be served again."""
    desk = Desk(tmp_path)
    for text in "abc":
        desk.ask(Answers(), text)
    for line in book(tmp_path):
        assert (tmp_path / line["transcript"]).is_file()


def test_without_a_folder_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answered = Desk().ask(ScriptedProvider(OK))
    assert (answered.transcript, len(answered.records)) == ("", 1)
    assert not list(tmp_path.iterdir())


def test_what_may_pass_is_waited_for_and_every_request_is_in_the_books(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "spca.llm.calls.desk")
    desk = Desk()
    answered = desk.ask(ScriptedProvider(BUSY, GONE, TransientError("x: 500", status=500), OK))
    assert desk.outcomes == ["rejected", "lost", "rejected", "answered"]
    assert [record.attempt for record in answered.records] == [1, 2, 3, 4]
    assert [record.status for record in answered.records] == [429, None, 500, None]
    assert [record.cost for record in answered.records] == [0, None, 0, Decimal("0.0022")]
    assert [record.error for record in answered.records] == [
        "x: busy",
        "x: the connection broke",
        "x: 500",
        "",
    ]
    assert len({record.key for record in answered.records}) == 1
    assert len(desk.waited) == len(desk.notes) == 3
    assert desk.notes[0].startswith("x: busy; trying again in 1 s (2 of 6)")
    assert all("\n" not in note for note in desk.notes)
    for wait, message, number in zip(desk.waited, caplog.messages, (2, 3, 4), strict=True):
        assert message.startswith(f"waits {wait:.1f} s before request {number} of this call: x: ")


def test_a_server_that_says_when_is_asked_then() -> None:
    desk = Desk()
    desk.ask(ScriptedProvider(TransientError("x", retry_after=47.0), TransientError("x", retry_after=0.0), OK))
    assert desk.waited[0] == 47.0
    assert 1.0 <= desk.waited[1] <= 2.0


def test_a_server_that_asks_for_too_long_is_given_up_at_once() -> None:
    desk, provider = Desk(), ScriptedProvider(TransientError("x: busy", retry_after=3600.0), OK)
    with pytest.raises(ProviderDownError, match=r"x: busy; it asks to wait 3600 s"):
        desk.ask(provider)
    assert (desk.waited, desk.notes, provider.left) == ([], [], 1)


def test_a_wait_that_is_too_long_is_told_whenever_it_is_asked_for() -> None:
    provider = ScriptedProvider(BUSY, TransientError("x: busy", retry_after=3600.0))
    with pytest.raises(ProviderDownError, match="it asks to wait 3600 s"):
        Desk().ask(provider)


def test_a_server_that_is_down_is_given_up_in_the_end() -> None:
    desk = Desk(policy=RetryPolicy(attempts=3))
    with pytest.raises(ProviderDownError, match=r"x: busy \(3 times in a row\)") as caught:
        desk.ask(ScriptedProvider(BUSY, BUSY, TransientError("x: busy", retry_after=1.0)))
    assert len(desk.waited) == 2
    assert str(caught.value.__cause__) == "x: busy"
    alone = Desk(policy=RetryPolicy(attempts=1))
    with pytest.raises(ProviderDownError, match=r"x: busy$"):
        alone.ask(ScriptedProvider(TransientError("x: busy", retry_after=1.0)))


@pytest.mark.parametrize(
    "error",
    [
        ProviderConfigError("no key"),
        UnknownModelError("no model"),
        ReplayMissError("never asked"),
        ProviderError("odd"),
    ],
)
def test_what_cannot_pass_is_not_repeated(error: ProviderError) -> None:
    desk, provider = Desk(), ScriptedProvider(error, OK)
    with pytest.raises(type(error)) as caught:
        desk.ask(provider)
    assert caught.value is error
    assert (desk.outcomes, desk.waited, provider.left) == (["rejected"], [], 1)
    assert desk.desk.ledger.records[0].error == str(error)
    assert desk.desk.ledger.records[0].cost == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), ZeroDivisionError("a defect")])
def test_an_interrupted_request_is_in_the_books_as_unknown(error: BaseException, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    with pytest.raises(type(error)):
        desk.ask(ScriptedProvider(error))
    (line,) = book(tmp_path)
    assert (line["outcome"], line["cost"], line["error"]) == ("unknown", None, type(error).__name__)
    assert not (tmp_path / IN_FLIGHT).exists()
    assert not (tmp_path / "llm").exists()
    assert Desk(tmp_path).outcomes == ["unknown"]


def test_an_answer_that_cannot_be_kept_was_paid_all_the_same(tmp_path: Path) -> None:
    """The disk fills up, or the user interrupts, after the answer has come and before its file is there."""
    desk = Desk(tmp_path)
    (tmp_path / "llm").write_text("in the way")
    with pytest.raises(Exception, match="llm"):
        desk.ask(ScriptedProvider(OK))
    (line,) = book(tmp_path)
    assert (line["outcome"], line["cost"], line["transcript"]) == ("answered", 0.0022, "")
    assert not (tmp_path / IN_FLIGHT).exists()


@pytest.mark.parametrize("error", [GONE, BadAnswerError("no JSON"), KeyboardInterrupt()])
def test_a_free_model_costs_nothing_whatever_happens(error: BaseException) -> None:
    desk = Desk(model="free/model", policy=RetryPolicy(attempts=1))
    with suppress(ProviderDownError, KeyboardInterrupt):
        desk.ask(ScriptedProvider(error))
    assert [record.cost for record in desk.desk.ledger.records] == [0]
    assert sums(desk.desk.ledger.records)["cost_unknown"] == 0


def test_a_model_without_a_price_costs_an_unknown_amount() -> None:
    (record,) = Desk(model="new/model").ask(ScriptedProvider(OK)).records
    assert (record.cost, record.outcome, record.tokens) == (None, "answered", 1100)


def test_tokens_that_were_not_told_are_estimated_and_marked(tmp_path: Path) -> None:
    answered = Desk(tmp_path).ask(ScriptedProvider(Response("a" * 30, Usage())), "b" * 300)
    (record,) = answered.records
    assert (record.usage.input_tokens, record.usage.output_tokens, record.estimated) == (100, 10, True)
    assert record.cost == Decimal("0.00028")
    assert answered.answer.get().usage == record.usage


def test_an_answer_that_cannot_be_read_is_kept_and_may_have_been_billed(tmp_path: Path) -> None:
    provider = ScriptedProvider(BadAnswerError("x: the body is no JSON"))
    desk = Desk(tmp_path).level()
    answered = desk.ask(provider)
    with pytest.raises(BadAnswerError, match="x: the body is no JSON"):
        answered.answer.get()
    assert desk.outcomes == ["lost"]
    assert desk.desk.ledger.records[0].cost is None
    resumed = Desk(tmp_path).level()
    again = resumed.ask(provider)
    assert again.source == "resumed"
    with pytest.raises(BadAnswerError, match="x: the body is no JSON"):
        again.answer.get()
    assert resumed.outcomes == ["lost"]
    assert len(provider.requests) == 1


@pytest.mark.parametrize("words", ["\ud800", "a\nb", "\x00", "x" * 10**5])
def test_any_words_of_an_error_can_be_written_down(words: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, policy=RetryPolicy(attempts=1)).level()
    with pytest.raises(ProviderDownError):
        desk.ask(ScriptedProvider(TransientError(words)), "a")
    desk.ask(ScriptedProvider(BadAnswerError(words)), "b\ud800")
    resumed = Desk(tmp_path).level()
    assert [record.error for record in resumed.desk.ledger.records] == [words, words]
    assert resumed.ask(ScriptedProvider(), "b\ud800").answer.error == words


def test_equal_questions_are_calls_of_their_own(tmp_path: Path) -> None:
    desk, provider = Desk(tmp_path), ScriptedProvider("one", "two")
    assert [desk.ask(provider).answer.get().text for _ in range(2)] == ["one", "two"]
    assert [asked.occurrence for asked in provider.requests] == [0, 1]
    assert [path.name[-7:] for path in transcripts(tmp_path)] == ["-0.json", "-1.json"]


def test_an_answer_is_kept_as_it_came(tmp_path: Path) -> None:
    came = "<think>hm</think>yes\ud800"
    assert Desk(tmp_path).level().ask(ScriptedProvider(replace(OK, text=came))).answer.get().text == came
    resumed = Desk(tmp_path).level().ask(ScriptedProvider())
    assert (resumed.source, resumed.answer.get().text) == ("resumed", came)


def test_the_size_of_the_prompt_is_noted_before_it_is_sent(tmp_path: Path) -> None:
    class Reading:
        def complete(self, _asked: Request) -> Response:
            intent.update(json.loads((tmp_path / IN_FLIGHT).read_text()))
            return OK

    intent: dict[str, Any] = {}
    Desk(tmp_path).ask(Reading(), request("a" * 30, "b" * 31))
    assert intent["asked_tokens"] == 21
    assert book(tmp_path)[0]["asked_tokens"] == 21


fates: st.SearchStrategy[Scripted] = st.sampled_from(
    [OK, OK, OK, Response("x", Usage()), BUSY, GONE, BadAnswerError("bad"), UnsupportedFormError("form")]
)


@pytest.mark.long
@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.lists(fates, max_size=4)), max_size=6))
def test_the_books_equal_what_the_server_saw(calls: list[tuple[str, list[Scripted]]]) -> None:
    server, desk = Counting(), Desk()
    for text, fate in calls:
        server.fate = chain(fate, repeat(OK))
        desk.ask(server, request(text, schema=Form))
    records = desk.desk.ledger.records
    total = sums(records)
    assert total["requests"] == server.count == sum(total[outcome.value] for outcome in RequestOutcome)
    assert total["answered"] == server.answered
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    assert total["cost_unknown"] == sum(record.outcome is RequestOutcome.LOST for record in records)


class Counting:
    """A server whose answers are decided from outside."""

    def __init__(self) -> None:
        self.count = self.answered = 0
        self.fate: Any = None

    def complete(self, asked: Request) -> Response:
        self.count += 1
        answer = next(self.fate)
        if isinstance(answer, UnsupportedFormError) and asked.form is Forms.TEXT:
            answer = OK
        if isinstance(answer, BaseException):
            raise answer
        self.answered += 1
        return answer  # type: ignore[no-any-return]  # scripted
