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

_PAGE_SIZE: Final = 1000
"""Number of models on a page of the list; the highest number that the API accepts."""
_UNSUPPORTED: Final = re.compile(
    r"\bnot (supported|compatible|permitted|allowed)|may (not|only)|unsupported|deprecated"
)


class AnthropicProvider(ModelServer):
    """The Messages API, of Anthropic or of another server with the same protocol.

    Some models refuse a temperature, or a forced choice of a tool. After such a refusal, later requests leave the
    refused option out.
    """

    def __init__(self, target: Target) -> None:
        super().__init__(target, "anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY")
        self._refused: frozenset[str] = frozenset()

    def _clean_address(self, address: str) -> str:
        return address.rstrip("/").removesuffix("/v1")  # the SDK adds /v1 itself

    def _adapt(self, request: Request, error: ProviderConfigError) -> str:
        """Leave out an option of the request that the refusal calls unsupported; see the base class."""
        message = str(error)
        is_unsupported = _UNSUPPORTED.search(message) is not None
        sent_options: set[str] = set()
        if request.limits.temperature is not None:
            sent_options.add(messages.TEMPERATURE)
        if request.tools and request.tool_choice != "auto":
            sent_options.add(messages.FORCED)
        for option in sorted(sent_options - self._refused):
            if is_unsupported and option in message:
                self._refused |= {option}
                return f"asked without {option}"
        return ""

    def _send(self, request: Request) -> object:
        arguments = messages.arguments(request, self._target.info.max_output, self._refused)
        return self._sdk().messages.create(**arguments, timeout=request.limits.timeout_s)

    def _read(self, answer: Fields, _request: Request) -> Response:
        return messages.read(answer, _request, self._label)

    def _connect(self) -> Any:
        import anthropic

        http_client = httpx2.Client(**self._client_settings(httpx2))
        return anthropic.Anthropic(
            api_key=self._key,
            base_url=self._base_url,
            max_retries=0,
            open_telemetry=False,
            http_client=http_client,
        )

    def _load(self) -> object:
        return self._sdk().models, self._sdk().messages  # the SDK imports both modules on first access

    def _models(self, timeout_s: float) -> Sequence[Listed]:
        today = datetime.now(UTC).date()
        listed = []
        for model in self._sdk().models.list(limit=_PAGE_SIZE, timeout=timeout_s).data:
            retirement = read_day(getattr(model, "retires_at", None))
            # A listed model is still served, so a day in the past does not tell when its service ends.
            is_ahead = retirement is not None and retirement >= today
            listed.append(Listed(str(model.id), retirement if is_ahead else None))
        return listed
