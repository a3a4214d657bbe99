"""``openai/MODEL`` through the official SDK, imported on first use.

The server is OpenAI's, or any server with the same protocol (vLLM, llama.cpp, LM Studio, OpenRouter) at a base URL.
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
    """OpenAI's protocols: the Responses API if ``target.info.api`` is "responses", else chat completions.

    If a server other than OpenAI's lacks the Responses API, later requests use chat completions.
    """

    def __init__(self, target: Target) -> None:
        self._speaks_responses = target.info.api == "responses"
        api = "the Responses API" if self._speaks_responses else "chat completions"
        if_unknown = f"asked through {api}; {OTHER_MODEL}"
        super().__init__(target, "openai", "https://api.openai.com/v1", "OPENAI_API_KEY", if_unknown=if_unknown)
        self._at_openai = f".{host(self._base_url)}".endswith(_OPENAI_HOSTS)

    def _adapt(self, _request: Request, error: ProviderConfigError) -> str:
        """Use chat completions for later requests if the server lacks the Responses API; see the base class."""
        can_fall_back = self._speaks_responses and not self._at_openai
        if can_fall_back and isinstance(error, UnknownApiError):
            self._speaks_responses = False
            return "asked through chat completions"
        return ""

    def _send(self, request: Request) -> object:
        if self._speaks_responses:
            arguments = responses.arguments(request)
        else:
            # All other servers know the older name "max_tokens", which OpenAI's reasoning models refuse.
            limit = "max_completion_tokens" if self._at_openai else "max_tokens"
            arguments = chat.arguments(request, limit)
        return self._resource().create(**arguments, timeout=request.limits.timeout_s)

    def _read(self, answer: Fields, _request: Request) -> Response:
        read = responses.read if self._speaks_responses else chat.read
        return read(answer, self._label)

    def _resource(self) -> Any:
        return self._sdk().responses if self._speaks_responses else self._sdk().chat.completions

    def _connect(self) -> Any:
        import openai

        http_client = httpx2.Client(**self._client_settings(httpx2))
        client = openai.OpenAI(api_key=self._key, base_url=self._base_url, max_retries=0, http_client=http_client)
        if self._target.is_named or self._target.is_open:
            # Other servers must not get OpenAI's account and headers, which the SDK takes from the environment.
            client.organization = client.project = None
            client._custom_headers = {}
        return client

    def _load(self) -> object:
        return self._sdk().models, self._resource()  # the SDK imports both modules on first access

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        listed = []
        for model in self._sdk().models.list(timeout=timeout_s).data:
            shutdown = read_day(getattr(model, "shutdown_date", None))
            listed.append(Listed(str(model.id), shutdown))
        return listed
