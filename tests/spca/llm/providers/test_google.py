"""``google/...`` through the official SDK."""

from __future__ import annotations

import json

import pytest

from spca.errors import ProviderConfigError, TransientError
from spca.llm.providers.base import Finish, Message, Request, RequestOptions, Target, ToolCall
from spca.llm.providers.google import GoogleProvider
from tests.fakes import google_wire
from tests.fakes.faults import FaultServer, answering
from tests.fakes.google_wire import GOOGLE
from tests.fakes.serving import Reply
from tests.support.contracts.provider_listing_suite import ProviderListingSuite
from tests.support.contracts.provider_peer_suite import FilteringPeerSuite
from tests.support.contracts.provider_suite import ProviderFaultSuite, RefusalSuite, ServedProviderSuite
from tests.support.contracts.providing import ARGUMENTS, GO_TO, KEY, Asking, ProviderBench

SAY = Message("user", "Say hello.")


class Bench(ProviderBench):
    provider_class = GoogleProvider
    dialect = GOOGLE
    key = "GOOGLE_API_KEY"


class TestGoogle(Bench, ServedProviderSuite, RefusalSuite):
    def test_the_key_is_in_no_address(self, server: FaultServer, model: Asking) -> None:
        """Addresses end up in the logs of proxies."""
        model.ask()
        assert server.posted[-1].headers["x-goog-api-key"] == KEY
        assert KEY not in server.posted[-1].path

    def test_the_other_name_of_the_key(self, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("GOOGLE_API_KEY")
        monkeypatch.setenv("GEMINI_API_KEY", "another-key-of-four-words")
        Asking(self.provider(server.base_url), lambda: len(server.posted)).ask()
        assert server.posted[-1].headers["x-goog-api-key"] == "another-key-of-four-words"

    def test_no_key_names_both_variables(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("GOOGLE_API_KEY")
        with pytest.raises(ProviderConfigError, match=r"(?=.*GOOGLE_API_KEY)(?=.*GEMINI_API_KEY)(?=.*\.env)"):
            GoogleProvider(Target("gemini"))

    def test_an_empty_system_message_is_no_part(self, server: FaultServer, model: Asking) -> None:
        model.ask(Message("system", ""), Message("user", "Say hello."))
        assert self.heard(server).messages == (Message("user", "Say hello."),)

    @pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII"])
    def test_a_blocked_answer_is_a_refusal(self, server: FaultServer, model: Asking, reason: str) -> None:
        server.reply = Reply.of({"candidates": [{"finishReason": reason, "index": 0}]})
        assert model.ask().finish is Finish.REFUSAL

    def test_arguments_may_be_a_text(self, server: FaultServer, model: Asking) -> None:
        called = {"functionCall": {"name": "go_to", "args": json.dumps(ARGUMENTS)}, "thoughtSignature": "not base64"}
        server.reply = Reply.of({"candidates": {"content": {"parts": [called]}, "finishReason": "stop"}})
        assert model.ask(tools=(GO_TO,)).tool_calls == (ToolCall("go_to", ARGUMENTS),)

    def test_thoughts_are_no_text(self, server: FaultServer, model: Asking) -> None:
        server.reply = answering(GOOGLE, "yes", thought="The door is east.")
        assert model.ask().text == "yes"

    @pytest.mark.parametrize(("effort", "budget"), [("none", 0), ("low", 1024), ("high", 24576)])
    def test_models_before_gemini_3_have_a_budget(
        self, server: FaultServer, model: Asking, effort: str, budget: int
    ) -> None:
        model.provider.complete(Request("gemini-2.5-flash", (SAY,), limits=RequestOptions(effort=effort)))
        assert server.posted[-1].body["generationConfig"]["thinkingConfig"] == {"thinking_budget": budget}

    @pytest.mark.parametrize(("name", "effort"), [("gemini-2.5-flash", "xhigh"), ("gemini-4-argon", "none")])
    def test_an_effort_that_it_has_no_word_for_is_not_sent(
        self, server: FaultServer, model: Asking, name: str, effort: str
    ) -> None:
        before = len(server.posted)
        with pytest.raises(ProviderConfigError, match=f"google/{name} does not take the effort {effort}: choose one"):
            model.provider.complete(Request(name, (SAY,), limits=RequestOptions(effort=effort)))
        assert len(server.posted) == before


class TestGoogleListing(Bench, ProviderListingSuite):
    pass


class TestGoogleFaults(Bench, ProviderFaultSuite):
    def test_the_wait_in_the_body(self, server: FaultServer, model: Asking) -> None:
        server.reply = google_wire.busy(12.5)
        error = model.fails()
        assert isinstance(error, TransientError)
        assert (error.status, error.retry_after) == (429, 12.5)

    def test_a_wrong_key_is_a_bad_request(self, server: FaultServer, model: Asking) -> None:
        server.reply = GOOGLE.refused(400, "API key not valid. Please pass a valid API key.", "API_KEY_INVALID")
        error = model.fails()
        assert isinstance(error, ProviderConfigError)
        assert "GOOGLE_API_KEY" in str(error)


class TestGooglePeer(Bench, FilteringPeerSuite):
    pass
