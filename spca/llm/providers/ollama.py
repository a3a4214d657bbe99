"""``ollama/MODEL`` through the official SDK, imported on first use."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from spca.common.redaction import redact
from spca.errors import BadAnswerError, ProviderConfigError
from spca.llm.providers import api_keys
from spca.llm.providers.answer_fields import (
    Fields,
    read_call,
    read_content,
    read_object,
    read_objects,
    read_text,
    read_usage,
)
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
from spca.llm.providers.conversation import conversation, with_system_line
from spca.llm.providers.exchange import ModelServer, Wire, client_settings, exchange
from spca.llm.providers.failures import OTHER_MODEL, Service
from spca.llm.providers.schemas import Schema, json_schema

BASE_URL: Final = "http://127.0.0.1:11434"
CONTEXT: Final = 16384
"""Tokens of context asked for where the model's are not known. Ollama's own default is a few thousand, and it cuts
longer prompts at their beginning without a word."""

_NO_KEY: Final = "none"
"""Sent where the key of the environment is not to be: the SDK would take it by itself."""
_PLAIN: Final = frozenset(("type", "description", "enum", "items"))
"""Keywords of a tool's parameter that the SDK passes on; it drops all others."""


class OllamaProvider(ModelServer):
    """Ollama's chat; ``target.base_url``, else ``OLLAMA_HOST``, names the server.

    ``OLLAMA_API_KEY`` is sent where it is set (ollama.com wants one, one's own server does not).
    """

    def __init__(self, target: Target) -> None:
        self._label = f"ollama/{target.model}"
        self._base_url = target.base_url or os.environ.get("OLLAMA_HOST", "").strip() or BASE_URL
        self._context = target.info.context or CONTEXT
        self._is_open = target.is_open
        found = ("", _NO_KEY) if target.is_open else api_keys.key_from(self._label, "OLLAMA_API_KEY")
        self._headers = {"authorization": f"Bearer {found[1]}"} if found else {}
        service = Service(
            self._label,
            "OLLAMA_API_KEY",
            redact(self._base_url),
            if_absent="start it with `ollama serve`, or set OLLAMA_HOST to where it runs",
            if_unknown=f"fetch it with `ollama pull {target.model}`, or {OTHER_MODEL}",
        )
        self._service = replace(service, **target.wording)
        self._wire = Wire()
        self._client: Any = None
        self._timeout_s = 0.0

    def complete(self, request: Request) -> Response:
        """Send ``request`` once; see :class:`spca.llm.providers.base.Provider`."""
        asked = _arguments(request, self._context)
        timeout_s = request.limits.timeout_s
        return exchange(
            self._service,
            request,
            self._wire,
            lambda: self._sdk(timeout_s).chat(**asked),
            lambda answer: read(answer, self._label),
            self._list_models,
        )

    def abilities(self, model: str, timeout_s: float = LISTING_TIMEOUT_S) -> Sequence[str]:
        """Return what the server says a model can do, such as "vision"; nothing where it does not say.

        Raises:
            ProviderError: it cannot be asked, or does not have the model.
        """
        return self._inquired(lambda: self._sdk(timeout_s).show(model).capabilities or ())

    def _sdk(self, timeout_s: float) -> Any:
        if self._client is None or self._timeout_s != timeout_s:  # the SDK knows a timeout per client only
            import httpx
            import ollama

            try:
                settings = client_settings(httpx, self._wire, is_open=self._is_open)
                self._client = ollama.Client(self._base_url, headers=self._headers, timeout=timeout_s, **settings)
            except ValueError as error:
                address = self._service.address
                raise ProviderConfigError(f"{self._label}: {address} is not an address of a server: {error}") from error
            self._timeout_s = timeout_s
        return self._client

    def _load(self) -> object:
        return self._sdk(LISTING_TIMEOUT_S)

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        return [Listed(str(model.model)) for model in self._sdk(timeout_s).list().models]


def _arguments(request: Request, context: int) -> dict[str, Any]:
    limits = request.limits
    options: dict[str, Any] = {"num_ctx": context}
    if limits.max_output_tokens is not None:
        options["num_predict"] = limits.max_output_tokens
    if limits.temperature is not None:
        options["temperature"] = limits.temperature
    messages = list(conversation(request))
    found: dict[str, Any] = {"model": request.model, "options": options, "stream": False}
    if limits.effort is not None:
        found["think"] = False if limits.effort == "none" else limits.effort
    if request.tools:
        messages = with_system_line(messages, _tools_told(request))
        found["tools"] = [_tool(tool) for tool in request.tools]
    elif request.schema is not None and request.form is not Form.TEXT:
        found["format"] = json_schema(request.schema) if request.form is Form.SCHEMA else "json"
    return {**found, "messages": [_message(message) for message in messages]}


def _message(message: Message) -> dict[str, Any]:
    return {"role": message.role, "content": message.text, "images": [image.data for image in message.images]}


def _tool(tool: Tool) -> dict[str, Any]:
    schema = json_schema(tool.parameters)
    properties = {name: _plain(child) for name, child in schema.get("properties", {}).items()}
    parameters = {"type": "object", "properties": properties, "required": schema.get("required", [])}
    return {"type": "function", "function": {**_named(tool), "parameters": parameters}}


def _named(tool: Tool) -> dict[str, str]:
    return {"name": tool.name, "description": tool.description}


def _plain(schema: Schema) -> Schema:
    """``schema`` with a choice between plain types as a list of types, which the SDK passes on."""
    choices = schema.get("anyOf", [])
    if choices and all(set(choice) == {"type"} for choice in choices):
        return {**{k: v for k, v in schema.items() if k != "anyOf"}, "type": [choice["type"] for choice in choices]}
    return schema


def _tools_told(request: Request) -> str:
    """What Ollama has no field for: that a tool must be called, and schemas that the SDK would cut."""
    choice = request.tool_choice
    if choice == "auto":
        lines = ["Call a tool where it helps; otherwise answer in words."]
    elif choice == "required":
        lines = ["Answer only by calling one of the tools, never in words."]
    else:
        lines = [f"Answer only by calling the tool {choice}, never in words."]
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
    message = read_object(answer.get("message"))
    if not message:
        raise BadAnswerError(f"{label}: the answer holds no message")
    # No prompt is empty: a count of 0 means that none was made (a prompt already in the cache is not counted).
    counts = read_usage(answer.get("prompt_eval_count"), answer.get("eval_count"))
    text, served = read_content(message.get("content"), label), read_text(answer.get("model"))
    if answer.get("done_reason") == "length":
        return Response(text, counts, Finish.LENGTH, served=served)
    functions = [read_object(call.get("function")) for call in read_objects(message.get("tool_calls"))]
    calls = tuple(read_call(function.get("name"), function.get("arguments"), label) for function in functions)
    return Response(text, counts, Finish.TOOL_CALL if calls else Finish.STOP, calls, served)
