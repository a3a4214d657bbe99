"""Convert pictures to ROS 2 messages and back, plain or compressed (pure).

Plain colour may have any of the encodings that cameras use. Plain depth is in millimetres or metres. Compressed
pictures have the formats of ``compressed_image_transport``: JPEG for colour, PNG for depth.

Messages come from other programs. If a message is not a picture, ValueError is raised with a text of one line.
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

_RGB_CHANNELS: Final[Mapping[str, tuple[int, ...]]] = {
    "rgb8": (0, 1, 2),
    "bgr8": (2, 1, 0),
    "rgba8": (0, 1, 2),
    "bgra8": (2, 1, 0),
    "mono8": (0, 0, 0),
}
"""For each encoding, the channels that hold (red, green, blue)."""
_CHANNEL_COUNTS: Final = {"rgb8": 3, "bgr8": 3, "rgba8": 4, "bgra8": 4, "mono8": 1}
_DEPTH_ENCODINGS: Final = {"16UC1": ("u2", 0.001), "mono16": ("u2", 0.001), "32FC1": ("f4", 1.0)}
"""For each encoding, (numpy type of the numbers, metres per unit)."""


def image_message(time: float, rgb: NDArray[np.uint8]) -> Any:
    """Return the picture ``rgb``, uint8 (height, width, 3), as a ``sensor_msgs/Image``."""
    return _image(time, "rgb8", rgb, 3 * rgb.shape[1])


def depth_message(time: float, depth: NDArray[np.float32]) -> Any:
    """Return depth as a ``sensor_msgs/Image`` in millimetres (16UC1), the usual format of RGB-D cameras."""
    return _image(time, "16UC1", millimetres(depth), 2 * depth.shape[1])


def millimetres(depth: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return depth converted from metres to millimetres; 0 where it is unknown or beyond 65535 mm."""
    known = np.nan_to_num(depth, nan=0.0, posinf=0.0, neginf=0.0) * 1000.0
    rounded = np.rint(known.clip(0.0, 65535.0))
    return np.where(known <= 65535, rounded, 0).astype(np.uint16)


def image_from(message: Any) -> NDArray[np.uint8]:
    """Return the picture in a ``sensor_msgs/Image`` as red, green and blue: uint8 (height, width, 3)."""
    if message.encoding not in _RGB_CHANNELS:
        raise ValueError(f"a picture encoded as {message.encoding!r}: {', '.join(_RGB_CHANNELS)} can be read")
    pixels = _pixels(message, np.dtype(np.uint8), _CHANNEL_COUNTS[message.encoding])
    return np.ascontiguousarray(pixels[..., _RGB_CHANNELS[message.encoding]])


def depth_from(message: Any) -> NDArray[np.float32]:
    """Return the depth in a ``sensor_msgs/Image``, metres, as float32 (height, width); 0 where it is unknown."""
    number_type, metres_per_unit = depth_kind(message.encoding)
    byte_order = ">" if message.is_bigendian else "<"
    pixels = _pixels(message, np.dtype(byte_order + number_type), 1)[..., 0]
    return clear_invalid(pixels.astype(np.float32) * np.float32(metres_per_unit))


def depth_kind(encoding: str) -> tuple[str, float]:
    """Return (numpy type of the numbers, metres per unit) for an encoding of depth.

    Raises:
        ValueError: depth in this encoding cannot be read.
    """
    if encoding not in _DEPTH_ENCODINGS:
        raise ValueError(f"depth encoded as {encoding!r}: {', '.join(_DEPTH_ENCODINGS)} can be read")
    return _DEPTH_ENCODINGS[encoding]


