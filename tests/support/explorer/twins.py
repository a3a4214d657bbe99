"""Twin scenes: two that differ only in what nobody has seen, played side by side.

A view may differ from its twin only once the difference is in sight, or the body has touched it. What it touches is
taken from the rules: the cells that decide a move, the ray of the crosshair, and the column that it falls through.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from explorer.rules.actions import MAX_AIM, Decoded, Primitive, aim, craft, decode
from explorer.rules.blocks import AIR, BLOCKS, OPAQUE, code, mask
from explorer.rules.items import ITEMS
from explorer.rules.mobs import MOBS
from explorer.rules.moves import move, stands
from explorer.rules.reach import mob_cells, resolve_event
from explorer.rules.recipes import RECIPES, recipe
from explorer.rules.state import Still
from explorer.scene import FACINGS, Cell, Mob, Pose, Scene, Stack, StepResult, Wire, WorldState
from explorer.view import View
from explorer.worlds.observing import LIGHTS
from explorer.worlds.sight import Layout, see
from explorer.worlds.voxel import VoxelWorld

MOVES: Final = (Primitive.FORWARD, Primitive.BACK, Primitive.LEFT, Primitive.RIGHT, Primitive.JUMP)
HANDS: Final = (*(Primitive(number) for number in range(Primitive.USE, Primitive.DONE)),)
RANDOM: Final = (*MOVES * 3, Primitive.TURN_LEFT, Primitive.TURN_RIGHT, Primitive.LOOK_UP, Primitive.LOOK_DOWN, *HANDS)
NEAR: Final = 6
"""Cells from the way of the body within which half of the differences are."""
STOCK: Final = {"oak_planks": 16, "stick": 16}
"""What the body carries from the beginning: recipes that need a table are possible."""


@dataclass(frozen=True, slots=True)
class Twins:
    """Two scenes and where they differ.

    Attributes:
        hidden: the cells that show the difference as soon as they are seen; empty if only a touch does.
        touching: the cells that show it as soon as they are touched.
    """

    kind: str
    one: Scene
    other: Scene
    hidden: frozenset[Cell]
    touching: frozenset[Cell]


def furnish(scene: Scene) -> tuple[Scene, tuple[int, ...]]:
    """Return the scene with a lever, a button and a plate around the spawn, and the steps that use all three."""
    blocks = scene.blocks.copy()
    pose = scene.spawn
    steps: list[int] = []
    for number, name in enumerate(("lever", "stone_button", "stone_pressure_plate")):
        offset = FACINGS[(pose.facing + number) % 4]
        x, y, z = (at + part for at, part in zip(pose.cell, offset, strict=True))
        if blocks[y, z, x] == AIR and (x, y, z) not in scene.items:
            blocks[y, z, x] = code(name)
            steps += [aim(*offset), Primitive.USE]
    blocks.flags.writeable = False
    # Left of where the body faces after the last aim may be a wall: then the steps are refused.
    walk = (*steps, *MOVES[:4], Primitive.TURN_LEFT, *MOVES[:4])
    return replace(scene, blocks=blocks, inventory={**scene.inventory, **STOCK}), walk


def walk_codes(rng: random.Random, begin: Sequence[int], witness: Sequence[int], length: int) -> list[int]:
    """Return steps: devices first, then a part of a witness with random steps in it, then random ones."""
    codes = [*begin, *witness[: rng.randint(0, len(witness))]]
    for _ in range(rng.randint(0, 10)):
        codes.insert(rng.randrange(len(begin), len(codes) + 1), _random_code(rng))
    while len(codes) < length:
        codes.append(_random_code(rng))
    return [int(each) for each in codes[:length]]


def _random_code(rng: random.Random) -> int:
    if rng.random() < 0.2:
        return aim(*(rng.randint(-2, 2) for _ in range(3)))
    if rng.random() < 0.03:
        return craft(recipe("chest"))
    return rng.choice(RANDOM)


def make_twins(kind: str, scene: Scene, codes: Sequence[int], rng: random.Random) -> Twins:
    """Return twins of a kind whose difference is out of sight at the spawn.

    Args:
        codes: the steps that will be played, so that half of the differences are beside their way.
    """
    return KINDS[kind](scene, Hidden(scene, codes, rng), rng)


class Hidden:
    """Draws cells that are out of sight at the spawn, and that nothing else in the scene depends on."""

    def __init__(self, scene: Scene, codes: Sequence[int], rng: random.Random) -> None:
        self._scene = scene
        self._rng = rng
        world = VoxelWorld()
        unseen = world.reset(scene).known == 0
        x, y, z = scene.spawn.cell
        unseen[y - 1 : y + 3, z, x] = False
        taken = [*scene.items, *scene.chests, *(cell for mob in scene.mobs for cell in mob_cells(mob))]
        taken += [cell for wire in scene.wires for cell in (*wire.cells, *wire.needs)]
        for x, y, z in taken:
            if y < unseen.shape[0]:
                unseen[y, z, x] = False
        self._unseen = unseen
        way = [scene.spawn.cell]
        for each in codes:
            if world.state().over:
                break
            world.step(each)
            way.append(world.state().pose.cell)
        self._way = np.unique(np.array(way), axis=0)

    def cell(self, *, empty: bool = False) -> Cell:
        """Return a cell: one of air, or any."""
        open_to_all = self._unseen & (self._scene.blocks == AIR) if empty else self._unseen
        cells = np.argwhere(open_to_all)[:, [2, 0, 1]]
        near = cells[(np.abs(cells[:, None] - self._way[None]).max(axis=2) <= NEAR).any(axis=1)]
        drawn = near if len(near) and self._rng.random() < 0.5 else cells
        x, y, z = drawn[self._rng.randrange(len(drawn))].tolist()
        return x, y, z


def with_block(scene: Scene, cell: Cell, block: str, state: str = "") -> Scene:
    """Return the scene with another block in a cell."""
    blocks = scene.blocks.copy()
    blocks[cell[1], cell[2], cell[0]] = code(block, state)
    blocks.flags.writeable = False
    return replace(scene, blocks=blocks)


def _twins(kind: str, one: Scene, other: Scene, *cells: Cell) -> Twins:
    return Twins(kind, one, other, frozenset(cells[:1]), frozenset(cells))


def _block(scene: Scene, hidden: Hidden, rng: random.Random) -> Twins:
    cell = hidden.cell()
    before = BLOCKS[scene.blocks[cell[1], cell[2], cell[0]]].name
    names = ["air", "stone", "oak_log", "iron_ore", "bookshelf", "glass", "water", "dandelion", "red_wool", "cobweb"]
    names += [] if scene.dark else ["lava", "torch"]  # a light is seen by what it shines on
    block = rng.choice([name for name in names if name != before])
    if scene.dark and before in LIGHTS.split():
        return _block(scene, hidden, rng)
    return _twins("block", scene, with_block(scene, cell, block), cell)


def _item(scene: Scene, hidden: Hidden, rng: random.Random) -> Twins:
    cell = hidden.cell(empty=True)
    lying = (Stack(rng.choice(ITEMS), rng.randint(1, 9)),)
    return _twins("item", scene, replace(scene, items={cell: lying, **scene.items}), cell)


def _mob(scene: Scene, hidden: Hidden, rng: random.Random) -> Twins:
    """Insert it before all others, which are numbered again as in a file."""
    kind = rng.choice([*sorted(MOBS), *(mob.kind for mob in scene.mobs)])
    added = Mob("", kind, hidden.cell(empty=True))
    count: dict[str, int] = {}
    mobs = []
    for mob in (added, *scene.mobs):
        count[mob.kind] = count.get(mob.kind, 0) + 1
        mobs.append(replace(mob, name=f"{mob.kind}_{count[mob.kind]}"))
    return _twins("mob", scene, replace(scene, mobs=tuple(mobs)), *mob_cells(added))


def _chest(scene: Scene, hidden: Hidden, rng: random.Random) -> Twins:
    cell = hidden.cell()
    other = with_block(scene, cell, rng.choice(["chest", "barrel"]))
    return _twins("chest", scene, replace(other, chests={cell: (Stack(rng.choice(ITEMS)),), **scene.chests}), cell)


def _contents(scene: Scene, hidden: Hidden, rng: random.Random) -> Twins:
    """What a chest holds is hidden until it is used, also while the chest is in sight."""
    cell = rng.choice(sorted(scene.chests)) if scene.chests else hidden.cell()
    one = scene if scene.chests else with_block(scene, cell, "chest")
    other = replace(one, chests={**one.chests, cell: (Stack(rng.choice(ITEMS), rng.randint(1, 9)),)})
    return Twins("contents", one, other, frozenset(), frozenset([cell]))


def _table(scene: Scene, hidden: Hidden, rng: random.Random) -> Twins:
    del rng
    cell = hidden.cell()
    return _twins("table", scene, with_block(scene, cell, "crafting_table"), cell)


def _door(scene: Scene, hidden: Hidden, rng: random.Random) -> Twins:
    """A door out of sight that devices of the scene open; in half of the twins, another wire of the same door."""
    cell = hidden.cell()
    plain = scene
    with_door = with_block(scene, cell, rng.choice(["iron_door", "oak_door"]), rng.choice(["", "open"]))
    one = _wired(with_door, cell, rng) if rng.random() < 0.5 else plain
    return _twins("door", one, _wired(with_door, cell, rng), cell)


def _wired(scene: Scene, cell: Cell, rng: random.Random) -> Scene:
    """Wire a door to levers and plates. A button shows by itself that a timed door hears it: it springs back."""
    kinds = np.isin(scene.blocks, [block.code for block in BLOCKS if block.name == "lever" or block.kind == "plate"])
    devices = [(x, y, z) for y, z, x in np.argwhere(kinds).tolist()]
    needs = tuple(rng.sample(devices, rng.randint(1, min(3, len(devices)))))
    mode = "all" if rng.random() < 0.3 else "any"
    wire = Wire("a_door", (cell,), needs, mode, rng.choice([None, 0, 1, 4]))  # type: ignore[arg-type]
    return replace(scene, wires=(wire, *scene.wires))


def _device(scene: Scene, hidden: Hidden, rng: random.Random) -> Twins:
    """A device out of sight, perhaps on, perhaps wired to a door out of sight."""
    cell = hidden.cell(empty=True)
    names = ("lever", "stone_button", "oak_pressure_plate")
    other = with_block(scene, cell, rng.choice(names), rng.choice(["", "on"]))
    one = with_block(scene, cell, "lever") if rng.random() < 0.5 else scene
    return _twins("device", one, other, cell)


KINDS: Final[Mapping[str, Callable[[Scene, Hidden, random.Random], Twins]]] = {
    "block": _block,
    "item": _item,
    "mob": _mob,
    "chest": _chest,
    "contents": _contents,
    "table": _table,
    "door": _door,
    "device": _device,
}


class _Touching(Still):
    """Notes each cell that the rules read."""

    def __init__(self, state: WorldState) -> None:
        super().__init__(state, ())
        self.cells: set[Cell] = set()

    def block(self, cell: Cell) -> int:
        self.cells.add(cell)
        return super().block(cell)


def touched_cells(state: WorldState, step: int, after: Pose) -> set[Cell]:
    """Return the cells that a body touches in a step: generous for a craft at a table, exact for all else."""
    decoded = decode(step)
    feeling = _Touching(state)
    if decoded.kind == "primitive" and decoded.primitive in MOVES:
        move(feeling, state.pose, decoded.primitive)
    elif decoded.kind == "primitive" and decoded.primitive in HANDS:
        event = resolve_event(feeling, decoded)
        if not isinstance(event, str) and event.cell is not None:
            stands(feeling, event.cell)
    x, y, z = after.cell
    column = {(x, level, z) for level in range(y - 1, max(y, state.pose.cell[1]) + 3)}
    return feeling.cells | column | _crafting(state, decoded)


def _crafting(state: WorldState, decoded: Decoded) -> set[Cell]:
    if decoded.kind != "craft" or decoded.operand >= len(RECIPES) or not RECIPES[decoded.operand].table:
        return set()
    x, y, z = state.pose.cell
    span = range(-MAX_AIM, MAX_AIM + 1)
    return {(x + a, y + b, z + c) for a in span for b in span for c in span}


@dataclass(slots=True)
class Compared:
    """How far twins were compared.

    Attributes:
        differ: the first step and field that differ, or "".
        steps: views that were compared.
        noticed: whether the difference was seen or touched in the end.
        switched: how often a device or plate went on or off, in both scenes together.
        out_of_sight: how many blocks changed where nobody looked, in both scenes together.
    """

    differ: str = ""
    steps: int = 0
    noticed: bool = False
    switched: int = 0
    out_of_sight: int = 0

    def count_changes(self, happened: StepResult, view: View) -> None:
        """Count what a step changed in truth."""
        blocks = [change for change in happened.changes if change.kind == "block" and change.cell is not None]
        self.switched += sum(BLOCKS[change.code].kind in ("device", "plate") for change in blocks)
        told = {change.cell for change in view.last.changes}
        self.out_of_sight += sum(change.cell not in told for change in blocks)


def compare_views(twins: Twins, codes: Sequence[int]) -> Compared:
    """Play the same steps in both scenes, and compare every field of every view until the difference is noticed."""
    worlds = VoxelWorld(), VoxelWorld()
    views = [world.reset(scene) for world, scene in zip(worlds, (twins.one, twins.other), strict=True)]
    rays = _Rays(twins)
    found = Compared()
    for each in (None, *codes):
        if each is not None:
            before = [world.state() for world in worlds]
            if before[0].over or before[1].over:
                break
            happened = [world.step(each) for world in worlds]
            views = [world.view() for world in worlds]
            touched = [touched_cells(state, each, view.pose) for state, view in zip(before, views, strict=True)]
            if not twins.touching.isdisjoint(touched[0] | touched[1]):
                found.noticed = True
                break
            for truth, view in zip(happened, views, strict=True):
                found.count_changes(truth, view)
        if any(view.known[y, z, x] for view in views for x, y, z in twins.hidden) or rays.cross_hidden(worlds):
            found.noticed = True
            break
        if differ := differing_fields(*views):
            found.differ = f"step {views[0].step}: {differ}"
            break
        found.steps += 1
    return found


class _Rays:
    """In the dark, a cell on a line of sight is not seen, but hides what is lit behind it."""

    def __init__(self, twins: Twins) -> None:
        self._twins = twins
        self._layout = Layout(twins.one.blocks.shape)

    def cross_hidden(self, worlds: tuple[VoxelWorld, VoxelWorld]) -> bool:
        if not self._twins.one.dark:
            return False
        places = {self._layout.index(cell) for cell in self._twins.hidden}
        return any(not places.isdisjoint(self._seen(world.state())) for world in worlds)

    def _seen(self, state: WorldState) -> Iterator[int]:
        opaque: NDArray[np.bool_] = np.ones(self._layout.size, dtype=np.bool_)
        self._layout.inner(opaque)[:] = mask(OPAQUE)[state.blocks]
        yield from see(opaque, self._layout, state.pose).tolist()


def differing_fields(one: View, other: View) -> str:
    """Return which fields of two views differ, with what they are, or ""."""
    differ = [each.name for each in fields(View) if not _equal(getattr(one, each.name), getattr(other, each.name))]
    return "; ".join(f"{name} is {getattr(one, name)!s:.300} or {getattr(other, name)!s:.300}" for name in differ)


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, Mapping):
        return list(one.items()) == list(other.items())
    return bool(one == other)
