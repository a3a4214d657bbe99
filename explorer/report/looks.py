"""The looks of blocks, items and mobs on a page: a numbered list of blocks, and one small picture with all tiles."""

from __future__ import annotations

import base64
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.picture.textures import load_atlas
from explorer.rules.blocks import AIR, BLOCKS, UNSEEN
from explorer.rules.mobs import MOBS
from spca.common.images import png


class Looks:
    """The numbers of the blocks that occur on a page, and the kinds of the items and mobs.

    Number 0 stands for unseen cells, 1 for air.

    Attributes:
        kinds: kinds of items and mobs; callers add to this set.
    """

    def __init__(self) -> None:
        self._numbers = np.full(len(BLOCKS), -1, np.int32)  # by code
        self._codes: list[int] = []  # by number
        self.kinds = set[str]()
        self.numbers(np.array([UNSEEN, AIR], np.uint16))

    def numbers(self, codes: NDArray[np.uint16]) -> NDArray[np.int32]:
        """Return the numbers of an array of codes; give the next number to each code that has no number yet."""
        new = codes[self._numbers.take(codes) < 0]
        for code in np.unique(new).tolist():
            self._numbers[code] = len(self._codes)
            self._codes.append(code)
        return self._numbers.take(codes)

    @property
    def size(self) -> int:
        """Number of blocks and kinds together, which grows with each new block or kind."""
        return len(self._codes) + len(self.kinds)

    def to_dict(self) -> dict[str, Any]:
        """Return the looks, the kinds and the tiles as JSON-compatible data; the tiles are a PNG image in base64."""
        atlas = load_atlas().select(self._codes, self.kinds)
        sprites = {kind: {"tile": tile, "form": _find_form(kind)} for kind, tile in atlas.sprites.items()}
        sheet = png(atlas.sheet(), optimize=True)
        return {
            "looks": [asdict(atlas.looks[code]) for code in self._codes],
            "sprites": sprites,
            "picture": base64.b64encode(sheet).decode("ascii"),
        }


def _find_form(kind: str) -> int:
    """Return 0 for an item, 1 for a mob that fills one cell, 2 for a mob that fills two cells."""
    if kind not in MOBS:
        return 0
    return 2 if MOBS[kind].tall else 1
