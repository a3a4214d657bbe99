"""``google/MODEL``: Gemini through the official SDK, imported on first use. Vertex AI is not supported."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx2

from spca.errors import BadAnswerError, ProviderConfigError
from spca.llm.providers.answer_fields import Fields, count_usage
from spca.llm.providers.base import Finish, Form, Listed, Message, Request, Response, Target, Usage
from spca.llm.providers.conversation import conversation, declare_tools
from spca.llm.providers.exchange import ModelServer
from spca.llm.providers.schemas import json_schema
from spca.llm.providers.secrets import quote_line

BASE_URL: Final = "https://generativelanguage.googleapis.com/"
API_VERSION: Final = "v1beta"
"""The version with system instructions, tools and JSON schemas; the SDK's default, v1, refuses all three."""

_LIST_PREFIX: Final = "models/"
"""Prefix of models' names in Google's lists."""
_WITH_BUDGET: Final = ("gemini-1", "gemini-2")
"""Prefixes of the names of models whose reasoning is limited by a number of tokens; later models accept a level."""
_LEVELS: Final = ("minimal", "low", "medium", "high", "xhigh")
_BUDGETS: Final[Mapping[str, int]] = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
"""Effort -> tokens of reasoning; the numbers come from Google's own layer for OpenAI's protocol."""
_ROLES: Final[Mapping[str, str]] = {"user": "user", "assistant": "model"}
_CUT: Final = frozenset(("MAX_TOKENS", "CONTINUATION"))
_DECLINED: Final = frozenset(("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"))
_MALFORMED: Final = re.compile("MALFORMED|TOOL_CALL")


class GoogleProvider(ModelServer):
    """Gemini through its API ``generateContent``."""

    def __init__(self, target: Target) -> None:
        super().__init__(target, "google", BASE_URL, "GOOGLE_API_KEY", "GEMINI_API_KEY")

    def _connect(self) -> Any:
        from google import genai

        # Without a handler, Python would print the SDK's warnings on the terminal of users who have no log.
        logging.getLogger("google_genai").addHandler(logging.NullHandler())
        client = httpx2.Client(**self._client_settings(httpx2))
        options = genai.types.HttpOptions(base_url=self._base_url, api_version=API_VERSION, httpx_client=client)
        return genai.Client(vertexai=False, api_key=self._key, http_options=options)

    def _send(self, request: Request) -> object:
        client = self._sdk()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the SDK warns of every value in an answer that is newer than the SDK
            return client.models.generate_content(**_arguments(request))

    def _read(self, answer: Fields, _request: Request) -> Response:
        return read(answer, self._label)

    def _load(self) -> object:
        return self._sdk().models

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        config = {"page_size": 1000, "http_options": {"timeout": round(timeout_s * 1000)}}  # milliseconds
        models = self._sdk().models.list(config=config)
        return [Listed(str(model.name).removeprefix(_LIST_PREFIX)) for model in models]


def _arguments(request: Request) -> dict[str, Any]:
    """Return the arguments of the SDK's ``generate_content``."""
    messages = conversation(request)
    system = "\n\n".join(message.text for message in messages if message.role == "system")
    limits = request.limits
    timeout_ms = max(1, round(limits.timeout_s * 1000))
    config: dict[str, Any] = {
        "http_options": {"timeout": timeout_ms},
        "system_instruction": system or None,
        "temperature": limits.temperature,
        "max_output_tokens": limits.max_output_tokens,
        # Both options are off, because the SDK would send further requests by itself.
        "automatic_function_calling": {"disable": True},
        "automatic_continuation": False,
    }
    if limits.effort is not None:
        config["thinking_config"] = _thinking(request.model, limits.effort)
    if request.tools:
        config |= _tools(request)
    elif request.schema is not None and request.form is not Form.TEXT:
        config["response_mime_type"] = "application/json"
        if request.form is Form.SCHEMA:
            config["response_json_schema"] = json_schema(request.schema)
    contents = [_content(message) for message in messages if message.role != "system"]
    return {"model": request.model, "contents": contents, "config": config}


