"""What every provider with a server keeps, whatever protocol it speaks, besides the promises of all providers.

Derive test classes from :class:`ServedProviderSuite` (answers and requests), :class:`RefusalSuite` where the protocol
has refusals, and :class:`ProviderFaultSuite` (all that goes wrong), and give them the attributes of
:class:`tests.support.contracts.providing.ProviderBench`. The server is the scripted one of ``tests/fakes/faults.py``.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from spca.errors import (
    BadAnswerError,
    PromptTooLongError,
    ProviderConfigError,
    TransientError,
    UnknownApiError,
    UnknownModelError,
    UnsupportedApiError,
    UnsupportedFormError,
)
from spca.llm.providers.base import (
    Finish,
    Form,
    Image,
    Message,
    Provider,
    RequestOptions,
    Response,
    Target,
    ToolCall,
    Usage,
)
from spca.testing import ProviderSuite
from tests.fakes import faults
from tests.fakes.faults import FaultServer, answering
from tests.fakes.serving import Reply
from tests.support.contracts.provider_wrapping_suite import ProviderWrappingSuite
from tests.support.contracts.providing import (
    ARGUMENTS,
    GO_TO,
    KEY,
    LOOK,
    MESSAGES,
    PIXELS,
    Asking,
    ProviderBench,
    frames_of,
    in_form,
)


class ServedProviderSuite(ProviderWrappingSuite, ProviderSuite):
    """Answers and requests."""

    keeps_forms = False  # the server of the tests says the same to all

    @pytest.fixture
    def make(self, server: FaultServer) -> Callable[[Target], Provider]:
        return lambda target: self.provider_class(replace(target, base_url=server.base_url, info=self.info))

    @pytest.fixture
    def failing(self, server: FaultServer, running: tuple[FaultServer, Provider]) -> Provider:
        server.reply = self.dialect.refused(400, "\x1b[31mno\r\n" + "x" * 5000, None)
        return running[1]

    def test_text_is_answered(self, server: FaultServer, model: Asking) -> None:
        server.reply = answering(self.dialect, "yes\n", usage=Usage(11, 7))
        response = model.ask()
        assert (response.text, response.finish, response.tool_calls) == ("yes\n", Finish.STOP, ())
        assert (response.usage.input_tokens, response.usage.output_tokens) == (11, 7)

    def test_messages_arrive_with_their_roles(self, server: FaultServer, model: Asking) -> None:
        model.ask()
        heard = self.heard(server)
        assert (heard.model, heard.messages) == ("m", MESSAGES)
        assert (heard.form, heard.schema, dict(heard.tools)) == ("text", None, {})
        assert server.posted[0].path.startswith(self.dialect.endpoint)

    def test_messages_without_a_system_message_arrive(self, server: FaultServer, model: Asking) -> None:
        model.ask(Message("user", "Say hello."))
        assert self.heard(server).messages == (Message("user", "Say hello."),)

    @pytest.mark.parametrize("text", ["äöü — 走", "a\ud800b", '"\\\n\t\x00'])
    def test_any_text_arrives(self, server: FaultServer, model: Asking, text: str) -> None:
        model.ask(Message("user", text))
        assert self.heard(server).messages[0].text == text.encode("utf-8", "replace").decode()

    def test_pictures_arrive_byte_for_byte(self, server: FaultServer, model: Asking) -> None:
        pictures = (Image("image/png", PIXELS), Image("image/jpeg", PIXELS[::-1]))
        model.ask(Message("user", "What is this?", pictures))
        (message,) = self.heard(server).messages
        assert message.text == "What is this?"
        sent = [(image.media_type if self.media else "", image.data) for image in pictures]
        assert [(image.media_type, image.data) for image in message.images] == sent

    def test_a_schema_arrives_closed_and_complete(self, server: FaultServer, model: Asking) -> None:
        server.reply = answering(self.dialect, '{"name": "n", "path": [], "note": null}')
        assert json.loads(model.ask(**in_form(Form.SCHEMA)).text)["name"] == "n"
        heard = self.heard(server)
        assert (heard.form, heard.messages) == ("json_schema", MESSAGES)
        assert heard.schema is not None
        step = heard.schema["properties"]["path"]["items"]
        for part, names in ((heard.schema, ["name", "path", "note"]), (step, ["place", "steps"])):
            assert list(part["properties"]) == part["required"] == names
            assert part["additionalProperties"] is False

    @pytest.mark.parametrize("form", [Form.JSON, Form.TEXT])
    def test_a_weaker_form_tells_the_schema_in_words(self, server: FaultServer, model: Asking, form: Form) -> None:
        server.reply = answering(self.dialect, "{}")
        model.ask(**in_form(form))
        heard = self.heard(server)
        assert heard.form == form
        told = "\n".join(message.text for message in heard.messages)
        assert all(f'"{word}"' in told for word in ("name", "path", "note", "place", "steps"))
        assert all(message.text in told for message in MESSAGES)
        assert [message.role for message in heard.messages] == [message.role for message in MESSAGES]

    @pytest.mark.parametrize("choice", ["auto", "required", "go_to"])
    def test_tools_arrive_and_a_call_comes_back(self, server: FaultServer, model: Asking, choice: str) -> None:
        server.reply = faults.calling(self.dialect, "go_to", ARGUMENTS)
        response = model.ask(tools=(GO_TO, LOOK), tool_choice=choice)
        assert response.tool_calls == (ToolCall("go_to", ARGUMENTS),)
        assert (response.finish, response.text) == (Finish.TOOL_CALL, "")
        heard = self.heard(server)
        assert list(heard.tools) == ["go_to", "look"]
        assert list(heard.tools["go_to"]["properties"]) == heard.tools["go_to"]["required"] == ["place", "steps"]
        assert heard.choice == (choice if self.chooses else None)

    def test_a_text_instead_of_a_call_is_a_text(self, model: Asking) -> None:
        response = model.ask(tools=(GO_TO,), tool_choice="auto")
        assert (response.text, response.finish, response.tool_calls) == ("yes", Finish.STOP, ())

    def test_broken_arguments_are_a_bad_answer(self, server: FaultServer, model: Asking) -> None:
        server.reply = faults.calling(self.dialect, "go_to", ARGUMENTS, broken=True)
        assert isinstance(model.fails(tools=(GO_TO,)), BadAnswerError)

    def test_limits_arrive(self, server: FaultServer, model: Asking) -> None:
        model.ask(limits=RequestOptions(max_output_tokens=321, temperature=0.25, timeout_s=20))
        heard = self.heard(server)
        assert (heard.max_output_tokens, heard.temperature) == (321, 0.25)

    def test_limits_that_are_not_set_are_not_sent(self, server: FaultServer, model: Asking) -> None:
        model.ask()
        heard = self.heard(server)
        assert (heard.max_output_tokens, heard.temperature) == (self.limit, None)

    def test_an_effort_arrives(self, server: FaultServer, model: Asking) -> None:
        model.ask()
        assert self.heard(server).effort is None
        model.ask(limits=RequestOptions(effort="low", timeout_s=20))
        assert self.heard(server).effort == "low"

    def test_tokens_are_told_apart(self, server: FaultServer, model: Asking) -> None:
        server.reply = answering(self.dialect, "yes", usage=Usage(100, 50, 64, 30), thought="Hm.")
        response = model.ask()
        assert response.text == "yes", "a thought is no part of the answer"
        assert response.usage == (Usage(100, 50, 64, 30) if self.counts else Usage(100, 50))

    def test_missing_tokens_are_unknown(self, server: FaultServer, model: Asking) -> None:
        server.reply = answering(self.dialect, "yes", usage=None)
        assert model.ask() == Response("yes", Usage())

    def test_an_answer_cut_at_its_limit_says_so(self, server: FaultServer, model: Asking) -> None:
        server.reply = answering(self.dialect, "Once upon", ended="length")
        response = model.ask()
        assert (response.text, response.finish) == ("Once upon", Finish.LENGTH)

    def test_nothing_but_thoughts_before_the_limit(self, server: FaultServer, model: Asking) -> None:
        server.reply = answering(self.dialect, "", ended="length", thought="Hm.")
        response = model.ask()
        assert (response.text, response.finish) == ("", Finish.LENGTH)

    def test_an_empty_answer_is_passed_on(self, server: FaultServer, model: Asking) -> None:
        server.reply = answering(self.dialect, "")
        response = model.ask()
        assert (response.text, response.finish) == ("", Finish.STOP)

    def test_nothing_is_printed(
        self, server: FaultServer, model: Asking, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
    ) -> None:
        server.reply = faults.calling(self.dialect, "go_to", ARGUMENTS)
        model.ask(tools=(GO_TO,))
        server.reply = answering(self.dialect, "yes", thought="Hm.")
        model.ask()
        assert capfd.readouterr() == ("", "")
        assert KEY not in caplog.text

    def test_an_answer_that_repeats_the_key_loses_it(self, server: FaultServer, model: Asking) -> None:
        """Answers go into files and into further prompts."""
        server.reply = answering(self.dialect, f"key = '{KEY}'\n# <b>&amp;</b>")
        assert model.ask().text == "key = '[hidden]'\n# <b>&amp;</b>"
        server.reply = answering(self.dialect, f"I saw {KEY}", ended="length")
        assert model.ask().text == "I saw [hidden]"

    def test_arguments_that_repeat_the_key_lose_it(
        self, server: FaultServer, model: Asking, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ANOTHER_TOKEN", 'quo"ted \\ kéy')
        monkeypatch.setenv("A_NUMERIC_SECRET", "12345678")
        told = {KEY: [KEY, {"deep": f"x{KEY}"}], "other": 'quo"ted \\ kéy', "number": 12345678, "steps": None}
        server.reply = faults.calling(self.dialect, "go_to", told)
        (call,) = model.ask(tools=(GO_TO,)).tool_calls
        cleaned = {
            "[hidden]": ["[hidden]", {"deep": "x[hidden]"}],
            "other": "[hidden]",
            "number": 12345678,
            "steps": None,
        }
        assert call.arguments == cleaned

    def test_a_description_holds_no_key(self, model: Asking) -> None:
        model.ask()
        assert KEY not in repr(model.provider) + str(model.provider)


class RefusalSuite(ProviderBench):
    """Protocols in which a model can refuse."""

    def test_a_refusal_is_a_value(self, server: FaultServer, model: Asking) -> None:
        server.reply = answering(self.dialect, "", refusal="I may not say that.")
        response = model.ask()
        assert response.finish is Finish.REFUSAL
        assert "I may not say that." in response.text

    def test_a_filtered_answer_is_a_refusal(self, server: FaultServer, model: Asking) -> None:
        server.reply = answering(self.dialect, "Well,", ended="content_filter")
        assert model.ask().finish is Finish.REFUSAL


class ProviderFaultSuite(ProviderBench):
    """All that goes wrong."""

    @pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
    def test_what_passes_is_told_with_its_status(self, server: FaultServer, model: Asking, status: int) -> None:
        server.reply = faults.busy(self.dialect, {}, status)
        error = model.fails(**in_form(Form.SCHEMA))
        assert isinstance(error, TransientError)
        assert (error.status, error.retry_after) == (status, None)
        assert "Slow down, please." in str(error)

    @pytest.mark.parametrize(
        ("headers", "seconds"),
        [
            ({"retry-after": "7"}, 7),
            ({"retry-after": "0"}, 0),
            ({"retry-after": "0.5"}, 0.5),
            ({"retry-after-ms": "1500"}, 1.5),
            ({"retry-after": "soon"}, None),
            ({"retry-after": "-3"}, None),
        ],
    )
    def test_the_wait_that_is_asked_for(
        self, server: FaultServer, model: Asking, headers: Mapping[str, str], seconds: float | None
    ) -> None:
        server.reply = faults.busy(self.dialect, headers)
        error = model.fails()
        assert isinstance(error, TransientError)
        assert (error.retry_after, error.lost) == (seconds, False)

    def test_a_wait_until_a_moment(self, server: FaultServer, model: Asking) -> None:
        server.reply = faults.busy(self.dialect, {"retry-after": faults.http_date(90)}, 503)
        error = model.fails()
        assert isinstance(error, TransientError)
        assert error.retry_after == pytest.approx(90, abs=5)

    def test_an_answer_that_cannot_be_unpacked_is_lost(self, server: FaultServer, model: Asking) -> None:
        server.reply = Reply(b"\x1f\x8bnothing", headers={"content-encoding": "gzip"})
        error = model.fails()
        assert isinstance(error, TransientError)
        assert error.lost

    def test_a_refusal_that_is_compressed_is_read(self, server: FaultServer, model: Asking) -> None:
        refused = faults.busy(self.dialect, {"content-encoding": "gzip"}, 503)
        server.reply = replace(refused, body=gzip.compress(refused.body))
        assert "Slow down, please." in str(model.fails())

    @pytest.mark.parametrize("fault", faults.BROKEN)
    def test_a_lost_answer(self, server: FaultServer, model: Asking, fault: str) -> None:
        server.reply = faults.BROKEN[fault](self.dialect)
        error = model.fails_in_time()
        assert isinstance(error, TransientError)
        assert (error.lost, error.status) == (True, None)

    def test_a_server_that_is_not_there(self) -> None:
        with FaultServer(self.dialect) as gone:
            address = gone.base_url
        error = Asking(self.provider(address), lambda: 0).fails(sent=0)
        assert isinstance(error, TransientError)
        assert not error.lost
        assert address.removeprefix("http://").removesuffix("/v1") in str(error)

    @pytest.mark.parametrize("body", faults.UNKNOWN_FORMS, ids=json.dumps)
    def test_an_answer_of_no_known_form(self, server: FaultServer, model: Asking, body: Any) -> None:
        server.reply = Reply.of(body)
        assert isinstance(model.fails(), BadAnswerError)

    def test_an_error_in_a_success(self, server: FaultServer, model: Asking) -> None:
        """Gateways answer so when the server behind them fails."""
        server.reply = Reply.of({"error": {"message": "The provider is overloaded.", "code": 503}})
        error = model.fails()
        assert isinstance(error, TransientError)
        assert error.status == 503
        assert "The provider is overloaded." in str(error)

    def test_a_redirect_is_not_followed(self, server: FaultServer, model: Asking) -> None:
        with FaultServer(self.dialect) as other:
            for status in (301, 302, 307, 308):
                server.reply = Reply(status=status, headers={"location": f"{other.url}/elsewhere"})
                assert isinstance(model.fails(), ProviderConfigError)
            assert other.asked == []

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_refused_key_names_its_variable(self, server: FaultServer, model: Asking, status: int) -> None:
        server.reply = faults.echoing(self.dialect, status, KEY)
        error = model.fails(**in_form(Form.SCHEMA))
        assert isinstance(error, ProviderConfigError)
        assert not isinstance(error, UnknownModelError)
        assert self.key in str(error)

    @pytest.mark.parametrize("status", [400, 404, 422, 429, 500])
    def test_a_key_in_the_servers_words_goes_no_further(self, server: FaultServer, model: Asking, status: int) -> None:
        server.reply = faults.echoing(self.dialect, status, KEY)
        assert "API key" in str(model.fails())

    @pytest.mark.parametrize("status", [401, 404, 503])
    def test_an_error_keeps_its_cause_without_the_key(self, server: FaultServer, model: Asking, status: int) -> None:
        server.reply = faults.echoing(self.dialect, status, KEY)
        error = model.fails()
        assert error.__cause__ is not None
        assert {"exchange.py"} < {frame.filename.rpartition("/")[2] for frame in frames_of(error)}

    def test_long_and_wild_words_are_cut(self, server: FaultServer, model: Asking) -> None:
        server.reply = self.dialect.refused(400, "\x1b[31mno\r\n\u202e" + "x" * 5000 + KEY, None)
        assert str(model.fails()).count("x") <= 300

    def test_an_unknown_model_names_the_flags(self, server: FaultServer, model: Asking) -> None:
        server.reply = self.dialect.refused(404, "model 'm' not found", None)
        error = model.fails()
        assert isinstance(error, UnknownModelError)
        assert "--planner-model" in str(error)

    def test_an_address_without_an_api_is_told_as_such(self, server: FaultServer, model: Asking) -> None:
        server.reply = self.dialect.refused(404, "404 page not found", None)
        error = model.fails()
        if isinstance(error, UnsupportedApiError):  # and then the other one
            error = model.fails()
        assert type(error) is UnknownApiError
        assert "is the address whole?" in str(error)

    @pytest.mark.parametrize("status", [400, 422])
    def test_a_form_that_is_not_known(self, server: FaultServer, model: Asking, status: int) -> None:
        server.reply = replace(faults.unsupported_form(self.dialect), status=status)
        assert isinstance(model.fails(**in_form(Form.SCHEMA)), UnsupportedFormError)
        assert isinstance(model.fails(**in_form(Form.JSON)), UnsupportedFormError)
        assert isinstance(model.fails(**in_form(Form.TEXT)), ProviderConfigError)
        assert isinstance(model.fails(), ProviderConfigError)

    def test_a_prompt_that_is_too_long(self, server: FaultServer, model: Asking) -> None:
        server.reply = faults.context_exceeded(self.dialect)
        error = model.fails(**in_form(Form.SCHEMA))
        assert isinstance(error, PromptTooLongError)
        assert "context" in str(error)

    def test_any_other_refusal_is_told_in_the_servers_words(self, server: FaultServer, model: Asking) -> None:
        server.reply = self.dialect.refused(400, "Unsupported value: 'temperature' does not support 0.2.", None)
        error = model.fails(**in_form(Form.SCHEMA))
        assert isinstance(error, ProviderConfigError)
        assert "'temperature' does not support 0.2" in str(error)

    def test_a_connection_is_good_again_after_a_fault(self, server: FaultServer, model: Asking) -> None:
        for fault in ("truncated", "silent", "malformed"):
            server.reply = faults.BROKEN[fault](self.dialect)
            model.fails()
            server.reply = answering(self.dialect)
            assert model.ask().text == "yes"
