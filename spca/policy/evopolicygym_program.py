"""A program for the harness EvoPolicyGym (``policy.py:make_policy``): it plays with what a run of SPCA has learned.

``export --evopolicygym`` writes this file beside the folder ``learned``. The package sense-plan-code-act must be
installed where the program runs. The harness makes one policy for each episode, each in a process of its own.
"""

from __future__ import annotations

import atexit
from pathlib import Path
from typing import Any

import numpy as np

import spca
from spca.common.errors import SettingsError


class Program:
    """A policy of the harness; it lives for one episode.

    Args:
        level: the environment id; None if the harness does not tell it. Without a known id, all writers are tried.
    """

    def __init__(self, level: str | None) -> None:
        learned = Path(__file__).resolve().parent / "learned"
        try:
            self._policy = spca.load_policy(learned, level)
        except SettingsError:  # the harness may call its environments as it likes
            self._policy = spca.load_policy(learned)
        atexit.register(self._policy.close)
        self._is_begun = False

    def act(self, observation: Any) -> int:
        """Return the number of the next action."""
        seen = {name: _decode(value) for name, value in observation.items()}
        if not self._is_begun:
            self._is_begun = True
            self._policy.reset(seen)
        return self._policy.act(seen)


def make_policy(context: Any) -> Program:
    """Return the policy of one episode."""
    environment = context.metadata.get("environment")
    return Program(environment if isinstance(environment, str) else None)


def _decode(value: Any) -> Any:
    """Return a tensor of the harness as an array, and any other value as it is."""
    if isinstance(value, np.ndarray) or not hasattr(value, "dtype") or not hasattr(value, "data"):
        return value
    return np.frombuffer(value.data, dtype=value.dtype).reshape(value.shape)