def _thinking(model: str, effort: str) -> dict[str, Any]:
    """Return the thinking configuration for an effort: a token budget before Gemini 3, a level from Gemini 3 on.

    Raises:
        ProviderConfigError: the model does not accept the effort.
    """
    has_budget = model.removeprefix(_LIST_PREFIX).startswith(_WITH_BUDGET)
    accepted = _BUDGETS if has_budget else _LEVELS
    if effort not in accepted:
        choices = ", ".join(accepted)
        raise ProviderConfigError(f"google/{model} does not take the effort {effort}: choose one of {choices}")
    return {"thinking_budget": _BUDGETS[effort]} if has_budget else {"thinking_level": effort.upper()}


def _content(message: Message) -> dict[str, Any]:
    """Return a message in Gemini's form; the text is left out if the message consists of images only."""
    parts: list[dict[str, Any]] = []
    if message.text or not message.images:
        parts.append({"text": message.text})
    for image in message.images:
        inline_data = {"mime_type": image.media_type, "data": image.data}
        parts.append({"inline_data": inline_data})
    return {"role": _ROLES[message.role], "parts": parts}


def _tools(request: Request) -> dict[str, Any]:
    """Return the part of the configuration that declares the tools and the choice among them."""
    declared = declare_tools(request.tools, "parameters_json_schema")
    calling: dict[str, Any] = {"mode": "AUTO" if request.tool_choice == "auto" else "ANY"}
    if request.tool_choice not in {"auto", "required"}:
        calling["allowed_function_names"] = [request.tool_choice]
    return {"tools": [{"function_declarations": declared}], "tool_config": {"function_calling_config": calling}}


def read(answer: Fields, label: str) -> Response:
    """Return the response in ``answer``.

    Raises:
        BadAnswerError: ``answer`` contains no answer, or a tool call with arguments that are no JSON object.
    """
    counts = _count_usage(answer.read_object("usageMetadata"))
    feedback = answer.read_object("promptFeedback")
    if block_reason := feedback.read_text("blockReason"):
        message = feedback.read_text("blockReasonMessage")
        return Response(message or f"the prompt was blocked: {block_reason}", counts, Finish.REFUSAL)
    candidates = answer.read_objects("candidates")
    if not candidates:
        raise BadAnswerError(f"{label}: the answer holds no candidate")
    candidate = candidates[0]
    content = candidate.read_object("content")
    reason = candidate.read_text("finishReason").upper()
    if not (content or reason):
        raise BadAnswerError(f"{label}: the candidate of the answer is empty")
    message = candidate.read_text("finishMessage")
    if _MALFORMED.search(reason):
        raise BadAnswerError(f"{label}: {reason}: {quote_line(message or 'no reason given')}")
    parts = content.read_objects("parts")
    text = "".join(part.read_text("text") for part in parts if not part.read_flag("thought"))
    if reason in _DECLINED:
        return Response(text or message or reason, counts, Finish.REFUSAL)
    if reason in _CUT:
        return Response(text, counts, Finish.LENGTH)
    function_calls = [call for part in parts if (call := part.read_object("functionCall"))]
    calls = tuple(call.read_call("args", label) for call in function_calls)
    return Response(text, counts, Finish.TOOL_CALL if calls else Finish.STOP, calls)


def _count_usage(counts: Fields) -> Usage:
    """Return the token counts; Gemini counts reasoning separately from the answer, so the two are added."""
    answer_tokens = counts.read_count("candidatesTokenCount")
    reasoning_tokens = counts.read_count("thoughtsTokenCount")
    output_tokens = None
    if answer_tokens is not None or reasoning_tokens is not None:
        output_tokens = (answer_tokens or 0) + (reasoning_tokens or 0)

    input_tokens = counts.read_count("promptTokenCount")
    cached_tokens = counts.read_count("cachedContentTokenCount")
    return count_usage(input_tokens, output_tokens, cached_tokens, reasoning_tokens)
