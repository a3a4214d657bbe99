"""The items: what one holds, what placing it gives, and what it digs how fast.

Tools do not wear. Beds, doors and liquids are not placed; neither is what would be as good as air.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

from explorer.errors import UnknownNameError
from explorer.rules.blocks import BLOCKS, FACTS, Block, code

ITEMS: Final[tuple[str, ...]] = tuple(FACTS["items"])
"""Names; an item's number, as in codes to hold it, is its place here, the same in every scene of rules "1"."""
TICKS_TO_DIG: Final = 30
"""Ticks to dig a block of hardness 1 at speed 1 with what it asks for, as in vanilla."""

_NUMBERS: Final = {name: number for number, name in enumerate(ITEMS)}
_SPEEDS: Final[dict[str, dict[str, float]]] = dict(FACTS["speeds"])
_MATERIALS: Final[dict[str, str]] = {row[0]: row[3] for row in FACTS["blocks"]}
_TWO_CELLS: Final = ("_bed", "_door")
_NOT_PLACED: Final = ("wheat",)
"""Items that share a block's name and are not that block."""


def item(name: str) -> int:
    """Return the number of an item, with or without ``minecraft:``.

    Raises:
        UnknownNameError: there is no such item.
    """
    found = _NUMBERS.get(name.removeprefix("minecraft:"))
    if found is None:
        raise UnknownNameError("item", name, ITEMS)
    return found


@cache
def block_of(name: str) -> int | None:
    """Return the code of the block that placing an item gives, None where it is not placed.

    Raises:
        UnknownNameError: there is no such item.
    """
    bare = ITEMS[item(name)]
    if bare.endswith(_TWO_CELLS) or bare in _NOT_PLACED or bare not in _MATERIALS:
        return None
    placed = code(bare)
    return None if BLOCKS[placed].replaceable else placed


def digs(held: str | None, block: Block) -> bool:
    """Return whether a block breaks with the item in hand, None for bare hands."""
    return block.breakable and (not block.tools or held in block.tools)


def dig_ticks(held: str | None, block: Block) -> int:
    """Return the ticks of a dig, by vanilla's hardness, material and speeds of tools.

    Args:
        held: what :func:`digs` the block, None for bare hands.
    """
    speed = _SPEEDS.get(_MATERIALS[block.name], {}).get(held or "", 1)
    return max(1, math.ceil(block.hardness * TICKS_TO_DIG / speed))


@cache
def tool_needed(block: Block) -> str:
    """Return in words what breaks a block, "" for bare hands: ``a pickaxe``, ``an iron pickaxe or better``."""
    if not block.tools:
        return ""
    kinds = sorted({tool.rpartition("_")[2] for tool in block.tools}, reverse=True)
    if len(kinds) > 1 or f"wooden_{kinds[0]}" in block.tools:
        return " or ".join(f"a {kind}" if kind != "shears" else kind for kind in kinds)
    least = next(tier for tier in ("stone", "iron", "diamond") if f"{tier}_{kinds[0]}" in block.tools)
    return f"{'an' if least == 'iron' else 'a'} {least} {kinds[0]} or better"
