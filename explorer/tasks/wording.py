"""Names of items, blocks and mobs in English."""

from __future__ import annotations

from typing import Final

_MASS_NOUNS: Final = (
    "coal redstone lapis_lazuli dirt coarse_dirt podzol sand red_sand gravel clay cobblestone granite diorite andesite"
    " stone leather string paper quartz bread sugar mushroom_stew scaffolding"
)
"""Names that take no article, separated by spaces."""
_ENDS_WITHOUT_ARTICLE: Final = ("_ore", "_wool", "s")
"""Endings of all other names that take no article, which are mass nouns and plurals."""


def words(name: str) -> str:
    """Return a name in words, such as ``oak log`` for ``oak_log``."""
    return name.replace("_", " ")


def one(name: str) -> str:
    """Return a name in words with the indefinite article, unless the name is a mass noun or a plural.

    Examples are ``an oak log``, ``iron ore`` and ``oak planks``.
    """
    text = words(name)
    if name in ("cactus", "compass"):  # singular in spite of the final "s"
        return f"a {text}"
    if name in _MASS_NOUNS.split() or name.endswith(_ENDS_WITHOUT_ARTICLE):
        return text
    article = "an" if name[0] in "aeiou" else "a"
    return f"{article} {text}"
