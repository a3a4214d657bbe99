"""Pictures into files: PNG, GIF and MP4, each written whole or not at all."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import repeat
from pathlib import Path

from spca.common.files import write_atomic
from spca.common.images import LAST_FRAME_S, gif, png
from spca.common.installation import pip_install
from spca.errors import ReportError
from spca.report.replay.pictures import Picture


def save_png(path: Path, picture: Picture) -> None:
    """Write a picture.

    Raises:
        SettingsError: the file cannot be written.
    """
    write_atomic(path, png(picture, optimize=True))


def save_gif(path: Path, pictures: Iterable[Picture], fps: float) -> None:
    """Write pictures of one size as an animation that repeats.

    Raises:
        SettingsError: the file cannot be written.
    """
    write_atomic(path, gif(pictures, 1 / fps))


def save_mp4(path: Path, pictures: Iterable[Picture], size: tuple[int, int], fps: float) -> None:
    """Write pictures of ``size`` (width and height, even) as H.264 video.

    Raises:
        ReportError: PyAV is missing.
        SettingsError: the file cannot be written.
    """
    try:
        import av
    except ImportError as error:
        raise ReportError(f"--mp4 needs PyAV: {pip_install('av')}") from error
    rate = Fraction(fps).limit_denominator(1000)
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=rate, options={"crf": "18", "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        for picture in _with_long_end(pictures, round(LAST_FRAME_S * fps)):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode())
    write_atomic(path, buffer.getvalue())


def _with_long_end(pictures: Iterable[Picture], more: int) -> Iterator[Picture]:
    picture = None
    for picture in pictures:
        yield picture
    if picture is not None:
        yield from repeat(picture, more)
