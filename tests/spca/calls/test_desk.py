"""The desk: every request is written down, paid for, repeated where that helps, and never where it does not."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca.calls.budget import Caps
from spca.calls.ledger import IN_FLIGHT, Outcome, sums
from spca.calls.retry import RetryPolicy
from spca.errors import (
    BadAnswerError,
    BudgetReached,
    ProviderConfigError,
    ProviderDownError,
    ProviderError,
    ReplayMissError,
    TransientError,
    UnknownModelError,
    UnsupportedFormError,
)
from spca.providers.base import Form as Forms
from spca.providers.base import Request, Response, Usage
from tests.doubles import Scripted, ScriptedProvider
from tests.spca.calls.asking import PAID, USAGE, Answers, Desk, Form, book, request, transcripts

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
    """What is in the books as answered can always be served again."""
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


def test_what_may_pass_is_waited_for_and_every_request_is_in_the_books() -> None:
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
    assert caught.value.__cause__ is None
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


class Choosy:
    """A server that knows certain forms of answer only."""

    def __init__(self, *known: Forms, busy: int = 0) -> None:
        self.known, self.busy = known, busy
        self.forms: list[Forms] = []

    def complete(self, asked: Request) -> Response:
        self.forms.append(asked.form)
        if self.busy:
            self.busy -= 1
            raise BUSY
        if asked.form not in self.known:
            raise UnsupportedFormError(f"x: no {asked.form}")
        return OK


def test_a_weaker_form_is_tried_and_remembered_for_the_model() -> None:
    desk, server = Desk(), Choosy(Forms.TEXT)
    answered = desk.ask(server, request("a", schema=Form))
    assert server.forms == [Forms.SCHEMA, Forms.JSON, Forms.TEXT]
    assert desk.outcomes == ["rejected", "rejected", "answered"]
    assert [record.form for record in answered.records] == ["json_schema", "json_object", "text"]
    assert [record.attempt for record in answered.records] == [1, 2, 3]
    desk.ask(server, request("b", schema=Form))
    assert server.forms[3:] == [Forms.TEXT]
    desk.ask(server, request("b", schema=Form), "other/model")
    assert server.forms[4:] == [Forms.SCHEMA, Forms.JSON, Forms.TEXT]
    assert (desk.waited, desk.notes) == ([], [])


def test_a_form_that_is_known_is_not_weakened() -> None:
    server = Choosy(Forms.SCHEMA, Forms.JSON, Forms.TEXT, busy=2)
    Desk().ask(server, request("a", schema=Form))
    assert server.forms == [Forms.SCHEMA] * 3


def test_retries_go_on_in_the_weaker_form() -> None:
    desk, server = Desk(), Choosy(Forms.JSON, busy=1)
    answered = desk.ask(server, request("a", schema=Form))
    assert server.forms == [Forms.SCHEMA, Forms.SCHEMA, Forms.JSON]
    assert [record.attempt for record in answered.records] == [1, 2, 3]


def test_a_server_that_refuses_every_form_cannot_be_asked() -> None:
    desk, server = Desk(), Choosy()
    with pytest.raises(ProviderConfigError, match=rf"{PAID}: the server refused every form of answer"):
        desk.ask(server, request("a", schema=Form))
    assert server.forms == [Forms.SCHEMA, Forms.JSON, Forms.TEXT]
    assert desk.outcomes == ["rejected"] * 3


def test_the_form_does_not_change_the_call(tmp_path: Path) -> None:
    asked = request("a", schema=Form)
    Desk(tmp_path).level().ask(Choosy(Forms.TEXT), asked)
    assert Desk(tmp_path).level().ask(ScriptedProvider(), asked).source == "resumed"


def test_free_text_has_no_form() -> None:
    (record,) = Desk().ask(ScriptedProvider(OK)).records
    assert record.form == ""


def ask_many(desk: Desk, provider: Answers) -> None:
    for number in range(99):
        desk.ask(provider, str(number))


@pytest.mark.parametrize(("caps", "requests"), [(Caps(calls=3), 3), (Caps(tokens=2200), 2), (Caps(tokens=2201), 3)])
def test_a_cap_is_checked_before_every_request(caps: Caps, requests: int) -> None:
    desk, provider = Desk(caps=caps), Answers()
    with pytest.raises(BudgetReached):
        ask_many(desk, provider)
    assert len(provider.asked) == len(desk.outcomes) == requests


def test_a_server_that_tells_no_tokens_cannot_evade_the_caps() -> None:
    for caps in (Caps(tokens=220), Caps(cost_usd=0.00056)):  # an estimate of 100 + 10 tokens, 0.00028 USD each
        desk, provider = Desk(caps=caps), Answers(lambda _text: Response("a" * 30))
        desk.ask(provider, "b" * 300)
        desk.ask(provider, "b" * 300)
        with pytest.raises(BudgetReached):
            desk.ask(provider, "b" * 300)


@pytest.mark.parametrize("fate", [GONE, BadAnswerError("no JSON")])
def test_what_was_lost_counts_like_the_dearest(fate: Exception) -> None:
    desk = Desk(caps=Caps(cost_usd=0.0044), policy=RetryPolicy(attempts=1))
    desk.ask(ScriptedProvider(OK))
    with suppress(ProviderDownError):
        desk.ask(ScriptedProvider(fate))
    with pytest.raises(BudgetReached, match="--max-cost"):
        desk.ask(ScriptedProvider(OK))


def test_free_models_never_stop_for_cost() -> None:
    desk = Desk(model="free/model", caps=Caps(cost_usd=0.0), policy=RetryPolicy(attempts=2))
    for _ in range(5):
        desk.ask(ScriptedProvider(GONE, Response("x", USAGE)))
    assert desk.outcomes == ["lost", "answered"] * 5


def test_retries_count_against_the_cap_on_requests() -> None:
    desk, provider = Desk(caps=Caps(calls=2)), ScriptedProvider(BUSY, BUSY, OK)
    with pytest.raises(BudgetReached):
        desk.ask(provider)
    assert provider.left == 1


@pytest.mark.parametrize("cap", ["0.0021", "0.0022", "0.0023", "0.0044", "0.1"])
def test_costs_are_capped_to_one_call(cap: str) -> None:
    desk, provider = Desk(caps=Caps(cost_usd=float(cap))), Answers()
    with pytest.raises(BudgetReached) as caught:
        ask_many(desk, provider)
    spent = Decimal("0.0022") * len(provider.asked)
    assert Decimal(cap) <= spent < Decimal(cap) + Decimal("0.0022")
    assert caught.value.flag == "--max-cost"


def test_a_resumed_run_goes_on_with_what_was_spent(tmp_path: Path) -> None:
    for _ in range(2):
        desk = Desk(tmp_path, caps=Caps(calls=2)).level()
        desk.ask(Answers(), "a")
        desk.ask(Answers(), "b")  # in the second process both are served from their files
        with pytest.raises(BudgetReached):
            desk.ask(Answers(), "c")
    higher = Desk(tmp_path, caps=Caps(calls=3)).level()
    assert [higher.ask(Answers(), text).source for text in "abc"] == ["resumed", "resumed", "model"]
    assert higher.outcomes == ["answered"] * 3


def test_equal_questions_are_calls_of_their_own(tmp_path: Path) -> None:
    desk, provider = Desk(tmp_path), ScriptedProvider("one", "two")
    assert [desk.ask(provider).answer.get().text for _ in range(2)] == ["one", "two"]
    assert [asked.occurrence for asked in provider.requests] == [0, 1]
    assert [path.name[-7:] for path in transcripts(tmp_path)] == ["-0.json", "-1.json"]


def test_thoughts_are_neither_answer_nor_kept(tmp_path: Path) -> None:
    answered = Desk(tmp_path).ask(ScriptedProvider(replace(OK, text="<think>hm</think>yes\ud800")))
    assert answered.answer.get().text == "yes?"
    assert "hm" not in transcripts(tmp_path)[0].read_text()


fates: st.SearchStrategy[Scripted] = st.sampled_from(
    [OK, OK, OK, Response("x", Usage()), BUSY, GONE, BadAnswerError("bad"), UnsupportedFormError("form")]
)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.lists(fates, max_size=4)), max_size=6))
def test_the_books_equal_what_the_server_saw(calls: list[tuple[str, list[Scripted]]]) -> None:
    server, desk = Counting(), Desk()
    for text, fate in calls:
        server.fate = chain(fate, repeat(OK))
        desk.ask(server, request(text, schema=Form))
    records = desk.desk.ledger.records
    total = sums(records)
    assert total["requests"] == server.count == sum(total[outcome.value] for outcome in Outcome)
    assert total["answered"] == server.answered
    assert [record.number for record in records] == list(range(1, len(records) + 1))
    assert total["cost_unknown"] == sum(record.outcome is Outcome.LOST for record in records)


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
