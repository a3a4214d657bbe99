"""Scenes drawn at random, for opinions to differ on: rooms in a row, gates between them, and things anywhere.

Nothing is made to be won. Walls have holes, moats can be jumped, keys lie behind their own doors.
"""

from __future__ import annotations

from random import Random

from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, Rule, cell_offset
from explorer.scene import Cell, Pose
from tests.support.explorer.scenes import Builder, Puzzle

WIDTH, FLOOR, HEIGHT = 7, 5, 14
"""Cells of a room across, the level of its floor's feet, and of the whole hall."""
ITEMS = ("dirt", "oak_planks", "oak_log", "cobblestone", "lever", "stone_button", "wooden_pickaxe", "stick", "torch")
BLOCKS = ("dirt", "stone", "oak_log", "cobweb", "sand", "glass", "crafting_table", "oak_planks")


class Rooms:
    """Draws a hall from west to east."""

    def __init__(self, rng: Random, count: int) -> None:
        self.rng = rng
        self.depths = [rng.randint(3, 6) for _ in range(count)]
        self.gates = [rng.choice(GATES) for _ in range(count - 1)]
        self.widths = [rng.randint(4, 11) if gate in ("moat", "chasm") else 1 for gate in self.gates]
        length = sum(self.depths) + sum(self.widths)
        self.build = Builder((length + 2, HEIGHT, WIDTH + 2))
        self.build.fill((1, 1, 1), (length, FLOOR - 1, WIDTH))
        self.spans: list[tuple[int, int]] = []
        self.level = FLOOR

    def puzzle(self, name: str) -> Puzzle:
        """Return a scene with some milestones, the last one in the last room."""
        at = 1
        for number, depth in enumerate(self.depths):
            self.spans.append((at, at + depth - 1))
            self._floor(at, depth)
            at += depth
            if number < len(self.gates):
                self._gate(self.gates[number], at, self.widths[number])
                at += self.widths[number]
        self.build.spawn = Pose((self.spans[0][0] + 1, FLOOR, WIDTH // 2 + 1), facing=3)
        self.build.put("air", *((self.build.spawn.cell[0], FLOOR + up, WIDTH // 2 + 1) for up in (0, 1)))
        self._furnish()
        milestones = [self._milestone(number) for number in range(self.rng.randint(2, 4))]
        return Puzzle(self.build.scene(name), (*milestones, self._enter("goal", len(self.spans) - 1)))

    def _floor(self, at: int, depth: int) -> None:
        if self.level > FLOOR:
            self.build.fill((at, FLOOR, 1), (at + depth - 1, self.level - 1, WIDTH))
        if self.rng.random() < 0.6:
            low = self.level + self.rng.choice((2, 3, 4, 7))
            self.build.fill((at, min(low, HEIGHT - 1), 1), (at + depth - 1, HEIGHT - 1, WIDTH))

    def _gate(self, gate: str, at: int, width: int) -> None:
        build, rng, middle = self.build, self.rng, WIDTH // 2 + 1
        end = at + width - 1
        if gate in ("moat", "chasm"):
            build.fill((at, 1, 1), (end, FLOOR - 1, WIDTH), "air")
            if gate == "moat":
                build.fill((at, 1, 1), (end, rng.randint(1, FLOOR - 1), WIDTH), "lava")
            self.level = min(self.level, FLOOR)
            return
        if gate == "ledge":
            self.level = min(self.level + rng.randint(1, 4), HEIGHT - 4)
            build.fill((at, FLOOR, 1), (at, self.level - 1, WIDTH))
            return
        build.fill((at, FLOOR, 1), (at, HEIGHT - 1, WIDTH))
        cells = (at, self.level, middle), (at, self.level + 1, middle)
        match gate:
            case "hole":
                build.put("air", (at, self.level + rng.randint(0, 2), middle))
            case "gap":
                build.put("air", *cells)
            case "iron":
                build.door(cells[0])
            case "wood":
                build.door(cells[0], block="oak_door")
            case "wired":
                needs = [
                    self._device(rng.choice(("lever", "stone_button", "stone_pressure_plate")))
                    for _ in range(rng.randint(1, 2))
                ]
                build.door(cells[0], *needs, mode=rng.choice(("all", "any")), holds=rng.choice((None, 0, 4)))
            case "lava":
                build.put("lava", *cells)
            case _:
                build.put(gate, *cells)

    def _device(self, name: str) -> Cell:
        cell = self._cell(self.rng.randrange(len(self.depths)))
        self.build.put(name, cell)
        return cell

    def _cell(self, number: int) -> Cell:
        """Return a cell in a room that may not exist yet."""
        x = 1 + sum(self.depths[:number]) + sum(self.widths[:number]) + self.rng.randrange(self.depths[number])
        return x, FLOOR + (self.rng.random() < 0.2), self.rng.randint(1, WIDTH)

    def _furnish(self) -> None:
        rng, build = self.rng, self.build
        for _ in range(rng.randint(2, 8)):
            x, y, z = cell = self._cell(rng.randrange(len(self.spans)))
            if (x, z) == (build.spawn.cell[0], build.spawn.cell[2]) or build.blocks[y, z, x] != 1:
                continue
            match rng.randrange(5):
                case 0:
                    build.item(cell, rng.choice(ITEMS), rng.randint(1, 3))
                case 1:
                    build.chest(cell, **{rng.choice(ITEMS): rng.randint(1, 9)})
                case 2:
                    build.mob(rng.choice(("sheep", "cow", "chicken")), cell)
                case _:
                    build.put(rng.choice(BLOCKS), cell)

    def _milestone(self, number: int) -> Milestone:
        rng, spawn = self.rng, self.build.spawn.cell
        name = f"m{number}"
        low, high = (cell_offset(cell, spawn) for cell in self._columns(rng.randrange(len(self.spans))))
        rules: tuple[Rule, ...] = (
            InventoryHas(rng.choice(ITEMS), rng.choice((1, 1, 2, 4))),
            InsideBox(low, high),
            AtLeast("block", rng.choice(ITEMS[:5]), low, high, rng.choice((1, 1, 2))),
            AtMost("block", rng.choice((*BLOCKS[:5], "lava")), low, high, rng.choice((0, 0, 1))),
            AtMost("mob", rng.choice(("sheep", "cow", "chicken")), low, high, 0),
            NearWithFacing(cell_offset(self._cell(rng.randrange(len(self.spans))), spawn), 3.0),
        )
        return Milestone("task", name, name, (rng.choice(rules),))

    def _enter(self, name: str, number: int) -> Milestone:
        spawn = self.build.spawn.cell
        low, high = self._columns(number)
        return Milestone("task", name, name, (InsideBox(cell_offset(low, spawn), cell_offset(high, spawn)),))

    def _columns(self, number: int) -> tuple[Cell, Cell]:
        """Return the corners of a room and of the gates beside it."""
        first, last = self.spans[number]
        return (first - 1, 0, 0), (last + 1, HEIGHT, WIDTH + 1)


GATES = ("moat", "chasm", "ledge", "hole", "gap", "iron", "wood", "wired", "lava", "dirt", "stone", "glass", "cobweb")


def rooms(seed: int) -> Puzzle:
    """Return the puzzle of a seed: 2 to 4 rooms."""
    rng = Random(f"rooms {seed}")
    return Rooms(rng, rng.randint(2, 4)).puzzle(f"rooms_{seed}")
