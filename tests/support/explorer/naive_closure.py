"""A second opinion on what can ever be: all that is possible, all at once, nothing ever lost. Written from the rules.

It knows nothing of :mod:`explorer.solver`. What a body, its hands and its pockets could ever have only grows, round by
round, until nothing is new. Every bound is in the agent's favour, so what is impossible here is impossible:

* A body is the path of its middle through cells with room for two, in any ticks (:mod:`.naive.flight`), and every move
  of the lattice. Lava is never entered: nothing is achieved there.
* Hands reach from any such body, in the air too, 4.5 m far along any path that never turns back.
* A placed block hangs anywhere. What counts is how many of them a way needs; every way may use all that there ever are.
* Of items there are as many as could be made if everything went into them (:mod:`.naive.stock`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from explorer.certificate import Certificate
from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, Rule, bare
from explorer.rules.blocks import BLOCKS, Block
from explorer.rules.mobs import mob_kind
from explorer.rules.reach import mob_cells
from explorer.rules.state import Door, doors_of
from explorer.scene import Cell, Scene, Stack
from tests.support.explorer.naive.cells import COMPASS, DOWN, UP, Cells, Grid
from tests.support.explorer.naive.flight import Flights, Hands, union
from tests.support.explorer.naive.never import (
    Never,
    box,
    counted,
    makers,
    may_be_inside,
    may_be_near,
)
from tests.support.explorer.naive.stock import PLACED, STEPS, Stock

_HANDLES = frozenset(name for name, code in PLACED.items() if BLOCKS[code].kind == "device")
_DEVICES = frozenset(name for name, code in PLACED.items() if BLOCKS[code].kind in ("device", "plate"))


def possible(scene: Scene, milestones: Iterable[Milestone], forbidden: Milestone | None = None) -> set[str]:
    """Return the ids of the milestones that could latch, in a history in which one of them never holds."""
    # Of several rules each may hold for a while, only never all at once: that excludes nothing.
    never = forbidden.rules[0] if forbidden and len(forbidden.rules) == 1 else None
    history = History(scene, never)
    return {each.milestone_id for each in milestones if each != forbidden and all(map(history.may_hold, each.rules))}


def unconfirmed(scene: Scene, milestones: Sequence[Milestone], certificate: Certificate) -> list[str]:
    """Return what a certificate says and this closure does not; the goal is the last milestone."""
    goal = milestones[-1].milestone_id
    needs = {(proof.milestone_id, before) for proof in certificate.milestones for before in proof.after}
    needs |= {(edge.after, edge.before) for edge in certificate.edges if edge.enforced}
    needs |= {(goal, proof.milestone_id) for proof in certificate.milestones if proof.necessary} - {(goal, goal)}
    everything = possible(scene, milestones)
    found = [
        f"{proof.milestone_id} is impossible"
        for proof in certificate.milestones
        if proof.milestone_id not in everything
    ]
    for each in milestones[:-1]:
        without = possible(scene, milestones, each)
        found += [f"{name} without {each.milestone_id}" for name in without if (name, each.milestone_id) in needs]
    return found


class History:
    """All that there could ever be in a scene, in all histories in which a rule never holds.

    Attributes:
        bodies: cells of feet, at any tick.
        soft: cells that are not solid at some time.
        fillable: cells that a placed block could fill at some time.
        touched: cells that hands get at.
        used: cells of devices, doors and chests that were used, of blocks that were dug, of items that were taken.
        killed: names of mobs.
    """

    def __init__(self, scene: Scene, never: Rule | None = None) -> None:
        self.scene, self.never, self.grid = scene, Never(scene, never), Grid(scene.size)
        self.blocks = {
            (x, y, z): BLOCKS[code]
            for y, level in enumerate(scene.blocks.tolist())
            for z, row in enumerate(level)
            for x, code in enumerate(row)
        }
        ground = self.grid.moved(self.grid.all, DOWN) & ~self.grid.all
        self.hard = ground | self._where(lambda block: block.solid or block.kind == "door")
        self.soft = self._where(lambda block: not block.solid)
        self.lava = self._where(lambda block: block.kind == "lava")
        self.fillable = self._where(lambda block: block.replaceable)
        self.bodies = self.touched = 0
        self.used: set[Cell] = set()
        self.killed: set[str] = set()
        self.doors = doors_of(scene)
        self.stock = Stock(scene.inventory)
        self.flights, self.hands = Flights(self.grid), Hands(self.grid)
        self._grow()

    def may_hold(self, rule: Rule) -> bool:
        """Return whether a rule could ever hold."""
        spawn = self.scene.spawn.cell
        ends = self.grid.members(self.bodies)
        match rule:
            case InventoryHas():
                return self.stock.most((bare(rule.item),)) >= rule.min_count
            case InsideBox():
                return any(may_be_inside(cell, rule, spawn) for cell in ends)
            case NearWithFacing():
                return any(may_be_near(cell, rule, spawn) for cell in ends)
            case AtLeast():
                return rule.min_count - len(counted(self.scene, rule)) <= self._added(rule)
            case AtMost():
                there = counted(self.scene, rule)
                lacking = max(0, rule.max_count + 1 - len(there))
                left = len(there) + lacking - self._gone(rule)
                return lacking <= self._added(rule) and left <= rule.max_count

    def _added(self, rule: AtLeast | AtMost) -> int:
        """Return how many more there could be of what is counted: placed, or left by digging if it is air."""
        cells = box(self.scene, rule)
        if bare(rule.object) == "air":
            return len(self.used & cells)
        return min(self.stock.most(makers(rule)), (self.touched & self.fillable & self.grid.of(cells)).bit_count())

    def _gone(self, rule: AtMost) -> int:
        """Return how many there could be fewer: killed, dug, or filled."""
        there = counted(self.scene, rule)
        if rule.kind == "mob":
            return len(there & self.killed)
        if bare(rule.object) == "air":
            there |= self.used & box(self.scene, rule)
        filled = self.touched & self.fillable & self.grid.of(cell for cell in there if not isinstance(cell, str))
        return len(there & self.used) + min(filled.bit_count(), self.stock.most(PLACED))

    def _where(self, holds: Callable[[Block], bool]) -> Cells:
        return self.grid.of(cell for cell, block in self.blocks.items() if holds(block))

    def _grow(self) -> None:
        """Let body and hands do all they can, in turn, until nothing is new."""
        before = None
        while before != (before := (self.soft, self._to_step_on(), self._irreplaceable(), self.stock.most(STEPS))):
            self._move()
            while self._act():
                pass

    # The body

    def _move(self) -> None:
        """Find the cells that bodies get to, with more and more placed blocks to stand upon."""
        free = self.soft & ~self.lava
        passable = free & self.grid.moved(free, DOWN)
        room = passable & ~self.grid.of(self.never.barred) & ~self._shut()
        ground = room & self.grid.moved(self.hard, UP)
        steps = room & self.grid.moved(self._to_step_on(), UP)
        stood, new = 0, self.grid.of([self.scene.spawn.cell])
        self.bodies = 0
        for _ in range(self.stock.most(STEPS) + 1):
            while new:
                new = self._walked(new, ground)
                stood |= new
                self.bodies |= self.flights.reached(new, room)
                if self.never.barred:
                    self.bodies |= self._skipped(new, passable) & room
                new = self.grid.around(self.bodies, passable) & ground & ~stood
            new = self.grid.around(self.bodies, passable) & steps & ~stood
            if not new:
                break
        self.touched = self.hands.touched(self.bodies, self.soft)

    def _walked(self, standing: Cells, ground: Cells) -> Cells:
        """Return where bodies get to on level ground."""
        new = standing
        while new:
            new = union(self.grid.moved(new, side) for side in COMPASS) & ground & ~standing
            standing |= new
        return standing

    def _shut(self) -> Cells:
        """Return the cells for whose two both blocks would have to be dug, one of which stays."""
        both = self.grid.of(self.never.not_both if self._irreplaceable() else ())
        return both & self.grid.moved(both, DOWN)

    def _to_step_on(self) -> Cells:
        """Return the cells that could be filled by something solid."""
        if self.never.unused and not self.stock.most(STEPS - self.never.unused):
            return self.fillable & ~self.grid.of(self.never.unfilled)
        return self.fillable

    def _skipped(self, standing: Cells, passable: Cells) -> Cells:
        """Return where one step of the lattice ends that passes cells without being judged there: a gap, a fall."""
        gap = passable & self.grid.moved(self.soft, UP)
        found = falling = passable & union([standing, *(self.grid.moved(standing, side) for side in COMPASS)])
        while falling:
            falling = self.grid.moved(falling, DOWN) & passable
            found |= falling
        return found | union(self.grid.moved(self.grid.moved(standing, side) & gap, side) for side in COMPASS)

    # The hands

    def _act(self) -> bool:
        """Do once whatever hands, feet and devices can; whether anything is new."""
        before = len(self.used), len(self.killed)
        touched = set(self.grid.members(self.touched))
        feet = set(self.grid.members(self.bodies))
        for cell in touched - self.used:
            self._use(cell)
        for cell in feet & self.scene.items.keys() - self.used:
            self._take(cell, self.scene.items[cell])
        for mob in self.scene.mobs:
            at_hand = any(cell in touched and self._is_soft(cell) for cell in mob_cells(mob))
            if (
                at_hand
                and mob.name not in self.killed | self.never.kept
                and self._take(None, (mob_kind(mob.kind).drop,))
            ):
                self.killed.add(mob.name)
        for door in self.doors:
            if not self.used.issuperset(door.cells) and self._opens(door, touched, feet):
                self._open(door.cells)
        more = self.stock.craft(self.never.crafts)
        return more or before != (len(self.used), len(self.killed))

    def _use(self, cell: Cell) -> None:
        """Use or dig a block."""
        block = self.blocks[cell]
        if block.kind == "device":
            self.used.add(cell)
        elif block.kind == "table":
            self.stock.table = True
            self.used.add(cell)
        elif block.kind == "chest":
            self._take(cell, self.scene.chests.get(cell, ()))
        elif block.kind == "door" and not any(cell in door.cells for door in self.doors):
            self._open(self._column(cell, block.name))
        elif block.breakable and self._digs(block) and not (cell in self.never.kept and self._irreplaceable()):
            self._dig(cell, block)

    def _dig(self, cell: Cell, block: Block) -> None:
        if self._take(cell, (Stack(block.drop),) if block.drop else ()):
            self.soft |= self.grid.of([cell])
            self.fillable |= self.grid.of([cell])

    def _irreplaceable(self) -> bool:
        """Return whether nothing can make up for what may not be dug."""
        return not self.stock.most(self.never.more)

    def _digs(self, block: Block) -> bool:
        return not block.tools or self.stock.most(block.tools) > 0

    def _take(self, cell: Cell | None, stacks: Iterable[Stack]) -> bool:
        """Have what is found, unless it never is; whether it is had."""
        found = self.never.gain(stacks)
        if found is None:
            return False
        self.stock.found += found
        if cell is not None:
            self.used.add(cell)
        return True

    def _open(self, cells: Iterable[Cell]) -> None:
        cells = tuple(cells)
        self.used.update(cells)
        self.soft |= self.grid.of(cells)

    def _column(self, cell: Cell, name: str) -> Iterable[Cell]:
        """Return the cells straight above and below that hold the same door, itself included."""
        x, low, z = cell
        while (below := self.blocks.get((x, low - 1, z))) and below.name == name:
            low -= 1
        while (block := self.blocks.get((x, low, z))) and block.name == name:
            yield x, low, z
            low += 1

    def _opens(self, door: Door, touched: set[Cell], feet: set[Cell]) -> bool:
        """Return whether a door's condition could be met."""
        on = [self._is_on(cell, touched, feet) for cell in door.needs]
        if on and (all(on) if door.mode == "all" else any(on)):
            return True
        return any(self._placed(_HANDLES, cell, touched) for cell in door.beside)

    def _is_on(self, cell: Cell, touched: set[Cell], feet: set[Cell]) -> bool:
        block = self.blocks.get(cell)
        if block is None:
            return False
        if (
            block.state == "on"
            or (block.kind == "device" and cell in self.used)
            or (block.kind == "plate" and cell in feet)
        ):
            return True
        return self._placed(_DEVICES, cell, touched)

    def _placed(self, items: frozenset[str], cell: Cell, touched: set[Cell]) -> bool:
        """Return whether one of some items could be placed in a cell."""
        if cell in self.never.unfilled:
            items -= self.never.unused
        return cell in touched and self._has(self.fillable, cell) and self.stock.most(items) > 0

    def _is_soft(self, cell: Cell) -> bool:
        return self._has(self.soft, cell)

    def _has(self, cells: Cells, cell: Cell) -> bool:
        return bool(cells & self.grid.of([cell]))
