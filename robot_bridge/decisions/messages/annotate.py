"""Annotate the camera image for a model: write depths into the image, and draw a compass with the heading (pure).

A model reads distances better than it guesses distances. "--" means that the camera measured no depth.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from typing import Final

import cv2
import numpy as np
from numpy.typing import NDArray

WIDTH: Final = 640
HEIGHT: Final = 480
QUALITY: Final = 80
POINTS: Final = ((320, 240), (160, 240), (480, 240), (320, 400), (160, 120), (480, 120), (320, 100))
"""Pixels (column, row) of an image of 640x480 at which depth is sampled."""
_REACH: Final = 2
"""Pixels on each side of a sample, which make a window of 5x5 pixels."""
_COMPASS: Final = (590, 50)
"""Middle of the compass: column and row."""
_ARROW: Final = 32
"""Half the length of the compass needle, in pixels."""
_WHITE: Final = (255, 255, 255)
_BLACK: Final = (0, 0, 0)
CARDINALS: Final = ("E", "NE", "N", "NW", "W", "SW", "S", "SE")
"""Compass points at 0, 45, 90, ... degrees counter-clockwise from east."""


@dataclass(frozen=True, slots=True)
class DepthPoint:
    """Depth at a pixel of the 640x480 image; ``metres`` is None if no depth was measured there."""

    column: int
    row: int
    metres: float | None

    def __str__(self) -> str:
        return "--" if self.metres is None else f"{self.metres:.1f}m"


def cardinal(heading_deg: float) -> str:
    """Return the nearest of the eight compass points; 0 degrees is east, 90 north."""
    return CARDINALS[round(heading_deg / 45) % len(CARDINALS)]


def sample_depth(depth: NDArray[np.float32] | None) -> tuple[DepthPoint, ...]:
    """Return the depths at ``POINTS``, each the median of the valid depths in a window of 5x5 pixels.

    ``depth`` is (height, width) of any size, in metres.
    """
    points = []
    for column, row in POINTS:
        points.append(DepthPoint(column, row, _median_depth(depth, column, row)))
    return tuple(points)


def _median_depth(depth: NDArray[np.float32] | None, column: int, row: int) -> float | None:
    """Return the median of the valid depths around a pixel of the 640x480 image, or None if there are none."""
    if depth is None or depth.ndim != 2 or not depth.size:
        return None
    height, width = depth.shape
    u = column * width // WIDTH
    v = row * height // HEIGHT
    rows = slice(max(v - _REACH, 0), v + _REACH + 1)
    columns = slice(max(u - _REACH, 0), u + _REACH + 1)
    window = depth[rows, columns]
    valid = window[np.isfinite(window) & (window > 0)]
    return float(np.median(valid)) if valid.size else None


def is_image(image: NDArray[np.uint8] | None) -> bool:
    """Return whether ``image`` is a picture: uint8 (height, width, 3) and not empty."""
    if image is None or image.dtype != np.uint8:
        return False
    return image.ndim == 3 and image.shape[2] == 3 and image.size > 0


def draw_annotations(
    image: NDArray[np.uint8], depth_points: Sequence[DepthPoint], heading_deg: float, heading_cardinal: str = ""
) -> NDArray[np.uint8]:
    """Return a 640x480 copy of an RGB image of any size with depths and, at the top right, a compass; north is up."""
    drawn = np.ascontiguousarray(image)
    if drawn.shape[:2] != (HEIGHT, WIDTH):
        interpolation = cv2.INTER_AREA if drawn.shape[0] > HEIGHT else cv2.INTER_LINEAR
        resized = cv2.resize(drawn, (WIDTH, HEIGHT), interpolation=interpolation)
        drawn = np.asarray(resized, np.uint8)
    elif drawn is image:  # ascontiguousarray returns a contiguous array itself
        drawn = image.copy()

    for point in depth_points:
        _write(drawn, str(point), point.column, point.row)
        cv2.circle(drawn, (point.column, point.row), 2, _WHITE, -1)
    _draw_compass(drawn, heading_deg, heading_cardinal or cardinal(heading_deg))
    return drawn


def _draw_compass(image: NDArray[np.uint8], heading_deg: float, direction: str) -> None:
    """Draw an arrow that points along the heading, with north up, and the heading in words and degrees below."""
    dx = _ARROW * cos(radians(heading_deg))
    dy = -_ARROW * sin(radians(heading_deg))
    x, y = _COMPASS
    tail = (round(x - dx), round(y - dy))
    tip = (round(x + dx), round(y + dy))
    for colour, thickness in ((_BLACK, 5), (_WHITE, 2)):
        cv2.arrowedLine(image, tail, tip, colour, thickness, cv2.LINE_AA, tipLength=0.35)
    label = f"{direction} {round(heading_deg) % 360:03d}"
    _write(image, label, x, y + _ARROW + 28)


def _write(image: NDArray[np.uint8], text: str, column: int, row: int) -> None:
    """Write text in white with a black outline, centred above a pixel."""
    font = cv2.FONT_HERSHEY_SIMPLEX
    scale = 0.6
    (width, _), _ = cv2.getTextSize(text, font, scale, 2)
    left = min(column - width // 2, WIDTH - width - 2)
    place = (left, row - 8)
    for colour, thickness in ((_BLACK, 4), (_WHITE, 1)):
        cv2.putText(image, text, place, font, scale, colour, thickness, cv2.LINE_AA)


def annotate_image(
    image: NDArray[np.uint8], depth_points: Sequence[DepthPoint], heading_deg: float, heading_cardinal: str = ""
) -> str:
    """Return the result of :func:`draw_annotations` as a JPEG of quality 80 in base64."""
    drawn = draw_annotations(image, depth_points, heading_deg, heading_cardinal)
    bgr = cv2.cvtColor(drawn, cv2.COLOR_RGB2BGR)
    _, data = cv2.imencode(".jpg", bgr, (cv2.IMWRITE_JPEG_QUALITY, QUALITY))
    return base64.b64encode(data.tobytes()).decode("ascii")
