"""Names of models as users write them: ``PREFIX/NAME``, or ``PREFIX/NAME@EFFORT`` (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from spca.common.errors import SettingsError
from spca.common.text import one_line

EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""Reasoning efforts, least first; each model accepts some of them."""
EFFORTS_OF: Final[Mapping[str, Sequence[str]]] = {
    "anthropic": ("none", "low", "medium", "high", "xhigh", "max"),
    "google": ("none", "minimal", "low", "medium", "high", "xhigh"),
    "ollama": ("none", "low", "medium", "high"),
}
"""Prefix -> efforts that the provider's protocol can express; for a missing prefix, all efforts can be expressed."""
EMBEDDED: Final = ("reference", "faulty")
"""Prefixes of models that are part of this program; these models read only the data in prompts."""
IN_PROCESS: Final = frozenset({*EMBEDDED, "replay", "llamacpp", "human"})
"""Prefixes of models without a server; these models accept no effort, so an "@" is part of their name or path."""


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model with a reasoning effort; tables and keys treat two efforts of a model as two models.

    Attributes:
        prefix: the provider or server, such as "openai".
        name: the provider's name of the model.
        effort: one of :data:`EFFORTS`; None leaves the effort to the model.
        is_bare: whether the text has no slash, so that all of the text is the prefix and the name is missing.
    """

    prefix: str
    name: str
    effort: str | None = None
    is_bare: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the model that a text names.

        If the word after ``@`` is not an effort, ``@`` and the word belong to the model's name, as in ``gemma@q4_k_m``.
        """
        prefix, slash, rest = text.partition("/")
        name, _at, word = rest.rpartition("@")
        has_effort = name != "" and word in EFFORTS
        if has_effort and prefix not in IN_PROCESS:
            return cls(prefix, name, word)
        return cls(prefix, rest, is_bare=not slash)

    def __str__(self) -> str:
        """Return the text that was parsed."""
        if self.is_bare:
            return self.prefix
        return f"{self.model}@{self.effort}" if self.effort else self.model

    @property
    def model(self) -> str:
        """The name with its prefix and without the effort, as in tables of models."""
        return f"{self.prefix}/{self.name}"

    @property
    def is_embedded(self) -> bool:
        """Whether the model is part of this program."""
        return self.prefix in EMBEDDED

    @property
    def runs_in_process(self) -> bool:
        """Whether the model has no server."""
        return self.prefix in IN_PROCESS

    def drop_effort(self) -> Self:
        """Return the same model without a requested effort."""
        return replace(self, effort=None)

    def set_effort(self, effort: str, asked_by: str) -> Self:
        """Return the same model with the given effort.

        Args:
            effort: one of :data:`EFFORTS`.
            asked_by: the flag or environment variable that asks for the effort, for messages.

        Raises:
            SettingsError: the effort is unknown, the model takes no effort, or the model has another effort already.
        """
        if effort not in EFFORTS:
            choices = ", ".join(EFFORTS)
            raise SettingsError(f"{asked_by} {one_line(effort)}: an effort is one of {choices}")
        if self.runs_in_process:
            fix = f"leave {asked_by} out or name another model"
            raise SettingsError(f"{asked_by} {effort}: {self} reasons as it does: {fix}")
        has_other_effort = self.effort is not None and self.effort != effort
        if has_other_effort:
            raise SettingsError(f"{asked_by} {effort} contradicts {self}: give one of them")
        return replace(self, effort=effort, is_bare=False)

    def find_effort_fault(self, least: str | None) -> str:
        """Return why the model does not accept its effort, "" if the effort is accepted.

        Args:
            least: the least effort that the model accepts, None if unknown.
        """
        accepted = EFFORTS_OF.get(self.prefix, EFFORTS)
        if least is not None:
            accepted = [word for word in accepted if EFFORTS.index(word) >= EFFORTS.index(least)]
        if self.effort is None or self.effort in accepted:
            return ""
        choices = ", ".join(accepted)
        return f"{self.model} does not take the effort {self.effort}: choose one of {choices}, or leave it out"
