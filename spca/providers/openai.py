"""``openai/MODEL`` through the official SDK, imported on first use."""

from __future__ import annotations

import os
from typing import Any

from pydantic import BaseModel

from spca.errors import BadAnswerError, ProviderConfigError, ProviderError
from spca.providers.base import Request, Response, Usage

TIMEOUT_S = 300.0
"""Seconds before a call is given up; reasoning models think for minutes."""


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

        try:
            if "codex" in request.model:
                return self._respond(request)
            return self._chat(request)
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise ProviderConfigError(f"openai/{request.model}: the key was refused: check OPENAI_API_KEY") from error
        except openai.NotFoundError as error:
            raise ProviderConfigError(f"openai/{request.model}: unknown model: choose another by flag") from error
        except openai.OpenAIError as error:
            raise ProviderError(f"openai/{request.model}: {type(error).__name__}") from error

    def _sdk(self) -> Any:
        if self._client is None:
            import openai

            self._client = openai.OpenAI(timeout=TIMEOUT_S)
        return self._client

    def _chat(self, request: Request) -> Response:
        form: dict[str, Any] = {}
        if request.schema is not None:
            form["response_format"] = {"type": "json_schema", "json_schema": _schema(request.schema)}
        messages = [{"role": m.role, "content": m.text} for m in request.messages]
        answer = self._sdk().chat.completions.create(model=request.model, messages=messages, **form)
        if not answer.choices or not answer.choices[0].message.content:
            raise BadAnswerError(f"openai/{request.model}: the answer is empty")
        usage = answer.usage
        counts = Usage(usage.prompt_tokens, usage.completion_tokens) if usage else Usage()
        return Response(str(answer.choices[0].message.content), counts)

    def _respond(self, request: Request) -> Response:
        form: dict[str, Any] = {}
        if request.schema is not None:
            form["text"] = {"format": {"type": "json_schema", **_schema(request.schema)}}
        messages = [{"role": m.role, "content": m.text} for m in request.messages]
        answer = self._sdk().responses.create(model=request.model, input=messages, **form)
        if not answer.output_text:
            raise BadAnswerError(f"openai/{request.model}: the answer is empty")
        usage = answer.usage
        counts = Usage(usage.input_tokens, usage.output_tokens) if usage else Usage()
        return Response(str(answer.output_text), counts)


def _schema(schema: type[BaseModel]) -> dict[str, Any]:
    body = {**schema.model_json_schema(), "additionalProperties": False}
    return {"name": schema.__name__, "schema": body, "strict": True}
