"""The items: which block an item places, and what it digs and how fast.

Tools do not wear. Beds, doors, liquids and blocks that act like air cannot be placed.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

from explorer.errors import find_known
from explorer.rules.blocks import BLOCKS, FACTS, Block, code

ITEMS: Final[tuple[str, ...]] = tuple(FACTS["items"])
"""Item names. An item's number, as in codes to hold it, is its index here, the same in every scene of rules "1"."""
TICKS_TO_DIG: Final = 30
"""Ticks to dig a block of hardness 1 at speed 1 with the tool that it needs, as in vanilla."""

_NUMBERS: Final = {name: number for number, name in enumerate(ITEMS)}
_SPEEDS: Final[dict[str, dict[str, float]]] = dict(FACTS["speeds"])
_MATERIALS: Final[dict[str, str]] = {row[0]: row[3] for row in FACTS["blocks"]}
_TWO_CELLS: Final = ("_bed", "_door")
_NOT_PLACED: Final = ("wheat",)
"""Items that share a block's name but do not place it."""


def item(name: str) -> int:
    """Return the number of an item, with or without ``minecraft:``.

    Raises:
        UnknownNameError: there is no such item.
    """
    return find_known("item", name, _NUMBERS)


@cache
def block_of(name: str) -> int | None:
    """Return the code of the block that an item places, or None if it cannot be placed.

    Raises:
        UnknownNameError: there is no such item.
    """
    bare = ITEMS[item(name)]
    if bare.endswith(_TWO_CELLS) or bare in _NOT_PLACED or bare not in _MATERIALS:
        return None
    placed = code(bare)
    return None if BLOCKS[placed].replaceable else placed


def digs(held: str | None, block: Block) -> bool:
    """Return whether a block breaks with an item in hand (None: bare hands)."""
    return block.breakable and (not block.tools or held in block.tools)


def dig_ticks(held: str | None, block: Block) -> int:
    """Return the ticks of a dig, from vanilla's hardness, material and tool speeds.

    Args:
        held: an item that :func:`digs` the block, or None for bare hands.
    """
    speed = _SPEEDS.get(_MATERIALS[block.name], {}).get(held or "", 1)
    return max(1, math.ceil(block.hardness * TICKS_TO_DIG / speed))


@cache
def tool_needed(block: Block) -> str:
    """Return the tool that a block needs, in words: ``a pickaxe``, ``an iron pickaxe or better``, "" for bare hands."""
    if not block.tools:
        return ""
    kinds = sorted({tool.rpartition("_")[2] for tool in block.tools}, reverse=True)
    if len(kinds) > 1 or f"wooden_{kinds[0]}" in block.tools:
        return " or ".join(f"a {kind}" if kind != "shears" else kind for kind in kinds)
    kind = kinds[0]
    least = next(tier for tier in ("stone", "iron", "diamond") if f"{tier}_{kind}" in block.tools)
    article = "an" if least == "iron" else "a"
    return f"{article} {least} {kind} or better"
