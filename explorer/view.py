"""The agent's egocentric view: the part of the world that it has seen, and the recipes that it knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.scene import Cell, Pose, Stack, StepResult


@dataclass(frozen=True, slots=True)
class Thing:
    """Something seen that is more than a wall: a device, door, chest, item, mob, table, or block that breaks.

    Attributes:
        name: ``lever_2``, numbered in order of first sight.
        kind: name of the block, item or mob.
        state: "", "on" or "open"; "empty" for a chest that the agent used; for items and breakable blocks, the count.
        cell: where it is; for a group of blocks, the nearest one.
        seen_at: last step at which it was in view.
    """

    name: str
    kind: str
    state: str
    cell: Cell
    seen_at: int
    in_view: bool


@dataclass(frozen=True, slots=True)
class Offer:
    """An entry of the recipe book.

    Attributes:
        recipe: its name, as ``craft`` takes it.
        needs: groups of (names, count): ``count`` items in all, of any of these names.
        table: whether a crafting table must be in reach.
        craftable: whether the present inventory allows it and, if it needs a table, one that the agent has seen is in
            reach, with nothing known in between.
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
        known: uint16 ``[y, z, x]``, codes of blocks as last seen; 0 for cells never seen. A copy.
        origin: the spawn's cell, to which positions in files and texts are relative.
        recipes: those that use something seen or held; the rules list all others.
        max_steps: the episode ends after as many steps at the latest. It says nothing about the scene: certified
            scenes all have the same one. None: no limit.
        last: what the last primitive did, with the changes that the agent saw: those of what it carries, and those of
            cells that are in sight from where it now stands, things by the names they have here.
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
    last: StepResult
