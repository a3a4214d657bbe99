"""``openai/MODEL`` through the official SDK, imported on first use.

OpenAI itself, or any server that speaks its protocol (vLLM, llama.cpp, LM Studio, OpenRouter) at a base URL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import httpx2

from spca.errors import ProviderConfigError, UnknownApiError
from spca.llm.catalogue.servers import host
from spca.llm.providers.answer_fields import Fields, read_day
from spca.llm.providers.base import Listed, Request, Response, Target
from spca.llm.providers.exchange import ModelServer
from spca.llm.providers.failures import OTHER_MODEL
from spca.llm.providers.openai import chat, responses

_OPENAI_HOSTS: Final = (".openai.com", ".openai.azure.com")


class OpenAIProvider(ModelServer):
    """Chat completions, or the Responses API where ``target.info.api`` is "responses".

    A server of one's own that lacks the Responses API is asked through chat completions from then on.
    """

    def __init__(self, target: Target) -> None:
        self._speaks_responses = target.info.api == "responses"
        api = "the Responses API" if self._speaks_responses else "chat completions"
        if_unknown = f"asked through {api}; {OTHER_MODEL}"
        super().__init__(target, "openai", "https://api.openai.com/v1", "OPENAI_API_KEY", if_unknown=if_unknown)
        self._at_openai = f".{host(self._base_url)}".endswith(_OPENAI_HOSTS)

    def _adapt(self, _request: Request, error: ProviderConfigError) -> str:
        if not isinstance(error, UnknownApiError) or self._at_openai or not self._speaks_responses:
            return ""
        self._speaks_responses = False
        return "asked through chat completions"

    def _send(self, request: Request) -> object:
        if self._speaks_responses:
            asked = responses.arguments(request)
        else:
            # The older name is the one that every other server knows; OpenAI's reasoning models refuse it.
            limit = "max_completion_tokens" if self._at_openai else "max_tokens"
            asked = chat.arguments(request, limit)
        return self._resource().create(**asked, timeout=request.limits.timeout_s)

    def _read(self, answer: Fields, _request: Request) -> Response:
        read = responses.read if self._speaks_responses else chat.read
        return read(answer, self._label)

    def _resource(self) -> Any:
        return self._sdk().responses if self._speaks_responses else self._sdk().chat.completions

    def _connect(self) -> Any:
        import openai

        client = openai.OpenAI(
            api_key=self._key,
            base_url=self._base_url,
            max_retries=0,
            http_client=httpx2.Client(**self._client_settings(httpx2)),
        )
        if self._target.is_named or self._target.is_open:
            # The SDK takes OpenAI's account and headers from the environment.
            client.organization = client.project = None
            client._custom_headers = {}
        return client

    def _load(self) -> object:
        return self._sdk().models, self._resource()  # the SDK imports them when they are first looked at

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        models = self._sdk().models.list(timeout=timeout_s).data
        return [Listed(str(model.id), read_day(getattr(model, "shutdown_date", None))) for model in models]
