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
"""Tokens of context to request if the model's context is unknown.

Ollama's own default is a few thousand tokens, and Ollama silently cuts off the beginning of a longer prompt.
"""

_SDK_KEYWORDS: Final = frozenset(("type", "description", "enum", "items"))
"""Keywords of a tool parameter's schema that the SDK sends; the SDK drops all others."""


class OllamaProvider(ModelServer):
    """Ollama's chat API. The key in ``OLLAMA_API_KEY`` is sent if the variable is set; only ollama.com needs a key."""

    def __init__(self, target: Target) -> None:
        fetch = f"fetch it with `ollama pull {target.model}`, or {OTHER_MODEL}"
        super().__init__(
            target,
            "ollama",
            "http://127.0.0.1:11434",
            "OLLAMA_API_KEY",
            if_absent="start it with `ollama serve`, or set OLLAMA_HOST to where it runs",
            if_unknown=fetch,
        )

    def abilities(self, model: str, timeout_s: float = LISTING_TIMEOUT_S) -> Sequence[str]:
        """Return the abilities of a model that the server lists, such as "vision".

        Raises:
            ProviderError: the server does not answer, or does not have the model.
        """
        return self._translate_errors(lambda: self._set_timeout(timeout_s).show(model).capabilities or ())

    def _set_timeout(self, timeout_s: float) -> Any:
        """Return the SDK's client with its timeout set; the SDK has no timeout for single requests."""
        client = self._sdk()
        client._client.timeout = timeout_s
        return client

    def _connect(self) -> Any:
        import ollama

        # Without a header, the SDK would send the key of the environment, which an open server must not get.
        has_header = self._key != NO_KEY or self._target.is_open
        headers = {"authorization": f"Bearer {self._key}"} if has_header else {}
        settings = self._client_settings(httpx)
        try:
            return ollama.Client(self._base_url, headers=headers, **settings)
        except ValueError as error:
            fault = f"{self.address} is not an address of a server: {error}"
            raise ProviderConfigError(f"{self._label}: {fault}") from error

    def _send(self, request: Request) -> object:
        arguments = _arguments(request, self._target.info.context or CONTEXT)
        return self._set_timeout(request.limits.timeout_s).chat(**arguments)

    def _read(self, answer: Fields, _request: Request) -> Response:
        return read(answer, self._label)

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        return [Listed(str(model.model)) for model in self._set_timeout(timeout_s).list().models]


def _arguments(request: Request, context: int) -> dict[str, Any]:
    """Return the arguments of the SDK's ``chat``; ``context`` is the size of the context in tokens."""
    limits = request.limits
    options = keep_set(num_ctx=context, num_predict=limits.max_output_tokens, temperature=limits.temperature)
    messages = list(conversation(request))
    arguments: dict[str, Any] = {"model": request.model, "options": options, "stream": False}
    if limits.effort is not None:
        arguments["think"] = False if limits.effort == "none" else limits.effort
    if request.tools:
        messages = add_system_line(messages, _describe_tools(request))
        arguments["tools"] = [_tool(tool) for tool in request.tools]
    elif request.schema is not None and request.form is not Form.TEXT:
        arguments["format"] = json_schema(request.schema) if request.form is Form.SCHEMA else "json"
    return {**arguments, "messages": [_message(message) for message in messages]}


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": message.text, "images": [image.data for image in message.images]}


def _tool(tool: Tool) -> dict[str, Any]:
    """Return the declaration of a tool, with the schema keywords that the SDK sends."""
    schema = json_schema(tool.parameters)
    children = schema.get("properties", {})
    properties = {name: _join_types(child) for name, child in children.items()}
    parameters = {"type": "object", "properties": properties, "required": schema.get("required", [])}
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


def _join_types(schema: Schema) -> Schema:
    """Return ``schema`` with a list of types in place of an ``anyOf`` whose choices are mere types.

    The SDK would drop the ``anyOf``.
    """
    choices = schema.get("anyOf", [])
    are_mere_types = all(set(choice) == {"type"} for choice in choices)
    if not choices or not are_mere_types:
        return schema
    joined = {key: value for key, value in schema.items() if key != "anyOf"}
    joined["type"] = [choice["type"] for choice in choices]
    return joined


def _describe_tools(request: Request) -> str:
    """Return instructions that the fields of a request cannot carry.

    They name the choice of a tool, and give the schemas of arguments that the SDK would send incompletely.
    """
    choice = request.tool_choice
    is_free = choice == "auto"
    lines = ["Call a tool where it helps; otherwise answer in words." if is_free else tell_choice(choice)]
    for tool in request.tools:
        schema = json_schema(tool.parameters)
        parameters = schema.get("properties", {}).values()
        is_sent_whole = all(set(_join_types(parameter)) <= _SDK_KEYWORDS for parameter in parameters)
        if not is_sent_whole:
            schema_text = json.dumps(schema, ensure_ascii=False)
            lines.append(f"The JSON schema of the arguments of {tool.name}: {schema_text}")
    return "\n".join(lines)


def read(answer: Fields, label: str) -> Response:
    """Return the response in ``answer``.

    Raises:
        BadAnswerError: ``answer`` contains no message, or a tool call with arguments that are no JSON object.
    """
    message = answer.read_object("message")
    if not message:
        raise BadAnswerError(f"{label}: the answer holds no message")
    # Ollama does not count a prompt that is in its cache already: 0 tokens of the prompt mean "unknown".
    counts = count_usage(answer.read_count("prompt_eval_count"), answer.read_count("eval_count"))
    text = message.read_content(label)
    if answer.read_text("done_reason") == "length":
        return Response(text, counts, Finish.LENGTH)
    functions = [call.read_object("function") for call in message.read_objects("tool_calls")]
    calls = tuple(function.read_call("arguments", label) for function in functions)
    return Response(text, counts, Finish.TOOL_CALL if calls else Finish.STOP, calls)
