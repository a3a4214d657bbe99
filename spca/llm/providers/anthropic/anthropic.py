"""``anthropic/MODEL``: Claude through the official SDK, imported on first use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final

import httpx2

from spca.errors import ProviderConfigError
from spca.llm.providers.answer_fields import Fields, read_day
from spca.llm.providers.anthropic import messages
from spca.llm.providers.base import Listed, Request, Response, Target
from spca.llm.providers.exchange import ModelServer

_MAX_LISTED: Final = 1000
"""Models on a page of the list, the most that the API gives."""
_NOT_TAKEN: Final = re.compile(r"\bnot (supported|compatible|permitted|allowed)|may (not|only)|unsupported|deprecated")


class AnthropicProvider(ModelServer):
    """The Messages API, of Anthropic or of another server that speaks it.

    A model that takes no temperature, or no choice of a tool that forces it, is asked without from its first refusal
    on.
    """

    def __init__(self, target: Target) -> None:
        super().__init__(target, "anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY")
        self._refused: frozenset[str] = frozenset()

    def _clean_address(self, address: str) -> str:
        return address.rstrip("/").removesuffix("/v1")  # the SDK's paths begin with it

    def _adapt(self, request: Request, error: ProviderConfigError) -> str:
        """Leave out what was sent and the refusal names as not supported by the model."""
        said = str(error)
        sent = {messages.TEMPERATURE} if request.limits.temperature is not None else set()
        sent |= {messages.FORCED} if request.tools and request.tool_choice != "auto" else set()
        for part in sorted(sent - self._refused):
            if part in said and _NOT_TAKEN.search(said):
                self._refused |= {part}
                return f"asked without {part}"
        return ""

    def _send(self, request: Request) -> object:
        asked = messages.arguments(request, self._target.info.max_output, self._refused)
        return self._sdk().messages.create(**asked, timeout=request.limits.timeout_s)

    def _read(self, answer: Fields, _request: Request) -> Response:
        return messages.read(answer, _request, self._label)

    def _connect(self) -> Any:
        import anthropic

        return anthropic.Anthropic(
            api_key=self._key,
            base_url=self._base_url,
            max_retries=0,
            open_telemetry=False,
            http_client=httpx2.Client(**self._client_settings(httpx2)),
        )

    def _load(self) -> object:
        return self._sdk().models, self._sdk().messages  # the SDK imports them when they are first looked at

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        today = datetime.now(UTC).date()
        found = []
        for model in self._sdk().models.list(limit=_MAX_LISTED, timeout=timeout_s).data:
            day = read_day(getattr(model, "retires_at", None))
            # A day that has passed is overdue, since the model is still served.
            found.append(Listed(str(model.id), day if day and day >= today else None))
        return found
