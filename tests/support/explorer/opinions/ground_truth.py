"""What an episode achieved, by looking at every state anew; shares no code with the tracker."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, Offset, Rule
from explorer.rules.blocks import BLOCKS
from explorer.scene import Cell, Pose, Scene, WorldState

Count = AtLeast | AtMost


@dataclass(frozen=True, slots=True)
class Moment:
    """A state, as far as rules look at it.

    Attributes:
        counts: how many blocks or mobs each rule counts.
        seen: rules of which one counted block or mob has been seen by then.
    """

    pose: Pose
    inventory: dict[str, int]
    counts: dict[Count, int]
    seen: frozenset[Count]


class Truth:
    """An episode under way.

    Args:
        scene: that is played.
        milestones: that are looked for.
    """

    def __init__(self, scene: Scene, milestones: Sequence[Milestone]) -> None:
        self._spawn, self._milestones = scene.spawn, milestones
        self._past: list[Moment] = []

    def add(self, state: WorldState, known: NDArray[np.uint16]) -> None:
        """Look at the next state."""
        rules = [rule for each in self._milestones for rule in each.rules if isinstance(rule, Count)]
        found = {rule: list(counted(rule, state, self._spawn.cell)) for rule in rules}
        seen = frozenset(rule for rule, cells in found.items() if any(known[y, z, x] for x, y, z in cells))
        counts = {rule: len(cells) for rule, cells in found.items()}
        self._past.append(Moment(state.pose, dict(state.inventory), counts, seen))

    def latched(self) -> dict[str, int]:
        """Return milestone -> the first step after which all its rules hold."""
        first: dict[str, int] = {}
        for milestone in self._milestones:
            steps = [n for n in range(len(self._past)) if all(self._holds(rule, n) for rule in milestone.rules)]
            if steps:
                first[milestone.milestone_id] = steps[0]
        return first

    def _holds(self, rule: Rule, step: int) -> bool:
        now = self._past[step]
        if isinstance(rule, InventoryHas):
            return now.inventory.get(rule.item.split(":")[-1], 0) >= rule.min_count
        if isinstance(rule, InsideBox):
            return _within(now.pose.cell, rule.min, rule.max, self._spawn.cell)
        if isinstance(rule, NearWithFacing):
            return _faces(rule, now.pose, self._spawn)
        if isinstance(rule, AtLeast):
            return now.counts[rule] >= rule.min_count and rule in now.seen
        before = max(moment.counts[rule] for moment in self._past[: step + 1])
        return now.counts[rule] <= rule.max_count < before


def counted(rule: Count, state: WorldState, spawn: Cell) -> Iterator[Cell]:
    """Yield the cells of what a rule counts."""
    name = rule.object.split(":")[-1]
    if rule.kind == "mob":
        yield from (mob.cell for mob in state.mobs if mob.kind == name and _within(mob.cell, rule.min, rule.max, spawn))
        return
    codes = [block.code for block in BLOCKS if block.name == name]
    for y, z, x in np.argwhere(np.isin(state.blocks, codes)).tolist():
        if _within((x, y, z), rule.min, rule.max, spawn):
            yield x, y, z


def _faces(rule: NearWithFacing, pose: Pose, spawn: Pose) -> bool:
    x, y, z = (t - a + b for t, a, b in zip(rule.target, pose.cell, spawn.cell, strict=True))
    if x * x + y * y + z * z > rule.max_distance**2:
        return False
    dx, _, dz = pose.direction
    if abs(dx) + abs(dz) < 1e-6:
        dx, _, dz = Pose(pose.cell, pose.facing).direction
    if not (x or z):
        return True
    cosine = (dx * x + dz * z) / math.sqrt((dx * dx + dz * dz) * (x * x + z * z))
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine)))) <= rule.facing_tolerance / 2 + 1e-5


def _within(cell: Cell, low: Offset, high: Offset, spawn: Cell) -> bool:
    return all(a <= c - s <= b for a, c, s, b in zip(low, cell, spawn, high, strict=True))
