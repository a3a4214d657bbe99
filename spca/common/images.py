"""Encoding of pictures as PNG, GIF and MP4 files. Pillow and PyAV are imported on use."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import repeat
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

LAST_FRAME_S: Final = 2.0
"""Extra seconds for which the last frame of an animation stays."""
_PALETTE_SIZE: Final = 256
_MIN_FRAME_MS: Final = 20
"""Shortest duration of a frame in milliseconds; viewers show a shorter frame ten times too long."""
_MAX_FRAME_MS: Final = 655_350


def png(image: NDArray[np.uint8], *, optimize: bool = False, palette: bool = False) -> bytes:
    """Return a picture as the content of a PNG file.

    Args:
        image: RGB or RGBA, shape (height, width, 3 or 4).
        palette: whether to reduce the picture to 256 colours. The file is then a third as large; drawings with few
            colours look the same.

    Raises:
        ImportError: Pillow is missing.
    """
    from PIL import Image

    picture = Image.fromarray(image)
    if palette:
        picture = picture.quantize(_PALETTE_SIZE, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", optimize=optimize)
    return buffer.getvalue()


def gif(images: Iterable[NDArray[np.uint8]], seconds_per_frame: float) -> bytes:
    """Return RGB pictures of one size as a repeating GIF animation; the last picture stays ``LAST_FRAME_S`` longer.

    All pictures share one palette. If there are more than 256 colours, the palette holds the most frequent colours that
    differ enough from each other. This keeps the exact colours of areas. Equal pictures in a row stay for 655 s at
    most, which is the limit of the format.

    Args:
        images: shape (height, width, 3); at least one.
        seconds_per_frame: at most 653; values below 0.02, the shortest that viewers show, count as 0.02.

    Raises:
        ImportError: Pillow is missing.
        ValueError: there is no picture.
    """
    from PIL import Image

    reel = PaletteFrames()
    for image in images:
        reel.add(image)
    if not len(reel):
        raise ValueError("an animation needs at least one picture")
    palette = reel.palette()
    colours = palette.tobytes()

    def make_frame(indices: NDArray[np.uint8]) -> Image.Image:
        frame = Image.fromarray(indices)
        frame.putpalette(colours)
        return frame

    durations = _durations(reel.iterate_indices(palette), max(round(1000 * seconds_per_frame), _MIN_FRAME_MS))
    frames = map(make_frame, reel.iterate_indices(palette))
    buffer = io.BytesIO()
    timing = {"duration": durations, "loop": 0}
    # Without the palette as an argument Pillow writes it again for every frame.
    next(frames).save(buffer, "GIF", save_all=True, append_images=frames, palette=colours, **timing)
    return buffer.getvalue()


def mp4(images: Iterable[NDArray[np.uint8]], size: tuple[int, int], frames_per_second: float) -> bytes:
    """Return RGB pictures as H.264 video; the last picture stays ``LAST_FRAME_S`` longer.

    Args:
        images: shape (height, width, 3); at least one.
        size: width and height in pixels, both even.

    Raises:
        ImportError: PyAV is missing.
    """
    import av

    rate = Fraction(frames_per_second).limit_denominator(1000)
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": "18", "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for image in _repeat_last(images, round(LAST_FRAME_S * frames_per_second)):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        container.mux(stream.encode())
    return buffer.getvalue()


def _repeat_last(images: Iterable[NDArray[np.uint8]], times: int) -> Iterator[NDArray[np.uint8]]:
    for image in images:
        yield image
    yield from repeat(image, times)


def _durations(frames: Iterable[NDArray[np.uint8]], step: int) -> list[int]:
    """Return the duration of each frame in milliseconds.

    Pillow merges equal frames in a row, and fails if the sum of their durations exceeds the limit of the format.
    Therefore that sum is limited.

    Args:
        step: duration of a single frame in milliseconds.
    """
    durations: list[int] = []
    before = None
    left = 0
    for frame in frames:
        if before is None or not np.array_equal(frame, before):
            before = frame
            left = _MAX_FRAME_MS
        durations.append(min(step, left))
        left -= durations[-1]
    durations[-1] += min(round(1000 * LAST_FRAME_S), left)
    return durations


class PaletteFrames:
    """Pictures of one size, compressed in memory, with the number of pixels of each colour."""

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
        """Append an RGB picture of shape (height, width, 3)."""
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
        """Return at most 256 colours as RGB, shape (n, 3); every colour of the pictures is near a returned colour.

        The most frequent colours are chosen first, so that areas keep their exact colours. A colour near a chosen
        colour is skipped; the distance that counts as near grows until 256 colours suffice.
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

    def iterate_indices(self, palette: NDArray[np.uint8]) -> Iterator[NDArray[np.uint8]]:
        """Yield each picture as an array (height, width): per pixel, the index of the nearest colour in ``palette``."""
        known = palette.astype(np.int64)
        nearest = [np.abs(known - colour).sum(axis=1).argmin() for colour in _channels(self._colours)]
        entries = np.array(nearest, dtype=np.uint8)
        for frame in self._frames:
            numbers = np.frombuffer(zlib.decompress(frame), dtype=np.uint32)
            yield entries[numbers.reshape(self._shape)]


def _channels(colours: NDArray[Any]) -> NDArray[np.int64]:
    """Split colours 0xRRGGBB, shape (n,), into red, green and blue, shape (n, 3)."""
    return np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1).astype(np.int64)
