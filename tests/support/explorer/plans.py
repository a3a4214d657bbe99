"""Abstract steps that win the puzzles built by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from explorer.solver.steps import (
    BridgeTo,
    Craft,
    Dig,
    Enter,
    PickUp,
    PlaceBeside,
    Step,
    TakeChest,
    Use,
)
from tests.support.explorer import scenes
from tests.support.explorer.scenes import Puzzle

PLANS: Final[dict[Callable[[], Puzzle], tuple[Step, ...]]] = {
    scenes.emerald: (Use((9, 1, 6)), PickUp((5, 1, 12))),
    scenes.moat: (TakeChest((2, 4, 3)), BridgeTo((4, 4, 13), "oak_planks"), PickUp((4, 4, 16))),
    scenes.plug: (
        *(Dig((1, 1, 1)), Dig((1, 2, 1)), Craft("oak_planks", 2), Craft("stick"), Craft("wooden_pickaxe")),
        *(Dig((5, 2, 9)), Dig((5, 1, 9)), Enter((1, 1, 10), (9, 4, 14))),
    ),
    scenes.handle: (TakeChest((7, 1, 2)), PlaceBeside((4, 1, 7), "lever"), Enter((1, 1, 8), (7, 4, 12))),
}
"""Puzzle -> steps."""
