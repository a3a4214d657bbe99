"""Pictures as ROS 2 messages and back, plain or compressed. Pure.

Colour comes in the encodings that cameras use, or as JPEG; depth in millimetres or metres, or as PNG, the way
``compressed_image_transport`` writes them. Messages come from elsewhere: whatever cannot be a picture raises
ValueError, in one line.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from robot_bridge.ros import types
from robot_bridge.ros.messages import CAMERA_FRAME, header

_CHANNELS: Final[Mapping[str, tuple[int, ...]]] = {
    "rgb8": (0, 1, 2),
    "bgr8": (2, 1, 0),
    "rgba8": (0, 1, 2),
    "bgra8": (2, 1, 0),
    "mono8": (0, 0, 0),
}
"""Of an encoding: where red, green and blue are."""
_WIDTHS: Final = {"rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4, "mono8": 1}
_DEPTHS: Final = {"16UC1": ("u2", 0.001), "mono16": ("u2", 0.001), "32FC1": ("f4", 1.0)}
"""Of an encoding: its numbers, and how many metres one of them is."""


def image_message(time: float, rgb: NDArray[np.uint8]) -> Any:
    """Return a ``sensor_msgs/Image`` of uint8 (height, width, 3)."""
    return _image(time, "rgb8", rgb, 3 * rgb.shape[1])


def depth_message(time: float, depth: NDArray[np.float32]) -> Any:
    """Return depth in millimetres, as RGB-D cameras send it."""
    return _image(time, "16UC1", millimetres(depth), 2 * depth.shape[1])


def millimetres(depth: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return depth in millimetres, 0 where nothing was measured or it is too far to be told."""
    known = np.nan_to_num(depth, nan=0.0, posinf=0.0, neginf=0.0) * 1000.0
    rounded = np.rint(known.clip(0.0, 65535.0))
    return np.where(known <= 65535, rounded, 0).astype(np.uint16)


def image_from(message: Any) -> NDArray[np.uint8]:
    """Return red, green, blue: uint8 (height, width, 3)."""
    if message.encoding not in _CHANNELS:
        raise ValueError(f"a picture encoded as {message.encoding!r}: {', '.join(_CHANNELS)} can be read")
    pixels = _pixels(message, np.dtype(np.uint8), _WIDTHS[message.encoding])
    return np.ascontiguousarray(pixels[..., _CHANNELS[message.encoding]])


def depth_from(message: Any) -> NDArray[np.float32]:
    """Return metres, 0 where nothing was measured: float32 (height, width)."""
    numbers, metres = depth_kind(message.encoding)
    order = ">" if message.is_bigendian else "<"
    pixels = _pixels(message, np.dtype(order + numbers), 1)[..., 0]
    return clear_invalid(pixels.astype(np.float32) * np.float32(metres))


def depth_kind(encoding: str) -> tuple[str, float]:
    """Return the numbers that depth is encoded with, as numpy names them, and how many metres one of them is.

    Raises:
        ValueError: depth cannot be read from such a picture.
    """
    if encoding not in _DEPTHS:
        raise ValueError(f"depth encoded as {encoding!r}: {', '.join(_DEPTHS)} can be read")
    return _DEPTHS[encoding]


