"""``openai/MODEL`` through the official SDK, imported on first use."""

from __future__ import annotations

import os
from typing import Any

from pydantic import BaseModel

from spca.errors import BadAnswerError, ProviderConfigError, ProviderError, UnknownModelError
from spca.providers.base import Request, Response, Usage

TIMEOUT_S = 300.0
"""Seconds before a call is given up; reasoning models think for minutes."""

_MAX_SAID = 300
"""Characters of the server's words that an error passes on."""


class OpenAIProvider:
    """Chat completions, or the Responses API for models that only speak that (codex).

    ``OPENAI_API_KEY`` authenticates, ``OPENAI_BASE_URL`` reaches a compatible server.

    Raises:
        ProviderConfigError: there is no key.
    """

    def __init__(self) -> None:
        if not os.environ.get("OPENAI_API_KEY"):
            raise ProviderConfigError("openai/...: set OPENAI_API_KEY in the environment or in .env")
        self._client: Any = None

    def complete(self, request: Request) -> Response:
        import openai

        speaks_responses = "codex" in request.model
        try:
            answer = self._respond(request) if speaks_responses else self._chat(request)
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise ProviderConfigError(f"openai/{request.model}: the key was refused: check OPENAI_API_KEY") from error
        except openai.NotFoundError as error:
            raise UnknownModelError(f"openai/{request.model}: unknown model: begin a run with another one") from error
        except (openai.OpenAIError, ValueError) as error:  # ValueError: a body that is not the JSON it claims to be
            said = " ".join(str(error).split())[:_MAX_SAID]
            raise ProviderError(f"openai/{request.model}: {type(error).__name__}: {said}") from error
        try:
            response = _read_response(answer) if speaks_responses else _read_chat(answer)
        except (AttributeError, IndexError, TypeError) as error:  # the SDK does not check the form of what it returns
            raise BadAnswerError(f"openai/{request.model}: the answer has an unknown form") from error
        if not response.text:
            raise BadAnswerError(f"openai/{request.model}: the answer is empty")
        return response

    def _sdk(self) -> Any:
        if self._client is None:
            import openai

            self._client = openai.OpenAI(timeout=TIMEOUT_S)
        return self._client

    def _chat(self, request: Request) -> Any:
        form: dict[str, Any] = {}
        if request.schema is not None:
            form["response_format"] = {"type": "json_schema", "json_schema": _schema(request.schema)}
        return self._sdk().chat.completions.create(model=request.model, messages=_messages(request), **form)

    def _respond(self, request: Request) -> Any:
        form: dict[str, Any] = {}
        if request.schema is not None:
            form["text"] = {"format": {"type": "json_schema", **_schema(request.schema)}}
        return self._sdk().responses.create(model=request.model, input=_messages(request), **form)


def _messages(request: Request) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.text} for message in request.messages]


def _read_chat(answer: Any) -> Response:
    text = answer.choices[0].message.content if answer.choices else ""
    usage = answer.usage
    return Response(str(text or ""), Usage(usage.prompt_tokens, usage.completion_tokens) if usage else Usage())


def _read_response(answer: Any) -> Response:
    usage = answer.usage
    return Response(str(answer.output_text), Usage(usage.input_tokens, usage.output_tokens) if usage else Usage())


def _schema(schema: type[BaseModel]) -> dict[str, Any]:
    body = {**schema.model_json_schema(), "additionalProperties": False}
    return {"name": schema.__name__, "schema": body, "strict": True}
