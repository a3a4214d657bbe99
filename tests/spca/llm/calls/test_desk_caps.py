"""Caps hold to one request, whatever becomes of requests."""

from __future__ import annotations

import json
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest

from spca.common.errors import BudgetReached
from spca.errors import BadAnswerError, ProviderDownError, TransientError
from spca.llm.calls.budget import Caps
from spca.llm.calls.ledger import sums
from spca.llm.calls.retry import RetryPolicy
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.providers.base import Response, Target, Usage
from spca.llm.providers.openai.openai import OpenAIProvider
from tests.fakes.faults import FaultServer, answering, miscounted
from tests.fakes.openai_wire import CHAT
from tests.fakes.serving import Reply
from tests.support.spca.call_requests import USAGE, Answers, Desk
from tests.support.spca.doubles import ScriptedProvider

BUSY = TransientError("x: busy", status=429)
GONE = TransientError("x: the connection broke", lost=True)
OK = Response("yes", USAGE)


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


NEVER_READABLE = {
    "unreadable": BadAnswerError("the answer has an unknown form"),
    "timeout": TransientError("x: no answer in time", lost=True),
    "defect": RuntimeError("a defect"),
}


@pytest.mark.parametrize("fate", NEVER_READABLE.values(), ids=NEVER_READABLE)
@pytest.mark.parametrize(("caps", "requests"), [(Caps(cost_usd=0.0025), 3), (Caps(tokens=700), 4), (Caps(calls=3), 3)])
def test_caps_hold_where_no_request_is_ever_answered(fate: Exception, caps: Caps, requests: int) -> None:
    """A prompt of 100 tokens and an answer of 100 are 200 tokens and 0.001 USD."""
    desk, provider = Desk(caps=caps), Answers(lambda _text: fate)
    flag = ""
    for _ in range(99):
        try:
            desk.ask(provider, "b" * 300)
        except BudgetReached as reached:
            flag = reached.flag
            break
        except (ProviderDownError, RuntimeError):
            pass
    assert flag.startswith("--max-")
    assert len(provider.asked) == len(desk.outcomes) == requests
    assert {record.asked_tokens for record in desk.desk.ledger.records} == {100}


def test_caps_count_what_was_lost_in_an_earlier_process(tmp_path: Path) -> None:
    for asked in (1, 0):
        desk, provider = (
            Desk(tmp_path, caps=Caps(cost_usd=0.001), policy=RetryPolicy(attempts=2)),
            Answers(lambda _: GONE),
        )
        with pytest.raises(BudgetReached, match="--max-cost"):
            desk.ask(provider, "b" * 300)
        assert len(provider.asked) == asked


def test_where_a_cap_ends_the_retries_the_last_fault_is_told_and_nothing_is_waited_for() -> None:
    desk, provider = Desk(caps=Caps(calls=1)), ScriptedProvider(BUSY, OK)
    with pytest.raises(BudgetReached, match=r"--max-calls 1.*not answered: x: busy") as caught:
        desk.ask(provider)
    assert (caught.value.flag, desk.waited, desk.notes) == ("--max-calls", [], [])


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


def test_a_lost_request_counts_as_the_dearest_tier_of_its_day() -> None:
    desk = Desk(model="openai/gpt-6.1-sol", catalogue=Catalogue(), caps=Caps(cost_usd=0.02))
    with suppress(BudgetReached):  # 1000 tokens at 5 USD a million, written into the cache, and 1000 at 15
        desk.ask(Answers(lambda _text: GONE), "b" * 3000)
    assert desk.outcomes == ["lost"]
    cheaper = Desk(model="openai/gpt-6.1-sol", catalogue=Catalogue(), caps=Caps(cost_usd=0.0201))
    with suppress(BudgetReached):
        cheaper.ask(Answers(lambda _text: GONE), "b" * 3000)
    assert cheaper.outcomes == ["lost", "lost"]


@pytest.mark.parametrize("count", [1.5, -1, "7", None])
def test_an_answer_whose_tokens_cannot_be_is_used_and_counts_as_estimated(
    count: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    desk = Desk(tmp_path, caps=Caps(tokens=2500))
    with FaultServer(CHAT) as server:
        provider = OpenAIProvider(Target("m", server.base_url))
        body = json.loads(answering(CHAT, "b" * 1500, usage=Usage(1000, 100)).body)
        server.reply = Reply.of(miscounted(body, count))
        for number in range(3):  # each is estimated at 1500 tokens
            with suppress(BudgetReached):
                assert desk.ask(provider, f"{number}" * 3000).answer.get().text == "b" * 1500
        assert len(server.posted) == 2, "nothing is asked twice, and the cap holds"
    assert desk.outcomes == ["answered"] * 2
    assert len(list((tmp_path / "llm").glob("*.json"))) == 2
    whole = sums(Desk(tmp_path).desk.ledger.records)
    assert (whole["estimated"], whole["cost_unknown"]) == (2, 0)
    assert whole["input_tokens"] + whole["output_tokens"] == 3000
