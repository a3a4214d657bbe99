"""Pictures as JPEG and depth as PNG, the way ``compressed_image_transport`` writes them."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robot_bridge.ros.images import depth_kind, measured, millimetres

JPEG: Final = "rgb8; jpeg compressed bgr8"
DEPTH: Final = "16UC1; compressedDepth png"
_INVERSE: Final = "32FC1"
_DEPTH_HEADER: Final = struct.Struct("<iff")
"""Kind and two parameters, a and b, that only floating-point depth uses: there a pixel is a / metres + b."""


def jpeg(rgb: NDArray[np.uint8], quality: int = 80) -> bytes:
    """uint8 (height, width, 3) as a JPEG."""
    import cv2

    return cv2.imencode(".jpg", rgb[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()


def picture(data: bytes) -> NDArray[np.uint8]:
    """Red, green, blue of a JPEG or PNG.

    Raises:
        ValueError: it is neither.
    """
    return np.ascontiguousarray(_decoded(data, colour=True)[..., ::-1])


def depth_png(depth: NDArray[np.float32]) -> bytes:
    """Metres (height, width) as millimetres."""
    import cv2

    encoded = cv2.imencode(".png", millimetres(depth), [cv2.IMWRITE_PNG_COMPRESSION, 1])[1]
    return _DEPTH_HEADER.pack(0, 0.0, 0.0) + encoded.tobytes()


def depth(data: bytes, encoding: str = DEPTH) -> NDArray[np.float32]:
    """Metres again, 0 where nothing was measured: float32 (height, width). ``encoding`` is that of the message.

    Raises:
        ValueError: it is no such picture.
    """
    kind = encoding.partition(";")[0].strip()
    _, metres = depth_kind(kind)
    pixels = _decoded(data[_DEPTH_HEADER.size :], colour=False)
    if pixels.dtype != np.uint16 or pixels.ndim != 2:
        raise ValueError("depth that is not a PNG of 16 bits")
    if kind != _INVERSE:
        return pixels.astype(np.float32) * np.float32(metres)
    _, a, b = _DEPTH_HEADER.unpack_from(data)
    with np.errstate(all="ignore"):
        return measured(np.where(pixels > 0, np.float32(a) / (pixels.astype(np.float32) - np.float32(b)), 0))


def _decoded(data: bytes, colour: bool) -> NDArray[Any]:
    import cv2

    how = cv2.IMREAD_COLOR if colour else cv2.IMREAD_UNCHANGED
    try:
        found: NDArray[Any] | None = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), how)
    except cv2.error:
        found = None
    if found is None:
        raise ValueError(f"{len(data)} bytes that are no picture")
    return found
