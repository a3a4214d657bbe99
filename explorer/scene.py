"""Values that all parts of the explorer exchange: the scene, its states, and the result of a step.

A cell is a cube of one metre. A cell (x, y, z) is counted from 0 at a corner of the world: x grows to the east, y
upward, z to the south. Arrays of cells are indexed ``[y, z, x]``. Coordinates in files are relative to the spawn
(:mod:`explorer.files`).
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
"""Version of the rules. If the effect of any step changes, the version must change."""
EYE_HEIGHT: Final = 1.62
"""Metres from the base of the body to the eye."""
PITCH_STEP: Final = 30
"""Angle by which one look up or down changes the pitch, in degrees."""
STEEPEST: Final = 3
"""Number of pitch steps from the horizon to straight up or down."""
FACINGS: Final[tuple[Cell, ...]] = ((0, 0, 1), (-1, 0, 0), (0, 0, -1), (1, 0, 0))
"""Facing -> offset of the cell in front; the facings are 0 south, 1 west, 2 north, 3 east. A right turn adds 1."""


def offset_to(here: Cell, there: Cell) -> Cell:
    """Return the offset that leads from ``here`` to ``there``."""
    return there[0] - here[0], there[1] - here[1], there[2] - here[2]


def move_by(cell: Cell, offset: Cell) -> Cell:
    """Return the cell at an offset from a cell."""
    return cell[0] + offset[0], cell[1] + offset[1], cell[2] + offset[2]


def cells_apart(one: Cell, other: Cell) -> int:
    """Return the Chebyshev distance of two cells: the greatest of their distances along the three axes."""
    return max(map(abs, offset_to(one, other)))


@dataclass(frozen=True, slots=True)
class Pose:
    """A body in the middle of a cell.

    Attributes:
        cell: cell of the feet.
        facing: 0 south, 1 west, 2 north, 3 east.
        pitch: number of steps of :data:`PITCH_STEP` degrees, from -3 (straight up) to 3 (straight down).
        aim: offset from ``cell`` to the cell at whose middle the crosshair points; if None, the crosshair follows
            facing and pitch.
    """

    cell: Cell
    facing: int = 0
    pitch: int = 0
    aim: Cell | None = None

    @property
    def position(self) -> tuple[float, float, float]:
        """Middle (x, y, z) of the body's base, in metres."""
        x, y, z = self.cell
        return x + 0.5, float(y), z + 0.5

    @property
    def eye(self) -> tuple[float, float, float]:
        """Point (x, y, z) at which sight and touch begin, in metres."""
        x, y, z = self.cell
        return x + 0.5, y + EYE_HEIGHT, z + 0.5

    @property
    def direction(self) -> tuple[float, float, float]:
        """Unit vector (x, y, z) from the eye to the crosshair."""
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
        """Return the pose after turning right by a number of quarters, without an aim."""
        return replace(self, facing=(self.facing + quarters) % 4, aim=None)

    def aim_at(self, offset: Cell) -> Pose:
        """Return the pose with the crosshair on the cell at ``offset``.

        Facing and pitch become the values that are nearest to the direction of the crosshair.
        """
        x = offset[0]
        y = offset[1] + 0.5 - EYE_HEIGHT
        z = offset[2]
        facing = self.facing
        if x or z:
            # The dot product with the offset is largest for the nearest facing. Of two equally near facings, the
            # present facing stays.
            facing = max(range(4), key=lambda f: (FACINGS[f][0] * x + FACINGS[f][2] * z, f == self.facing))
        elevation = math.degrees(math.atan2(y, math.hypot(x, z)))
        pitch = round(-elevation / PITCH_STEP)
        return Pose(self.cell, facing, pitch, offset)


@dataclass(frozen=True, slots=True)
class Stack:
    """A number of items of one kind."""

    item: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class Mob:
    """An animal or monster, which stands still and does not obstruct movement.

    Attributes:
        name: a name that is unique in the scene, such as ``sheep_1``.
        kind: such as ``sheep``; :mod:`explorer.rules.mobs` lists the drops of each kind.
    """

    name: str
    kind: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Wire:
    """A connection from devices to the door that the devices open.

    Attributes:
        door: name of the door, unique in the scene, such as ``door_1``.
        cells: cells of the door; all contain the same door block.
        needs: cells of levers, buttons and plates.
        mode: whether all devices must be on to open the door, or any one device suffices.
        holds: number of steps for which the door stays open after its devices go off; if None, an opened door stays
            open.
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
        items: cell -> stacks that lie on the ground; a body that stands in the cell picks the stacks up.
        chests: cell of a chest -> contents of the chest.
        inventory: item -> number that the agent carries at the start.
        dark: whether an agent sees only cells within :data:`explorer.worlds.sight.LIT` of the eye or within
            :data:`~explorer.worlds.sight.LIGHT` of a torch.
        rules: version of the rules.
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
        """Number of cells along x, y and z."""
        y, z, x = self.blocks.shape
        return x, y, z


Reason = Literal["", "goal", "done", "lava", "max_steps"]
"""The reason why an episode is over, or "" while the episode runs."""


@dataclass(frozen=True, slots=True, eq=False)
class WorldState:
    """The complete state after a step: all that the rules read and that a certificate hashes.

    Attributes:
        blocks: uint16 ``[y, z, x]``; the code of a door, lever, button or plate includes its state.
        items, chests, inventory: see :class:`Scene`.
        held: the item in hand, or None for bare hands.
        placed: cells of blocks that the agent placed; these blocks cannot be removed.
        timers: name of a door -> number of steps until the door closes.
        step: number of steps so far.
        over: the reason why the episode is over, or "".
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
"""Kinds of events; ``arrive`` is the body's arrival in a cell, ``tick`` the end of each step."""


@dataclass(frozen=True, slots=True)
class Event:
    """An action of a body. :func:`explorer.rules.apply.apply` decides the effect.

    Attributes:
        cell: the target; for ``place``, the cell to fill.
        name: the item for ``hold``, the recipe for ``craft``, or "" for any other event.
    """

    kind: Deed
    cell: Cell | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two states.

    Attributes:
        kind: what changed, which decides the meaning of the other attributes.

            * ``block``: ``cell`` now contains the block ``code``.
            * ``items``: ``stacks`` were dropped in ``cell``; without stacks, all items in ``cell`` were picked up.
            * ``chest``: the chest in ``cell`` was emptied.
            * ``mob``: the mob ``name`` is gone.
            * ``inventory``: the agent carries ``count`` more of ``name`` (fewer if negative).
            * ``hold``: ``name`` is in hand; "" stands for bare hands.
            * ``placed``: the agent placed the block in ``cell``, which cannot be removed.
            * ``timer``: the door ``name`` closes in ``count`` steps; -1 removes the timer.
            * ``over``: the episode ended for the reason ``name``.
    """

    kind: Literal["block", "items", "chest", "mob", "inventory", "hold", "placed", "timer", "over"]
    cell: Cell | None = None
    name: str = ""
    count: int = 0
    code: int = 0
    stacks: tuple[Stack, ...] = ()


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of a primitive.

    Attributes:
        done: whether the primitive took effect.
        reason: why the primitive took no effect, such as "bumped", "out of reach" or "needs a pickaxe"; "" if it took
            effect.
        ticks: game ticks that the primitive took, 20 a second.
        changes: changes of the state, except the pose. The result of a world's ``step`` contains all changes. The
            result in a view contains only the changes in sight.
    """

    done: bool
    reason: str = ""
    ticks: int = 0
    changes: tuple[Change, ...] = ()
