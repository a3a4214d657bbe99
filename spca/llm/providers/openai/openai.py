"""``openai/MODEL`` through the official SDK, imported on first use.

OpenAI itself, or any server that speaks its protocol (vLLM, llama.cpp, LM Studio, OpenRouter) at a base URL.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final

from spca.common.redaction import redact
from spca.errors import UnknownApiError, UnsupportedApiError
from spca.llm.providers import api_keys
from spca.llm.providers.addresses import host
from spca.llm.providers.base import Listed, Request, Response, Target
from spca.llm.providers.exchange import ModelServer, Wire, client_settings, exchange
from spca.llm.providers.failures import OTHER_MODEL, Service
from spca.llm.providers.openai import chat, responses

BASE_URL: Final = "https://api.openai.com/v1"
_OPENAI_HOSTS: Final = (".openai.com", ".openai.azure.com")
_NO_KEY: Final = "none"
"""Sent to servers of one's own that ask for no key: the SDK wants one."""


class OpenAIProvider(ModelServer):
    """Chat completions, or the Responses API where ``target.info.api`` is "responses".

    A server of one's own that lacks the Responses API is asked through chat completions from then on.

    ``OPENAI_API_KEY`` authenticates; ``target.base_url``, else ``OPENAI_BASE_URL``, reaches a compatible server.

    Raises:
        ProviderConfigError: there is no key, and no server of one's own that may want none.
    """

    def __init__(self, target: Target) -> None:
        self._label = target.label or f"openai/{target.model}"
        self._speaks_responses = target.info.api == "responses"
        given = target.base_url or ("" if target.is_named else os.environ.get("OPENAI_BASE_URL", "").strip())
        self._base_url = given or BASE_URL
        self._is_open, self._is_named = target.is_open, target.is_named
        variable = target.key_variable or "OPENAI_API_KEY"
        has_none = target.is_open or (target.is_named and not target.key_variable)
        key = None if has_none else api_keys.key_from(self._label, variable)
        if key is None and (target.key_variable or not given):
            raise api_keys.missing(self._label, variable)
        self._key = key[1] if key else _NO_KEY
        self._at_openai = f".{host(self._base_url)}".endswith(_OPENAI_HOSTS)
        api = "the Responses API" if self._speaks_responses else "chat completions"
        service = Service(
            self._label,
            variable,
            redact(self._base_url),
            if_unknown=f"asked through {api}; {OTHER_MODEL}",
        )
        self._service = replace(service, **target.wording)
        self._wire = Wire()
        self._client: Any = None

    def complete(self, request: Request) -> Response:
        """Send ``request`` once; see :class:`spca.llm.providers.base.Provider`."""
        if self._speaks_responses:
            asked, read = responses.arguments(request), responses.read
        else:
            # The older name is the one that every other server knows; OpenAI's reasoning models refuse it.
            limit = "max_completion_tokens" if self._at_openai else "max_tokens"
            asked, read = chat.arguments(request, limit), chat.read
        try:
            return exchange(
                self._service,
                request,
                self._wire,
                lambda: self._resource().create(**asked, timeout=request.limits.timeout_s),
                lambda answer: read(answer, self._label),
                None if self._base_url == BASE_URL else self._list_models,
            )
        except UnknownApiError as error:
            if self._at_openai or not self._speaks_responses:
                raise
            self._speaks_responses = False
            raise UnsupportedApiError(f"{error}; asked through chat completions from now on") from error

    def _resource(self) -> Any:
        return self._sdk().responses if self._speaks_responses else self._sdk().chat.completions

    def _sdk(self) -> Any:
        if self._client is None:
            import httpx2
            import openai

            self._client = openai.OpenAI(
                api_key=self._key,
                base_url=self._base_url,
                max_retries=0,
                http_client=httpx2.Client(**client_settings(httpx2, self._wire, is_open=self._is_open)),
            )
            if self._is_named or self._is_open:  # the SDK takes OpenAI's account and headers from the environment
                self._client.organization = self._client.project = None
                self._client._custom_headers = {}
        return self._client

    def _load(self) -> object:
        return self._sdk().models, self._resource()  # the SDK imports them when they are first looked at

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        return [Listed(str(model.id), _day(model)) for model in self._sdk().models.list(timeout=timeout_s).data]


def _day(model: Any) -> date | None:
    """Return the day on which a model is shut down, None if the list has no readable date."""
    try:
        return date.fromisoformat(str(getattr(model, "shutdown_date", None))[:10])
    except ValueError:
        return None
