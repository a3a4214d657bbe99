"""Names of models as users write them: ``PREFIX/NAME``, or ``PREFIX/NAME@EFFORT`` (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

from spca.common.errors import SettingsError
from spca.common.text import one_line

EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""How much a model may reason before it answers, least first; each model knows some of these words."""
EFFORTS_OF: Final[Mapping[str, Sequence[str]]] = {
    "anthropic": ("none", "low", "medium", "high", "xhigh", "max"),
    "google": ("none", "minimal", "low", "medium", "high", "xhigh"),
    "ollama": ("none", "low", "medium", "high"),
}
"""Those that a protocol has words for, by prefix; OpenAI's has all."""
EMBEDDED: Final = ("reference", "faulty")
"""Prefixes of models that are part of the product: they read data alone, not what prompts tell."""
IN_PROCESS: Final = frozenset({*EMBEDDED, "replay", "llamacpp", "human"})
"""Prefixes of models without a server. They take no effort: what follows the prefix is taken as it is."""


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model, and the effort that is asked of it; two efforts of a model are two models in tables and keys.

    Attributes:
        prefix: the provider or server, such as "openai".
        name: what its provider calls it.
        effort: None leaves it to the model.
        is_bare: the text has no slash, so that no model is meant; all of it is the prefix.
    """

    prefix: str
    name: str
    effort: str | None = None
    is_bare: bool = False

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a name; an ``@`` before any other word belongs to the model's own name, as in ``gemma@q4_k_m``."""
        prefix, slash, rest = text.partition("/")
        name, at, word = rest.rpartition("@")
        if at and name and word in EFFORTS and prefix not in IN_PROCESS:
            return cls(prefix, name, word)
        return cls(prefix, rest, is_bare=not slash)

    def __str__(self) -> str:
        """Return the text that was parsed."""
        if self.is_bare:
            return self.prefix
        return f"{self.model}@{self.effort}" if self.effort else self.model

    @property
    def model(self) -> str:
        """The name with its prefix, without the effort: what tables of models and servers know."""
        return f"{self.prefix}/{self.name}"

    @property
    def is_embedded(self) -> bool:
        """Whether it is part of the product."""
        return self.prefix in EMBEDDED

    @property
    def runs_in_process(self) -> bool:
        """Whether no server is asked."""
        return self.prefix in IN_PROCESS

    def without_effort(self) -> Self:
        """Return the model with the effort left to itself."""
        return replace(self, effort=None)

    def with_effort(self, effort: str, asked_by: str) -> Self:
        """Return the model with an effort, which it may have already.

        Args:
            effort: one of :data:`EFFORTS`.
            asked_by: what asks for the effort, in messages: a flag or a variable.

        Raises:
            SettingsError: there is no such effort, the model takes none, or it has another one.
        """
        if effort not in EFFORTS:
            raise SettingsError(f"{asked_by} {one_line(effort)}: an effort is one of {', '.join(EFFORTS)}")
        if self.runs_in_process:
            fix = f"leave {asked_by} out or name another model"
            raise SettingsError(f"{asked_by} {effort}: {self} reasons as it does: {fix}")
        if self.effort not in (None, effort):
            raise SettingsError(f"{asked_by} {effort} contradicts {self}: give one of them")
        return replace(self, effort=effort, is_bare=False)

    def find_effort_fault(self, least: str | None) -> str:
        """Return why the model does not take its effort, "" where it may.

        Args:
            least: the least effort that it takes, None where that is not known.
        """
        known = EFFORTS_OF.get(self.prefix, EFFORTS)
        if least is not None:
            known = [word for word in known if EFFORTS.index(word) >= EFFORTS.index(least)]
        if self.effort is None or self.effort in known:
            return ""
        return f"{self.model} does not take the effort {self.effort}: choose one of {', '.join(known)}, or leave it out"