def clear_invalid(depth: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return depth with 0 in place of numbers that are not finite or not positive."""
    is_valid = np.isfinite(depth) & (depth > 0)
    return np.where(is_valid, depth, np.float32(0))


def make_compressed_message(time: float, encoding: str, data: bytes) -> Any:
    """Return a ``sensor_msgs/CompressedImage``.

    ``data`` is the compressed file. ``encoding`` is the format that the message names.
    """
    return types.make(
        types.COMPRESSED_IMAGE,
        header=header(time, CAMERA_FRAME),
        format=encoding,
        data=np.frombuffer(data, dtype=np.uint8),
    )


def camera_message(time: float, width: int, height: int, focal: float) -> Any:
    """Return a ``sensor_msgs/CameraInfo`` of an ideal pinhole camera.

    ``focal`` is the focal length in pixels. The optical axis goes through the middle of the picture.
    """
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
    """Return the pixels without the padding of the rows: (height, width, channels) of type ``kind``.

    Raises:
        ValueError: the picture is empty, or the message has too few bytes.
    """
    height = message.height
    width = message.width
    step = message.step
    row_bytes = width * channels * kind.itemsize
    is_empty = not row_bytes * height
    if is_empty or step < row_bytes or len(message.data) < step * height:
        raise ValueError(f"a picture of {width} x {height} with {len(message.data)} bytes")

    data = np.asarray(message.data, dtype=np.uint8)[: step * height]
    rows = data.reshape(height, step)
    without_padding = np.ascontiguousarray(rows[:, :row_bytes])
    return without_padding.view(kind).reshape(height, width, channels)


JPEG: Final = "rgb8; jpeg compressed bgr8"
DEPTH: Final = "16UC1; compressedDepth png"
_INVERSE_ENCODING: Final = "32FC1"
_DEPTH_HEADER: Final = struct.Struct("<iff")
"""The header before the PNG: the kind and the two parameters a and b.

Only the encoding 32FC1 uses the parameters: the value of a pixel is then a / metres + b.
"""


def jpeg(rgb: NDArray[np.uint8], quality: int = 80) -> bytes:
    """Return a picture, uint8 (height, width, 3) in red, green and blue, as a JPEG."""
    bgr = rgb[..., ::-1]
    _, encoded = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return encoded.tobytes()


def picture(data: bytes) -> NDArray[np.uint8]:
    """Return the picture in a JPEG or PNG as red, green and blue: uint8 (height, width, 3).

    Raises:
        ValueError: ``data`` is not a picture.
    """
    return np.ascontiguousarray(_decode(data, colour=True)[..., ::-1])


def depth_png(depth: NDArray[np.float32]) -> bytes:
    """Return depth, metres (height, width), as the header of ``compressedDepth`` followed by a PNG of millimetres."""
    _, encoded = cv2.imencode(".png", millimetres(depth), [cv2.IMWRITE_PNG_COMPRESSION, 1])
    return _DEPTH_HEADER.pack(0, 0.0, 0.0) + encoded.tobytes()


def depth(data: bytes, encoding: str = DEPTH) -> NDArray[np.float32]:
    """Return the depth in compressed data, metres, as float32 (height, width); 0 where it is unknown.

    ``encoding`` is the message's format, such as :data:`DEPTH`.

    Raises:
        ValueError: ``data`` is not depth in a known encoding.
    """
    kind = encoding.partition(";")[0].strip()
    _, metres_per_unit = depth_kind(kind)
    pixels = _decode(data[_DEPTH_HEADER.size :], colour=False)
    if pixels.dtype != np.uint16 or pixels.ndim != 2:
        raise ValueError("depth that is not a PNG of 16 bits")
    if kind != _INVERSE_ENCODING:
        return pixels.astype(np.float32) * np.float32(metres_per_unit)

    _, a, b = _DEPTH_HEADER.unpack_from(data)
    with np.errstate(all="ignore"):
        inverse = pixels.astype(np.float32) - np.float32(b)
        metres = np.where(pixels > 0, np.float32(a) / inverse, 0)
        return clear_invalid(metres)


def _decode(data: bytes, colour: bool) -> NDArray[Any]:
    """Return the pixels of a JPEG or PNG: blue, green and red if ``colour`` is True, else as stored."""
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
