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
"""Where system instructions, tools and JSON schemas are; the SDK's default, v1, refuses them."""

_LISTED: Final = "models/"
"""What Google's lists put before the name of a model."""
_WITH_BUDGET: Final = ("gemini-1", "gemini-2")
_LEVELS: Final = ("minimal", "low", "medium", "high", "xhigh")
_BUDGETS: Final[Mapping[str, int]] = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
"""Tokens for thinking, as Google's own layer for OpenAI's protocol translates efforts."""
_ROLES: Final[Mapping[str, str]] = {"user": "user", "assistant": "model"}
_CUT: Final = frozenset(("MAX_TOKENS", "CONTINUATION"))
_DECLINED: Final = frozenset(("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"))
_MALFORMED: Final = re.compile("MALFORMED|TOOL_CALL")


class GoogleProvider(ModelServer):
    """Gemini's ``generateContent``."""

    def __init__(self, target: Target) -> None:
        super().__init__(target, "google", BASE_URL, "GOOGLE_API_KEY", "GEMINI_API_KEY")

    def _connect(self) -> Any:
        from google import genai

        # The SDK's remarks (two keys are set, a part is no text) are not for the terminal of users that log nothing.
        logging.getLogger("google_genai").addHandler(logging.NullHandler())
        client = httpx2.Client(**self._client_settings(httpx2))
        options = genai.types.HttpOptions(base_url=self._base_url, api_version=API_VERSION, httpx_client=client)
        return genai.Client(vertexai=False, api_key=self._key, http_options=options)

    def _send(self, request: Request) -> object:
        client = self._sdk()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the SDK warns of every value of the server that is newer than itself
            return client.models.generate_content(**_arguments(request))

    def _read(self, answer: Fields, _request: Request) -> Response:
        return read(answer, self._label)

    def _load(self) -> object:
        return self._sdk().models

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        wanted = {"page_size": 1000, "http_options": {"timeout": round(timeout_s * 1000)}}
        models = self._sdk().models.list(config=wanted)
        return [Listed(str(model.name).removeprefix(_LISTED)) for model in models]


def _arguments(request: Request) -> dict[str, Any]:
    messages = conversation(request)
    system = "\n\n".join(message.text for message in messages if message.role == "system")
    limits = request.limits
    config: dict[str, Any] = {
        "http_options": {"timeout": max(1, round(limits.timeout_s * 1000))},
        "system_instruction": system or None,
        "temperature": limits.temperature,
        "max_output_tokens": limits.max_output_tokens,
        # Each of the two would make the SDK send requests of its own accord.
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
    """Return an effort in Gemini's terms: a budget of tokens for models before Gemini 3, a level from then on."""
    has_budget = model.removeprefix(_LISTED).startswith(_WITH_BUDGET)
    known = _BUDGETS if has_budget else _LEVELS
    if effort not in known:
        raise ProviderConfigError(f"google/{model} does not take the effort {effort}: choose one of {', '.join(known)}")
    return {"thinking_budget": _BUDGETS[effort]} if has_budget else {"thinking_level": effort.upper()}


def _content(message: Message) -> dict[str, Any]:
    pictures: list[dict[str, Any]] = []
    for image in message.images:
        inline_data = {"mime_type": image.media_type, "data": image.data}
        pictures.append({"inline_data": inline_data})

    texts = [{"text": message.text}] if message.text or not pictures else []
    return {"role": _ROLES[message.role], "parts": [*texts, *pictures]}


def _tools(request: Request) -> dict[str, Any]:
    declared = declare_tools(request.tools, "parameters_json_schema")
    calling: dict[str, Any] = {"mode": "AUTO" if request.tool_choice == "auto" else "ANY"}
    if request.tool_choice not in {"auto", "required"}:
        calling["allowed_function_names"] = [request.tool_choice]
    return {"tools": [{"function_declarations": declared}], "tool_config": {"function_calling_config": calling}}


def read(answer: Fields, label: str) -> Response:
    """Return the response in ``answer``.

    Raises:
        BadAnswerError: there is no answer in it, or a tool call with arguments that are no JSON.
    """
    counts = _count_usage(answer.read_object("usageMetadata"))
    feedback = answer.read_object("promptFeedback")
    if blocked := feedback.read_text("blockReason"):
        said = feedback.read_text("blockReasonMessage")
        return Response(said or f"the prompt was blocked: {blocked}", counts, Finish.REFUSAL)
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
    asked = [call for part in parts if (call := part.read_object("functionCall"))]
    calls = tuple(call.read_call("args", label) for call in asked)
    return Response(text, counts, Finish.TOOL_CALL if calls else Finish.STOP, calls)


def _count_usage(counts: Fields) -> Usage:
    """Return the counts; Gemini counts thoughts beside the answer."""
    answered = counts.read_count("candidatesTokenCount")
    thought = counts.read_count("thoughtsTokenCount")
    generated = None
    if answered is not None or thought is not None:
        generated = (answered or 0) + (thought or 0)

    cached = counts.read_count("cachedContentTokenCount")
    return count_usage(counts.read_count("promptTokenCount"), generated, cached, thought)
