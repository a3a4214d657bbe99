"""``google/MODEL``: Gemini through the official SDK, imported on first use. Vertex AI is not supported."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from spca.common.redaction import redact
from spca.errors import BadAnswerError, ProviderConfigError
from spca.llm.providers import api_keys
from spca.llm.providers.answer_fields import (
    Fields,
    read_call,
    read_object,
    read_objects,
    read_text,
    read_usage,
    sum_counts,
)
from spca.llm.providers.base import (
    Finish,
    Form,
    Listed,
    Message,
    Request,
    Response,
    Target,
    Usage,
)
from spca.llm.providers.conversation import conversation
from spca.llm.providers.exchange import ModelServer, Wire, client_settings, exchange
from spca.llm.providers.failures import Service
from spca.llm.providers.schemas import json_schema
from spca.llm.providers.secrets import quoted

BASE_URL: Final = "https://generativelanguage.googleapis.com/"
API_VERSION: Final = "v1beta"
"""Where system instructions, tools and JSON schemas are; the SDK's default, v1, refuses them."""

_MAX_LISTED: Final = 10_000
"""Models of a list that are read; a list that never ends is no list."""
_WITH_BUDGET: Final = ("gemini-1", "gemini-2")
_LEVELS: Final = ("minimal", "low", "medium", "high", "xhigh")
_BUDGETS: Final[Mapping[str, int]] = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
"""Tokens for thinking, as Google's own layer for OpenAI's protocol translates efforts."""
_ROLES: Final[Mapping[str, str]] = {"user": "user", "assistant": "model"}
_CUT: Final = frozenset(("MAX_TOKENS", "CONTINUATION"))
_DECLINED: Final = frozenset(
    (
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
        "ESCALATION",
        "PUP_LIMITED_DISABLED",
        "MODEL_ARMOR",
    )
)
_MALFORMED: Final = frozenset(
    (
        "MALFORMED_FUNCTION_CALL",
        "MALFORMED_RESPONSE",
        "UNEXPECTED_TOOL_CALL",
        "TOO_MANY_TOOL_CALLS",
        "MISSING_THOUGHT_SIGNATURE",
    )
)


class GoogleProvider(ModelServer):
    """Gemini's ``generateContent``; ``GOOGLE_API_KEY``, else ``GEMINI_API_KEY``, authenticates.

    ``target.base_url``, else ``GOOGLE_GEMINI_BASE_URL``, names another server.

    Raises:
        ProviderConfigError: there is no key.
    """

    def __init__(self, target: Target) -> None:
        self._label = f"google/{target.model}"
        found = api_keys.key_from(self._label, "GOOGLE_API_KEY", "GEMINI_API_KEY")
        if found is None:
            raise api_keys.missing(self._label, "GOOGLE_API_KEY or GEMINI_API_KEY")
        variable, self._key = found
        self._base_url = target.base_url or os.environ.get("GOOGLE_GEMINI_BASE_URL", "").strip() or BASE_URL
        self._service = Service(self._label, variable, redact(self._base_url))
        self._wire = Wire()
        self._client: Any = None

    def complete(self, request: Request) -> Response:
        """Send ``request`` once; see :class:`spca.llm.providers.base.Provider`."""
        asked = _arguments(request)
        return exchange(
            self._service,
            request,
            self._wire,
            lambda: self._generate(asked),
            lambda answer: read(answer, self._label),
        )

    def _load(self) -> object:
        return self._sdk().models

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        wanted = {"page_size": 1000, "http_options": {"timeout": round(timeout_s * 1000)}}
        pages = self._sdk().models.list(config=wanted)
        return [Listed(bare(str(model.name))) for model in islice(pages, _MAX_LISTED)]

    def _sdk(self) -> Any:
        if self._client is None:
            import httpx2
            from google import genai

            _quiet()
            client = httpx2.Client(**client_settings(httpx2, self._wire))
            options = genai.types.HttpOptions(base_url=self._base_url, api_version=API_VERSION, httpx_client=client)
            self._client = genai.Client(vertexai=False, api_key=self._key, http_options=options)
        return self._client

    def _generate(self, asked: Mapping[str, Any]) -> Any:
        client = self._sdk()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the SDK warns of every value of the server that is newer than itself
            return client.models.generate_content(**asked)


