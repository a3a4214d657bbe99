"""The items: which block an item places, which blocks it digs, and how fast it digs.

Items and recipes are entries of ``items_and_recipes.json``, which ``scripts/rules`` writes. Tools do not wear out.
Beds, doors, liquids and blocks that act like air cannot be placed.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

from explorer.errors import find_known
from explorer.rules.blocks import BLOCKS, FACTS, Block, code

ITEMS: Final[tuple[str, ...]] = tuple(FACTS["items"])
"""Names of all items.

The index of a name is the number of the item, which the codes for holding an item contain. It is the same in every
scene with version "1" of the rules.
"""
TICKS_TO_DIG: Final = 30
"""Ticks that a dig takes at hardness 1 and speed 1, as in vanilla with a tool that breaks the block."""

_NUMBERS: Final = {name: number for number, name in enumerate(ITEMS)}
_SPEEDS: Final[dict[str, dict[str, float]]] = dict(FACTS["speeds"])
"""Material of a block -> tool -> speed of digging."""
_MATERIALS: Final[dict[str, str]] = {row[0]: row[3] for row in FACTS["blocks"]}
"""Name of a block -> material."""
_TWO_CELLS: Final = ("_bed", "_door")
"""Endings of item names: the block of such an item fills two cells, so the item cannot be placed."""
_NOT_PLACED: Final = ("wheat",)
"""Items that cannot be placed although a block has the same name."""


def item(name: str) -> int:
    """Return the number of the item called ``name``; the name may begin with ``minecraft:``.

    Raises:
        UnknownNameError: no item has this name.
    """
    return find_known("item", name, _NUMBERS)


@cache
def block_of(name: str) -> int | None:
    """Return the code of the block that the item called ``name`` places, or None if the item cannot be placed.

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
    """Return how many ticks it takes to dig a block, computed from vanilla's hardness, material and tool speeds.

    Args:
        held: an item that breaks the block (:func:`digs`), or None for bare hands.
    """
    speed = _SPEEDS.get(_MATERIALS[block.name], {}).get(held or "", 1)
    return max(1, math.ceil(block.hardness * TICKS_TO_DIG / speed))


@cache
def tool_needed(block: Block) -> str:
    """Return in words the tool that breaks a block, such as ``a pickaxe`` or ``an iron pickaxe or better``.

    If bare hands break the block, return "".
    """
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
