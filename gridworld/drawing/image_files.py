"""Pictures into files: PNG and GIF, each written whole or not at all. Pillow is imported on use."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gridworld.drawing.palettes import Reel
from gridworld.errors import GridworldError, missing_part
from gridworld.task.jsonfile import write_whole

LAST_FRAME_S: Final = 2.0
"""How much longer the last frame of an animation stays, in seconds."""

_SHORTEST_FRAME_MS: Final = 20
"""Programs that show GIFs take shorter frames for ten times as long."""
_LONGEST_FRAME_MS: Final = 655_350


def png_bytes(image: NDArray[np.uint8]) -> bytes:
    """An RGB picture as the content of a PNG file.

    Raises:
        GridworldError: Pillow is missing, or it is no array of uint8 of shape (height, width, 3).
    """
    buffer = io.BytesIO()
    _pillow().fromarray(_checked(image)).save(buffer, "PNG")
    return buffer.getvalue()


def save_png(path: str | os.PathLike[str], image: NDArray[np.uint8]) -> None:
    """Write an RGB picture.

    Raises:
        GridworldError: as :func:`png_bytes`, or the file cannot be written.
    """
    _write(path, png_bytes(image))


def save_gif(
    path: str | os.PathLike[str], images: Iterable[NDArray[np.uint8]], seconds_per_frame: float = 0.25
) -> None:
    """Write RGB pictures of one size as an animation that repeats; the last one stays ``LAST_FRAME_S`` longer.

    All share one palette: the colours themselves where there are at most 256, else the most frequent ones that are
    far enough from each other, so that areas keep their exact colours. Pictures that are equal and follow one another
    stay for 655 s at most, which is what the format can hold.

    Args:
        path: of the file.
        images: uint8, shape (height, width, 3); at least one.
        seconds_per_frame: up to 653; less than 0.02, which is the least that programs show, counts as 0.02.

    Raises:
        GridworldError: Pillow is missing, the pictures are no such ones, or the file cannot be written.
    """
    if not 0 < seconds_per_frame < 653:
        raise GridworldError(f"seconds_per_frame {seconds_per_frame!r:.80}: must be more than 0 and less than 653")
    pillow = _pillow()
    reel = Reel()
    for image in _of_one_size(images):
        reel.add(image)
    if not len(reel):
        raise GridworldError("an animation needs at least one picture")
    palette = reel.palette()

    def coloured(indices: NDArray[np.uint8]) -> Any:
        frame = pillow.fromarray(indices)
        frame.putpalette(palette.tobytes())
        return frame

    durations = _durations(reel.indexed(palette), max(round(1000 * seconds_per_frame), _SHORTEST_FRAME_MS))
    frames = map(coloured, reel.indexed(palette))
    buffer = io.BytesIO()
    timing = {"duration": durations, "loop": 0}
    # Without the palette as an argument Pillow writes it again for every frame.
    next(frames).save(buffer, "GIF", save_all=True, append_images=frames, palette=palette.tobytes(), **timing)
    _write(path, buffer.getvalue())


def _durations(frames: Iterable[NDArray[np.uint8]], step: int) -> list[int]:
    """Milliseconds of each frame; Pillow adds up those of equal ones, and fails if the sum is too long."""
    durations: list[int] = []
    before, left = None, 0
    for frame in frames:
        if before is None or not np.array_equal(frame, before):
            before, left = frame, _LONGEST_FRAME_MS
        durations.append(min(step, left))
        left -= durations[-1]
    durations[-1] += min(round(1000 * LAST_FRAME_S), left)
    return durations


def _of_one_size(images: Iterable[NDArray[np.uint8]]) -> Iterator[NDArray[np.uint8]]:
    shape = None
    for image in images:
        if _checked(image).shape != (shape or image.shape):
            raise GridworldError(f"pictures of one animation must have one size: {shape} and {image.shape}")
        shape = image.shape
        yield image


def _checked(image: Any) -> NDArray[np.uint8]:
    if not (isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3):
        raise GridworldError("a picture must be a numpy array of uint8 of shape (height, width, 3)")
    if not image.size:
        raise GridworldError("a picture must have at least one pixel")
    return image


def _pillow() -> ModuleType:
    try:
        from PIL import Image
    except ImportError as error:
        raise missing_part(error, "writing pictures") from error
    return Image


def _write(path: str | os.PathLike[str], data: bytes) -> None:
    try:
        write_whole(path, data)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else None
        raise GridworldError(f"cannot write {str(Path(path))!r}: {reason or error}") from None
