"""The abstract steps of a witness (a list of actions that achieves the goal of a scene).

:func:`explorer.solver.witness.carry_out` carries out each step in the real world by a cheapest route, and returns a
:class:`Carried`. It adds all necessary walking, aiming and holding of items, so a list of steps can be short::

    steps = (TakeChest((4, 1, 9)), BridgeTo((12, 1, 9), "oak_planks"), Use((14, 2, 9)), Enter((20, 1, 5), (26, 3, 9)))

Cells are absolute; items and recipes are names of :mod:`explorer.rules`. Routes avoid lava. Only the steps ``BridgeTo``
and ``PillarTo`` place blocks on their routes. A witness reads the true state, unlike an agent.
"""

from __future__ import annotations

from dataclasses import dataclass

from explorer.scene import Cell


@dataclass(frozen=True, slots=True)
class GoTo:
    """Go to a cell and stand in it."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class Use:
    """Use the lever, button or wooden door in a cell, from the nearest cell from which the crosshair can reach it."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class TakeChest:
    """Take everything out of the chest in a cell; the step fails if the chest is empty."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class PickUp:
    """Go to a cell and pick up the items that lie there; the step fails if there are none."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class Dig:
    """Break the block in a cell.

    Use the held item, bare hands or the first item in the inventory that breaks the block, in this order of preference.
    """

    cell: Cell


@dataclass(frozen=True, slots=True)
class Hunt:
    """Attack the mob that has the name ``mob`` in the scene."""

    mob: str


@dataclass(frozen=True, slots=True)
class Craft:
    """Craft ``times`` times by a recipe; if the recipe needs a crafting table, first go within reach of one.

    Attributes:
        recipe: name of the recipe.
    """

    recipe: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Place:
    """Place the block of an item into a free cell, from the nearest cell from which this is possible."""

    cell: Cell
    item: str


@dataclass(frozen=True, slots=True)
class PlaceBeside:
    """Place a lever or button beside an iron door; if the door does not open at once, use the lever or button.

    Attributes:
        door: name of the door in its wire, or one of the cells of the door.
    """

    door: str | Cell
    item: str


@dataclass(frozen=True, slots=True)
class BridgeTo:
    """Go to a cell and stand in it, by the cheapest route; on the route, blocks may be placed as ground ahead.

    A step onto a placed block costs as much as 50 plain steps.

    Attributes:
        item: the item to take in hand; its blocks are placed.
    """

    cell: Cell
    item: str


@dataclass(frozen=True, slots=True)
class PillarTo:
    """Go to a cell and stand in it, by the cheapest route; on the route, blocks may be placed ahead or below the feet.

    Attributes:
        item: the item to take in hand; its blocks are placed.
    """

    cell: Cell
    item: str


@dataclass(frozen=True, slots=True)
class Enter:
    """Go to the nearest cell of a box and stand in it.

    Attributes:
        least, most: lowest and highest cell of the box, both included.
    """

    least: Cell
    most: Cell


@dataclass(frozen=True, slots=True)
class LookAt:
    """Look at a cell along a clear line of sight, from a cell that is at most ``within`` metres away.

    The distance is three-dimensional, from the base of one cell to the base of the other.
    """

    cell: Cell
    within: float = 5.0


Step = GoTo | Use | TakeChest | PickUp | Dig | Hunt | Craft | Place | PlaceBeside | BridgeTo | PillarTo | Enter | LookAt


@dataclass(frozen=True, slots=True)
class Carried:
    """The result of carrying out a list of steps.

    Attributes:
        codes: codes of all primitives that were carried out, in order.
        failed: index of the step that failed, or None if no step failed; no step is carried out after a failure.
        reason: why the step failed, or "".
    """

    codes: tuple[int, ...]
    failed: int | None = None
    reason: str = ""
