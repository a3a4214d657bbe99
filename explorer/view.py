"""What an agent is given: the part of the world that it has seen, and the rules that it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.scene import Cell, Happened, Pose, Stack


@dataclass(frozen=True, slots=True)
class Thing:
    """Something seen that is more than a wall: a device, door, chest, item, mob, table, or block that breaks.

    Attributes:
        name: ``lever_2``, numbered in order of first sight.
        kind: name of the block, item or mob.
        state: "", "on", "open", "empty" of a chest that the agent used; of items and blocks that break how many.
        cell: of several blocks the nearest.
        seen_at: step at which it was last in view.
    """

    name: str
    kind: str
    state: str
    cell: Cell
    seen_at: int
    in_view: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """A line of the recipe book.

    Attributes:
        recipe: its name, for ``craft``.
        needs: "1 of oak_planks, spruce_planks ..." as (names, count) groups.
        table: a crafting table has to be in reach.
        craftable: with the present inventory and, if needed, table.
    """

    recipe: str
    makes: Stack
    needs: tuple[tuple[tuple[str, ...], int], ...]
    table: bool
    craftable: bool


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """All that an agent knows.

    Attributes:
        known: uint16 ``[y, z, x]``, codes of blocks as they were when last seen; 0 where nothing was seen. A copy.
        origin: the spawn's cell; files and texts count from it.
        last: what the last primitive did.
        recipes: those that what was seen or is held could be for; all of them are told on request by the rules.
    """

    known: NDArray[np.uint16]
    origin: Cell
    pose: Pose
    inventory: Mapping[str, int]
    held: str | None
    things: tuple[Thing, ...]
    recipes: tuple[Offer, ...]
    step: int
    max_steps: int | None
    last: Happened
