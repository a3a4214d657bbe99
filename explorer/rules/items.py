"""The items: which block an item places, which blocks the item digs, and how fast.

Tools do not wear. Beds, doors, liquids and blocks that act like air cannot be placed.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

from explorer.errors import find_known
from explorer.rules.blocks import BLOCKS, FACTS, Block, code

ITEMS: Final[tuple[str, ...]] = tuple(FACTS["items"])
"""Item names. The number of an item, as in codes to hold the item, is its index here in every scene of rules "1"."""
TICKS_TO_DIG: Final = 30
"""Ticks to dig a block of hardness 1 at speed 1 with a tool that the block needs, as in vanilla."""

_NUMBERS: Final = {name: number for number, name in enumerate(ITEMS)}
_SPEEDS: Final[dict[str, dict[str, float]]] = dict(FACTS["speeds"])
"""Material -> tool -> speed."""
_MATERIALS: Final[dict[str, str]] = {row[0]: row[3] for row in FACTS["blocks"]}
"""Block -> material."""
_TWO_CELLS: Final = ("_bed", "_door")
"""Endings of the names of items whose block fills two cells, so that these items cannot be placed."""
_NOT_PLACED: Final = ("wheat",)
"""Items that have the name of a block but do not place the block."""


def item(name: str) -> int:
    """Return the number of an item, given by its name with or without ``minecraft:``.

    Raises:
        UnknownNameError: no item has this name.
    """
    return find_known("item", name, _NUMBERS)


@cache
def block_of(name: str) -> int | None:
    """Return the code of the block that an item places, or None if the item cannot be placed.

    Raises:
        UnknownNameError: no item has this name.
    """
    bare = ITEMS[item(name)]
    is_excluded = bare.endswith(_TWO_CELLS) or bare in _NOT_PLACED
    if is_excluded or bare not in _MATERIALS:
        return None
    placed = code(bare)
    return None if BLOCKS[placed].replaceable else placed


def digs(held: str | None, block: Block) -> bool:
    """Return whether a block breaks with the held item, or with bare hands if ``held`` is None."""
    is_fit = not block.tools or held in block.tools
    return block.breakable and is_fit


def dig_ticks(held: str | None, block: Block) -> int:
    """Return how many ticks a dig takes, from vanilla's hardness, material and tool speeds.

    Args:
        held: an item with which the block breaks (:func:`digs`), or None for bare hands.
    """
    speed = _SPEEDS.get(_MATERIALS[block.name], {}).get(held or "", 1)
    return max(1, math.ceil(block.hardness * TICKS_TO_DIG / speed))


@cache
def tool_needed(block: Block) -> str:
    """Return the tool that a block needs, in words: ``a pickaxe``, ``an iron pickaxe or better``, "" for bare hands."""
    if not block.tools:
        return ""
    # Tools are named ``wooden_pickaxe`` or ``shears``: the kind is the part after the last underscore.
    kinds = sorted({tool.rpartition("_")[2] for tool in block.tools}, reverse=True)
    if len(kinds) > 1 or f"wooden_{kinds[0]}" in block.tools:
        articled = [kind if kind == "shears" else f"a {kind}" for kind in kinds]
        return " or ".join(articled)
    kind = kinds[0]
    lowest_tier = next(tier for tier in ("stone", "iron", "diamond") if f"{tier}_{kind}" in block.tools)
    article = "an" if lowest_tier == "iron" else "a"
    return f"{article} {lowest_tier} {kind} or better"
