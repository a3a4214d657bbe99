"""The abstract steps of a witness: the deeds that a composer lists, in the order in which the gates of its scene open.

:func:`explorer.solver.witness.carry_out` carries out each step in the real world by a cheapest route, and returns a
:class:`Carried`. Each step includes all necessary walking, aiming and holding, so a list names only the deeds::

    steps = (TakeChest((4, 1, 9)), BridgeTo((12, 1, 9), "oak_planks"), Use((14, 2, 9)), Enter((20, 1, 5), (26, 3, 9)))

Cells are absolute; items and recipes are names of :mod:`explorer.rules`. Routes never pass lava. Only
the routes of ``BridgeTo`` and ``PillarTo`` place blocks. Unlike an agent, a witness reads the true state.
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
    """Use a lever, button or wooden door from the nearest cell in which the crosshair reaches the target."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class TakeChest:
    """Take everything out of a chest; this fails if the chest is empty."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class PickUp:
    """Stand in the cell of an item; this fails if no item lies in the cell."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class Dig:
    """Break a block with the held item, bare hands, or the first item in the inventory that breaks the block."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class Hunt:
    """Attack the mob with a name of the scene."""

    mob: str


@dataclass(frozen=True, slots=True)
class Craft:
    """Craft by the recipe with a name; if the recipe needs a table, go within reach of a table first."""

    recipe: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Place an item's block into an empty cell, from the nearest cell whose crosshair reaches an adjoining face."""

    cell: Cell
    item: str


@dataclass(frozen=True, slots=True)
class PlaceBeside:
    """Place a lever or button beside an iron door; if the door does not open, use the lever or button.

    Attributes:
        door: the door's name in a wire of the scene, or one of its cells.
    """

    door: str | Cell
    item: str


@dataclass(frozen=True, slots=True)
class BridgeTo:
    """Stand in a cell, by the cheapest route that may place blocks ahead; a placed block costs as much as 50 steps.

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
    """Stand in the nearest cell of a box; the box includes both corners."""

    least: Cell
    most: Cell


@dataclass(frozen=True, slots=True)
class LookAt:
    """Look at a cell with a clear line of sight, from a cell at most ``within`` metres away.

    The distance is three-dimensional, between the bases of both cells.
    """

    cell: Cell
    within: float = 5.0


Step = GoTo | Use | TakeChest | PickUp | Dig | Hunt | Craft | Place | PlaceBeside | BridgeTo | PillarTo | Enter | LookAt


@dataclass(frozen=True, slots=True)
class Carried:
    """The result of carrying out a list of steps.

    Attributes:
        codes: codes of all primitives that were carried out, in order.
        failed: index of the first step that failed, or None if no step failed.
        reason: why the step failed, or "".
    """

    codes: tuple[int, ...]
    failed: int | None = None
    reason: str = ""
