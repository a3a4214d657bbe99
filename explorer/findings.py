"""What can be wrong with a scene although its files can be read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spca.common.text import one_line


class FaultKind(StrEnum):
    """Kinds of faults; each of them refuses a scene."""

    TRUE_AT_START = "true_at_start"
    """A milestone holds before the first step."""
    NEAR_AT_SPAWN = "near_at_spawn"
    """A target to be found is so near the spawn that a turn on the spot finds it."""
    UNNECESSARY = "unnecessary"
    """The goal can be reached without a milestone, or that cannot be excluded."""
    UNORDERED = "unordered"
    """An edge of the graph that nothing in the world enforces, or a graph that is no acyclic one."""
    UNREACHABLE = "unreachable"
    """A milestone that no plan of any length can reach."""
    UNKNOWN_NAME = "unknown_name"
    """A block, item, mob, recipe or rule type that the rules do not know."""
    IMPOSSIBLE_CRAFT = "impossible_craft"
    """An item is asked for that nothing in the scene gives and no recipe can make there."""
    HOP_NAMED_IN_TEXT = "hop_named_in_text"
    """The text that the agent is told names a hop that it should have to discover."""
    FIND_HOP_NOT_LAST = "find_hop_not_last"
    """A hop before the goal is a mere look: it can be walked past backwards, so nothing enforces it."""
    VACUOUS_COUNT = "vacuous_count"
    """A count that is never crossed: at least 0, or at most what was never exceeded."""
    OUTSIDE_ARENA = "outside_arena"
    """A box, target, device or mob of which nothing lies inside the world."""
    ALTERED_WITNESS = "altered_witness"
    """The certificate's steps do not win, or are not those of its fingerprint or hash."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault.

    Attributes:
        problem: what is wrong, in one line.
        milestone: its id, "" if the fault is the scene's.
        source, field: the file and the path in it, "" if it is in none.
    """

    kind: FaultKind
    problem: str
    milestone: str = ""
    source: str = ""
    field: str = ""

    def __str__(self) -> str:
        where = ": ".join(filter(None, (self.source, self.field, self.milestone)))
        return one_line(f"{self.kind}: {where}: {self.problem}" if where else f"{self.kind}: {self.problem}")
