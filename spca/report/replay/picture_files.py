"""Pictures into files: PNG, GIF and MP4, each written whole or not at all."""

from __future__ import annotations

import io
import shlex
import sys
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from spca.common.files import replace_file
from spca.errors import ReportError
from spca.report.replay.pictures import Picture

if TYPE_CHECKING:
    from PIL import Image

LAST_FRAME_S: Final = 2.0
"""How much longer the last frame of an animation stays."""

_SHORTEST_GIF_FRAME_MS: Final = 20
"""Programs that show GIFs take shorter frames for ten times as long."""


def save_png(path: Path, picture: Picture) -> None:
    """Write a picture.

    Raises:
        ReportError: the file cannot be written.
    """
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG", optimize=True)
    _write(path, buffer.getvalue())


def save_gif(path: Path, pictures: Iterable[Picture], count: int, palette: bytes, fps: float) -> None:
    """Write ``count`` pictures of one size as an animation that repeats.

    Raises:
        ReportError: the file cannot be written.
    """
    reduced = (_with_palette(indices, palette) for indices in _reduced(pictures, palette))
    step = max(round(1000 / fps), _SHORTEST_GIF_FRAME_MS)
    durations = [step] * (count - 1) + [step + round(1000 * LAST_FRAME_S)]
    buffer = io.BytesIO()
    next(reduced).save(buffer, "GIF", save_all=True, append_images=reduced, duration=durations, loop=0, optimize=False)
    _write(path, buffer.getvalue())


def save_mp4(path: Path, pictures: Iterable[Picture], size: tuple[int, int], fps: float) -> None:
    """Write pictures of ``size`` (width and height, even) as H.264 video.

    Raises:
        ReportError: PyAV is missing, or the file cannot be written.
    """
    try:
        import av
    except ImportError as error:
        raise ReportError(f"--mp4 needs PyAV: {shlex.quote(sys.executable)} -m pip install av") from error
    rate = Fraction(fps).limit_denominator(1000)
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": "18", "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for picture in _with_long_end(pictures, round(LAST_FRAME_S * fps)):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    _write(path, buffer.getvalue())


def _with_palette(indices: NDArray[np.uint8], palette: bytes) -> Image.Image:
    from PIL import Image

    image = Image.fromarray(indices)
    image.putpalette(palette)
    return image


def _reduced(pictures: Iterable[Picture], palette: bytes) -> Iterator[NDArray[np.uint8]]:
    """Pictures as indices of the nearest colours; Pillow's own search is coarse and would tint greys."""
    colours = np.frombuffer(palette, dtype=np.uint8).reshape(-1, 3).astype(np.int32)
    nearest = np.full(1 << 24, -1, dtype=np.int16)
    for picture in pictures:
        red, green, blue = np.moveaxis(picture.astype(np.int32), 2, 0)
        packed = red << 16 | green << 8 | blue
        for colour in np.unique(packed[nearest[packed] < 0]):
            distances = np.square(colours - (colour >> 16, colour >> 8 & 255, colour & 255)).sum(axis=1)
            nearest[colour] = distances.argmin()
        yield nearest[packed].astype(np.uint8)


def _with_long_end(pictures: Iterable[Picture], more: int) -> Iterator[Picture]:
    picture = None
    for picture in pictures:
        yield picture
    if picture is not None:
        yield from repeat(picture, more)


def _write(path: Path, data: bytes) -> None:
    """Replace a file by the whole of ``data``, or leave it as it is."""
    try:
        replace_file(path, data)
    except OSError as error:
        raise ReportError(f"cannot write {path}: {error.strerror or error}") from error
