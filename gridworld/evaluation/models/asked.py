"""The model that is asked through a provider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gridworld.evaluation.models.model_options import AskedOptions, ModelRequest

if TYPE_CHECKING:
    from gridworld.evaluation.model_interface import ModelInterface


def asks_people(model: str) -> bool:
    """Return whether a model is somebody who needs the terminal."""
    return model.startswith("human/")


def make(request: ModelRequest[AskedOptions]) -> ModelInterface:
    """Return the model that the request names."""
    from gridworld.adapters.language_model import make_model

    return make_model(request)


def admit(request: ModelRequest[AskedOptions]) -> Sequence[str]:
    """See that the model may be paid for; return a line for all that a user should know.

    Raises:
        UserError: the model does not exist or lacks a key, or its cost cannot be capped.
    """
    from gridworld.adapters.admission import require_usable

    return require_usable(request)


def named(model: str, effort: str | None) -> str:
    """Return the name of a model with the effort that an option asks for.

    Raises:
        SettingsError: the model takes none, or its name asks for another one.
    """
    from gridworld.adapters.admission import add_effort

    return add_effort(model, effort) if effort else model
