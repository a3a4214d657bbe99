"""Values that all parts exchange: the scene, its states, and what a step does.

A cell is (x, y, z): x east, y up, z south, absolute, from 0. Arrays of cells are indexed ``[y, z, x]``. Files are
spawn-relative (:mod:`explorer.files`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

Cell = tuple[int, int, int]

RULES: Final = "1"
"""Version of the rules; any change of what a step does needs a new version."""
EYE_HEIGHT: Final = 1.62
"""Metres from the base of the body to the eye."""
PITCH_STEP: Final = 30
"""Degrees of one look up or down."""
STEEPEST: Final = 3
"""Number of pitch steps from the horizon to straight up or down."""
FACINGS: Final[tuple[Cell, ...]] = ((0, 0, 1), (-1, 0, 0), (0, 0, -1), (1, 0, 0))
"""Unit cell in front, by facing: south, west, north, east. A right turn adds one."""


def offset_to(here: Cell, there: Cell) -> Cell:
    """Return the offset that leads from one cell to another."""
    return there[0] - here[0], there[1] - here[1], there[2] - here[2]


def move_by(cell: Cell, offset: Cell) -> Cell:
    """Return the cell at an offset from another."""
    return cell[0] + offset[0], cell[1] + offset[1], cell[2] + offset[2]


def cells_apart(one: Cell, other: Cell) -> int:
    """Return the distance of two cells along the axis on which it is greatest."""
    return max(map(abs, offset_to(one, other)))


@dataclass(frozen=True, slots=True)
class Pose:
    """A body in the middle of a cell.

    Attributes:
        cell: of the feet.
        facing: 0 south, 1 west, 2 north, 3 east.
        pitch: steps of :data:`PITCH_STEP` degrees, -3 straight up to 3 straight down.
        aim: offset from ``cell`` of the cell whose middle the crosshair is on; None: straight along facing and pitch.
    """

    cell: Cell
    facing: int = 0
    pitch: int = 0
    aim: Cell | None = None

    @property
    def position(self) -> tuple[float, float, float]:
        """Middle of the body's base, in metres."""
        x, y, z = self.cell
        return x + 0.5, float(y), z + 0.5

    @property
    def eye(self) -> tuple[float, float, float]:
        """Where sight and touch begin."""
        x, y, z = self.cell
        return x + 0.5, y + EYE_HEIGHT, z + 0.5

    @property
    def direction(self) -> tuple[float, float, float]:
        """Unit vector of the crosshair."""
        if self.aim is not None:
            x = self.aim[0]
            y = self.aim[1] + 0.5 - EYE_HEIGHT
            z = self.aim[2]
            norm = math.sqrt(x * x + y * y + z * z)
            return x / norm, y / norm, z / norm
        dx, _, dz = FACINGS[self.facing]
        pitch = math.radians(self.pitch * PITCH_STEP)
        return dx * math.cos(pitch), -math.sin(pitch), dz * math.cos(pitch)

    def turn(self, quarters: int) -> Pose:
        """Return the pose after right turns; the crosshair is straight again."""
        return replace(self, facing=(self.facing + quarters) % 4, aim=None)

    def aim_at(self, offset: Cell) -> Pose:
        """Return the pose with the crosshair on the cell at ``offset``; facing and pitch are rounded to it."""
        x = offset[0]
        y = offset[1] + 0.5 - EYE_HEIGHT
        z = offset[2]
        facing = self.facing
        if x or z:
            # Of two facings that are equally near to the offset, the present one stays.
            facing = max(range(4), key=lambda f: (FACINGS[f][0] * x + FACINGS[f][2] * z, f == self.facing))
        elevation = math.degrees(math.atan2(y, math.hypot(x, z)))
        pitch = round(-elevation / PITCH_STEP)
        return Pose(self.cell, facing, pitch, offset)


