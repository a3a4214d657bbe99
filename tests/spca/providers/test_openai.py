"""``openai/...`` through the official SDK, against a server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from llmclient import ChatGPTClient
from plannerLLM import PDDLResp
from spca.errors import BadAnswerError, ProviderConfigError, ProviderError
from spca.providers.base import Message, Request, Response, Usage
from spca.providers.openai import OpenAIProvider

MESSAGES = (Message("system", "Be brief."), Message("user", "Plan."))


class Server(ThreadingHTTPServer):
    """Answers every request with what it is told to; keeps what it was asked."""

    status = 200
    reply: Any = None
    content_type = "application/json"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, {name.lower(): text for name, text in self.headers.items()}, body))
        reply = self.server.reply
        data = (reply if isinstance(reply, str) else json.dumps(reply)).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Type", self.server.content_type)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("x-should-retry", "false")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{made.server_address[1]}/v1")
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def chat(text: str | None, **more: Any) -> dict[str, Any]:
    """A chat completion."""
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "o3",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        **more,
    }


def response(*texts: str) -> dict[str, Any]:
    """An answer of the Responses API."""
    content = [{"type": "output_text", "text": text, "annotations": []} for text in texts]
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": content}
    details: dict[str, Any] = {"input_tokens_details": {"cached_tokens": 0}}
    return {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "model": "codex-mini-latest",
        "status": "completed",
        "output": [message] if texts else [],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8, **details},
    }


def ask(model: str = "o3", schema: type[BaseModel] | None = None) -> Response:
    return OpenAIProvider().complete(Request(model, MESSAGES, schema))


def test_a_chat_model_is_asked_through_chat_completions(server: Server) -> None:
    server.reply = chat("yes")
    assert ask() == Response("yes", Usage(11, 7))
    ((path, headers, body),) = server.asked
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer not-a-key"
    assert body == {
        "model": "o3",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Plan."}],
    }


def test_a_codex_model_is_asked_through_responses(server: Server) -> None:
    server.reply = response("def f(self):\n", "    yield 0\n")
    assert ask("codex-mini-latest") == Response("def f(self):\n    yield 0\n", Usage(5, 3))
    ((path, _, body),) = server.asked
    assert path == "/v1/responses"
    assert body["input"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Plan."}]


@pytest.mark.parametrize("model", ["o3", "codex-mini-latest"])
def test_the_schema_is_passed_strictly(server: Server, model: str) -> None:
    server.reply = chat("{}") if model == "o3" else response("{}")
    ask(model, PDDLResp)
    body = server.asked[0][2]
    form = body["response_format"]["json_schema"] if model == "o3" else body["text"]["format"]
    assert (form["name"], form["strict"]) == ("PDDLResp", True)
    schema = form["schema"]
    assert (schema["type"], schema["additionalProperties"]) == ("object", False)
    assert sorted(schema["required"]) == sorted(schema["properties"]) == ["domain", "problem"]
    assert (form["type"] if model != "o3" else body["response_format"]["type"]) == "json_schema"


def test_the_client_on_top_returns_the_value(server: Server) -> None:
    server.reply = chat('{"domain": "(d)", "problem": "(p)"}')
    client = ChatGPTClient("openai/o3", PDDLResp)
    assert client.chat_completion(MESSAGES) == PDDLResp(domain="(d)", problem="(p)")
    assert client.last_usage == Usage(11, 7)


@pytest.mark.parametrize(
    ("model", "reply"),
    [
        ("o3", chat(None)),
        ("o3", chat("")),
        ("o3", chat("x", choices=[])),
        ("codex-mini-latest", response()),
        ("codex-mini-latest", response("")),
    ],
)
def test_an_empty_answer_is_a_bad_answer(server: Server, model: str, reply: dict[str, Any]) -> None:
    server.reply = reply
    with pytest.raises(BadAnswerError, match=f"openai/{model}: the answer is empty"):
        ask(model)


def test_an_answer_without_usage_counts_no_tokens(server: Server) -> None:
    server.reply = chat("yes", usage=None)
    assert ask() == Response("yes", Usage(None, None))


ERROR = {"error": {"message": "it is so", "type": "x", "param": None, "code": None}}


@pytest.mark.parametrize(
    ("status", "said"),
    [(401, "check OPENAI_API_KEY"), (403, "check OPENAI_API_KEY"), (404, "unknown model: begin a run with another")],
)
def test_what_the_user_can_fix_ends_the_run(server: Server, status: int, said: str) -> None:
    server.status, server.reply = status, ERROR
    with pytest.raises(ProviderConfigError, match=said) as caught:
        ask()
    assert "not-a-key" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [400, 409, 422, 429, 500, 503])
def test_other_refusals_are_errors_of_the_provider_with_the_servers_words(server: Server, status: int) -> None:
    server.status, server.reply = status, ERROR
    with pytest.raises(ProviderError, match=r"openai/o3: \w+: .*it is so") as caught:
        ask()
    assert not isinstance(caught.value, ProviderConfigError)


@pytest.mark.parametrize("model", ["o3", "codex-mini-latest"])
@pytest.mark.parametrize(
    ("content_type", "reply"),
    [
        ("text/html", "<html>gateway</html>"),
        ("application/json", "<html>gateway</html>"),
        ("application/json", "[]"),
        ("application/json", "{}"),
        ("application/json", '{"choices": [{}], "output": [{}]}'),
        ("application/json", '{"choices": "many", "output": "much"}'),
    ],
)
def test_an_answer_in_no_known_form_is_a_bad_answer(server: Server, model: str, content_type: str, reply: str) -> None:
    server.content_type, server.reply = content_type, reply
    with pytest.raises(ProviderError, match=f"openai/{model}: ") as caught:
        ask(model)
    assert not isinstance(caught.value, ProviderConfigError)


def test_a_server_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ProviderError, match="openai/o3: APIConnectionError"):
        ask()


def test_without_a_key_nothing_is_asked() -> None:
    with pytest.raises(ProviderConfigError, match=r"set OPENAI_API_KEY in the environment or in \.env"):
        OpenAIProvider()


def test_every_error_of_the_sdk_has_the_root_that_is_translated() -> None:
    errors = [getattr(openai, name) for name in openai.__all__ if name.endswith("Error")]
    assert len(errors) > 10
    of_webhooks = [openai.InvalidWebhookSignatureError]
    assert [error for error in errors if not issubclass(error, openai.OpenAIError)] == of_webhooks
