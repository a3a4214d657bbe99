"""Names of models as users write them: ``PREFIX/NAME``, or ``PREFIX/NAME@EFFORT`` (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

    def fault(self, least: str | None) -> str:
        """Return why the model does not take this effort, "" where it may; ``least`` is the least that it takes."""
        known = EFFORTS_OF.get(self.prefix, EFFORTS)
        known = [word for word in known if EFFORTS.index(word) >= EFFORTS.index(least or EFFORTS[0])]
        if self.effort is None or self.effort in known:
            return ""
        return f"{self.model} does not take the effort {self.effort}: choose one of {', '.join(known)}, or leave it out"


def with_effort(model: str, effort: str, said: str) -> str:
    """Return the name of a model that is to reason with an effort.

    Args:
        model: its name, with this effort or without any.
        said: what asks for the effort, in messages: a flag or a variable.

    Raises:
        SettingsError: there is no such effort, the model takes none, or its name has another one.
    """
    asked = ModelName.parse(model)
    if effort not in EFFORTS:
        raise SettingsError(f"{said} {one_line(effort)}: an effort is one of {', '.join(EFFORTS)}")
    if asked.prefix in WITHOUT_EFFORT:
        raise SettingsError(f"{said} {effort}: {model} reasons as it does: leave {said} out or name another model")
    if asked.effort not in (None, effort):
        raise SettingsError(f"{said} {effort} contradicts {model}: give one of them")
    return f"{asked.model}@{effort}"
