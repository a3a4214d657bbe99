"""Many pictures reduced to one palette, as animations need it (pure)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_PALETTE_SIZE: Final = 256


class Reel:
    """Pictures of one size, held in little memory, and the colours that they use."""

    def __init__(self) -> None:
        # Zeros that are never written take no memory.
        self._number = np.zeros(1 << 24, dtype=np.uint32)
        self._colours = np.zeros(1, dtype=np.uint32)
        self._counts = np.zeros(1, dtype=np.int64)
        self._frames: list[bytes] = []
        self._shape: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, image: NDArray[np.uint8]) -> None:
        """Append a picture, RGB, shape (height, width, 3)."""
        red, green, blue = np.moveaxis(image.astype(np.uint32), 2, 0)
        packed = red << 16 | green << 8 | blue
        numbers = self._number[packed]
        new = np.unique(packed[numbers == 0])
        if len(new):
            self._number[new] = np.arange(len(new), dtype=np.uint32) + len(self._colours)
            self._colours = np.concatenate([self._colours, new])
            self._counts = np.concatenate([self._counts, np.zeros(len(new), dtype=np.int64)])
            numbers = self._number[packed]
        self._counts += np.bincount(numbers.ravel(), minlength=len(self._colours))
        self._frames.append(zlib.compress(numbers, 1))
        self._shape = numbers.shape

    def palette(self) -> NDArray[np.uint8]:
        """At most 256 of the colours, shape (n, 3): all of them, or such that none is far from one of those chosen.

        The most frequent ones go first, so that areas keep their exact colours and edges give way.
        """
        used = self._colours[1:]
        ordered = _channels(used[np.lexsort((used, -self._counts[1:]))])
        distance = 0
        while True:
            chosen: list[NDArray[np.int64]] = []
            left = ordered
            while len(left) and len(chosen) <= _PALETTE_SIZE:
                chosen.append(left[0])
                left = left[np.abs(left - left[0]).sum(axis=1) > distance]
            if len(chosen) <= _PALETTE_SIZE:
                return np.array(chosen, dtype=np.uint8)
            distance += 4

    def indexed(self, palette: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
        """The pictures as indices of the nearest colours of a palette, shape (height, width)."""
        known = palette.astype(np.int64)
        nearest = [np.abs(known - colour).sum(axis=1).argmin() for colour in _channels(self._colours)]
        entries = np.array(nearest, dtype=np.uint8)
        for frame in self._frames:
            yield entries[np.frombuffer(zlib.decompress(frame), dtype=np.uint32).reshape(self._shape)]


def _channels(colours: NDArray[Any]) -> NDArray[np.int64]:
    """Red, green and blue of 0xRRGGBB, shape (n, 3)."""
    return np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1).astype(np.int64)