@dataclass(frozen=True, slots=True)
class Stack:
    """A number of one item."""

    item: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Mob:
    """An animal or monster; it stands still and bars no way.

    Attributes:
        name: unique in the scene, such as ``sheep_1``.
        kind: such as ``sheep``; what it drops is in :mod:`explorer.rules.mobs`.
    """

    name: str
    kind: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Wire:
    """What opens a door.

    Attributes:
        door: unique in the scene, such as ``door_1``.
        cells: cells of the door, all of the same door block.
        needs: cells of levers, buttons and plates.
        mode: whether all of them must be on, or any.
        holds: steps that the door stays open after its devices go off; None: once open, it stays open.
    """

    door: str
    cells: tuple[Cell, ...]
    needs: tuple[Cell, ...]
    mode: Literal["all", "any"] = "any"
    holds: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """A world before the first step.

    Attributes:
        blocks: uint16 ``[y, z, x]``, codes of :data:`explorer.rules.blocks.BLOCKS`; read-only.
        items: what lies on the ground; a body that stands in the cell picks it up.
        chests: contents of the chest in a cell.
        inventory: what the agent starts with.
        dark: only cells within :data:`explorer.worlds.sight.LIT` of the eye or
            :data:`~explorer.worlds.sight.LIGHT` of a torch are seen.
    """

    name: str
    spawn: Pose
    blocks: NDArray[np.uint16]
    items: Mapping[Cell, tuple[Stack, ...]] = field(default_factory=dict)
    chests: Mapping[Cell, tuple[Stack, ...]] = field(default_factory=dict)
    mobs: tuple[Mob, ...] = ()
    wires: tuple[Wire, ...] = ()
    inventory: Mapping[str, int] = field(default_factory=dict)
    dark: bool = False
    rules: Literal["1"] = "1"

    @property
    def size(self) -> Cell:
        """Cells along x, y and z."""
        y, z, x = self.blocks.shape
        return x, y, z


Reason = Literal["", "goal", "done", "lava", "max_steps"]
"""Why an episode is over, "" while it runs."""


@dataclass(frozen=True, slots=True, eq=False)
class WorldState:
    """The complete state after a step: what the rules read and what a certificate hashes.

    Attributes:
        blocks: uint16 ``[y, z, x]``; doors, levers, buttons and plates carry their state in the code.
        placed: cells of blocks that the agent placed, which are final.
        timers: door -> steps until it closes.
        held: the item in hand, None for bare hands.
    """

    pose: Pose
    blocks: NDArray[np.uint16]
    items: Mapping[Cell, tuple[Stack, ...]]
    chests: Mapping[Cell, tuple[Stack, ...]]
    mobs: tuple[Mob, ...]
    inventory: Mapping[str, int]
    held: str | None
    placed: frozenset[Cell]
    timers: Mapping[str, int]
    step: int
    over: Reason


Deed = Literal["arrive", "use", "dig", "attack", "place", "hold", "drop", "craft", "tick"]
"""What happens to a state: ``arrive`` in a cell, ``tick`` at the end of each step."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a body does, to be judged by :func:`explorer.rules.apply.apply`.

    Attributes:
        cell: the target; for ``place``, the cell to fill.
        name: the item to hold, or the recipe to craft.
    """

    kind: Deed
    cell: Cell | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two states.

    Attributes:
        kind: ``block``: ``cell`` now holds ``code``; ``items``: stacks in ``cell`` were picked up or dropped;
            ``chest``: emptied; ``mob``: ``name`` is gone; ``inventory``: ``count`` more (or fewer) of ``name``;
            ``hold``: ``name`` is in hand, "" for nothing; ``placed``: ``cell`` is final; ``timer``: ``name`` closes in
            ``count`` steps, -1: never; ``over``: the episode ended because of ``name``.
    """

    kind: Literal["block", "items", "chest", "mob", "inventory", "hold", "placed", "timer", "over"]
    cell: Cell | None = None
    name: str = ""
    count: int = 0
    code: int = 0
    stacks: tuple[Stack, ...] = ()


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a primitive did.

    Attributes:
        done: whether it took effect.
        reason: why it did not, such as "bumped", "out of reach" or "needs a pickaxe".
        ticks: game ticks that it took, 20 a second.
        changes: changes of the state other than the pose: all of them from a world's ``step``, in a view only those
            in sight.
    """

    done: bool
    reason: str = ""
    ticks: int = 0
    changes: tuple[Change, ...] = ()
