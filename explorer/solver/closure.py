"""The closure: a set of everything that could ever happen in a scene.

A play is any sequence of actions in the scene. The closure grows to a fixpoint; once something is possible, it stays
possible. Dug blocks count as both passage and ground, and opened doors stay open. Ingredients are never used up, placed
blocks bar no way, and timers never run out.

So everything that can happen in a play of any length is in the closure, but not everything in the closure can happen.
Without a restraint, this also holds for a body that is driven tick by tick.

A restraint is a limit on plays, such as a box that feet must not enter. It applies only where steps end: during a step,
a body may cross the rim of the box while its middle stays outside.

:mod:`explorer.solver.flood` computes where a body could be, :mod:`explorer.solver.touch` what it could touch, and
:mod:`explorer.solver.stock` which items it could have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.rules.blocks import BLOCKS, REPLACEABLE, SOLID, Block, Kind, has_kind, mask
from explorer.rules.mobs import mob_kind
from explorer.rules.reach import mob_cells
from explorer.rules.state import Door, doors_of
from explorer.scene import Cell, Scene, Stack
from explorer.solver.flood import Bytes, Flood, Space
from explorer.solver.stock import bounds, carries_without, has_handle, most_blocks, most_of_block
from explorer.solver.touch import Touch


class Arena:
    """The initial scene in the form that closures need.

    A place is the index of a cell in the flat arrays of ``space``. Masks are such flat arrays.

    Attributes:
        free: mask of the cells that are not solid at the start.
        lava: mask of the cells with lava.
        ground: mask of the cells that are solid at the start, or that become solid when a door closes.
        lasting: mask of the cells that are always solid.
        fillable: mask of the cells into which a block may be placed.
        natural: code of a breakable block -> places of the blocks with this code.
        chests: place of a chest -> stacks in the chest.
        devices, plates: place -> the device or plate at this place.
        tables: places of crafting tables.
        doors: doors that cannot be opened by hand.
        leaves: places of all door blocks.
        handled: places of the blocks of doors that can be opened by hand.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        blocks = scene.blocks
        self.space = Space(scene.size)
        solid = mask(SOLID)[blocks]
        lava = has_kind("lava")[blocks]
        doors = has_kind("door")[blocks]
        natural = has_kind("natural")[blocks]

        self.free = self.space.flat(~solid)
        self.lava = self.space.flat(lava)
        self.ground = self.space.flat(solid | doors)
        self.ground[: self.space.up] = 255  # the border below the arena carries a body
        self.lasting = self.space.flat(solid & ~doors & ~natural)
        self.fillable = self.space.flat(mask(REPLACEABLE)[blocks])
        self.natural = self._group_natural()

        self.chests: dict[int, tuple[Stack, ...]] = {}
        for cell, stacks in scene.chests.items():
            if self.space.holds(cell):
                self.chests[self.space.at(cell)] = stacks
        self.devices = dict(self._find_blocks("device"))
        self.plates = dict(self._find_blocks("plate"))
        self.tables = tuple(at for at, _ in self._find_blocks("table"))

        self.doors = doors_of(scene)
        self.leaves = frozenset(at for at, _ in self._find_blocks("door"))
        wired: set[int] = set()
        for door in self.doors:
            wired.update(self.places(door.cells))
        self.handled = tuple(sorted(self.leaves - wired))

    def block(self, cell: Cell) -> Block:
        """Return the block that is in a cell at the start."""
        x, y, z = cell
        return BLOCKS[int(self.scene.blocks[y, z, x])]

    def places(self, cells: Iterable[Cell]) -> list[int]:
        """Return the places of the given cells; cells outside the arena are left out."""
        return [self.space.at(cell) for cell in cells if self.space.holds(cell)]

    def _find_blocks(self, kind: Kind) -> list[tuple[int, Block]]:
        """Return all blocks of a kind, each as a pair of its place and the block."""
        y, z, x = np.nonzero(has_kind(kind)[self.scene.blocks])
        cells = zip(x.tolist(), y.tolist(), z.tolist(), strict=True)
        return [(self.space.at(cell), self.block(cell)) for cell in cells]

    def _group_natural(self) -> dict[int, NDArray[np.intp]]:
        """Return code of a breakable block -> places of the blocks with this code."""
        natural = has_kind("natural")[self.scene.blocks]
        places = np.flatnonzero(self.space.flat(natural))
        codes = self.scene.blocks[natural]
        return {int(code): places[codes == code] for code in np.unique(codes)}


