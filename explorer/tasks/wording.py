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
    text = words(name)
    if name in ("cactus", "compass"):
        return f"a {text}"
    if name in _MASS.split() or name.endswith(_MASS_ENDS):
        return text
    article = "an" if name[0] in "aeiou" else "a"
    return f"{article} {text}"
