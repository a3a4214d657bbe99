"""``anthropic/MODEL``: Claude through the official SDK, imported on first use."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, Final

from spca.common.redaction import redact
from spca.errors import ProviderConfigError, UnsupportedApiError
from spca.llm.providers import api_keys
from spca.llm.providers.anthropic import messages
from spca.llm.providers.base import Listed, Request, Response, Target
from spca.llm.providers.exchange import ModelServer, Wire, client_settings, exchange
from spca.llm.providers.failures import Service

BASE_URL: Final = "https://api.anthropic.com"

_MAX_LISTED: Final = 1000
"""Models on a page of the list, the most that the API gives."""
_NO_KEY: Final = "none"
"""Sent to servers of one's own that ask for no key: the SDK wants one, and would look for others."""
_NOT_TAKEN: Final = re.compile(r"\bnot (supported|compatible|permitted|allowed)|may (not|only)|unsupported|deprecated")


class AnthropicProvider(ModelServer):
    """The Messages API; ``ANTHROPIC_API_KEY`` authenticates.

    ``target.base_url``, else ``ANTHROPIC_BASE_URL``, reaches another server that speaks it. A model that takes no
    temperature, or no choice of a tool that forces it, is asked without from its first refusal on.

    Raises:
        ProviderConfigError: there is no key, and no server of one's own that may want none.
    """

    def __init__(self, target: Target) -> None:
        self._label = target.label or f"anthropic/{target.model}"
        given = target.base_url or os.environ.get("ANTHROPIC_BASE_URL", "").strip()
        self._base_url = (given or BASE_URL).rstrip("/").removesuffix("/v1")  # the SDK's paths begin with it
        self._max_output, self._is_open = target.info.max_output, target.is_open
        variable = target.key_variable or "ANTHROPIC_API_KEY"
        key = None if target.is_open else api_keys.key_from(self._label, variable)
        if key is None and (target.key_variable or not given):
            raise api_keys.missing(self._label, variable)
        self._key = key[1] if key else _NO_KEY
        self._service = replace(Service(self._label, variable, redact(self._base_url)), **target.wording)
        self._refused: frozenset[str] = frozenset()
        self._wire = Wire()
        self._client: Any = None

    def complete(self, request: Request) -> Response:
        """Send ``request`` once; see :class:`spca.llm.providers.base.Provider`."""
        try:
            return exchange(
                self._service,
                request,
                self._wire,
                lambda: self._create(request),
                lambda answer: messages.read(answer, request, self._label),
                None if self._base_url == BASE_URL else self._list_models,
            )
        except ProviderConfigError as error:
            refused = self._newly_refused(request, str(error))
            if refused is None:
                raise
            self._refused |= {refused}
            raise UnsupportedApiError(f"{error}; asked without {refused} from now on") from error

    def _newly_refused(self, request: Request, said: str) -> str | None:
        """What was sent that a refusal names as not supported by the model, None if nothing."""
        sent = {messages.TEMPERATURE} if request.limits.temperature is not None else set()
        sent |= {messages.FORCED} if request.tools and request.tool_choice != "auto" else set()
        named = (part for part in sorted(sent - self._refused) if part in said and _NOT_TAKEN.search(said))
        return next(named, None)

    def _create(self, request: Request) -> Any:
        client = self._sdk()
        asked = messages.arguments(request, self._max_output, self._refused)
        return client.messages.create(**asked, timeout=request.limits.timeout_s)

    def _sdk(self) -> Any:
        if self._client is None:
            import anthropic
            import httpx2

            self._client = anthropic.Anthropic(
                api_key=self._key,
                base_url=self._base_url,
                max_retries=0,
                open_telemetry=False,
                http_client=httpx2.Client(**client_settings(httpx2, self._wire, is_open=self._is_open)),
            )
        return self._client

    def _load(self) -> object:
        return self._sdk().models, self._sdk().messages  # the SDK imports them when they are first looked at

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        page = self._sdk().models.list(limit=_MAX_LISTED, timeout=timeout_s)
        today = datetime.now(UTC).date()
        return [Listed(str(model.id), _end(model, today)) for model in page.data]


def _end(model: Any, today: date) -> date | None:
    """The day on which a listed model retires; one that has passed is overdue, since the model is still served."""
    try:
        day = date.fromisoformat(str(getattr(model, "retires_at", None))[:10])
    except ValueError:
        return None
    return day if day >= today else None
