"""What a rule of a milestone counts, where it may hold, and what is excluded while it never does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import product
from math import sqrt

from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, NearWithFacing, Rule, bare, box_cells
from explorer.rules.blocks import BLOCKS
from explorer.rules.recipes import Recipe
from explorer.scene import Cell, Scene, Stack
from tests.support.explorer.naive.stock import PLACED

Counting = AtLeast | AtMost
HALF = 0.5
"""What the middle of a body in a cell may be off that of the cell, to either side; its feet are up to 1 higher."""


def box(scene: Scene, rule: Counting) -> set[Cell]:
    """Return the cells of the arena in which a rule counts."""
    low, high = box_cells(rule.min, rule.max, scene.spawn.cell)
    spans = (range(max(a, 0), min(b + 1, end)) for a, b, end in zip(low, high, scene.size, strict=True))
    return {(x, y, z) for x, y, z in product(*spans)}


def counted(scene: Scene, rule: Counting) -> set[Cell | str]:
    """Return the cells of the blocks, or the names of the mobs, that a rule counts at the start."""
    cells, name = box(scene, rule), bare(rule.object)
    if rule.kind == "mob":
        return {mob.name for mob in scene.mobs if mob.cell in cells and mob.kind == name}
    return {(x, y, z) for x, y, z in cells if BLOCKS[scene.blocks[y, z, x]].name == name}


def makers(rule: Counting) -> set[str]:
    """Return the items whose placing gives what a rule counts."""
    if rule.kind == "mob":
        return set()
    return {name for name, code in PLACED.items() if BLOCKS[code].name == bare(rule.object)}


def may_be_inside(cell: Cell, rule: InsideBox, spawn: Cell) -> bool:
    """Return whether some body in a cell is in a box."""
    (x, y, z), (x1, y1, z1), (x2, y2, z2) = _offset(cell, spawn), rule.min, rule.max
    return x1 <= x + HALF and x - HALF <= x2 and y1 <= y + 1 and y <= y2 and z1 <= z + HALF and z - HALF <= z2


def must_be_inside(cell: Cell, rule: InsideBox, spawn: Cell) -> bool:
    """Return whether every body in a cell is in a box."""
    (x, y, z), (x1, y1, z1), (x2, y2, z2) = _offset(cell, spawn), rule.min, rule.max
    return x1 <= x - HALF and x + HALF <= x2 and y1 <= y and y + 1 <= y2 and z1 <= z - HALF and z + HALF <= z2


def may_be_near(cell: Cell, rule: NearWithFacing, spawn: Cell) -> bool:
    """Return whether some body in a cell is near a target; it can always face it."""
    (x, y, z), (a, b, c) = _offset(cell, spawn), rule.target
    dx, dy, dz = max(0, abs(x - a) - HALF), max(0, y - b, b - y - 1), max(0, abs(z - c) - HALF)
    return sqrt(dx * dx + dy * dy + dz * dz) <= rule.max_distance


def _offset(cell: Cell, spawn: Cell) -> Cell:
    return cell[0] - spawn[0], cell[1] - spawn[1], cell[2] - spawn[2]


class Never:
    """What is excluded while a rule never holds; of a rule that excludes nothing for sure: nothing.

    * ``InventoryHas``: whatever gives so many at once. Fewer at a time may be had again and again.
    * ``InsideBox``: the cells in which every body is inside.
    * ``AtLeast``: the one block that makes it so many.
    * ``AtMost``: the last block, or mob, that has to go, as long as no other one can be placed instead.

    Attributes:
        barred: cells that no body is in.
        kept: cells that are not dug, and mobs that are not killed.
        not_both: cells of which one may be dug, but no other of them.
        more: items whose placing makes up for what is kept.
        unfilled: cells that are not filled by ``unused``.
        unused: items.
    """

    def __init__(self, scene: Scene, rule: Rule | None) -> None:
        self.barred: set[Cell] = set()
        self.kept: set[Cell | str] = set()
        self.not_both: set[Cell] = set()
        self.unfilled: set[Cell] = set()
        self.unused: set[str] = set()
        self.more: set[str] = set()
        self._few: tuple[str, int] | None = None
        if isinstance(rule, InventoryHas):
            self._few = bare(rule.item), rule.min_count
        elif isinstance(rule, InsideBox):
            width, height, depth = scene.size
            cells = product(range(width), range(height), range(depth))
            self.barred = {cell for cell in cells if must_be_inside(cell, rule, scene.spawn.cell)}
        elif isinstance(rule, AtLeast):
            self._not_at_least(scene, rule)
        elif isinstance(rule, AtMost):
            self._not_at_most(scene, rule)

    def _not_at_least(self, scene: Scene, rule: AtLeast) -> None:
        there = counted(scene, rule)
        may_go = there and any(BLOCKS[PLACED[name]].breakable for name in makers(rule))
        if makers(rule) and len(there) == rule.min_count - 1 and not may_go:
            self.unfilled, self.unused = box(scene, rule), makers(rule)

    def _not_at_most(self, scene: Scene, rule: AtMost) -> None:
        there = counted(scene, rule)
        spare = len(there) - rule.max_count - 1
        others = (BLOCKS[scene.blocks[y, z, x]] for x, y, z in box(scene, rule) - there)
        if any(block.replaceable or block.breakable for block in others):
            self.more = makers(rule)
        if bare(rule.object) == "air":
            return
        if spare == 0:
            self.kept = there
            self.unfilled = {cell for cell in there if not isinstance(cell, str)}
            self.unused = set(PLACED)
        elif spare == 1:
            self.not_both = {cell for cell in there if not isinstance(cell, str)}

    def gain(self, stacks: Iterable[Stack]) -> Counter[str] | None:
        """Return what is had of what is found at once; None if it is never had."""
        found = Counter[str]()
        for stack in stacks:
            found[stack.item] += stack.count
        return None if self._few and found[self._few[0]] >= self._few[1] else found

    def crafts(self, recipe: Recipe) -> bool:
        """Return whether a recipe may be carried out."""
        return not self._few or recipe.makes != self._few[0] or recipe.count < self._few[1]
