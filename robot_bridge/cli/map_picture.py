"""The map as a picture for people: what is known, the way driven, frontiers, rooms and discoveries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from math import cos, sin
from typing import Any, Final

import cv2
import numpy as np
from numpy.typing import NDArray

from robot_bridge.contracts import Frontier, Pose

Picture = NDArray[np.uint8]
"""uint8 (height, width, 3), RGB."""
Colour = tuple[int, int, int]
Pixel = tuple[int, int]

_UNKNOWN = (206, 210, 214)
_FREE = (255, 255, 255)
_OCCUPIED = (38, 50, 56)
_WAY = (30, 136, 229)
_START = (67, 160, 71)
_ROBOT = (229, 57, 53)
_FRONTIER = (230, 112, 0)
_PLACE = (142, 36, 170)
_MARGIN: Final = 8
"""Unknown cells around what is known."""
_LARGEST: Final = 1600
"""Longest side in pixels."""
_ARROW_M: Final = 0.45
_BARS_M: Final = (5, 2, 1)
"""Lengths of the scale's bar: the longest that takes no more than a quarter of the width."""


class MapPicture:
    """A canvas in the map frame.

    Args:
        codes: int8 (rows, columns), -1 unknown, 0 free to 100 occupied, row 0 at the lowest y.
        resolution: metres a cell.
        x, y: of the lower left corner, metres.
        size: of the longest side, pixels.
        bold: how many times as thick lines are as in a picture of the largest size; 0: in proportion to this one's.
    """

    def __init__(
        self, codes: NDArray[np.int8], resolution: float, x: float, y: float, *, size: int = _LARGEST, bold: float = 0.0
    ) -> None:
        shown, row, column = _known(codes)
        self._left = x + column * resolution
        self._low = y + row * resolution
        # Whole numbers as far as they fit: cells are squares with sharp edges.
        fitting = size / max(1, *shown.shape)
        self._scale = min(8, int(fitting)) if fitting >= 1 else fitting
        self._per_metre = self._scale / resolution
        colours = np.full((*shown.shape, 3), _UNKNOWN, dtype=np.uint8)
        colours[(shown >= 0) & (shown < 50)] = _FREE
        colours[shown >= 50] = _OCCUPIED
        width, height = (max(1, round(n * self._scale)) for n in (shown.shape[1], shown.shape[0]))
        way = cv2.INTER_AREA if self._scale < 1 else cv2.INTER_NEAREST
        self._canvas: Picture = np.ascontiguousarray(cv2.resize(colours[::-1], (width, height), interpolation=way))
        self._unit = bold or max(0.5, max(width, height) / _LARGEST)
        self._legend: list[tuple[str, Callable[[Picture, Pixel], None]]] = []

    def picture(self) -> Picture:
        """What was drawn so far."""
        return self._canvas

    def sheet(self) -> Picture:
        """What was drawn so far, with a scale and a legend below."""
        row = round(44 * self._unit)
        pad = round(16 * self._unit)
        entries: list[tuple[int, str, Callable[[Picture, Pixel], None]]] = [self._scale_bar()]
        entries += [(round(34 * self._unit), text, draw) for text, draw in self._legend]
        wide = [mark + 2 * pad + self._text_size(text)[0] for mark, text, _ in entries]
        width = max(self._canvas.shape[1], max(wide) + 2 * pad)
        places = []
        x = pad
        y = 0
        for each in wide:
            if x > pad and x + each > width - pad:
                x = pad
                y = y + row
            places.append((x, y))
            x += each
        strip: Picture = np.full((y + row + pad, width, 3), 255, dtype=np.uint8)
        for (mark, text, draw), (left, top) in zip(entries, places, strict=True):
            middle = top + pad // 2 + row // 2
            draw(strip, (left + mark // 2, middle))
            self._write(strip, text, (left + mark + pad // 2, middle + self._text_size(text)[1] // 2), _OCCUPIED)
        above: Picture = np.full((self._canvas.shape[0], width, 3), _UNKNOWN, dtype=np.uint8)
        above[:, : self._canvas.shape[1]] = self._canvas
        return np.vstack((above, strip))

    def way(self, poses: Sequence[Pose]) -> None:
        """The way driven, its start and the robot at its end."""
        if not poses:
            return
        points = np.array([self._pixel(pose.x, pose.y) for pose in poses], dtype=np.int32)
        cv2.polylines(self._canvas, [points], False, _WAY, self._line(3), cv2.LINE_AA)
        self._dot(self._canvas, points[0].tolist(), colour=_START)
        length = max(_ARROW_M * self._per_metre, 34 * self._unit)
        self._arrow(self._canvas, points[-1].tolist(), poses[-1].heading, length)
        self._legend += [
            ("start", partial(self._dot, colour=_START)),
            ("way", self._dash),
            ("robot", self._small_arrow),
        ]

    def frontiers(self, frontiers: Iterable[Frontier]) -> None:
        """Where the unknown begins, with the numbers that the model is told."""
        self._mark([(each.x, each.y, str(each.id)) for each in frontiers], _FRONTIER, "frontier that is left")

    def places(self, places: Iterable[tuple[float, float, str]]) -> None:
        """Rooms and discoveries: x, y and a label."""
        self._mark(list(places), _PLACE, "room, where it was entered")

    def _mark(self, places: Sequence[tuple[float, float, str]], colour: Colour, legend: str) -> None:
        pixels = [self._pixel(x, y) for x, y, _ in places]
        for pixel in pixels:
            self._dot(self._canvas, pixel, colour=colour)
        for pixel, (_, _, label) in zip(pixels, places, strict=True):
            self._label(pixel, label, colour)
        if places:
            self._legend.append((legend, partial(self._dot, colour=colour)))

    def _label(self, place: Pixel, label: str, colour: Colour) -> None:
        """Beside its place, where it hides least."""
        # OpenCV's fonts hold ASCII only.
        text = "".join(c if " " <= c <= "~" else "?" for c in label)[:24]
        width, height = self._text_size(text)
        gap = self._line(12)
        boxes = []
        for across, down in product((1, -1, 0), (0, -1, 1)):
            left = place[0] + across * gap - (width if across < 0 else width // 2 if across == 0 else 0)
            top = place[1] + down * (gap + height // 2) - height // 2
            if (across, down) != (0, 0):
                boxes.append(self._inside(left, top, width, height))
        left, top = min(boxes, key=lambda box: self._hidden(box, width, height))
        corners = (left - 3, top - 3), (left + width + 3, top + height + 3)
        cv2.rectangle(self._canvas, *corners, _FREE, -1)
        cv2.rectangle(self._canvas, *corners, colour, 1, cv2.LINE_AA)
        self._write(self._canvas, text, (left, top + height), colour)

    def _inside(self, left: int, top: int, width: int, height: int) -> Pixel:
        rows, columns = self._canvas.shape[:2]
        return max(4, min(left, columns - width - 4)), max(4, min(top, rows - height - 4))

    def _hidden(self, corner: Pixel, width: int, height: int) -> int:
        """How many pixels that show something lie under a box; ``corner`` is its upper left one."""
        left, top = corner
        under = self._canvas[top - 3 : top + height + 3, left - 3 : left + width + 3]
        return int((np.any(under != _FREE, axis=2) & np.any(under != _UNKNOWN, axis=2)).sum())

    def _scale_bar(self) -> tuple[int, str, Callable[[Picture, Pixel], None]]:
        fitting = [metres for metres in _BARS_M if metres * self._per_metre <= self._canvas.shape[1] / 4]
        metres = fitting[0] if fitting else _BARS_M[-1]
        length = round(metres * self._per_metre)
        end = self._line(8)

        def draw(canvas: Picture, place: Pixel) -> None:
            left = place[0] - length // 2
            right = place[0] - length // 2 + length
            cv2.line(canvas, (left, place[1]), (right, place[1]), _OCCUPIED, self._line(3))
            for x in (left, right):
                cv2.line(canvas, (x, place[1] - end), (x, place[1] + end), _OCCUPIED, self._line(3))

        return length, f"{metres} m, north is up", draw

    def _dot(self, canvas: Picture, place: Pixel, *, colour: Colour) -> None:
        cv2.circle(canvas, place, self._line(9), _FREE, -1, cv2.LINE_AA)
        cv2.circle(canvas, place, self._line(7), colour, -1, cv2.LINE_AA)

    def _dash(self, canvas: Picture, place: Pixel) -> None:
        half = self._line(14)
        cv2.line(canvas, (place[0] - half, place[1]), (place[0] + half, place[1]), _WAY, self._line(3), cv2.LINE_AA)

    def _small_arrow(self, canvas: Picture, place: Pixel) -> None:
        self._arrow(canvas, (place[0] - self._line(17), place[1]), 0.0, 34 * self._unit)

    def _arrow(self, canvas: Picture, place: Pixel, heading: float, length: float) -> None:
        tip = round(place[0] + length * cos(heading)), round(place[1] - length * sin(heading))
        for colour, width in ((_FREE, 7), (_ROBOT, 4)):
            cv2.arrowedLine(canvas, place, tip, colour, self._line(width), cv2.LINE_AA, tipLength=0.5)

    def _line(self, pixels: float) -> int:
        return max(1, round(pixels * self._unit))

    def _text_size(self, text: str) -> Pixel:
        (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, 0.8 * self._unit, self._line(2))
        return width, height

    def _write(self, canvas: Picture, text: str, place: Pixel, colour: Colour) -> None:
        font = cv2.FONT_HERSHEY_SIMPLEX
        size = 0.8 * self._unit
        cv2.putText(canvas, text, place, font, size, colour, self._line(2), cv2.LINE_AA)

    def _pixel(self, x: float, y: float) -> Pixel:
        across = round((x - self._left) * self._per_metre)
        down = self._canvas.shape[0] - 1 - round((y - self._low) * self._per_metre)
        return across, down


def _known(codes: NDArray[np.int8]) -> tuple[NDArray[np.int8], int, int]:
    """What is known with a margin around it, all of it where nothing is; row and column of its corner in ``codes``."""
    known = codes >= 0
    if not known.any():
        return (codes if codes.size else np.full((1, 1), -1, np.int8)), 0, 0
    rows = _span(np.flatnonzero(known.any(axis=1)))
    columns = _span(np.flatnonzero(known.any(axis=0)))
    shown = np.pad(codes[rows, columns], _MARGIN, constant_values=-1)
    return shown, rows.start - _MARGIN, columns.start - _MARGIN


def _span(found: NDArray[Any]) -> slice:
    return slice(int(found[0]), int(found[-1]) + 1)
