"""Write labels on pictures in letters of 3 x 5 pixels, which are readable in small pictures and need no font."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.picture.textures import load_atlas

_INK: Final = (255, 244, 200)


@cache
def _find_letter(letter: str) -> NDArray[np.bool_]:
    """Return the mask of a small letter and the gap after it, ``[5, 4]``; a character without a glyph is a gap."""
    atlas = load_atlas()
    number = atlas.sprites.get(f"letter {letter}")
    if number is None:
        return np.zeros((5, 4), dtype=np.bool_)
    return atlas.tiles[number, :5, :4, 3] > 0


def mask(text: str) -> NDArray[np.bool_]:
    """Return the mask of a text's letters, ``[5, 4 * letters]``; characters without a glyph are gaps."""
    return np.concatenate([_find_letter(letter) for letter in text.lower() or " "], axis=1)


def write(image: NDArray[np.uint8], names: Iterable[tuple[str, float, float]], scale: int = 1) -> None:
    """Write texts on dimmed ground, each centred at a column and row; texts that overlap earlier ones are left out."""
    taken = np.zeros(image.shape[:2], dtype=np.bool_)
    for text, column, row in names:
        letters = np.pad(mask(text), ((1, 1), (1, 0))).repeat(scale, axis=0).repeat(scale, axis=1)
        height, width = letters.shape
        top, left = round(row - height / 2), round(column - width / 2)
        place = np.s_[max(0, top) : max(0, top + height), max(0, left) : max(0, left + width)]
        part = image[place]
        if taken[place].any() or not part.size:
            continue
        taken[place] = True
        letters = letters[max(0, -top) :, max(0, -left) :][: part.shape[0], : part.shape[1]]
        part[:] = np.where(letters[..., None], np.array(_INK, dtype=np.uint8), part // 3)
