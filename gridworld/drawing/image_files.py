"""Writing of PNG and GIF files. An interrupted write leaves no partial file. Pillow is imported only when used."""

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
    """Return an RGB picture, encoded as the content of a PNG file.

    Raises:
        GridworldError: Pillow is missing, or the image is not a uint8 array of shape (height, width, 3).
    """
    with _translate_missing_pillow():
        return png(_require_picture(image))


def save_png(path: str | os.PathLike[str], image: NDArray[np.uint8]) -> None:
    """Write an RGB picture to a PNG file.

    Raises:
        GridworldError: Pillow is missing, the image is not a uint8 array of shape (height, width, 3), or the file
            cannot be written.
    """
    _write(path, png_bytes(image))


def save_gif(
    path: str | os.PathLike[str], images: Iterable[NDArray[np.uint8]], seconds_per_frame: float = 0.25
) -> None:
    """Write RGB pictures of one size as a repeating GIF; the last picture stays ``LAST_FRAME_S`` seconds longer.

    :func:`spca.common.images.gif` chooses the colours and the timing.

    Args:
        path: path of the file.
        images: at least one uint8 array of shape (height, width, 3).
        seconds_per_frame: more than 0 and less than 653. Values below 0.02 count as 0.02, because programs show
            shorter frames too slowly.

    Raises:
        GridworldError: Pillow is missing, the pictures differ in size or type, or the file cannot be written.
    """
    if not 0 < seconds_per_frame < 653:
        raise GridworldError(f"seconds_per_frame {seconds_per_frame!r:.80}: must be more than 0 and less than 653")
    try:
        with _translate_missing_pillow():
            data = gif(_require_one_size(images), seconds_per_frame)
    except ValueError as error:
        raise GridworldError(str(error)) from error
    _write(path, data)


def _require_one_size(images: Iterable[NDArray[np.uint8]]) -> Iterator[NDArray[np.uint8]]:
    """Yield the pictures; raise a :class:`GridworldError` at the first picture whose size differs from the earlier
    pictures.
    """
    shape = None
    for image in images:
        _require_picture(image)
        if shape is not None and image.shape != shape:
            raise GridworldError(f"pictures of one animation must have one size: {shape} and {image.shape}")
        shape = image.shape
        yield image


def _require_picture(image: Any) -> NDArray[np.uint8]:
    """Return an RGB picture unchanged; raise a :class:`GridworldError` for anything else."""
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or not _is_rgb_shape(image.shape):
        raise GridworldError("a picture must be a numpy array of uint8 of shape (height, width, 3)")
    if not image.size:
        raise GridworldError("a picture must have at least one pixel")
    return image


def _is_rgb_shape(shape: tuple[int, ...]) -> bool:
    return len(shape) == 3 and shape[2] == 3


@contextmanager
def _translate_missing_pillow() -> Iterator[None]:
    """Raise a :class:`MissingPartError` if Pillow is not installed."""
    try:
        yield
    except ImportError as error:
        raise missing_part(error, "writing pictures") from error


def _write(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace a file; raise a :class:`GridworldError` if the file cannot be written."""
    try:
        replace_file(Path(path), data)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) else None
        raise GridworldError(f"cannot write {str(Path(path))!r}: {reason or error}") from error
