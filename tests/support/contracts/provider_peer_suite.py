"""What every provider keeps before an independent server: aimock, with the fixtures of ``tests/fakes/aimock``."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import ClassVar

import pytest

from spca.errors import (
    TransientError,
)
from spca.llm.providers.base import Finish, Form, Image, Provider, RequestOptions, ToolCall
from tests.fakes.peers import Aimock
from tests.support.contracts.providing import (
    ARGUMENTS,
    GO_TO,
    IMPATIENT,
    LOOK,
    MESSAGES,
    PIXELS,
    Asking,
    ProviderBench,
    in_form,
    say,
)


class ProviderPeerSuite(ProviderBench):
    """Against aimock, which others keep; its fixtures are in ``tests/fakes/aimock``.

    ``tokens`` are those that it reports where a fixture sets 21 and 13.
    """

    tokens: ClassVar[tuple[int | None, int | None]] = (21, 13)

    @pytest.fixture(scope="class")
    @classmethod
    def asked_of_peer(cls, aimock: Aimock) -> Provider:
        return cls.provider(f"{aimock.url}{cls.dialect.path}")

    @pytest.fixture
    def peer(self, aimock: Aimock, asked_of_peer: Provider) -> Asking:
        aimock.forget()
        return Asking(asked_of_peer, lambda: len(aimock.journal()))

    def test_text(self, aimock: Aimock, peer: Asking) -> None:
        response = peer.ask()
        assert (response.text, response.finish) == ("Hello, said the fake.", Finish.STOP)
        (entry,) = aimock.journal()
        assert entry["path"].startswith(self.dialect.endpoint)
        assert [(each["role"], each["content"]) for each in entry["body"]["messages"]] == [
            (message.role, message.text) for message in MESSAGES
        ]

    @pytest.mark.parametrize("form", Form)
    def test_json(self, peer: Asking, form: Form) -> None:
        response = peer.ask(*say("Answer in JSON."), **in_form(form))
        assert json.loads(response.text) == ARGUMENTS

    @pytest.mark.parametrize("choice", ["auto", "required", "go_to"])
    def test_tool(self, aimock: Aimock, peer: Asking, choice: str) -> None:
        response = peer.ask(*say("Use the tool."), tools=(GO_TO, LOOK), tool_choice=choice)
        assert (response.finish, response.tool_calls) == (Finish.TOOL_CALL, (ToolCall("go_to", ARGUMENTS),))
        (entry,) = aimock.journal()
        assert [tool["function"]["name"] for tool in entry["body"]["tools"]] == ["go_to", "look"]

    def test_limits(self, aimock: Aimock, peer: Asking) -> None:
        peer.ask(limits=RequestOptions(max_output_tokens=321, temperature=0.5, timeout_s=20))
        body = aimock.journal()[0]["body"]
        assert body["temperature"] == 0.5
        assert 321 in (body.get("max_tokens"), body.get("max_completion_tokens"))

    def test_a_picture(self, peer: Asking) -> None:
        said = (*MESSAGES[:-1], replace(MESSAGES[-1], images=(Image("image/png", PIXELS),)))
        assert peer.ask(*said).text == "Hello, said the fake."

    def test_tokens(self, peer: Asking) -> None:
        usage = peer.ask(*say("Count the tokens.")).usage
        told = (usage.input_tokens, usage.output_tokens)
        assert told == self.tokens

    def test_too_many_requests(self, peer: Asking) -> None:
        error = peer.fails(*say("Be busy."))
        assert isinstance(error, TransientError)
        assert (error.status, error.retry_after, error.lost) == (429, 3.0, False)

    def test_a_failure(self, peer: Asking) -> None:
        error = peer.fails(*say("Fail."))
        assert isinstance(error, TransientError)
        assert error.status == 500

    @pytest.mark.parametrize("what", ["Answer in half.", "Hang up."])
    def test_a_lost_answer(self, peer: Asking, what: str) -> None:
        error = peer.fails(*say(what), limits=IMPATIENT)
        assert isinstance(error, TransientError)
        assert error.lost


class EndingPeerSuite(ProviderPeerSuite):
    """Protocols in which aimock lets a fixture decide why an answer ended."""

    def test_an_answer_cut_at_its_limit(self, peer: Asking) -> None:
        assert peer.ask(*say("Talk for long.")).finish is Finish.LENGTH


class FilteringPeerSuite(EndingPeerSuite):
    """Protocols in which aimock tells a filtered answer as the protocol does."""

    def test_a_filtered_answer(self, peer: Asking) -> None:
        assert peer.ask(*say("Say what is forbidden.")).finish is Finish.REFUSAL
