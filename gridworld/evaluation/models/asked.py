"""Models that are reached through a provider, such as ``openai/NAME``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gridworld.evaluation.models.model_options import AskedOptions, ModelRequest

if TYPE_CHECKING:
    from gridworld.evaluation.model_interface import ModelInterface


def asks_people(model: str) -> bool:
    """Return whether a model is a person at the terminal, such as ``human/editor``."""
    return model.startswith("human/")


def make(request: ModelRequest[AskedOptions]) -> ModelInterface:
    """Return the model that the request names."""
    from gridworld.adapters.language_model import make_model

    return make_model(request)


def admit(request: ModelRequest[AskedOptions]) -> Sequence[str]:
    """Check that the model exists and that its cost is capped; return warnings for the user, one line each.

    Raises:
        UserError: the model does not exist, the key of its provider is missing, or its cost cannot be capped.
    """
    from gridworld.adapters.admission import require_usable

    return require_usable(request)


def named(model: str, effort: str | None) -> str:
    """Return a model's name with ``effort``, the value of the option ``--effort``, appended; None appends nothing.

    Raises:
        SettingsError: the model takes no effort, or the name holds another effort.
    """
    from gridworld.adapters.admission import add_effort

    return add_effort(model, effort) if effort else model
