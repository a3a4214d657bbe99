"""Vision models served by Ollama."""

from __future__ import annotations

from typing import Final

from gridworld.adapters.local_model import LocalModel
from spca.llm.providers.base import ModelInfo, Provider, Target
from spca.llm.providers.ollama import OllamaProvider

_PROMPT_TOKENS: Final = 8192
"""Number of tokens of the context that are reserved for the prompt.

Ollama's default context is small, and Ollama silently cuts off prompts that exceed the context.
"""


class OllamaVLMAdapter(LocalModel):
    """A model on an Ollama server.

    Every image is sent in a separate message, because some models take only one image per message.

    Args:
        model: name of the model in ``ollama list``; the model must take images.
        base_url: address where ``ollama serve`` listens.
        temperature, max_tokens, timeout, request_retries, retry_sleep: see
            :class:`~gridworld.adapters.local_model.LocalModel`.
    """

    flag = sdk = "ollama"
    other = "--ollama-model"

    def __init__(
        self,
        model: str = "qwen2.5vl:7b",
        base_url: str = "http://localhost:11434",
        temperature: float = 0.0,
        max_tokens: int = 4096,
        timeout: float = 600,
        request_retries: int = 1,
        retry_sleep: float = 5.0,
    ) -> None:
        super().__init__(model, base_url, temperature, max_tokens, timeout, request_retries, retry_sleep)

    def _make(self) -> Provider:
        wording = {
            "if_absent": "is `ollama serve` running there? (--ollama-url)",
            "if_late": "allow more with --ollama-timeout",
            "if_unknown": f"run `ollama pull {self.model}`",
        }
        info = ModelInfo(context=(self.asking.limits.max_output_tokens or 0) + _PROMPT_TOKENS)
        return OllamaProvider(Target(self.model, self.base_url, info, is_open=True, wording=wording))
