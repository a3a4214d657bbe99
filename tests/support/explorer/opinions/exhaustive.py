"""A second opinion on proofs: every state of the lattice that can be played to, while a milestone stays open.

Nothing of the closures is used, only the rules. Turns, looks, aims and holds are free, so the least steps found here
are no more than those of any play. Every target of every ray that a pose of the lattice has is tried.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, bare, inside_box
from explorer.rules.actions import Primitive
from explorer.rules.apply import apply
from explorer.rules.blocks import BLOCKS, REPLACEABLE, SOLID, USABLE, mask
from explorer.rules.items import block_of, digs
from explorer.rules.moves import OUTSIDE, fall, move
from explorer.rules.raycast import ray
from explorer.rules.reach import mob_cells, table_in_reach
from explorer.rules.state import PRESSED, RuleState, doors_of
from explorer.scene import FACINGS, Cell, Event, Mob, Pose, Scene, Stack
from explorer.solver.closure import Arena
from explorer.solver.places import counted_cells
from tests.support.explorer.naive.stock import craftable

MOST_STATES: Final = 200_000
_MID: Final = 6
_SIDE: Final = 2 * _MID + 1
_NOWHERE: Final = _SIDE**3
_STOPS: Final = np.append(mask(SOLID) | mask(USABLE), False)
_BARS: Final = np.append(mask(SOLID), False)


@dataclass(frozen=True, slots=True)
class Explored:
    """All that can be played to.

    Attributes:
        achieved: milestone -> least steps.
        cells: where the body comes to rest.
        most: item -> the most of it at a time.
        complete: no state is left out.
    """

    achieved: dict[str, int] = field(default_factory=dict)
    cells: set[Cell] = field(default_factory=set)
    most: dict[str, int] = field(default_factory=dict)
    states: int = 0
    complete: bool = True


@cache
def _rays() -> NDArray[np.intp]:
    """Return for each ray the places in the cube around the feet that it crosses, the eye's own cell first."""
    span = range(-5, 6)
    poses = [Pose((0, 0, 0), facing, pitch) for facing in range(4) for pitch in range(-3, 4)]
    poses += [Pose((0, 0, 0), aim=aim) for aim in product(span, span, span)]
    rays = {tuple(crossing.offset for crossing in ray(pose)) for pose in poses}
    longest = max(map(len, rays))
    table = np.full((len(rays), longest), _NOWHERE, np.intp)
    for row, offsets in enumerate(sorted(rays)):
        for column, (x, y, z) in enumerate(offsets):
            table[row, column] = ((y + _MID) * _SIDE + z + _MID) * _SIDE + x + _MID
    return table


