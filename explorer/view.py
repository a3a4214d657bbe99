"""The agent's egocentric view: the part of the world that the agent has seen, and the recipes known to the agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.scene import Cell, Pose, Stack, StepResult


@dataclass(frozen=True, slots=True)
class Thing:
    """A seen device, door, chest, item, mob, table, or group of breakable blocks.

    Attributes:
        name: kind and number in order of first sight, such as ``lever_2``.
        kind: name of the block, item or mob.
        state: "", "on" or "open"; "empty" for a chest that the agent used; for items and breakable blocks, their count.
        cell: cell of the thing; of a group of blocks, the cell that is nearest to the agent.
        seen_at: last step at which the thing was in view.
        in_view: whether the thing is in view now.
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
        recipe: name of the recipe, which the primitive ``craft`` refers to.
        makes: the item and number that the recipe yields.
        needs: pairs (names, count): the recipe uses up ``count`` items, each of which may have any of the names.
        table: whether a crafting table must be in reach.
        craftable: whether the agent can craft the recipe now. The inventory must suffice. If the recipe needs a table,
            a seen table must be in reach, without a known obstacle in between.
    """

    recipe: str
    makes: Stack
    needs: tuple[tuple[tuple[str, ...], int], ...]
    table: bool
    craftable: bool


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The complete knowledge of an agent.

    Attributes:
        known: uint16 ``[y, z, x]``, codes of blocks as last seen; 0 for cells never seen. The array is a copy.
        origin: the spawn's cell, to which positions in files and texts are relative.
        inventory: item -> number that the agent carries.
        held: the item in hand, or None for bare hands.
        recipes: the recipes that use an item that the agent has seen or held; the rules list all other recipes.
        step: number of steps so far.
        max_steps: step limit of the episode, or None for no limit. The limit reveals nothing about the scene, because
            all certified scenes have the same limit.
        last: result of the last primitive, with the changes that the agent saw. These are changes of the inventory, and
            changes in cells that are in sight from the present pose. Things have the same names as in ``things``.
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
