"""LMStudioVLMAdapter: the public name of :mod:`gridworld.adapters.lmstudio_vlm_adapter`."""

from __future__ import annotations

from gridworld.adapters.lmstudio_vlm_adapter import LMStudioVLMAdapter

__all__ = ["LMStudioVLMAdapter"]