def bare(name: str) -> str:
    """Return the name of a model without "models/", which Google's lists put before it."""
    return name.removeprefix("models/")


def _quiet() -> None:
    """Keep the SDK's remarks (two keys are set, a part is no text) from the terminal of users that log nothing."""
    logger = logging.getLogger("google_genai")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


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
    """What an effort is in Gemini's words: a budget of tokens for the models before Gemini 3, a level from then on."""
    has_budget = bare(model).startswith(_WITH_BUDGET)
    known = _BUDGETS if has_budget else _LEVELS
    if effort not in known:
        raise ProviderConfigError(f"google/{model} does not take the effort {effort}: choose one of {', '.join(known)}")
    return {"thinking_budget": _BUDGETS[effort]} if has_budget else {"thinking_level": effort.upper()}


def _content(message: Message) -> dict[str, Any]:
    pictures = [{"inline_data": {"mime_type": image.media_type, "data": image.data}} for image in message.images]
    texts = [{"text": message.text}] if message.text or not pictures else []
    return {"role": _ROLES[message.role], "parts": [*texts, *pictures]}


def _tools(request: Request) -> dict[str, Any]:
    declared = [
        {"name": tool.name, "description": tool.description, "parameters_json_schema": json_schema(tool.parameters)}
        for tool in request.tools
    ]
    calling: dict[str, Any] = {"mode": "AUTO" if request.tool_choice == "auto" else "ANY"}
    if request.tool_choice not in {"auto", "required"}:
        calling["allowed_function_names"] = [request.tool_choice]
    return {"tools": [{"function_declarations": declared}], "tool_config": {"function_calling_config": calling}}


def read(answer: Fields, label: str) -> Response:
    """Return the response in ``answer``.

    Raises:
        BadAnswerError: there is no answer in it, or a tool call with arguments that are no JSON.
    """
    counts = _usage(read_object(_field(answer, "usageMetadata")))
    feedback = read_object(_field(answer, "promptFeedback"))
    if blocked := read_text(_field(feedback, "blockReason")):
        said = read_text(_field(feedback, "blockReasonMessage"))
        return Response(said or f"the prompt was blocked: {blocked}", counts, Finish.REFUSAL)
    candidates = read_objects(answer.get("candidates"))
    if not candidates:
        raise BadAnswerError(f"{label}: the answer holds no candidate")
    candidate = candidates[0]
    content, reason = read_object(candidate.get("content")), read_text(_field(candidate, "finishReason")).upper()
    if not (content or reason):
        raise BadAnswerError(f"{label}: the candidate of the answer is empty")
    message = read_text(_field(candidate, "finishMessage"))
    if reason in _MALFORMED:
        raise BadAnswerError(f"{label}: {reason}: {quoted(message or 'no reason given')}")
    parts = read_objects(content.get("parts"))
    text = "".join(read_text(part.get("text")) for part in parts if not part.get("thought"))
    if reason in _DECLINED:
        return Response(text or message or reason, counts, Finish.REFUSAL)
    if reason in _CUT:
        return Response(text, counts, Finish.LENGTH)
    asked = [call for part in parts if (call := read_object(_field(part, "functionCall")))]
    calls = tuple(read_call(call.get("name"), call.get("args"), label) for call in asked)
    return Response(text, counts, Finish.TOOL_CALL if calls else Finish.STOP, calls)


def _usage(counts: Fields) -> Usage:
    """Gemini counts thoughts beside the answer."""
    thought = _field(counts, "thoughtsTokenCount")
    made = sum_counts(_field(counts, "candidatesTokenCount"), thought)
    cached = _field(counts, "cachedContentTokenCount")
    return read_usage(_field(counts, "promptTokenCount"), made, cached, thought)


def _field(node: Fields, name: str) -> Any:
    """Return a field by its JSON name or its original one: ``finishReason`` is also written ``finish_reason``."""
    return node.get(name, node.get(re.sub("(?=[A-Z])", "_", name).lower()))
