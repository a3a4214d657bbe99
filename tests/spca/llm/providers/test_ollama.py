"""``ollama/...`` through the official SDK."""

from __future__ import annotations

import json

import pytest

from spca.errors import UnknownModelError
from spca.llm.providers.base import ModelInfo, RequestOptions, ToolCall
from spca.llm.providers.ollama import OllamaProvider
from tests.fakes import faults
from tests.fakes.faults import FaultServer
from tests.fakes.ollama_wire import OLLAMA
from tests.fakes.serving import Reply
from tests.support.contracts.provider_listing_suite import ProviderListingSuite
from tests.support.contracts.provider_peer_suite import ProviderPeerSuite
from tests.support.contracts.provider_suite import ProviderFaultSuite, ServedProviderSuite
from tests.support.contracts.providing import ARGUMENTS, GO_TO, Asking, ProviderBench


class Bench(ProviderBench):
    provider_class = OllamaProvider
    dialect = OLLAMA
    key = "OLLAMA_API_KEY"
    chooses = False
    counts = False
    media = False


class TestOllama(Bench, ServedProviderSuite):
    """Answers."""

    def test_the_context_is_always_set(self, server: FaultServer, model: Asking) -> None:
        """Ollama's own default cuts long prompts without a word."""
        model.ask()
        assert server.posted[-1].body["options"]["num_ctx"] == 16384

    @pytest.mark.parametrize("choice", ["required", "go_to"])
    def test_the_choice_of_a_tool_is_told_in_words(self, server: FaultServer, model: Asking, choice: str) -> None:
        server.reply = faults.calling(OLLAMA, "go_to", {"place": "door", "steps": 1})
        model.ask(tools=(GO_TO,), tool_choice=choice)
        system = self.heard(server).messages[0]
        assert system.role == "system"
        assert "tool" in system.text

    def test_arguments_may_be_a_text(self, server: FaultServer, model: Asking) -> None:
        call = {"function": {"name": "go_to", "arguments": json.dumps(ARGUMENTS)}}
        server.reply = Reply.of({"message": {"tool_calls": [call]}, "created_at": 7})
        assert model.ask(tools=(GO_TO,)).tool_calls == (ToolCall("go_to", ARGUMENTS),)

    def test_no_effort_is_no_thinking(self, server: FaultServer, model: Asking) -> None:
        model.ask(limits=RequestOptions(effort="none", timeout_s=20))
        assert server.posted[-1].body["think"] is False


class TestOllamaWithAKnownContext(Bench):
    info = ModelInfo(context=4096)

    def test_the_context_is_that_of_the_model(self, server: FaultServer, model: Asking) -> None:
        model.ask()
        assert server.posted[-1].body["options"]["num_ctx"] == 4096


class TestOllamaListing(Bench, ProviderListingSuite):
    pass


class TestOllamaFaults(Bench, ProviderFaultSuite):
    def test_an_unknown_model_is_one_to_pull(self, server: FaultServer, model: Asking) -> None:
        server.reply = OLLAMA.refused(404, "model 'm' not found", None)
        error = model.fails()
        assert isinstance(error, UnknownModelError)
        assert "ollama pull m" in str(error)
        assert "small, large" in str(error)

    def test_a_server_that_is_not_there_is_to_be_started(self) -> None:
        with FaultServer(OLLAMA) as gone:
            address = gone.url
        error = Asking(self.provider(address), lambda: 0).fails(sent=0)
        assert "OLLAMA_HOST" in str(error)
        assert "ollama serve" in str(error)


class TestOllamaPeer(Bench, ProviderPeerSuite):
    tokens = (None, None)  # aimock reports zeros: not counted
