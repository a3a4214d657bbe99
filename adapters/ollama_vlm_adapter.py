"""Public import path of OllamaVLMAdapter; the code is in :mod:`gridworld.adapters.ollama_vlm_adapter`."""

from __future__ import annotations

from gridworld.adapters.ollama_vlm_adapter import OllamaVLMAdapter

__all__ = ["OllamaVLMAdapter"]
