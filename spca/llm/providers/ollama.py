"""``ollama/MODEL`` through the official SDK, imported on first use."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import httpx

from spca.errors import BadAnswerError, ProviderConfigError
from spca.llm.providers.answer_fields import Fields, count_usage
from spca.llm.providers.base import (
    LISTING_TIMEOUT_S,
    Finish,
    Form,
    Listed,
    Message,
    Request,
    Response,
    Target,
    Tool,
)
from spca.llm.providers.conversation import add_system_line, conversation, keep_set, tell_choice
from spca.llm.providers.exchange import NO_KEY, ModelServer
from spca.llm.providers.failures import OTHER_MODEL
from spca.llm.providers.schemas import Schema, json_schema

CONTEXT: Final = 16384
"""Tokens of context asked for where the model's are not known. Ollama's own default is a few thousand, and it cuts
longer prompts at their beginning without a word."""

_PLAIN: Final = frozenset(("type", "description", "enum", "items"))
"""Keywords of a tool's parameter that the SDK passes on; it drops all others."""


class OllamaProvider(ModelServer):
    """Ollama's chat. ``OLLAMA_API_KEY`` is sent where it is set: ollama.com wants one, one's own server does not."""

    def __init__(self, target: Target) -> None:
        super().__init__(
            target,
            "ollama",
            "http://127.0.0.1:11434",
            "OLLAMA_API_KEY",
            if_absent="start it with `ollama serve`, or set OLLAMA_HOST to where it runs",
            if_unknown=f"fetch it with `ollama pull {target.model}`, or {OTHER_MODEL}",
        )

    def abilities(self, model: str, timeout_s: float = LISTING_TIMEOUT_S) -> Sequence[str]:
        """Return what the server says a model can do, such as "vision"; nothing where it does not say.

        Raises:
            ProviderError: it cannot be asked, or does not have the model.
        """
        return self._translate_errors(lambda: self._patient(timeout_s).show(model).capabilities or ())

    def _patient(self, timeout_s: float) -> Any:
        """Return the client with this timeout, of which the SDK lets one choose one per client only."""
        client = self._sdk()
        client._client.timeout = timeout_s
        return client

    def _connect(self) -> Any:
        import ollama

        # Without a header the SDK would take the key of the environment, which an open server is not to be sent.
        has_header = self._key != NO_KEY or self._target.is_open
        headers = {"authorization": f"Bearer {self._key}"} if has_header else {}
        settings = self._client_settings(httpx)
        try:
            return ollama.Client(self._base_url, headers=headers, **settings)
        except ValueError as error:
            fault = f"{self.address} is not an address of a server: {error}"
            raise ProviderConfigError(f"{self._label}: {fault}") from error

    def _send(self, request: Request) -> object:
        asked = _arguments(request, self._target.info.context or CONTEXT)
        return self._patient(request.limits.timeout_s).chat(**asked)

    def _read(self, answer: Fields, _request: Request) -> Response:
        return read(answer, self._label)

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        return [Listed(str(model.model)) for model in self._patient(timeout_s).list().models]


def _arguments(request: Request, context: int) -> dict[str, Any]:
    limits = request.limits
    options = keep_set(num_ctx=context, num_predict=limits.max_output_tokens, temperature=limits.temperature)
    messages = list(conversation(request))
    found: dict[str, Any] = {"model": request.model, "options": options, "stream": False}
    if limits.effort is not None:
        found["think"] = False if limits.effort == "none" else limits.effort
    if request.tools:
        messages = add_system_line(messages, _describe_tools(request))
        found["tools"] = [_tool(tool) for tool in request.tools]
    elif request.schema is not None and request.form is not Form.TEXT:
        found["format"] = json_schema(request.schema) if request.form is Form.SCHEMA else "json"
    return {**found, "messages": [_message(message) for message in messages]}


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": message.text, "images": [image.data for image in message.images]}


def _tool(tool: Tool) -> dict[str, Any]:
    schema = json_schema(tool.parameters)
    children = schema.get("properties", {})
    properties = {name: _plain(child) for name, child in children.items()}
    parameters = {"type": "object", "properties": properties, "required": schema.get("required", [])}
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


def _plain(schema: Schema) -> Schema:
    """``schema`` with a choice between plain types as a list of types, which the SDK passes on."""
    choices = schema.get("anyOf", [])
    if choices and all(set(choice) == {"type"} for choice in choices):
        return {**{k: v for k, v in schema.items() if k != "anyOf"}, "type": [choice["type"] for choice in choices]}
    return schema


def _describe_tools(request: Request) -> str:
    """Return what Ollama has no field for: that a tool must be called, and schemas that the SDK would cut."""
    choice = request.tool_choice
    is_free = choice == "auto"
    lines = ["Call a tool where it helps; otherwise answer in words." if is_free else tell_choice(choice)]
    for tool in request.tools:
        schema = json_schema(tool.parameters)
        if not all(set(_plain(child)) <= _PLAIN for child in schema.get("properties", {}).values()):
            lines.append(f"The JSON schema of the arguments of {tool.name}: {json.dumps(schema, ensure_ascii=False)}")
    return "\n".join(lines)


def read(answer: Fields, label: str) -> Response:
    """Return the response in ``answer``.

    Raises:
        BadAnswerError: there is no answer in it, or a tool call with arguments that are no JSON.
    """
    message = answer.read_object("message")
    if not message:
        raise BadAnswerError(f"{label}: the answer holds no message")
    # No prompt is empty: a count of 0 means that none was made (a prompt already in the cache is not counted).
    counts = count_usage(answer.read_count("prompt_eval_count"), answer.read_count("eval_count"))
    text = message.read_content(label)
    if answer.read_text("done_reason") == "length":
        return Response(text, counts, Finish.LENGTH)
    functions = [call.read_object("function") for call in message.read_objects("tool_calls")]
    calls = tuple(function.read_call("arguments", label) for function in functions)
    return Response(text, counts, Finish.TOOL_CALL if calls else Finish.STOP, calls)
