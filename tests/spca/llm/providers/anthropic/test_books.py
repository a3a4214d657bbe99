"""What calls of Anthropic's models cost: tokens in the books, and prices by hand."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest

from llmclient import ChatGPTClient
from plannerLLM import PDDLResp
from spca.llm.calls.desk import CallDesk
from spca.llm.calls.ledger import Record, RequestOutcome
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.servers import Server
from spca.llm.providers.base import Message, RequestOptions
from tests.fakes.anthropic_wire import ANTHROPIC, objection
from tests.fakes.faults import FaultServer
from tests.fakes.reference_server import ReferenceServer
from tests.fakes.serving import Asked, Reply
from tests.support.reference.asking import prompt
from tests.support.spca.call_requests import ref

OPENING = tuple(prompt("go to the red ball", "empty", "ball red"))
REPAIR = (*OPENING, Message("assistant", "No."), Message("user", "That is no PDDL. Answer again."))
OTHER = tuple(prompt("go to the blue box", "empty", "box blue"))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReferenceServer]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-key")
    with ReferenceServer() as server:
        yield server


def asked(server: ReferenceServer, model: str, *conversations: tuple[Message, ...]) -> list[Record]:
    """The records of the answered requests of these conversations."""
    desk = CallDesk(catalogue=Catalogue(servers={"anthropic": Server(server.url)}))
    client = ChatGPTClient(ref(model), PDDLResp, desk=desk)
    for conversation in conversations:
        client.chat_completion(conversation)
    return [record for record in desk.ledger.records if record.outcome is RequestOutcome.ANSWERED]


@pytest.mark.parametrize(
    ("model", "fresh", "cached", "written", "output"),
    [
        ("anthropic/claude-opus-5-5", "4", "0.2", "5", "20"),
        ("anthropic/claude-sonnet-5-5@high", "2", "0.1", "2.5", "10"),
    ],
)
def test_a_call_costs_what_its_parts_cost(
    server: ReferenceServer, model: str, fresh: str, cached: str, written: str, output: str
) -> None:
    for record in asked(server, model, OPENING, REPAIR, OTHER):
        tokens = record.usage
        assert tokens.input_tokens is not None
        assert tokens.output_tokens is not None
        again, stored = tokens.cached_tokens or 0, tokens.cache_write_tokens or 0
        millionths = (
            (tokens.input_tokens - again - stored) * Decimal(fresh)
            + again * Decimal(cached)
            + stored * Decimal(written)
            + tokens.output_tokens * Decimal(output)
        )
        assert record.cost == millionths / 1_000_000 > 0


def test_a_repair_reads_its_question_from_the_cache_and_another_question_the_system_part(
    server: ReferenceServer,
) -> None:
    opening, repair, other = (each.usage for each in asked(server, "anthropic/claude-opus-5-5", OPENING, REPAIR, OTHER))
    assert (opening.cached_tokens, opening.cache_write_tokens) == (0, opening.input_tokens)
    assert repair.cached_tokens == opening.input_tokens
    assert repair.cache_write_tokens == (repair.input_tokens or 0) - (opening.input_tokens or 0) > 0
    assert other.cached_tokens
    assert 0 < other.cached_tokens < (opening.input_tokens or 0)
    assert [line.cached_tokens for line in server.asked if line.status == 200] == [
        each.cached_tokens for each in (opening, repair, other)
    ]


class Choosy(FaultServer):
    """Refuses a temperature, as Anthropic's newer models do."""

    def reply_to(self, asked: Asked) -> Reply:
        reply = super().reply_to(asked)
        return objection(ANTHROPIC.heard(asked)) or reply


def test_a_refused_part_is_booked_and_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "not-a-real-key")
    with Choosy(ANTHROPIC) as server:
        desk = CallDesk(catalogue=Catalogue(servers={"anthropic": Server(server.base_url)}))
        client = ChatGPTClient[str](ref("anthropic/claude-opus-5-5"), desk=desk, limits=RequestOptions(temperature=0.5))
        for _ in range(2):
            assert client.chat_completion([Message("user", "Go to the door.")])
    outcomes = [record.outcome for record in desk.ledger.records]
    assert outcomes == [RequestOutcome.REJECTED, RequestOutcome.ANSWERED, RequestOutcome.ANSWERED]
    refused, *answered = desk.ledger.records
    assert refused.cost == 0
    assert "temperature" in refused.error
    assert {record.cost for record in answered} == {Decimal(11 * 4 + 7 * 20) / 1_000_000}
