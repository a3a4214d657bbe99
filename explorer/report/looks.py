"""The looks of blocks, items and mobs on a page: numbered looks, and one small picture with their tiles."""

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
    """Numbers the blocks that occur, and collects the kinds of items and mobs.

    Number 0 stands for unseen cells, 1 for air.
    """

    def __init__(self) -> None:
        self._numbers = np.full(len(BLOCKS), -1, np.int32)
        self._codes: list[int] = []
        self.kinds = set[str]()
        self.numbers(np.array([UNSEEN, AIR], np.uint16))

    def numbers(self, codes: NDArray[np.uint16]) -> NDArray[np.int32]:
        """Return the numbers of blocks; blocks without a number get the next one."""
        new = codes[self._numbers.take(codes) < 0]
        for code in np.unique(new).tolist():
            self._numbers[code] = len(self._codes)
            self._codes.append(code)
        return self._numbers.take(codes)

    @property
    def size(self) -> int:
        """How many blocks and kinds there are."""
        return len(self._codes) + len(self.kinds)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-compatible data; the tiles are a PNG in base64."""
        atlas = load_atlas().select(self._codes, self.kinds)
        sprites = {kind: {"tile": tile, "form": _find_form(kind)} for kind, tile in atlas.sprites.items()}
        sheet = png(atlas.sheet(), optimize=True)
        return {
            "looks": [asdict(atlas.looks[code]) for code in self._codes],
            "sprites": sprites,
            "picture": base64.b64encode(sheet).decode("ascii"),
        }


def _find_form(kind: str) -> int:
    """Return 0 for an item, 1 for a mob, 2 for a mob that fills two cells."""
    return 1 + MOBS[kind].tall if kind in MOBS else 0
