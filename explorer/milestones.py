"""Milestones: achievements that a scene asks for, judged by rules on the true state after each step."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from explorer.graph import Edge, Graph
from explorer.rules.blocks import BLOCKS
from explorer.scene import FACINGS, Cell, Mob, Pose, WorldState

Offset = tuple[float, float, float]
"""A point relative to the middle of the base of the spawn's cell, in metres."""


@dataclass(frozen=True, slots=True)
class InventoryHas:
    """A rule that holds while the inventory contains at least ``min_count`` of an item."""

    item: str
    min_count: int = 1


@dataclass(frozen=True, slots=True)
class InsideBox:
    """A rule that holds while the agent's position is in a spawn-relative box, bounds included.

    The position is the middle of the body's base.
    """

    min: Offset
    max: Offset


@dataclass(frozen=True, slots=True)
class NearWithFacing:
    """A rule that holds while the agent's body is near a spawn-relative point and faces the point.

    Attributes:
        max_distance: largest distance in three dimensions between the middle of the body's base and the point, in
            metres.
        facing_tolerance: full horizontal angle in degrees; 60 allows 30 degrees to either side.
    """

    target: Offset
    max_distance: float = 5.0
    facing_tolerance: float = 60.0


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A rule that holds while a spawn-relative box contains at least ``min_count`` blocks or mobs called ``object``.

    The agent must also have seen at least one of the blocks or mobs that are in the box.
    """

    kind: Literal["block", "mob"]
    object: str
    min: Offset
    max: Offset
    min_count: int = 1


@dataclass(frozen=True, slots=True)
class AtMost:
    """A rule that holds while a spawn-relative box contains at most ``max_count`` blocks or mobs called ``object``.

    The box must also have contained more than ``max_count`` earlier in the episode. So the rule holds only after a
    block or mob has disappeared.
    """

    kind: Literal["block", "mob"]
    object: str
    min: Offset
    max: Offset
    max_count: int = 0


Rule = InventoryHas | InsideBox | NearWithFacing | AtLeast | AtMost


@dataclass(frozen=True, slots=True)
class Milestone:
    """A hop, which latches at the first step after which all rules of the hop hold.

    Attributes:
        task: id of the atomic task (:mod:`explorer.tasks.pool`).
        milestone_id: a name that is unique within the scene.
    """

    task: str
    milestone_id: str
    description: str
    rules: tuple[Rule, ...]


def cell_offset(cell: Cell, spawn: Cell) -> Offset:
    """Return the spawn-relative offset of the middle of a cell's base."""
    return float(cell[0] - spawn[0]), float(cell[1] - spawn[1]), float(cell[2] - spawn[2])


def bare(name: str) -> str:
    """Return a name without the namespace ``minecraft:``."""
    return name.removeprefix("minecraft:")


def box_cells(low: Offset, high: Offset, spawn: Cell) -> tuple[Cell, Cell]:
    """Return (lowest cell, highest cell) of a spawn-relative box, both included.

    If the box contains the middle of no cell, the lowest cell exceeds the highest cell on at least one axis.
    """
    x, y, z = spawn
    least = math.ceil(low[0]) + x, math.ceil(low[1]) + y, math.ceil(low[2]) + z
    greatest = math.floor(high[0]) + x, math.floor(high[1]) + y, math.floor(high[2]) + z
    return least, greatest


def box_holds(place: Offset, least: Offset, greatest: Offset) -> bool:
    """Return whether a place lies in a box, both corners included."""
    return all(low <= at <= high for low, at, high in zip(least, place, greatest, strict=True))


def inside_box(pose: Pose, rule: InsideBox, spawn: Pose) -> bool:
    """Return whether the middle of a body's base lies in the box of a rule."""
    return box_holds(_find_offset(pose, spawn), rule.min, rule.max)


def near_with_facing(pose: Pose, rule: NearWithFacing, spawn: Pose) -> bool:
    """Return whether a body is near the target of a rule and faces the target.

    If the crosshair points straight up or down, the facing of the body counts. A target straight above or below is
    faced in every direction.
    """
    x, y, z = _find_offset(pose, spawn)
    to_x, to_y, to_z = rule.target
    dx = to_x - x
    dy = to_y - y
    dz = to_z - z
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    if distance > rule.max_distance:
        return False

    fx, _, fz = pose.direction
    if math.hypot(fx, fz) < _STEEP:
        fx, _, fz = FACINGS[pose.facing]

    # The cross and dot product of two vectors are proportional to sine and cosine of the angle between the vectors.
    cross = fx * dz - fz * dx
    dot = fx * dx + fz * dz
    angle = abs(math.degrees(math.atan2(cross, dot)))
    return angle <= rule.facing_tolerance / 2 + _ROUNDING


_STEEP = 1e-6
"""If the horizontal component of the crosshair's unit vector is shorter, the crosshair points straight up or down."""
_ROUNDING = 1e-9
"""Allowed rounding error of an angle, in degrees."""


def _find_offset(pose: Pose, spawn: Pose) -> Offset:
    """Return the offset from the middle of the spawn's base to the middle of the body's base, in metres."""
    x, y, z = pose.position
    ox, oy, oz = spawn.position
    return x - ox, y - oy, z - oz


