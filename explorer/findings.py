"""Faults of scenes. A scene with faults can be read, in contrast to a malformed file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spca.common.text import one_line


class FaultKind(StrEnum):
    """Kinds of faults; a single fault of any kind suffices to reject a scene."""

    TRUE_AT_START = "true_at_start"
    """A milestone holds before the first step."""
    NEAR_AT_SPAWN = "near_at_spawn"
    """A target is so near the spawn that an agent finds it by turning on the spot."""
    UNNECESSARY = "unnecessary"
    """The goal can be reached without the milestone, or nothing proves that this is impossible."""
    UNORDERED = "unordered"
    """Nothing in the world enforces an edge of the graph, or the graph has a cycle."""
    UNREACHABLE = "unreachable"
    """No plan of any length can reach the milestone."""
    UNKNOWN_NAME = "unknown_name"
    """A block, item, mob, recipe or rule type that the rules do not know."""
    IMPOSSIBLE_CRAFT = "impossible_craft"
    """A required item is not in the scene, and no recipe can make the item from what the scene provides."""
    HOP_NAMED_IN_TEXT = "hop_named_in_text"
    """The task text names a hop that the agent should discover."""
    FIND_HOP_NOT_LAST = "find_hop_not_last"
    """A hop before the goal only asks to look at a target.

    Nothing enforces a look, because an agent can walk past backwards.
    """
    VACUOUS_COUNT = "vacuous_count"
    """A rule asks for at least 0, which always holds, or for at most a number that is not exceeded at the start."""
    OUTSIDE_ARENA = "outside_arena"
    """A box, target, device or mob lies wholly outside the world."""
    ALTERED_WITNESS = "altered_witness"
    """The steps of the certificate do not win, or do not match the fingerprint or the hash of the certificate."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault.

    Attributes:
        problem: what is wrong, in one line.
        milestone: id of the milestone, or "" for a fault of the whole scene.
        source, field: the file, and the path of the field within the file; "" if unknown.
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