class Lattice(RuleState):
    """A state as the rules read it; actions make new ones."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.doors = scene, doors_of(scene)
        self.blocks = array("H", scene.blocks.ravel().tobytes())
        self.pose, self.placed = scene.spawn, frozenset[Cell]()
        self.held: str | None = None
        self.items: dict[Cell, tuple[Stack, ...]] = dict(scene.items)
        self.chests = {cell: stacks for cell, stacks in scene.chests.items() if stacks}
        self.mobs: tuple[Mob, ...] = scene.mobs
        self.inventory = {name: count for name, count in scene.inventory.items() if count}
        self.timers: dict[str, int] = {}

    def key(self) -> tuple[Any, ...]:
        """Return what tells states apart."""
        items = tuple(sorted(self.items.items(), key=repr))
        return (
            *(self.pose.cell, self.blocks.tobytes(), self.placed, items, frozenset(self.chests)),
            *(self.mobs, frozenset(self.inventory.items()), frozenset(self.timers.items())),
        )

    def copy(self) -> Lattice:
        """Return a state that can be changed alone."""
        other = copy(self)
        other.blocks, other.items, other.chests = self.blocks[:], dict(self.items), dict(self.chests)
        other.inventory, other.timers = dict(self.inventory), dict(self.timers)
        return other

    def array(self) -> NDArray[np.uint16]:
        """Return the blocks ``[y, z, x]``."""
        return np.frombuffer(self.blocks, np.uint16).reshape(self.scene.blocks.shape)

    def block(self, cell: Cell) -> int:
        """Return the code of a cell."""
        height, depth, width = self.scene.blocks.shape
        x, y, z = cell
        inside = 0 <= x < width and 0 <= y < height and 0 <= z < depth
        return self.blocks[(y * depth + z) * width + x] if inside else OUTSIDE

    @property
    def pressed(self) -> frozenset[Cell]:  # type: ignore[override]  # found when it is asked for
        """Cells of plates that are on."""
        return frozenset((x, y, z) for y, z, x in np.argwhere(np.isin(self.array(), PRESSED)).tolist())

    def do(self, event: Event) -> bool:
        """Carry out an event; whether it was not refused."""
        applied = apply(self, event)
        for change in applied.changes:
            cell = change.cell or (0, 0, 0)
            match change.kind:
                case "block":
                    _, depth, width = self.scene.blocks.shape
                    self.blocks[(cell[1] * depth + cell[2]) * width + cell[0]] = change.code
                case "items" if change.stacks:
                    self.items[cell] = (*self.items.get(cell, ()), *change.stacks)
                case "items":
                    del self.items[cell]
                case "chest":
                    del self.chests[cell]
                case "mob":
                    self.mobs = tuple(mob for mob in self.mobs if mob.name != change.name)
                case "inventory":
                    self.inventory[change.name] = self.inventory.get(change.name, 0) + change.count
                    if not self.inventory[change.name]:
                        del self.inventory[change.name]
                case "placed":
                    self.placed |= {cell}
                case "timer" if change.count < 0:
                    del self.timers[change.name]
                case "timer":
                    self.timers[change.name] = change.count
        return not applied.refusal

    def settle(self) -> bool:
        """Fall and pick up; whether the body lives."""
        way = fall(self, self.pose.cell)
        self.pose = Pose(way.cell)
        if way.end == "lava":
            return False
        self.do(Event("arrive"))
        return True

    def ended(self) -> Lattice | None:
        """Return the state after the end of a step, None if the episode is over."""
        if not self.settle():
            return None
        self.do(Event("tick"))
        return self if self.settle() else None


class Search:
    """Plays everything.

    Args:
        open_: a milestone that has to stay open.
        placing: whether blocks are placed; not where that could only be in one's way.
        crafts: names of the recipes that are used, None for all.
    """

    def __init__(
        self,
        scene: Scene,
        milestones: Sequence[Milestone],
        open_: Milestone | None = None,
        *,
        placing: bool = True,
        crafts: frozenset[str] | None = None,
    ) -> None:
        self._start, self._placing, self._crafts = Lattice(scene), placing, crafts
        arena = Arena(scene)
        self._begin = {
            rule: len(counted_cells(arena, rule))
            for each in milestones
            for rule in each.rules
            if isinstance(rule, AtLeast | AtMost)
        }
        self._milestones, self._open = tuple(milestones), open_
        self._touch: dict[tuple[Cell, bytes], tuple[frozenset[tuple[Cell, Cell]], set[int]]] = {}

    def begins_with(self, milestone: Milestone | None) -> bool:
        """Return whether a milestone holds before the first step."""
        return milestone is not None and self._holds(self._start, milestone)

    def run(self, most_states: int = MOST_STATES) -> Explored:
        """Return all that can be played to, or as much as fits."""
        found = Explored()
        pending = deque([(0, self._start)])
        known = {self._start.key()}
        while pending:
            steps, state = pending.popleft()
            self._note(found, state, steps)
            for after in self._after(state):
                key = after.key()
                if key not in known and not (self._open and self._holds(after, self._open)):
                    if len(known) >= most_states:
                        return replace(found, states=len(known), complete=False)
                    known.add(key)
                    pending.append((steps + 1, after))
        return replace(found, states=len(known))

    def _note(self, found: Explored, state: Lattice, steps: int) -> None:
        found.cells.add(state.pose.cell)
        for name, count in state.inventory.items():
            found.most[name] = max(count, found.most.get(name, 0))
        for each in self._milestones:
            if each.milestone_id not in found.achieved and self._holds(state, each):
                found.achieved[each.milestone_id] = steps

    def _holds(self, state: Lattice, milestone: Milestone) -> bool:
        return all(self._rule_holds(state, rule) for rule in milestone.rules)

    def _rule_holds(self, state: Lattice, rule: object) -> bool:
        spawn = state.scene.spawn
        match rule:
            case InventoryHas():
                return state.inventory.get(bare(rule.item), 0) >= rule.min_count
            case InsideBox():
                return inside_box(state.pose, rule, spawn)
            case NearWithFacing():
                away = np.subtract(np.subtract(state.pose.position, spawn.position), rule.target)
                return bool(np.linalg.norm(away) <= rule.max_distance)
            case AtLeast():
                return self._count(state, rule) >= rule.min_count
            case AtMost():
                return self._count(state, rule) <= rule.max_count < self._begin[rule]
        raise TypeError(rule)

    def _count(self, state: Lattice, rule: AtLeast | AtMost) -> int:
        now = replace(state.scene, blocks=state.array(), mobs=state.mobs)
        if rule.kind == "mob":
            return len({mob.name for mob in state.mobs if mob.cell in counted_cells(Arena(now), rule)})
        return len(counted_cells(Arena(now), rule))

    def _after(self, state: Lattice) -> Iterator[Lattice]:
        """Yield the states that one step leads to."""
        yield from _ended(state, None)
        yield from self._moved(state)
        pairs, free = self._touched(state)
        for hit, _ in pairs:
            yield from self._used(state, hit)
        for mob in state.mobs:
            if any(_place(state, cell) in free for cell in mob_cells(mob)):
                yield from _ended(state, Event("attack", mob.cell, mob.name))
        if self._placing:
            yield from self._laid(state, pairs)
        recipes = craftable(state.inventory, table=True)
        table = any(recipe.table for recipe in recipes) and table_in_reach(state)
        for recipe in recipes:
            if (table or not recipe.table) and (self._crafts is None or recipe.name in self._crafts):
                yield from _ended(state, Event("craft", name=recipe.name))

    def _moved(self, state: Lattice) -> Iterator[Lattice]:
        for facing, primitive in product(range(4), (Primitive.FORWARD, Primitive.JUMP)):
            way = move(state, Pose(state.pose.cell, facing), primitive)
            if way.end == "moved":
                yield from _ended(state, None, to=way.cell)

    def _used(self, state: Lattice, hit: Cell) -> Iterator[Lattice]:
        block = BLOCKS[state.block(hit)]
        if block.kind in ("device", "chest", "door"):
            yield from _ended(state, Event("use", hit))
        tool = next((name for name in (None, *state.inventory) if digs(name, block)), "")
        if block.breakable and tool != "":
            yield from _ended(state, Event("dig", hit), tool)

    def _laid(self, state: Lattice, pairs: frozenset[tuple[Cell, Cell]]) -> Iterator[Lattice]:
        x, y, z = state.pose.cell
        cells = {hit if REPLACEABLE[state.block(hit)] else before for hit, before in pairs}
        for dx, _, dz in FACINGS:
            if not SOLID[state.block((x + dx, y, z + dz))]:
                cells.add((x + dx, y - 1, z + dz))
        for name in [name for name in state.inventory if block_of(name) is not None]:
            for cell in cells - {(x, y, z), (x, y + 1, z)}:
                if state.block(cell) != OUTSIDE or self._inside(cell):
                    yield from _ended(state, Event("place", cell), name)
            if not SOLID[state.block((x, y + 2, z))]:
                yield from _ended(state, Event("place", (x, y, z)), name, (x, y + 1, z))

    def _inside(self, cell: Cell) -> bool:
        return all(0 <= at < size for at, size in zip(cell, self._start.scene.size, strict=True))

    def _touched(self, state: Lattice) -> tuple[frozenset[tuple[Cell, Cell]], set[int]]:
        """Return (touched cell, cell before it) of every ray, and the places in the cube that hands get to."""
        key = state.pose.cell, state.blocks.tobytes()
        found = self._touch.get(key)
        if found is None:
            found = self._touch[key] = _look(state)
        return found


def _look(state: Lattice) -> tuple[frozenset[tuple[Cell, Cell]], set[int]]:
    cube = np.append(_cube(state), 0)
    rays = _rays()
    codes = cube[rays]
    stops = _STOPS[codes]
    stops[:, 0] = False
    stops[rays == _NOWHERE] = False
    first = stops.argmax(axis=1)
    rows = np.flatnonzero(stops.any(axis=1))
    pairs = np.unique(np.stack((rays[rows, first[rows]], rays[rows, first[rows] - 1]), axis=1), axis=0)
    bars = _BARS[codes] & (rays != _NOWHERE)
    reached = rays[(np.cumsum(bars, axis=1) == 0) & (rays != _NOWHERE)]
    return frozenset((_cell(state, a), _cell(state, b)) for a, b in pairs.tolist()), set(reached.tolist())


def _cube(state: Lattice) -> NDArray[np.uint16]:
    """Return the codes around the feet, in a row."""
    cube = np.full((_SIDE, _SIDE, _SIDE), OUTSIDE, np.uint16)
    blocks, (x, y, z) = state.array(), state.pose.cell
    spans = [(max(at - _MID, 0), min(at + _MID + 1, size)) for at, size in zip((y, z, x), blocks.shape, strict=True)]
    here = tuple(slice(low, high) for low, high in spans)
    there = tuple(slice(low - at + _MID, high - at + _MID) for (low, high), at in zip(spans, (y, z, x), strict=True))
    cube[there] = blocks[here]
    return cube.ravel()


def _cell(state: Lattice, place: int) -> Cell:
    y, rest = divmod(place, _SIDE * _SIDE)
    z, x = divmod(rest, _SIDE)
    a, b, c = state.pose.cell
    return a + x - _MID, b + y - _MID, c + z - _MID


def _place(state: Lattice, cell: Cell) -> int:
    x, y, z = (at - feet for at, feet in zip(cell, state.pose.cell, strict=True))
    near = max(abs(x), abs(y), abs(z)) <= _MID
    return ((y + _MID) * _SIDE + z + _MID) * _SIDE + x + _MID if near else -1


def _ended(state: Lattice, event: Event | None, held: str | None = None, to: Cell | None = None) -> Iterator[Lattice]:
    """Yield the state after a step, none if it was refused or the last one.

    Args:
        held: taken in hand first.
        to: where the body gets then.
    """
    after = state.copy()
    after.held = held
    if event is None or after.do(event):
        after.pose = Pose(to or state.pose.cell)
        if ended := after.ended():
            yield ended