class Tracker:
    """A record of the milestones that have latched in an episode.

    Args:
        spawn: spawn pose of the scene.

    Attributes:
        latched: milestone id -> the first step after which the milestone held.
    """

    def __init__(self, milestones: Iterable[Milestone], spawn: Pose) -> None:
        self._spawn = spawn
        self._pending = {each.milestone_id: each for each in milestones}
        self._counts: dict[Rule, _Count] = {}
        for milestone in self._pending.values():
            for rule in milestone.rules:
                if isinstance(rule, AtLeast | AtMost):
                    self._counts[rule] = _Count(rule, spawn.cell)
        self._last_blocks: NDArray[np.uint16] | None = None
        self.latched: dict[str, int] = {}

    @property
    def complete(self) -> bool:
        """Whether every milestone has latched."""
        return not self._pending

    def observe(self, state: WorldState, seen: NDArray[np.uint16] | None = None) -> tuple[str, ...]:
        """Judge a state, and record the milestones that latch.

        The caller must pass the initial state, followed by the state after each step. If a step ends in lava, nothing
        latches.

        Args:
            seen: blocks that the agent has seen (:attr:`explorer.view.View.known`); if None, every block counts as
                seen.

        Returns:
            The ids of the milestones that latch in this state.
        """
        if state.over == "lava":
            return ()
        if self._pending and self._counts:
            self._update_counts(state)
        new = []
        for name, milestone in self._pending.items():
            if all(self._holds(rule, state, seen) for rule in milestone.rules):
                new.append(name)
        for name in new:
            self.latched[name] = state.step
            del self._pending[name]
        return tuple(new)

    def _holds(self, rule: Rule, state: WorldState, seen: NDArray[np.uint16] | None) -> bool:
        """Return whether a rule holds in a state. The counts must be up to date."""
        match rule:
            case InventoryHas():
                return state.inventory.get(bare(rule.item), 0) >= rule.min_count
            case InsideBox():
                return inside_box(state.pose, rule, self._spawn)
            case NearWithFacing():
                return near_with_facing(state.pose, rule, self._spawn)
            case AtLeast():
                count = self._counts[rule]
                if count.now < rule.min_count:
                    return False
                return seen is None or count.in_view(state, seen)
            case AtMost():
                count = self._counts[rule]
                return count.now <= rule.max_count < count.most

    def _update_counts(self, state: WorldState) -> None:
        """Update the counts from the cells that differ from the previous state.

        For the first state, count all cells.
        """
        before = self._last_blocks
        after = state.blocks
        if before is None:
            self._last_blocks = after.copy()
            for count in self._counts.values():
                count.start(state)
            return

        y, z, x = np.nonzero(before != after)
        cells = np.stack((x, y, z), axis=1)
        old = before[y, z, x]
        new = after[y, z, x]
        before[y, z, x] = new  # updates `_last_blocks` in place
        for count in self._counts.values():
            count.update(state, cells, old, new)


def counted(rule: AtLeast | AtMost, state: WorldState, spawn: Pose) -> int:
    """Return the number of blocks or mobs in a rule's box that the rule counts."""
    count = _Count(rule, spawn.cell)
    count.start(state)
    return count.now


class _Count:
    """A count of the blocks or mobs that are in a rule's box and have the rule's ``object`` as name.

    Attributes:
        now: the present number.
        most: the largest number so far.
    """

    def __init__(self, rule: AtLeast | AtMost, spawn: Cell) -> None:
        self._kind = rule.kind
        self._object = bare(rule.object)
        self._low, self._high = box_cells(rule.min, rule.max, spawn)
        # By block code: whether the rule counts the block.
        self._counted = np.array([block.name == self._object for block in BLOCKS])
        self.now = self.most = 0

    def start(self, state: WorldState) -> None:
        """Count all cells of the box."""
        self._set_counts(state, int(self._counted[self._cut_box(state.blocks)].sum()))

    def update(
        self, state: WorldState, cells: NDArray[np.intp], old: NDArray[np.uint16], new: NDArray[np.uint16]
    ) -> None:
        """Update the count from the changed cells.

        Args:
            cells: changed cells, ``[n, 3]``; the columns are x, y and z.
            old, new: block codes of the cells before and after the change, ``[n]``.
        """
        in_box = np.all((self._low <= cells) & (cells <= self._high), axis=1)
        added = int(self._counted[new[in_box]].sum())
        removed = int(self._counted[old[in_box]].sum())
        self._set_counts(state, self.now + added - removed)

    def in_view(self, state: WorldState, seen: NDArray[np.uint16]) -> bool:
        """Return whether the agent has seen at least one of the counted blocks or mobs."""
        if self._kind == "mob":
            cells = [mob.cell for mob in self._list_mobs(state)]
            return any(seen[y, z, x] for x, y, z in cells)
        seen_and_present = self._counted[self._cut_box(seen)] & self._counted[self._cut_box(state.blocks)]
        return bool(seen_and_present.any())

    def _set_counts(self, state: WorldState, blocks: int) -> None:
        """Set the present number and the largest number.

        Args:
            blocks: present number of blocks; ignored if the rule counts mobs.
        """
        self.now = blocks if self._kind == "block" else len(self._list_mobs(state))
        self.most = max(self.most, self.now)

    def _list_mobs(self, state: WorldState) -> list[Mob]:
        mobs = (mob for mob in state.mobs if mob.kind == self._object)
        return [mob for mob in mobs if box_holds(mob.cell, self._low, self._high)]

    def _cut_box(self, blocks: NDArray[np.uint16]) -> NDArray[np.uint16]:
        """Return the cells of an array ``[y, z, x]`` that lie in the box."""
        # A negative bound would count from the other end of the array.
        x, y, z = (slice(max(low, 0), max(high + 1, 0)) for low, high in zip(self._low, self._high, strict=True))
        return blocks[y, z, x]


def out_of_order(graph: Graph, latched: Mapping[str, int]) -> tuple[Edge, ...]:
    """Return the edges of which ``after`` latched although ``before`` latched in a later step or never.

    Args:
        latched: milestone id -> step at which the milestone latched.
    """
    early = []
    for edge in graph.edges:
        before_step = latched.get(edge.before, math.inf)
        if edge.after in latched and latched[edge.after] < before_step:
            early.append(edge)
    return tuple(early)
