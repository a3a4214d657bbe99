"""Names of things in English."""

from __future__ import annotations

from typing import Final

_MASS: Final = (
    "coal redstone lapis_lazuli dirt coarse_dirt podzol sand red_sand gravel clay cobblestone granite diorite andesite"
    " stone leather string paper quartz bread sugar mushroom_stew scaffolding"
)
_MASS_ENDS: Final = ("_ore", "_wool", "s")


def words(name: str) -> str:
    """Return a name in words: ``oak log``."""
    return name.replace("_", " ")


def one(name: str) -> str:
    """Return a name with its article, if it takes one: ``an oak log``, ``iron ore``, ``oak planks``."""
    if name in _MASS.split() or (name.endswith(_MASS_ENDS) and name not in ("cactus", "compass")):
        return words(name)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {words(name)}"
