"""Milestones: what has to be achieved, judged by rules on the true state after each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from explorer.scene import Cell

Offset = tuple[float, float, float]
"""A point relative to the middle of the base of the spawn's cell, metres."""


@dataclass(frozen=True, slots=True)
class InventoryHas:
    """At least ``min_count`` of an item are in the inventory."""

    item: str
    min_count: int = 1


@dataclass(frozen=True, slots=True)
class InsideBox:
    """The middle of the body's base lies in a spawn-relative box, bounds included."""

    min: Offset
    max: Offset


@dataclass(frozen=True, slots=True)
class NearWithFacing:
    """The body is within ``max_distance`` of a spawn-relative point (3-D) and faces it.

    Attributes:
        facing_tolerance: full horizontal angle, degrees: 60 is 30 to either side.
    """

    target: Offset
    max_distance: float = 5.0
    facing_tolerance: float = 60.0


@dataclass(frozen=True, slots=True)
class AtLeast:
    """At least ``min_count`` blocks or mobs of a kind are in a spawn-relative box.

    Holds only once one of those counted has been in the agent's view.
    """

    kind: Literal["block", "mob"]
    object: str
    min: Offset
    max: Offset
    min_count: int = 1


@dataclass(frozen=True, slots=True)
class AtMost:
    """At most ``max_count`` blocks or mobs of a kind are in a spawn-relative box.

    Holds only after more than that have been there in the episode, so that it is never vacuous.
    """

    kind: Literal["block", "mob"]
    object: str
    min: Offset
    max: Offset
    max_count: int = 0


Rule = InventoryHas | InsideBox | NearWithFacing | AtLeast | AtMost


@dataclass(frozen=True, slots=True)
class Milestone:
    """A hop: it latches at the first step after which all its rules hold.

    Attributes:
        task: id of the atomic task (:mod:`explorer.tasks.pool`).
        milestone_id: unique in the scene.
    """

    task: str
    milestone_id: str
    description: str
    rules: tuple[Rule, ...]


def cell_offset(cell: Cell, spawn: Cell) -> Offset:
    """Return the offset of the middle of a cell's base."""
    return float(cell[0] - spawn[0]), float(cell[1] - spawn[1]), float(cell[2] - spawn[2])
