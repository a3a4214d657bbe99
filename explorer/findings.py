"""Faults of a scene whose files can be read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spca.common.text import one_line


class FaultKind(StrEnum):
    """Kinds of faults; any one of them rejects a scene."""

    TRUE_AT_START = "true_at_start"
    """A milestone holds before the first step."""
    NEAR_AT_SPAWN = "near_at_spawn"
    """A target is so near the spawn that a turn on the spot finds it."""
    UNNECESSARY = "unnecessary"
    """The goal can be reached without the milestone, or this cannot be ruled out."""
    UNORDERED = "unordered"
    """Nothing in the world enforces an edge of the graph, or the graph has a cycle."""
    UNREACHABLE = "unreachable"
    """A milestone that no plan of any length can reach."""
    UNKNOWN_NAME = "unknown_name"
    """A block, item, mob, recipe or rule type that the rules do not know."""
    IMPOSSIBLE_CRAFT = "impossible_craft"
    """A required item is not in the scene, and no recipe can make it there."""
    HOP_NAMED_IN_TEXT = "hop_named_in_text"
    """The text given to the agent names a hop that it should discover."""
    FIND_HOP_NOT_LAST = "find_hop_not_last"
    """A hop before the goal is a mere look: an agent can walk past it backwards, so nothing enforces it."""
    VACUOUS_COUNT = "vacuous_count"
    """A count is never crossed: at least 0, or at most a number that is never exceeded."""
    OUTSIDE_ARENA = "outside_arena"
    """A box, target, device or mob lies wholly outside the world."""
    ALTERED_WITNESS = "altered_witness"
    """The certificate's steps do not win, or do not match its fingerprint or hash."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault.

    Attributes:
        problem: what is wrong, in one line.
        milestone: id of the milestone, "" for a fault of the whole scene.
        source, field: the file and the path within it, or "".
    """

    kind: FaultKind
    problem: str
    milestone: str = ""
    source: str = ""
    field: str = ""

    def __str__(self) -> str:
        parts = (self.kind, self.source, self.field, self.milestone)
        where = ": ".join(filter(None, parts))
        return one_line(f"{where}: {self.problem}")
