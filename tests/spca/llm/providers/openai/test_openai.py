"""``openai/...`` through the official SDK, by both of its protocols."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from spca.errors import (
    ProviderConfigError,
    TransientError,
    UnknownApiError,
    UnknownModelError,
    UnsupportedApiError,
)
from spca.llm.providers.base import Finish, Form, Image, Message, ModelInfo, Response, Target, ToolCall, Usage
from spca.llm.providers.openai.openai import OpenAIProvider
from tests.fakes import peers
from tests.fakes.faults import FaultServer, answering
from tests.fakes.openai_wire import CHAT, RESPONSES
from tests.fakes.serving import Reply
from tests.support.contracts.provider_listing_suite import ProviderListingSuite
from tests.support.contracts.provider_peer_suite import EndingPeerSuite, FilteringPeerSuite
from tests.support.contracts.provider_suite import ProviderFaultSuite, RefusalSuite, ServedProviderSuite
from tests.support.contracts.providing import ARGUMENTS, GO_TO, KEY, PIXELS, Asking, ProviderBench, Route, Step, in_form


class Chat(ProviderBench):
    provider_class = OpenAIProvider
    dialect = CHAT
    key = "OPENAI_API_KEY"


class Responses(Chat):
    dialect = RESPONSES
    info = ModelInfo(api="responses")

    @pytest.fixture
    def model(self, server: FaultServer) -> Asking:
        """A provider for each test: it remembers that a server lacks the API."""
        return Asking(self.provider(server.base_url), lambda: len(server.posted))


class OpenAISuite(ServedProviderSuite, RefusalSuite):
    """What both protocols share beyond the suite."""

    def test_the_key_is_sent(self, server: FaultServer, model: Asking) -> None:
        model.ask()
        assert server.posted[-1].headers["authorization"] == f"Bearer {KEY}"

    def test_a_server_of_ones_own_needs_no_key(self, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("OPENAI_API_KEY")
        assert Asking(self.provider(server.base_url), lambda: len(server.posted)).ask().text == "yes"

    def test_the_schema_is_strict(self, server: FaultServer, model: Asking) -> None:
        model.ask(**in_form(Form.SCHEMA))
        body = server.posted[-1].body
        form = body["response_format"]["json_schema"] if "response_format" in body else body["text"]["format"]
        assert (form["name"], form["strict"]) == ("Route", True)

    def test_the_detail_of_a_picture_is_told_where_it_is_given(self, server: FaultServer, model: Asking) -> None:
        for detail in ("", "low"):
            model.ask(Message("user", "What is this?", (Image("image/png", PIXELS, detail),)))
            assert ('"detail"' in json.dumps(server.posted[-1].body)) == bool(detail)

    def test_tools_are_strict(self, server: FaultServer, model: Asking) -> None:
        model.ask(tools=(GO_TO,))
        (tool,) = server.posted[-1].body["tools"]
        function = tool.get("function", tool)
        assert (tool["type"], function["strict"]) == ("function", True)
        assert function["parameters"]["additionalProperties"] is False

    def test_what_is_written_into_the_cache_is_told_apart(self, server: FaultServer, model: Asking) -> None:
        server.reply = answering(self.dialect, "yes", usage=Usage(100, 50, 40, 30, 60))
        assert model.ask().usage == Usage(100, 50, 40, 30, 60)

    def test_reasoning_that_is_counted_beside_the_output_is_added_to_it(
        self, server: FaultServer, model: Asking
    ) -> None:
        for said, reasoned in ((50, 30), (5, 30)):
            server.reply = answering(self.dialect, "yes", usage=Usage(100, said, 0, reasoned))
            body = json.loads(server.reply.body)
            body["usage"]["total_tokens"] = 100 + said + reasoned
            server.reply = Reply.of(body)
            assert model.ask().usage == Usage(100, said + reasoned, 0, reasoned)


class OpenAIFaultSuite(ProviderFaultSuite):
    """What both protocols share beyond the suite."""

    @pytest.mark.parametrize("code", ["content_policy_violation", "invalid_prompt", "content_filter"])
    def test_a_refused_prompt_is_a_refusal(self, server: FaultServer, model: Asking, code: str) -> None:
        server.reply = self.dialect.refused(400, "Your request was rejected by our safety system.", code)
        response = model.ask()
        assert response.finish is Finish.REFUSAL
        assert "safety system" in response.text

    def test_an_empty_account_is_not_asked_again(self, server: FaultServer, model: Asking) -> None:
        server.reply = self.dialect.refused(429, "You exceeded your current quota.", "insufficient_quota")
        error = model.fails()
        assert isinstance(error, ProviderConfigError)
        assert "billing" in str(error)

    def test_an_unknown_model_lists_those_of_the_server(self, server: FaultServer, model: Asking) -> None:
        server.models = ("one", "two", "three", "four", "five", "six")
        server.reply = self.dialect.refused(404, "The model `m` does not exist.", "model_not_found")
        error = model.fails()
        assert isinstance(error, UnknownModelError)
        assert "one, two, three, four, five" in str(error)
        assert "six" not in str(error)


class TestChat(Chat, OpenAISuite):
    def test_the_limit_has_its_older_name_elsewhere(self, server: FaultServer, model: Asking) -> None:
        model.ask()
        assert "max_completion_tokens" not in server.posted[-1].body

    @pytest.mark.parametrize(
        "message",
        [
            {"content": [{"type": "text", "text": "y"}, {"type": "thinking", "text": "Hm."}, {"text": "es"}]},
            {"content": {"type": "text", "text": "yes"}},
            {"content": "yes", "tool_calls": "none", "refusal": False},
        ],
        ids=str,
    )
    def test_words_may_be_wrapped_in_other_ways(
        self, server: FaultServer, model: Asking, message: dict[str, Any]
    ) -> None:
        for choices in ([{"message": message}], {"message": message}):
            server.reply = Reply.of({"choices": choices})
            assert model.ask() == Response("yes")

    @pytest.mark.parametrize(
        "message",
        [
            {"tool_calls": [{"function": {"name": "go_to", "arguments": ARGUMENTS}}]},
            {"tool_calls": {"name": "go_to", "arguments": ARGUMENTS}},
            {"content": "", "function_call": {"name": "go_to", "arguments": json.dumps(ARGUMENTS)}},
        ],
        ids=str,
    )
    def test_a_call_may_be_wrapped_in_other_ways(
        self, server: FaultServer, model: Asking, message: dict[str, Any]
    ) -> None:
        server.reply = Reply.of({"choices": [{"message": message, "finish_reason": "stop"}]})
        assert model.ask(tools=(GO_TO,)).tool_calls == (ToolCall("go_to", ARGUMENTS),)


class TestChatListing(Chat, ProviderListingSuite):
    pass


class TestChatFaults(Chat, OpenAIFaultSuite):
    pass


class TestChatPeer(Chat, FilteringPeerSuite):
    pass


class TestResponses(Responses, OpenAISuite):
    def test_nothing_is_kept_at_the_server(self, server: FaultServer, model: Asking) -> None:
        model.ask()
        assert server.posted[-1].body["store"] is False

    def test_one_call_of_a_tool_is_asked_for(self, server: FaultServer, model: Asking) -> None:
        model.ask(tools=(GO_TO,))
        assert server.posted[-1].body["parallel_tool_calls"] is False
        model.ask()
        assert "parallel_tool_calls" not in server.posted[-1].body

    @pytest.mark.parametrize("status", [404, 405])
    def test_a_server_that_lacks_the_api_is_asked_through_the_other(
        self, server: FaultServer, model: Asking, status: int
    ) -> None:
        server.reply = self.dialect.refused(status, "Not Found", None)
        assert isinstance(model.fails(), UnsupportedApiError)
        server.reply = answering(CHAT)
        assert model.ask(tools=(GO_TO,)).text == "yes"
        assert server.posted[-1].path == CHAT.endpoint
        server.reply = CHAT.refused(404, "Not Found", None)
        assert type(model.fails()) is UnknownApiError

    def test_openai_itself_has_the_api(self, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
        provider = OpenAIProvider(Target("m", server.base_url, self.info))
        monkeypatch.setattr(provider, "_at_openai", True)
        server.reply = self.dialect.refused(404, "Not Found", None)
        assert type(Asking(provider, lambda: len(server.posted)).fails()) is UnknownApiError

    @pytest.mark.parametrize(
        "output",
        [
            [{"content": "yes"}],
            [{"type": "message", "content": {"type": "output_text", "text": "yes"}}],
            {"type": "message", "content": [{"text": "yes"}]},
        ],
        ids=str,
    )
    def test_words_may_be_wrapped_in_other_ways(self, server: FaultServer, model: Asking, output: object) -> None:
        for status in ({}, {"status": "completed"}, {"status": "succeeded", "error": {}}):
            server.reply = Reply.of({"output": output, **status})
            assert model.ask() == Response("yes")


class TestResponsesFaults(Responses, OpenAIFaultSuite):
    def test_a_failed_response_is_a_fault_of_the_server(self, server: FaultServer, model: Asking) -> None:
        body = json.loads(server.reply.body)
        body |= {"status": "failed", "output": [], "error": {"code": "server_error", "message": "It broke."}}
        server.reply = type(server.reply).of(body)
        error = model.fails()
        assert isinstance(error, TransientError)
        assert "It broke." in str(error)


class TestResponsesPeer(Responses, EndingPeerSuite):
    pass


@pytest.mark.parametrize("bench", [Chat, Responses])
class TestLlmock:
    """Against llmock, which others keep: it answers a schema by an example and calls the tool that it is offered."""

    @pytest.fixture
    def peer(self, bench: type[Chat], monkeypatch: pytest.MonkeyPatch) -> Iterator[Asking]:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        with peers.llmock() as server:
            provider = bench().provider(server.base_url("openai"))
            yield Asking(provider, lambda: len(server.state.journal.records(wait=1)))

    def test_text(self, peer: Asking) -> None:
        response = peer.ask()
        assert response.text
        assert response.finish is Finish.STOP
        assert response.usage.output_tokens

    def test_schema(self, peer: Asking) -> None:
        Route.model_validate_json(peer.ask(**in_form(Form.SCHEMA)).text)

    @pytest.mark.parametrize("choice", ["required", "go_to"])
    def test_tool(self, peer: Asking, choice: str) -> None:
        response = peer.ask(tools=(GO_TO,), tool_choice=choice)
        assert response.finish is Finish.TOOL_CALL
        (call,) = response.tool_calls
        assert call.name == "go_to"
        Step.model_validate(call.arguments)


def test_without_a_key_nothing_is_asked() -> None:
    with pytest.raises(ProviderConfigError, match=r"set OPENAI_API_KEY in the environment or in \.env"):
        OpenAIProvider(Target("o3"))