def clear_invalid(depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return depth with 0 in place of what is no distance."""
    is_valid = np.isfinite(depth) & (depth > 0)
    return np.where(is_valid, depth, np.float32(0))


def make_compressed_message(time: float, encoding: str, data: bytes) -> Any:
    """Return a ``sensor_msgs/CompressedImage``; ``data`` is the file, ``encoding`` says of what kind."""
    return types.make(
        types.COMPRESSED_IMAGE,
        header=header(time, CAMERA_FRAME),
        format=encoding,
        data=np.frombuffer(data, dtype=np.uint8),
    )


def camera_message(time: float, width: int, height: int, focal: float) -> Any:
    """Return a ``sensor_msgs/CameraInfo`` of an ideal pinhole with its axis through the middle."""
    x = width / 2
    y = height / 2
    region = types.make("sensor_msgs/msg/RegionOfInterest", x_offset=0, y_offset=0, height=0, width=0, do_rectify=False)
    return types.make(
        types.CAMERA_INFO,
        header=header(time, CAMERA_FRAME),
        height=height,
        width=width,
        distortion_model="plumb_bob",
        d=np.zeros(5),
        k=np.array([focal, 0, x, 0, focal, y, 0, 0, 1]),
        r=np.eye(3).ravel(),
        p=np.array([focal, 0, x, 0, 0, focal, y, 0, 0, 0, 1, 0]),
        binning_x=0,
        binning_y=0,
        roi=region,
    )


def _image(time: float, encoding: str, pixels: NDArray[Any], step: int) -> Any:
    return types.make(
        types.IMAGE,
        header=header(time, CAMERA_FRAME),
        height=pixels.shape[0],
        width=pixels.shape[1],
        encoding=encoding,
        is_bigendian=0,
        step=step,
        data=np.ascontiguousarray(pixels).view(np.uint8).ravel(),
    )


def _pixels(message: Any, kind: np.dtype[Any], channels: int) -> NDArray[Any]:
    """Return the pixels without the padding of their rows: (height, width, channels) of ``kind``."""
    height = message.height
    width = message.width
    step = message.step
    row_bytes = width * channels * kind.itemsize
    is_empty = not row_bytes * height
    if is_empty or step < row_bytes or len(message.data) < step * height:
        raise ValueError(f"a picture of {width} x {height} with {len(message.data)} bytes")

    data = np.asarray(message.data, dtype=np.uint8)[: step * height]
    rows = data.reshape(height, step)
    used = np.ascontiguousarray(rows[:, :row_bytes])
    return used.view(kind).reshape(height, width, channels)


JPEG: Final = "rgb8; jpeg compressed bgr8"
DEPTH: Final = "16UC1; compressedDepth png"
_INVERSE: Final = "32FC1"
_DEPTH_HEADER: Final = struct.Struct("<iff")
"""Kind and two parameters, a and b, that only floating-point depth uses: there a pixel is a / metres + b."""


def jpeg(rgb: NDArray[np.uint8], quality: int = 80) -> bytes:
    """Return uint8 (height, width, 3) as a JPEG."""
    bgr = rgb[..., ::-1]
    _, encoded = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return encoded.tobytes()


def picture(data: bytes) -> NDArray[np.uint8]:
    """Return red, green, blue of a JPEG or PNG.

    Raises:
        ValueError: it is neither.
    """
    return np.ascontiguousarray(_decode(data, colour=True)[..., ::-1])


def depth_png(depth: NDArray[np.float32]) -> bytes:
    """Return metres (height, width) as a PNG of millimetres."""
    _, encoded = cv2.imencode(".png", millimetres(depth), [cv2.IMWRITE_PNG_COMPRESSION, 1])
    return _DEPTH_HEADER.pack(0, 0.0, 0.0) + encoded.tobytes()


def depth(data: bytes, encoding: str = DEPTH) -> NDArray[np.float32]:
    """Return metres again, 0 where nothing was measured: float32 (height, width).

    ``encoding`` is that of the message.

    Raises:
        ValueError: it is no such picture.
    """
    kind = encoding.partition(";")[0].strip()
    _, metres = depth_kind(kind)
    pixels = _decode(data[_DEPTH_HEADER.size :], colour=False)
    if pixels.dtype != np.uint16 or pixels.ndim != 2:
        raise ValueError("depth that is not a PNG of 16 bits")
    if kind != _INVERSE:
        return pixels.astype(np.float32) * np.float32(metres)

    _, a, b = _DEPTH_HEADER.unpack_from(data)
    with np.errstate(all="ignore"):
        inverse = pixels.astype(np.float32) - np.float32(b)
        found = np.where(pixels > 0, np.float32(a) / inverse, 0)
        return clear_invalid(found)


def _decode(data: bytes, colour: bool) -> NDArray[Any]:
    flags = cv2.IMREAD_COLOR if colour else cv2.IMREAD_UNCHANGED
    raw = np.frombuffer(data, dtype=np.uint8)
    pixels: NDArray[Any] | None
    try:
        pixels = cv2.imdecode(raw, flags)
    except cv2.error:
        pixels = None
    if pixels is None:
        raise ValueError(f"{len(data)} bytes that are no picture")
    return pixels
