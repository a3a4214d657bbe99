"""The capabilities that an atomic task exercises, according to MineExplorer (arXiv 2605.30931), section 3."""

from __future__ import annotations

from typing import Final, Literal, get_args

Label = Literal[
    "spatial",
    "temporal",
    "entity",
    "state",
    "inventory",
    "common_sense",
    "causal",
    "relational",
    "move",
    "jump",
    "collect",
    "place",
    "craft",
    "attack",
]

"""A capability; the first five are about perception, the next three about reasoning, the others about actions."""
LABELS: Final[tuple[Label, ...]] = get_args(Label)

_ABBREVIATIONS: Final[dict[str, Label]] = dict(
    zip(["sp", "te", "en", "st", "in", "cs", "ca", "re", "m", "j", "c", "p", "cr", "a"], LABELS, strict=True),
)


def labels(short: str) -> frozenset[Label]:
    """Return the labels of a list of abbreviations such as ``"sp cs m"``."""
    return frozenset(_ABBREVIATIONS[each] for each in short.split())