@dataclass(frozen=True, slots=True, eq=False)
class Restraint:
    """Limits that every play obeys in which a certain milestone is never achieved.

    Attributes:
        shut: mask of the cells where feet must not be.
        through: mask of the cells where feet must not rest, but through which a body may fall.
        caps: item -> greatest count that the agent may have at any time.
        spared: cells whose blocks must not be removed.
        spared_mobs: names of mobs that must not be hunted.
        unless: name of a block; ``spared`` no longer applies once such a block could be placed into a cell of
            ``beside``.
        beside: cells, see ``unless``.
        empty: mask of the cells that may receive at most ``most`` placed blocks called ``block``, all together.
        block: name of a block, see ``empty``.
        most: number of blocks, see ``empty``.
    """

    shut: Bytes | None = None
    through: Bytes | None = None
    caps: Mapping[str, int] = field(default_factory=dict)
    spared: frozenset[Cell] = frozenset()
    spared_mobs: frozenset[str] = frozenset()
    unless: str = ""
    beside: frozenset[Cell] = frozenset()
    empty: Bytes | None = None
    block: str = ""
    most: int = 0


NOTHING = Restraint()
"""The restraint that limits nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """Everything that could happen in plays that obey a restraint.

    Attributes:
        cells: mask ``[y, z, x]`` of the cells where feet could be.
        most: item -> upper bound on the number of such items that the agent could get in an episode.
        removed: cells whose blocks could be broken.
        hunted: names of mobs that could be hunted.
        states: number of pairs (cell, number of placed blocks) that were reached.
        restraint: the restraint that all plays obey.
    """

    cells: NDArray[np.bool_]
    most: Mapping[str, int]
    removed: frozenset[Cell]
    hunted: frozenset[str]
    states: int
    restraint: Restraint
    _arena: Arena
    _touch: Touch
    _fillable: Bytes

    def placeable(self, cells: Iterable[Cell]) -> int:
        """Return into how many of the given cells a block could be placed."""
        places = [place for place in self._arena.places(cells) if self._fillable[place]]
        return int(self._touch.among(np.array(places, np.intp)).sum())


def closure(arena: Arena, restraint: Restraint = NOTHING) -> Closure:
    """Return the closure: everything that could happen in plays that obey a restraint."""
    return _Growing(arena, restraint).fixpoint()


class _Growing:
    """A closure that still grows towards its fixpoint.

    Some attributes contain what could have happened so far. Others contain what remains: chests, items, mobs, doors and
    natural blocks.
    """

    def __init__(self, arena: Arena, restraint: Restraint) -> None:
        scene = arena.scene
        self._arena = arena
        self._restraint = restraint
        self._flood = Flood(arena.space, scene.spawn.cell)
        self._touch = Touch(arena.space)
        self._open = arena.free.copy()
        self._fillable = arena.fillable.copy()

        self._gained: Counter[str] = Counter(scene.inventory)
        self._most: dict[str, int] = {}
        self._natural = dict(arena.natural)
        self._spared = self._spare()

        self._chests = dict(arena.chests)
        self._items = dict(scene.items)
        self._mobs = {mob.name: mob for mob in scene.mobs if mob.name not in restraint.spared_mobs}
        self._doors = list(arena.doors)
        self._handled = set(arena.handled)
        self._has_table = False
        self._removed: list[NDArray[np.intp]] = []
        self._hunted: set[str] = set()

    def fixpoint(self) -> Closure:
        """Grow until nothing changes, and return the resulting closure."""
        while self._grow_once():
            pass

        space = self._arena.space
        removed: set[Cell] = set()
        for places in self._removed:
            removed.update(map(space.cell, places.tolist()))
        return Closure(
            cells=space.solid(self._feet),
            most=self._most,
            removed=frozenset(removed),
            hunted=frozenset(self._hunted),
            states=self._flood.states,
            restraint=self._restraint,
            _arena=self._arena,
            _touch=self._touch,
            _fillable=self._fillable,
        )

    def _grow_once(self) -> bool:
        """Add everything that could happen next; return whether anything was added."""
        most = self._bound_items()
        room, through = self._find_rooms()
        supports = self._find_supports(most)
        self._feet = self._flood.grow(room, through, self._arena.ground, supports, most_blocks(most))
        self._touch.update(self._feet, self._open)

        steps = (
            self._pick_up,
            self._open_chests,
            self._hunt,
            self._dig,
            self._release_spared,
            self._open_doors,
            self._open_by_hand,
            self._find_table,
        )
        # Because this is a list, all steps run before ``any`` looks at the results.
        grew = [step() for step in steps]
        return any(grew)

    def _bound_items(self) -> dict[str, int]:
        """Update the upper bounds on the numbers of items; return the bounds."""
        table = self._has_table or "crafting_table" in self._most
        self._most = bounds(self._gained, table, self._restraint.caps)
        return self._most

    def _find_rooms(self) -> tuple[Bytes, Bytes]:
        """Return two masks: the cells where a body fits and may rest, and the cells through which it may only fall."""
        up = self._arena.space.up
        room = self._open & ~self._arena.lava
        # A body also needs the cell above its feet.
        room[:-up] &= room[up:]
        room[-up:] = 0
        shut = self._restraint.shut
        through = self._restraint.through
        if shut is None or through is None:
            return room, np.zeros_like(room)
        return room & ~(shut | through), room & through

    def _find_supports(self, most: Mapping[str, int]) -> Bytes:
        """Return the mask of the cells into which a block could be placed for a body to stand on."""
        restraint = self._restraint
        if restraint.empty is None or restraint.most > 0:
            return self._fillable
        # Blocks other than the forbidden block may be placed in the cells of ``empty``.
        has_other_blocks = carries_without(most, restraint.block)
        return self._fillable if has_other_blocks else self._fillable & ~restraint.empty

    def _gain(self, *stacks: Stack) -> bool:
        """Add stacks to the items that could have been got; return whether they were added.

        Stacks that exceed a cap of the restraint by themselves are not added.
        """
        bundle: Counter[str] = Counter()
        for stack in stacks:
            bundle[stack.item] += stack.count
        caps = self._restraint.caps
        if any(count > caps.get(name, count) for name, count in bundle.items()):
            return False
        self._gained += bundle
        return True

    def _pick_up(self) -> bool:
        """Pick up the items that lie where feet could be; return whether any item was picked up."""
        taken = []
        for cell, stacks in self._items.items():
            if self._feet[self._arena.space.at(cell)] and self._gain(*stacks):
                taken.append(cell)
        for cell in taken:
            del self._items[cell]
        return bool(taken)

    def _open_chests(self) -> bool:
        """Empty the chests that hands could reach; return whether any chest was emptied."""
        taken = []
        for place, stacks in self._chests.items():
            if self._touch.reaches(place) and self._gain(*stacks):
                taken.append(place)
        for place in taken:
            del self._chests[place]
        return bool(taken)

    def _hunt(self) -> bool:
        """Hunt the mobs that hands could reach; return whether any mob was hunted."""
        in_reach = []
        for mob in self._mobs.values():
            places = self._arena.places(mob_cells(mob))
            if any(map(self._touch.reaches, places)):
                in_reach.append(mob)
        hunted = [mob.name for mob in in_reach if self._gain(mob_kind(mob.kind).drop)]
        for name in hunted:
            del self._mobs[name]
        self._hunted.update(hunted)
        return bool(hunted)

    def _dig(self) -> bool:
        """Dig the natural blocks that hands could reach with a suitable tool; return whether any block was dug."""
        dug = False
        for code, places in list(self._natural.items()):
            block = BLOCKS[code]
            if block.tools and not block.tools & self._most.keys():
                continue
            # The restraint may forbid the drop altogether.
            if block.drop and self._restraint.caps.get(block.drop) == 0:
                continue
            touched = self._touch.among(places)
            if touched.any():
                dug = True
                self._remove(block, places[touched])
                self._natural[code] = places[~touched]
        return dug

    def _remove(self, block: Block, places: NDArray[np.intp]) -> None:
        """Make places passable and fillable, and gain the drop of ``block`` for each place."""
        self._open[places] = self._fillable[places] = 255
        self._removed.append(places)
        if block.drop:
            self._gained[block.drop] += len(places)

    def _spare(self) -> dict[int, NDArray[np.intp]]:
        """Remove the blocks that the restraint spares from the natural blocks; return their places by block code."""
        spared = {}
        spared_places = np.array(self._arena.places(self._restraint.spared), np.intp)
        for code, places in self._natural.items():
            is_spared = np.isin(places, spared_places)
            if is_spared.any():
                spared[code] = places[is_spared]
                self._natural[code] = places[~is_spared]
        return spared

    def _release_spared(self) -> bool:
        """Allow the spared blocks to be removed, once a placed block could replace one of them.

        Return whether they were released just now.
        """
        restraint = self._restraint
        if not self._spared or not most_of_block(self._most, restraint.unless):
            return False
        beside = [place for place in self._arena.places(restraint.beside) if self._fillable[place]]
        if not any(map(self._touch.reaches, beside)):
            return False
        for code, places in self._spared.items():
            self._natural[code] = np.concatenate((self._natural[code], places))
        self._spared = {}
        return True

    def _open_doors(self) -> bool:
        """Open the doors that devices could open; return whether any door was opened."""
        opened = [door for door in self._doors if self._opens(door)]
        for door in opened:
            self._open[self._arena.places(door.cells)] = 255
            self._doors.remove(door)
        return bool(opened)

    def _opens(self, door: Door) -> bool:
        """Return whether a door could be opened by its devices, or by a device that the agent places beside it."""
        can_be_on = [self._turns_on(place) for place in self._arena.places(door.needs)]
        is_enough = all(can_be_on) or door.mode == "any"
        if any(can_be_on) and is_enough:
            return True
        return any(map(self._takes_handle, self._arena.places(door.beside)))

    def _turns_on(self, place: int) -> bool:
        """Return whether a device or plate at a place could be on.

        If neither is there, return whether the agent could place one there.
        """
        arena = self._arena
        if place in arena.devices:
            return self._touch.reaches(place) or arena.devices[place].state == "on"
        if place in arena.plates:
            return bool(self._feet[place]) or arena.plates[place].state == "on"
        return self._takes_handle(place)

    def _takes_handle(self, place: int) -> bool:
        """Return whether the agent could place a device or plate at a place, which would open a door."""
        if not self._fillable[place] or not has_handle(self._most):
            return False
        return self._touch.reaches(place)

    def _open_by_hand(self) -> bool:
        """Open the doors without a wire that hands could reach; return whether any door was opened.

        The door blocks directly above and below open too, even if they belong to a wired door.
        """
        opened = {place for place in self._handled if self._touch.reaches(place)}
        up = self._arena.space.up
        pending = list(opened)
        while pending:
            place = pending.pop()
            for adjoining in (place + up, place - up):
                if adjoining in self._arena.leaves and adjoining not in opened:
                    opened.add(adjoining)
                    pending.append(adjoining)
        self._open[list(opened)] = 255
        self._handled -= opened
        return bool(opened)

    def _find_table(self) -> bool:
        """Record whether hands could reach a crafting table; return True only the first time that they can."""
        if self._has_table or not any(map(self._touch.reaches, self._arena.tables)):
            return False
        self._has_table = True
        return True
