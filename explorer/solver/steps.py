"""The abstract steps of a witness: what a composer asks for, in the order in which its gates open.

:func:`explorer.solver.witness.carry_out` carries each out in the real world by a shortest route and returns the codes,
or the first step that failed with its reason. A step walks, aims and holds by itself, so the list names deeds only::

    steps = (TakeChest((4, 1, 9)), BridgeTo((12, 1, 9), "oak_planks"), Use((14, 2, 9)), Enter((20, 1, 5), (26, 3, 9)))

Cells are absolute, items and recipes are names of :mod:`explorer.rules`. Routes never pass lava and place no block, but
for ``BridgeTo`` and ``PillarTo``. A witness is no agent: it reads the true state.
"""

from __future__ import annotations

from dataclasses import dataclass

from explorer.scene import Cell


@dataclass(frozen=True, slots=True)
class GoTo:
    """Stand in a cell."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class Use:
    """Use a lever, button or wooden door: from the nearest cell whose crosshair reaches it."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class TakeChest:
    """Take everything out of a chest. Fails if it is empty."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class PickUp:
    """Stand in the cell of an item. Fails if nothing lies there."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class Dig:
    """Break a block.

    Attributes:
        tool: taken in hand first; "" for the first tool of the inventory that will do, or bare hands.
    """

    cell: Cell
    tool: str = ""


@dataclass(frozen=True, slots=True)
class Hunt:
    """Attack a mob, by its name in the scene."""

    mob: str


@dataclass(frozen=True, slots=True)
class Craft:
    """Craft by a recipe's name, in reach of a table if it needs one."""

    recipe: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Hold:
    """Take an item in hand."""

    item: str


@dataclass(frozen=True, slots=True)
class Place:
    """Place an item's block into an empty cell, from the nearest cell whose crosshair reaches a face beside it."""

    cell: Cell
    item: str


@dataclass(frozen=True, slots=True)
class PlaceBeside:
    """Place a lever or button beside an iron door and use it unless the door is open by then.

    Attributes:
        door: the door's name in a wire of the scene, or one of its cells.
    """

    door: str | Cell
    item: str


@dataclass(frozen=True, slots=True)
class BridgeTo:
    """Stand in a cell by the cheapest route on which blocks may be placed ahead; a placement costs as much as 50 steps.

    Attributes:
        item: the block, taken in hand first.
    """

    cell: Cell
    item: str


@dataclass(frozen=True, slots=True)
class PillarTo:
    """Stand in a cell by the cheapest route on which blocks may be placed below or ahead.

    Attributes:
        item: the block, taken in hand first.
    """

    cell: Cell
    item: str


@dataclass(frozen=True, slots=True)
class Enter:
    """Stand in the nearest cell of a box, bounds included."""

    least: Cell
    most: Cell


@dataclass(frozen=True, slots=True)
class LookAt:
    """Stand within a distance (3-D, metres, to the base of the cell) of a cell in plain sight and look at it."""

    cell: Cell
    within: float = 5.0


@dataclass(frozen=True, slots=True)
class Wait:
    """Let steps pass."""

    times: int = 1


Step = (
    GoTo
    | Use
    | TakeChest
    | PickUp
    | Dig
    | Hunt
    | Craft
    | Hold
    | Place
    | PlaceBeside
    | BridgeTo
    | PillarTo
    | Enter
    | LookAt
    | Wait
)


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of a list of steps.

    Attributes:
        codes: of all primitives that were carried out, in order.
        ticks: game ticks they took.
        failed: number of the first step that could not be carried out, None if all were.
        reason: why, "" if all were.
    """

    codes: tuple[int, ...]
    ticks: int
    failed: int | None = None
    reason: str = ""
