"""Scenes built by hand, small enough to think through, and the milestones that they hide."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from explorer.milestones import InventoryHas, Milestone
from explorer.rules.blocks import AIR, code
from explorer.scene import Cell, Mob, Pose, Scene, Stack, Wire, WorldState
from explorer.solver.forbid import whole_cells
from explorer.worlds.storage import Storage


class Puzzle(NamedTuple):
    """A scene and what it hides, in an order that wins."""

    scene: Scene
    milestones: tuple[Milestone, ...]


@dataclass
class Builder:
    """A hall of stone bricks, to be furnished and then frozen.

    Attributes:
        size: of the arena, walls included: x, y, z.
    """

    size: Cell
    spawn: Pose = field(default=Pose((1, 1, 1)))

    def __post_init__(self) -> None:
        x, y, z = self.size
        self.blocks = np.full((y, z, x), code("stone_bricks"), np.uint16)
        self.blocks[1:-1, 1:-1, 1:-1] = AIR
        self.items: dict[Cell, tuple[Stack, ...]] = {}
        self.chests: dict[Cell, tuple[Stack, ...]] = {}
        self.mobs: list[Mob] = []
        self.wires: list[Wire] = []
        self.inventory: dict[str, int] = {}
        self.dark = False

    def fill(self, low: Cell, high: Cell, block: str = "stone_bricks", state: str = "") -> Builder:
        """Fill a box, both corners included."""
        (a, b, c), (d, e, f) = low, high
        self.blocks[b : e + 1, c : f + 1, a : d + 1] = code(block, state)
        return self

    def put(self, block: str, *cells: Cell, state: str = "") -> Builder:
        """Put a block into cells."""
        for x, y, z in cells:
            self.blocks[y, z, x] = code(block, state)
        return self

    def chest(self, cell: Cell, **stacks: int) -> Builder:
        """Put a chest, with items by name."""
        self.chests[cell] = tuple(Stack(name, count) for name, count in stacks.items())
        return self.put("chest", cell)

    def item(self, cell: Cell, name: str, count: int = 1) -> Builder:
        """Lay items on the ground."""
        self.items[cell] = (*self.items.get(cell, ()), Stack(name, count))
        return self

    def door(
        self, cell: Cell, *needs: Cell, mode: str = "any", holds: int | None = None, block: str = "iron_door"
    ) -> Builder:
        """Put a door two cells high, wired to devices."""
        x, y, z = cell
        cells = (cell, (x, y + 1, z))
        if needs:
            self.wires.append(Wire(f"door_{len(self.wires) + 1}", cells, needs, mode, holds))  # type: ignore[arg-type]
        return self.put(block, *cells)

    def mob(self, kind: str, cell: Cell) -> Builder:
        """Let an animal stand somewhere."""
        self.mobs.append(Mob(f"{kind}_{1 + sum(mob.kind == kind for mob in self.mobs)}", kind, cell))
        return self

    def scene(self, name: str = "hall") -> Scene:
        """Return what was built."""
        blocks = self.blocks.copy()
        blocks.flags.writeable = False
        return Scene(
            name,
            self.spawn,
            blocks,
            dict(self.items),
            dict(self.chests),
            tuple(self.mobs),
            tuple(self.wires),
            dict(self.inventory),
            self.dark,
        )


def hall(x: int = 9, y: int = 6, z: int = 9, spawn: Pose | None = None) -> Builder:
    """An empty hall; the spawn is in the middle of its floor and looks south."""
    return Builder((x, y, z), spawn or Pose((x // 2, 1, z // 2)))


def inside(build: Builder, task: str, name: str, low: Cell, high: Cell) -> Milestone:
    """The body is in a box of whole cells."""
    return Milestone(task, name, name, (whole_cells(low, high, build.spawn.cell),))


def having(task: str, name: str, item: str, count: int = 1) -> Milestone:
    """Items are in the inventory."""
    return Milestone(task, name, name, (InventoryHas(item, count),))


def emerald() -> Puzzle:
    """Two hops: an iron door with its lever behind a screen; the emerald is behind the door."""
    build = hall(11, 6, 15, Pose((5, 1, 2)))
    build.fill((1, 1, 8), (9, 4, 8)).door((5, 1, 8), (9, 1, 6))
    build.fill((7, 1, 4), (9, 4, 4)).put("lever", (9, 1, 6)).item((5, 1, 12), "emerald")
    return Puzzle(
        build.scene("emerald"),
        (
            inside(build, "pull_lever", "behind_the_door", (1, 1, 9), (9, 4, 13)),
            having("take_emerald", "emerald", "emerald"),
        ),
    )


def moat() -> Puzzle:
    """Two hops: planks in a chest, then over a moat 7 wide with lava in it."""
    build = hall(9, 10, 20, Pose((4, 4, 2)))
    build.fill((1, 1, 1), (7, 3, 5)).fill((1, 1, 13), (7, 3, 18)).fill((1, 1, 6), (7, 1, 12), "lava")
    build.chest((2, 4, 3), oak_planks=8).item((4, 4, 16), "compass")
    return Puzzle(
        build.scene("moat"),
        (having("take_planks", "planks", "oak_planks", 8), having("take_compass", "compass", "compass")),
    )


def plug() -> Puzzle:
    """Three hops: logs and a table, a wooden pickaxe, and a stone plug before the blue floor."""
    build = hall(11, 6, 16, Pose((5, 1, 2)))
    build.fill((1, 1, 9), (9, 4, 9)).fill((5, 1, 9), (5, 2, 9), "stone")
    build.put("oak_log", (1, 1, 1), (1, 2, 1), (1, 3, 1)).put("crafting_table", (8, 1, 4))
    build.fill((1, 0, 10), (9, 0, 14), "blue_wool")
    return Puzzle(
        build.scene("plug"),
        (
            having("chop_log", "log", "oak_log"),
            having("craft_wooden_pickaxe", "pickaxe", "wooden_pickaxe"),
            inside(build, "enter_blue_room", "blue_room", (1, 1, 10), (9, 4, 14)),
        ),
    )


def handle() -> Puzzle:
    """Two hops: an iron door without a wire; the lever to place beside it is in a chest."""
    build = hall(9, 6, 14, Pose((4, 1, 2)))
    build.fill((1, 1, 7), (7, 4, 7)).door((4, 1, 7)).chest((7, 1, 2), lever=1)
    return Puzzle(
        build.scene("handle"),
        (
            having("take_lever", "lever", "lever"),
            inside(build, "place_lever_beside_door", "behind_the_door", (1, 1, 8), (7, 4, 12)),
        ),
    )


def stored(scene: Scene, state: WorldState) -> Storage:
    """Return the storage of a scene in one of its later states."""
    parts = {name: getattr(state, name) for name in ("blocks", "items", "chests", "mobs", "inventory")}
    now = Storage(replace(scene, spawn=state.pose, **parts))
    now.held, now.over = state.held, state.over
    now.placed, now.timers = set(state.placed), dict(state.timers)
    return now
