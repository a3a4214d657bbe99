"""The map as a picture for people: what is known, the way driven, frontiers, rooms and discoveries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robot_bridge.contracts import Frontier, Pose

Picture = NDArray[np.uint8]
"""uint8 (height, width, 3), RGB."""

_UNKNOWN, _FREE, _OCCUPIED = (206, 210, 214), (255, 255, 255), (38, 50, 56)
_WAY, _START, _ROBOT = (30, 136, 229), (67, 160, 71), (229, 57, 53)
_FRONTIER, _PLACE = (251, 140, 0), (142, 36, 170)
_MARGIN: Final = 8
_LARGEST: Final = 1600
"""Longest side in pixels."""


class MapPicture:
    """A canvas in the map frame.

    Args:
        codes: int8 (rows, columns), -1 unknown, 0 free to 100 occupied, row 0 at the lowest y.
        resolution: metres a cell.
        x, y: of the lower left corner, metres.
    """

    def __init__(self, codes: NDArray[np.int8], resolution: float, x: float, y: float) -> None:
        rows, columns = _known(codes)
        shown = codes[rows, columns]
        self._left, self._low = x + columns.start * resolution, y + rows.start * resolution
        self._scale = max(1, min(6, _LARGEST // max(1, *shown.shape)))
        self._per_metre = self._scale / resolution
        colours = np.full((*shown.shape, 3), _UNKNOWN, dtype=np.uint8)
        colours[(shown >= 0) & (shown < 50)] = _FREE
        colours[shown >= 50] = _OCCUPIED
        larger = colours[::-1].repeat(self._scale, axis=0).repeat(self._scale, axis=1)
        self._canvas: Picture = np.ascontiguousarray(larger, dtype=np.uint8)

    def picture(self) -> Picture:
        """What was drawn so far."""
        return self._canvas

    def way(self, poses: Sequence[Pose]) -> None:
        """The way driven, its start and the robot at its end."""
        import cv2

        points = np.array([self._pixel(pose.x, pose.y) for pose in poses], dtype=np.int32)
        if len(points) == 0:
            return
        cv2.polylines(self._canvas, [points], False, _WAY, 2, cv2.LINE_AA)
        cv2.circle(self._canvas, points[0].tolist(), 6, _START, -1, cv2.LINE_AA)
        tip = self._pixel(*poses[-1].ahead(0.4))
        cv2.arrowedLine(self._canvas, points[-1].tolist(), tip, _ROBOT, 3, cv2.LINE_AA, tipLength=0.5)

    def frontiers(self, frontiers: Iterable[Frontier]) -> None:
        """Where the unknown begins, with the numbers that the model is told."""
        for each in frontiers:
            self._mark(each.x, each.y, str(each.id), _FRONTIER)

    def places(self, places: Iterable[tuple[float, float, str]]) -> None:
        """Rooms and discoveries: x, y and a label."""
        for x, y, label in places:
            self._mark(x, y, label, _PLACE)

    def _mark(self, x: float, y: float, label: str, colour: tuple[int, int, int]) -> None:
        import cv2

        place = self._pixel(x, y)
        cv2.circle(self._canvas, place, 5, colour, -1, cv2.LINE_AA)
        # OpenCV's fonts hold ASCII only.
        text = "".join(c if " " <= c <= "~" else "?" for c in label)[:24]
        (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 0.5, 1)
        left = max(_MARGIN, min(place[0] + 8, self._canvas.shape[1] - width - _MARGIN))
        low = max(height + _MARGIN, min(place[1] + 4, self._canvas.shape[0] - _MARGIN))
        cv2.putText(self._canvas, text, (left, low), cv2.FONT_HERSHEY_SIMPLEX, 0.5, _FREE, 4, cv2.LINE_AA)
        cv2.putText(self._canvas, text, (left, low), cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour, 1, cv2.LINE_AA)

    def _pixel(self, x: float, y: float) -> tuple[int, int]:
        across = round((x - self._left) * self._per_metre)
        down = self._canvas.shape[0] - 1 - round((y - self._low) * self._per_metre)
        return across, down


def _known(codes: NDArray[np.int8]) -> tuple[slice, slice]:
    """Rows and columns that hold everything known, with a margin; all of them where nothing is."""
    known = codes >= 0
    if not known.any():
        return slice(0, codes.shape[0]), slice(0, codes.shape[1])
    rows, columns = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
    return _span(rows, codes.shape[0]), _span(columns, codes.shape[1])


def _span(found: NDArray[Any], size: int) -> slice:
    return slice(max(0, int(found[0]) - _MARGIN), min(size, int(found[-1]) + 1 + _MARGIN))


def png(picture: Picture) -> bytes:
    """A picture as a PNG file."""
    import cv2

    done, data = cv2.imencode(".png", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
    assert done, "a picture in memory can be encoded"  # noqa: S101
    return bytes(data)
