"""Pictures into files: PNG and GIF, each written whole or not at all. Pillow is imported on use."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gridworld.errors import GridworldError, missing_part
from spca.common.files import replace_file
from spca.common.images import gif, png


def png_bytes(image: NDArray[np.uint8]) -> bytes:
    """Encode an RGB picture as the content of a PNG file.

    Raises:
        GridworldError: Pillow is missing, or it is no array of uint8 of shape (height, width, 3).
    """
    with _pillow():
        return png(_require_picture(image))


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

    Colours and timing are those of :func:`spca.common.images.gif`.

    Args:
        path: of the file.
        images: uint8, shape (height, width, 3); at least one.
        seconds_per_frame: up to 653; less than 0.02, which is the least that programs show, counts as 0.02.

    Raises:
        GridworldError: Pillow is missing, the pictures are no such ones, or the file cannot be written.
    """
    if not 0 < seconds_per_frame < 653:
        raise GridworldError(f"seconds_per_frame {seconds_per_frame!r:.80}: must be more than 0 and less than 653")
    try:
        with _pillow():
            data = gif(_require_one_size(images), seconds_per_frame)
    except ValueError as error:
        raise GridworldError(str(error)) from error
    _write(path, data)


def _require_one_size(images: Iterable[NDArray[np.uint8]]) -> Iterator[NDArray[np.uint8]]:
    shape = None
    for image in images:
        if _require_picture(image).shape != (shape or image.shape):
            raise GridworldError(f"pictures of one animation must have one size: {shape} and {image.shape}")
        shape = image.shape
        yield image


def _require_picture(image: Any) -> NDArray[np.uint8]:
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        raise GridworldError("a picture must be a numpy array of uint8 of shape (height, width, 3)")
    if not image.size:
        raise GridworldError("a picture must have at least one pixel")
    return image


@contextmanager
def _pillow() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise missing_part(error, "writing pictures") from error


def _write(path: str | os.PathLike[str], data: bytes) -> None:
    try:
        replace_file(Path(path), data)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else None
        raise GridworldError(f"cannot write {str(Path(path))!r}: {reason or error}") from error
