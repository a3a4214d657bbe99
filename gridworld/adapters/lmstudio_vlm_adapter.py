"""Vision models served by LM Studio, through its OpenAI-compatible server."""

from __future__ import annotations

from typing import Final

from gridworld.adapters.language_model import SETUP_TIMEOUT_S
from gridworld.adapters.local_model import LocalModel
from spca.llm.providers.base import Listing, Provider, Target
from spca.llm.providers.openai.openai import OpenAIProvider
from spca.llm.providers.secrets import quote_line

_SHOWN_MODELS: Final = 5
"""Largest number of the server's models that an error message lists."""


class LMStudioVLMAdapter(LocalModel):
    """A model on LM Studio's local server, or on another server that offers OpenAI's chat completions.

    Args:
        model: name of the model in the server's list; the model must take images.
        base_url: address of the server; ``/v1`` is appended if missing.
        temperature, max_tokens, timeout, request_retries, retry_sleep: see
            :class:`~gridworld.adapters.local_model.LocalModel`.
    """

    flag = "lmstudio"
    sdk = "openai"
    other = "--lmstudio-model"

    def __init__(
        self,
        model: str = "google/gemma-3-4b-it",
        base_url: str = "http://localhost:1234",
        temperature: float = 0.0,
        max_tokens: int = 4096,
        timeout: float = 600,
        request_retries: int = 1,
        retry_sleep: float = 5.0,
    ) -> None:
        super().__init__(model, base_url, temperature, max_tokens, timeout, request_retries, retry_sleep)

    def _make(self) -> Provider:
        # Texts for error messages: the fix for an absent server, a late answer and an unknown model.
        wording = {
            "label": f"lmstudio/{self.model}",
            "if_absent": "start it in LM Studio (`lms server start`), or say where it is (--lmstudio-url)",
            "if_late": "allow more",
            "if_unknown": self._how_to_get(),
        }
        base = self.base_url if self.base_url.endswith("/v1") else f"{self.base_url}/v1"
        return OpenAIProvider(Target(self.model, base, is_open=True, wording=wording))

    def fault(self, provider: Provider) -> str:
        """Return an error message if the server does not list the model, or "" if it does.

        Without this check, the server could answer with any other model that is loaded.
        """
        if not isinstance(provider, Listing):
            return ""
        names = [each.name for each in provider.list_models(SETUP_TIMEOUT_S)]
        if not names or self.model in names:
            return ""
        known = quote_line(", ".join(names[:_SHOWN_MODELS]))
        return f"the server at {self.address} does not list {self.model!a}; it has {known}: {self._how_to_get()}"

    def _how_to_get(self) -> str:
        return f"download it (`lms get {self.model}`) or name another one with --lmstudio-model"
