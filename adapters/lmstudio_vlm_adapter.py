"""Public import path of LMStudioVLMAdapter; the code is in :mod:`gridworld.adapters.lmstudio_vlm_adapter`."""

from __future__ import annotations

from gridworld.adapters.lmstudio_vlm_adapter import LMStudioVLMAdapter

__all__ = ["LMStudioVLMAdapter"]
