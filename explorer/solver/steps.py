"""The abstract steps of a witness: the deeds that a composer lists, in the order in which its gates open.

:func:`explorer.solver.witness.carry_out` carries out each step in the real world by a cheapest route. It returns the
codes, and the first step that failed with the reason. Each step walks, aims and holds as needed, so a list names deeds
only::

    steps = (TakeChest((4, 1, 9)), BridgeTo((12, 1, 9), "oak_planks"), Use((14, 2, 9)), Enter((20, 1, 5), (26, 3, 9)))

Cells are absolute; items and recipes are names of :mod:`explorer.rules`. Routes never pass lava. Only those of
``BridgeTo`` and ``PillarTo`` place blocks. Unlike an agent, a witness reads the true state.
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
    """Use a lever, button or wooden door from the nearest cell from which the crosshair reaches it."""

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
    """Break a block with the first item in the inventory that will do, or bare hands."""

    cell: Cell


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
class Place:
    """Place an item's block into an empty cell, from the nearest cell whose crosshair reaches an adjoining face."""

    cell: Cell
    item: str


@dataclass(frozen=True, slots=True)
class PlaceBeside:
    """Place a lever or button beside an iron door, and use it unless the door is already open.

    Attributes:
        door: the door's name in a wire of the scene, or one of its cells.
    """

    door: str | Cell
    item: str


@dataclass(frozen=True, slots=True)
class BridgeTo:
    """Stand in a cell, by the cheapest route that may place blocks ahead; a placement costs as much as 50 steps.

    Attributes:
        item: the block to take in hand and place.
    """

    cell: Cell
    item: str


@dataclass(frozen=True, slots=True)
class PillarTo:
    """Stand in a cell, by the cheapest route that may place blocks below or ahead.

    Attributes:
        item: the block to take in hand and place.
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
    """Stand within some metres (3-D, to the base of the cell) of a cell, with a clear line of sight, and look at it."""

    cell: Cell
    within: float = 5.0


Step = GoTo | Use | TakeChest | PickUp | Dig | Hunt | Craft | Place | PlaceBeside | BridgeTo | PillarTo | Enter | LookAt


@dataclass(frozen=True, slots=True)
class Carried:
    """The result of carrying out a list of steps.

    Attributes:
        codes: codes of all primitives that were carried out, in order.
        failed: index of the first step that failed, or None.
        reason: why it failed, or "".
    """

    codes: tuple[int, ...]
    failed: int | None = None
    reason: str = ""
