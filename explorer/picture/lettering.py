"""Write labels on pictures in letters of 3 x 5 pixels, which are readable in small pictures and need no font."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

_GLYPHS: Final = """
a 010 101 111 101 101
b 110 101 110 101 110
c 011 100 100 100 011
d 110 101 101 101 110
e 111 100 110 100 111
f 111 100 110 100 100
g 011 100 101 101 011
h 101 101 111 101 101
i 111 010 010 010 111
j 001 001 001 101 010
k 101 101 110 101 101
l 100 100 100 100 111
m 101 111 111 101 101
n 110 101 101 101 101
o 010 101 101 101 010
p 110 101 110 100 100
q 010 101 101 010 001
r 110 101 110 101 101
s 011 100 010 001 110
t 111 010 010 010 010
u 101 101 101 101 111
v 101 101 101 101 010
w 101 101 111 111 101
x 101 101 010 101 101
y 101 101 010 010 010
z 111 001 010 100 111
0 111 101 101 101 111
1 010 110 010 010 111
2 110 001 010 100 111
3 110 001 010 001 110
4 101 101 111 001 001
5 111 100 110 001 110
6 011 100 111 101 111
7 111 001 010 010 010
8 111 101 111 101 111
9 111 101 111 001 110
, 000 000 000 010 100
- 000 000 111 000 000
"""
_LETTERS: Final = {
    line[0]: np.array([[pixel == "1" for pixel in row] for row in line[2:].split()])
    for line in _GLYPHS.strip().split("\n")
}
_BLANK: Final = np.zeros((5, 3), dtype=np.bool_)
_INK: Final = (255, 244, 200)


def mask(text: str) -> NDArray[np.bool_]:
    """Return the mask of a text's letters, ``[5, 4 * letters]``; characters without a glyph are gaps."""
    letters = [_LETTERS.get(letter, _BLANK) for letter in text.lower()]
    return np.concatenate([np.pad(letter, ((0, 0), (0, 1))) for letter in letters or [_BLANK]], axis=1)


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
