"""``anthropic/...`` through the official SDK."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import BaseModel, Field

from spca.errors import (
    BadAnswerError,
    PromptTooLongError,
    ProviderConfigError,
    TransientError,
    UnsupportedApiError,
    UnsupportedFormError,
)
from spca.llm.providers.anthropic.anthropic import AnthropicProvider
from spca.llm.providers.anthropic.messages import MAX_OUTPUT
from spca.llm.providers.base import (
    Finish,
    Form,
    Image,
    Listed,
    Listing,
    Message,
    ModelInfo,
    RequestOptions,
    Target,
    Usage,
)
from tests.fakes import faults
from tests.fakes.anthropic_wire import ANTHROPIC, marks
from tests.fakes.faults import FaultServer, answering
from tests.fakes.serving import Reply
from tests.support.contracts.provider_listing_suite import ProviderListingSuite
from tests.support.contracts.provider_peer_suite import EndingPeerSuite
from tests.support.contracts.provider_suite import ProviderFaultSuite, RefusalSuite, ServedProviderSuite
from tests.support.contracts.providing import ARGUMENTS, GO_TO, KEY, MESSAGES, PIXELS, Asking, ProviderBench, in_form

FORCED = 'tool_choice: type "tool" and "any" are not supported for this model.'
TEMPERATURE = "`temperature` is deprecated for this model."


class Bench(ProviderBench):
    provider_class = AnthropicProvider
    dialect = ANTHROPIC
    key = "ANTHROPIC_API_KEY"
    limit = MAX_OUTPUT


class Bounded(BaseModel):
    """A form of answer with constraints that structured outputs do not know."""

    steps: int = Field(ge=1, le=9, description="How far.")
    names: list[str] = Field(max_length=3)


class Free(BaseModel):
    """A form of answer that no strict mode can promise."""

    places: dict[str, int]


def refusing(words: str, status: int = 400) -> Reply:
    return ANTHROPIC.refused(status, words, None)


class TestAnthropic(Bench, ServedProviderSuite, RefusalSuite):
    """Answers."""

    def test_the_key_is_sent_and_no_other_credential(
        self, server: FaultServer, model: Asking, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "a-token-of-another-program")
        model.ask()
        Asking(self.provider(server.base_url), lambda: len(server.posted)).ask()
        assert {asked.headers["authorization"] for asked in server.posted} == {f"Bearer {KEY}"}

    def test_a_server_of_ones_own_needs_no_key(self, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "a-token-of-another-program")
        assert Asking(self.provider(server.base_url), lambda: len(server.posted)).ask().text == "yes"
        assert server.posted[-1].headers["authorization"] == "Bearer none"

    def test_no_key_names_its_variable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        with pytest.raises(ProviderConfigError, match=r"anthropic/m: set ANTHROPIC_API_KEY in .*\.env"):
            AnthropicProvider(Target("m"))

    @pytest.mark.parametrize("end", ["/", "/v1", "/v1/"])
    def test_the_address_may_end_as_others_do(
        self, server: FaultServer, end: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{server.url}{end}")
        provider = AnthropicProvider(Target("m"))
        assert Asking(provider, lambda: len(server.posted)).ask().text == "yes"
        assert server.posted[-1].path == "/v1/messages"
        assert provider.address == server.url

    @pytest.mark.parametrize(
        ("reason", "finish"),
        [
            ("end_turn", Finish.STOP),
            ("stop_sequence", Finish.STOP),
            ("a_new_reason", Finish.STOP),
            ("model_context_window_exceeded", Finish.LENGTH),
            ("pause_turn", Finish.LENGTH),
            ("refusal", Finish.REFUSAL),
        ],
    )
    def test_why_an_answer_ended(self, server: FaultServer, model: Asking, reason: str, finish: Finish) -> None:
        body = json.loads(answering(ANTHROPIC, "Well,").body)
        server.reply = Reply.of(body | {"stop_reason": reason})
        response = model.ask()
        assert (response.text, response.finish, response.served) == ("Well,", finish, "m")

    def test_a_call_that_was_cut_off_is_none(self, server: FaultServer, model: Asking) -> None:
        body = json.loads(faults.calling(ANTHROPIC, "go_to", {"place": "do"}).body)
        server.reply = Reply.of(body | {"stop_reason": "max_tokens"})
        response = model.ask(tools=(GO_TO,), tool_choice="auto")
        assert (response.finish, response.tool_calls) == (Finish.LENGTH, ())

    def test_one_call_of_a_tool_is_asked_for(self, server: FaultServer, model: Asking) -> None:
        model.ask(tools=(GO_TO,))
        assert server.posted[-1].body["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}

    def test_no_effort_is_no_thought(self, server: FaultServer, model: Asking) -> None:
        model.ask(limits=RequestOptions(effort="none", timeout_s=20))
        assert server.posted[-1].body["thinking"] == {"type": "disabled"}
        assert "output_config" not in server.posted[-1].body

    def test_a_schema_and_an_effort_go_together(self, server: FaultServer, model: Asking) -> None:
        model.ask(**in_form(Form.SCHEMA), limits=RequestOptions(effort="max", timeout_s=20))
        heard = self.heard(server)
        assert (heard.form, heard.effort) == ("json_schema", "max")

    def test_constraints_that_are_refused_are_told_in_words(self, server: FaultServer, model: Asking) -> None:
        model.ask(schema=Bounded)
        schema = self.heard(server).schema
        assert schema is not None
        steps, names = schema["properties"]["steps"], schema["properties"]["names"]
        assert not {"minimum", "maximum", "maxItems"} & (steps.keys() | names.keys())
        assert "maximum: 9" in steps["description"]
        assert "maxItems: 3" in names["description"]

    @pytest.mark.parametrize(("schema", "form"), [(Bounded, Form.JSON), (Free, Form.SCHEMA)])
    def test_the_arguments_of_a_tool_may_be_the_answer(
        self, server: FaultServer, model: Asking, schema: type[BaseModel], form: Form
    ) -> None:
        server.reply = faults.calling(ANTHROPIC, "answer", {"place": "Tür", "steps": 3})
        response = model.ask(schema=schema, form=form)
        assert self.heard(server).choice == "answer"
        assert json.loads(response.text) == {"place": "Tür", "steps": 3}
        assert (response.finish, response.tool_calls) == (Finish.STOP, ())
        server.reply = faults.calling(ANTHROPIC, "answer", {}, broken=True)
        assert isinstance(model.fails(schema=schema, form=form), BadAnswerError)

    def test_a_tool_may_have_any_name(self, server: FaultServer, model: Asking) -> None:
        server.reply = faults.calling(ANTHROPIC, "answer", ARGUMENTS)
        (call,) = model.ask(tools=(GO_TO,)).tool_calls
        assert call.name == "answer"


class TestAnthropicWithAKnownLimit(Bench):
    info = ModelInfo(max_output=500)

    @pytest.mark.parametrize(("wanted", "sent"), [(None, 500), (321, 321), (4000, 500)])
    def test_no_more_is_asked_for_than_the_model_can_say(
        self, server: FaultServer, model: Asking, wanted: int | None, sent: int
    ) -> None:
        model.ask(limits=RequestOptions(wanted, timeout_s=20))
        assert self.heard(server).max_output_tokens == sent


class TestAnthropicCache(Bench):
    """What is marked to be cached, and what is told of it."""

    ROUTE = (Message("assistant", "West."), Message("user", "No. Where?"))

    def test_a_repair_begins_with_what_was_marked_before(self, server: FaultServer, model: Asking) -> None:
        model.ask()
        model.ask(*MESSAGES, *self.ROUTE)
        first, repair = server.posted[-2:]
        assert (marks(first), marks(repair)) == ([1, 4], [1, 6])
        assert ANTHROPIC.heard(repair).messages[:4] == ANTHROPIC.heard(first).messages

    def test_without_a_system_part_the_conversation_is_marked(self, server: FaultServer, model: Asking) -> None:
        model.ask(Message("user", "Look.", (Image("image/png", PIXELS), Image("image/png", PIXELS))))
        assert marks(server.posted[-1]) == [1]
        model.ask(Message("user", "", (Image("image/png", PIXELS),)))
        assert marks(server.posted[-1]) == [1]
        assert [block["type"] for block in server.posted[-1].body["messages"][0]["content"]] == ["image"]

    def test_what_the_form_adds_is_marked_too(self, server: FaultServer, model: Asking) -> None:
        model.ask(**in_form(Form.TEXT))
        assert marks(server.posted[-1]) == [1, 4]

    @pytest.mark.parametrize(
        ("told", "usage"),
        [
            ({"input_tokens": 5, "output_tokens": 3}, Usage(5, 3)),
            ({"cache_read_input_tokens": 1500, "cache_creation_input_tokens": 400}, Usage(1905, 3, 1500, None, 400)),
            ({"cache_read_input_tokens": 0, "cache_creation_input_tokens": 1900}, Usage(1905, 3, 0, None, 1900)),
            ({"cache_read_input_tokens": None, "cache_creation_input_tokens": 7}, Usage(12, 3, None, None, 7)),
            ({"output_tokens_details": {"thinking_tokens": 2}}, Usage(5, 3, None, 2)),
            ({"input_tokens": 0, "cache_read_input_tokens": 9}, Usage(9, 3, 9)),
        ],
    )
    def test_the_whole_prompt_is_counted(
        self, server: FaultServer, model: Asking, told: dict[str, object], usage: Usage
    ) -> None:
        body = json.loads(answering(ANTHROPIC).body)
        server.reply = Reply.of(body | {"usage": {"input_tokens": 5, "output_tokens": 3} | told})
        assert model.ask().usage == usage


class TestAnthropicRefusedParts(Bench):
    """What newer models do not take is left out from the first refusal on."""

    @pytest.fixture
    def model(self, server: FaultServer) -> Asking:
        """A provider for each test: it remembers what its model does not take."""
        return Asking(self.provider(server.base_url), lambda: len(server.posted))

    @pytest.mark.parametrize(
        "words",
        [
            FORCED,
            "tool_choice forces tool use is not compatible with this model.",
            "Thinking may not be enabled when tool_choice forces tool use.",
        ],
    )
    @pytest.mark.parametrize(("choice", "told"), [("required", "one of the tools"), ("go_to", "the tool go_to")])
    def test_a_forced_tool(self, server: FaultServer, model: Asking, words: str, choice: str, told: str) -> None:
        server.reply = refusing(words)
        error = model.fails(tools=(GO_TO,), tool_choice=choice)
        assert isinstance(error, UnsupportedApiError)
        assert str(error).endswith("; asked without tool_choice from now on")
        server.reply = faults.calling(ANTHROPIC, "go_to", ARGUMENTS)
        assert model.ask(tools=(GO_TO,), tool_choice=choice).finish is Finish.TOOL_CALL
        heard = self.heard(server)
        assert (heard.choice, heard.messages[1:]) == ("auto", MESSAGES[1:])
        assert heard.messages[0].text == f"Be brief.\n\nAnswer only by calling {told}, never in words."
        model.ask(tools=(GO_TO,), tool_choice="auto")
        assert self.heard(server).messages == MESSAGES

    def test_a_temperature_and_a_forced_tool(self, server: FaultServer, model: Asking) -> None:
        limits = RequestOptions(temperature=0.0, timeout_s=20)
        for words in (TEMPERATURE, FORCED):
            server.reply = refusing(words)
            assert isinstance(model.fails(tools=(GO_TO,), limits=limits), UnsupportedApiError)
        server.reply = faults.calling(ANTHROPIC, "go_to", ARGUMENTS)
        model.ask(tools=(GO_TO,), limits=limits)
        assert (self.heard(server).temperature, self.heard(server).choice) == (None, "auto")
        assert "temperature" not in server.posted[-1].body

    @pytest.mark.parametrize("words", [FORCED, TEMPERATURE])
    def test_what_was_not_sent_is_not_left_out(self, server: FaultServer, model: Asking, words: str) -> None:
        server.reply = refusing(words)
        assert type(model.fails(tools=(GO_TO,), tool_choice="auto")) is ProviderConfigError

    def test_a_wrong_value_is_no_part_that_is_not_taken(self, server: FaultServer, model: Asking) -> None:
        server.reply = refusing("temperature: range: 0..1")
        assert type(model.fails(limits=RequestOptions(temperature=7.0, timeout_s=20))) is ProviderConfigError

    def test_it_is_refused_once(self, server: FaultServer, model: Asking) -> None:
        server.reply = refusing(TEMPERATURE)
        limits = RequestOptions(temperature=0.0, timeout_s=20)
        assert isinstance(model.fails(limits=limits), UnsupportedApiError)
        assert type(model.fails(limits=limits)) is ProviderConfigError


class TestAnthropicListing(Bench, ProviderListingSuite):
    def test_the_day_on_which_a_model_retires(self, server: FaultServer, model: Asking) -> None:
        today = datetime.now(UTC).date()
        ends = {"large": today + timedelta(days=9), "small": today - timedelta(days=9)}
        server.ends = {name: day.isoformat() for name, day in ends.items()}
        assert isinstance(model.provider, Listing)
        assert model.provider.list_models() == [Listed("small"), Listed("large", ends["large"])]

    def test_one_page_is_asked_for(self, server: FaultServer, model: Asking) -> None:
        body = ANTHROPIC.listed(("a", "b")) | {"has_more": True, "last_id": "b"}
        server.listing = Reply.of(body)
        assert isinstance(model.provider, Listing)
        assert [each.name for each in model.provider.list_models()] == ["a", "b"]
        assert [asked.path for asked in server.asked] == ["/v1/models?limit=1000"]


class TestAnthropicFaults(Bench, ProviderFaultSuite):
    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (400, "prompt is too long: 208310 tokens > 200000 maximum"),
            (400, "input length and `max_tokens` exceed context limit: 199000 + 32000 > 200000"),
            (413, "Request exceeds the maximum size"),
        ],
    )
    def test_what_is_too_long(self, server: FaultServer, model: Asking, status: int, words: str) -> None:
        server.reply = refusing(words, status)
        assert isinstance(model.fails(**in_form(Form.SCHEMA)), PromptTooLongError)

    @pytest.mark.parametrize(
        "words",
        [
            "output_config.format: Extra inputs are not permitted",
            "output_config: Extra inputs are not permitted",
            "The compiled grammar is too large, which would cause performance issues.",
            "Schema is too complex for compilation.",
            FORCED,
            "tool_choice forces tool use is not compatible with this model.",
        ],
    )
    def test_forms_that_are_not_known(self, server: FaultServer, model: Asking, words: str) -> None:
        server.reply = refusing(words)
        assert isinstance(model.fails(**in_form(Form.JSON)), UnsupportedFormError)

    def test_an_effort_that_is_not_known_is_no_question_of_form(self, server: FaultServer, model: Asking) -> None:
        server.reply = refusing("output_config.effort: 'minimal' is not supported by this model")
        error = model.fails(**in_form(Form.SCHEMA), limits=RequestOptions(effort="minimal", timeout_s=20))
        assert type(error) is ProviderConfigError
        assert "'minimal' is not supported" in str(error)

    def test_a_filtered_answer_may_be_a_refused_request(self, server: FaultServer, model: Asking) -> None:
        server.reply = refusing("Output blocked by content filtering policy")
        assert model.ask().finish is Finish.REFUSAL

    def test_no_credit_is_told_as_such(self, server: FaultServer, model: Asking) -> None:
        server.reply = refusing("There is an issue with your payment.", 402)
        assert "no credit" in str(model.fails())

    def test_an_overload_within_a_success(self, server: FaultServer, model: Asking) -> None:
        server.reply = Reply.of({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
        assert isinstance(model.fails(), TransientError)

    def test_content_that_is_no_list(self, server: FaultServer, model: Asking) -> None:
        body = json.loads(answering(ANTHROPIC).body)
        for content in ("yes", {"type": "text", "text": "yes"}, [{"text": "yes"}]):
            server.reply = Reply.of(body | {"content": content})
            assert model.ask().text == "yes"
        for nothing in (None, 7, True):
            server.reply = Reply.of(body | {"content": nothing})
            assert isinstance(model.fails(), BadAnswerError)


class TestAnthropicPeer(Bench, EndingPeerSuite):
    pass


def test_a_day_that_cannot_be_read_is_none() -> None:
    with FaultServer(ANTHROPIC) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", KEY)
        for day in ("soon", "2026-13-45", "99999999999"):
            server.ends = {"small": day}
            found = AnthropicProvider(Target("m", server.base_url)).list_models()
            assert [each.shutdown for each in found] == [None, None]
