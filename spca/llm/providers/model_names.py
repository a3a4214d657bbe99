"""Names of models as users write them: ``PREFIX/NAME``, or ``PREFIX/NAME@EFFORT`` (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Self

EFFORTS: Final = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
"""How much a model may reason before it answers, least first; each model knows some of these words."""
WITHOUT_EFFORT: Final = frozenset({"reference", "faulty", "replay", "llamacpp", "human"})
"""Prefixes of files and embedded models: what follows them is taken as it is."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model, and the effort that its name asks for; two efforts of a model are two models in tables and keys.

    ``effort`` is None where the name leaves it to the model.
    """

    prefix: str
    name: str
    effort: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a name; an ``@`` before any other word belongs to the model's own name, as in ``gemma@q4_k_m``."""
        prefix, _, rest = text.partition("/")
        name, at, word = rest.rpartition("@")
        if at and name and word in EFFORTS and prefix not in WITHOUT_EFFORT:
            return cls(prefix, name, word)
        return cls(prefix, rest)

    @property
    def model(self) -> str:
        """The name with its prefix, without the effort: what tables of models and servers know."""
        return f"{self.prefix}/{self.name}"
