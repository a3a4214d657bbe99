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
Draw = Callable[[Picture, Pixel], None]
"""Draws a mark onto a canvas, its middle at a place."""

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
_MAX_SIDE_PIXELS: Final = 1600
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
        self,
        codes: NDArray[np.int8],
        resolution: float,
        x: float,
        y: float,
        *,
        size: int = _MAX_SIDE_PIXELS,
        bold: float = 0.0,
    ) -> None:
        shown, row, column = _crop_to_known(codes)
        self._left = x + column * resolution
        self._low = y + row * resolution

        # Whole numbers as far as they fit: cells are squares with sharp edges.
        fitting = size / max(1, *shown.shape)
        self._scale = min(8, int(fitting)) if fitting >= 1 else fitting
        self._per_metre = self._scale / resolution

        colours = np.full((*shown.shape, 3), _UNKNOWN, dtype=np.uint8)
        colours[(shown >= 0) & (shown < 50)] = _FREE
        colours[shown >= 50] = _OCCUPIED

        rows, columns = shown.shape
        width = max(1, round(columns * self._scale))
        height = max(1, round(rows * self._scale))
        interpolation = cv2.INTER_AREA if self._scale < 1 else cv2.INTER_NEAREST
        canvas = cv2.resize(colours[::-1], (width, height), interpolation=interpolation)
        self._canvas: Picture = np.ascontiguousarray(canvas)
        self._unit = bold or max(0.5, max(width, height) / _MAX_SIDE_PIXELS)
        self._legend: list[tuple[str, Draw]] = []

    def picture(self) -> Picture:
        """Return what was drawn so far."""
        return self._canvas

    def sheet(self) -> Picture:
        """Return what was drawn so far, with a scale and a legend below."""
        row = round(44 * self._unit)
        pad = round(16 * self._unit)

        entries = [self._scale_bar()]
        mark_width = round(34 * self._unit)
        entries += [(mark_width, text, draw) for text, draw in self._legend]
        widths = [mark + 2 * pad + self._text_size(text)[0] for mark, text, _ in entries]
        width = max(self._canvas.shape[1], max(widths) + 2 * pad)

        places = []
        x = pad
        y = 0
        for entry_width in widths:
            if x > pad and x + entry_width > width - pad:
                x = pad
                y = y + row
            places.append((x, y))
            x += entry_width

        height = y + row + pad
        strip: Picture = np.full((height, width, 3), 255, dtype=np.uint8)
        for (mark, text, draw), (left, top) in zip(entries, places, strict=True):
            middle = top + pad // 2 + row // 2
            draw(strip, (left + mark // 2, middle))
            text_left = left + mark + pad // 2
            baseline = middle + self._text_size(text)[1] // 2
            self._write(strip, text, (text_left, baseline), _OCCUPIED)

        canvas_height, canvas_width = self._canvas.shape[:2]
        above: Picture = np.full((canvas_height, width, 3), _UNKNOWN, dtype=np.uint8)
        above[:, :canvas_width] = self._canvas
        return np.vstack((above, strip))

    def way(self, poses: Sequence[Pose]) -> None:
        """Draw the way driven, its start and the robot at its end."""
        if not poses:
            return
        points = np.array([self._pixel(pose.x, pose.y) for pose in poses], dtype=np.int32)
        cv2.polylines(self._canvas, [points], False, _WAY, self._line(3), cv2.LINE_AA)
        start = points[0].tolist()
        end = points[-1].tolist()
        self._dot(self._canvas, start, colour=_START)
        length = max(_ARROW_M * self._per_metre, 34 * self._unit)
        self._arrow(self._canvas, end, poses[-1].heading, length)

        self._legend.append(("start", partial(self._dot, colour=_START)))
        self._legend.append(("way", self._dash))
        self._legend.append(("robot", self._small_arrow))

    def frontiers(self, frontiers: Iterable[Frontier]) -> None:
        """Draw where the unknown begins, with the numbers that the model is told."""
        places = [(frontier.x, frontier.y, str(frontier.id)) for frontier in frontiers]
        self._mark(places, _FRONTIER, "frontier that is left")

    def places(self, places: Iterable[tuple[float, float, str]]) -> None:
        """Draw rooms and discoveries: x, y and a label."""
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
        """Write a label beside its place, where it hides least."""
        text = replace_non_ascii(label)[:24]
        width, height = self._text_size(text)
        gap = self._line(12)

        # By which side of the place the label is on: how much of its width lies left of its anchor.
        overhang = {1: 0, 0: width // 2, -1: width}
        boxes = []
        for across, down in product((1, -1, 0), (0, -1, 1)):
            if (across, down) == (0, 0):
                continue
            left = place[0] + across * gap - overhang[across]
            top = place[1] + down * (gap + height // 2) - height // 2
            boxes.append(self._move_inside(left, top, width, height))

        left, top = min(boxes, key=lambda box: self._count_hidden(box, width, height))
        upper_left = (left - 3, top - 3)
        lower_right = (left + width + 3, top + height + 3)
        cv2.rectangle(self._canvas, upper_left, lower_right, _FREE, -1)
        cv2.rectangle(self._canvas, upper_left, lower_right, colour, 1, cv2.LINE_AA)
        self._write(self._canvas, text, (left, top + height), colour)

    def _move_inside(self, left: int, top: int, width: int, height: int) -> Pixel:
        rows, columns = self._canvas.shape[:2]
        most_left = columns - width - 4
        most_top = rows - height - 4
        return max(4, min(left, most_left)), max(4, min(top, most_top))

    def _count_hidden(self, corner: Pixel, width: int, height: int) -> int:
        """Return how many pixels that show something lie under a box; ``corner`` is its upper left one."""
        left, top = corner
        rows = slice(top - 3, top + height + 3)
        columns = slice(left - 3, left + width + 3)
        under = self._canvas[rows, columns]
        is_drawn = np.any(under != _FREE, axis=2) & np.any(under != _UNKNOWN, axis=2)
        return int(is_drawn.sum())

    def _scale_bar(self) -> tuple[int, str, Draw]:
        widest = self._canvas.shape[1] / 4
        fitting = [metres for metres in _BARS_M if metres * self._per_metre <= widest]
        metres = fitting[0] if fitting else _BARS_M[-1]
        length = round(metres * self._per_metre)
        end = self._line(8)

        def draw(canvas: Picture, place: Pixel) -> None:
            x, y = place
            left = x - length // 2
            right = left + length
            thickness = self._line(3)
            cv2.line(canvas, (left, y), (right, y), _OCCUPIED, thickness)
            cv2.line(canvas, (left, y - end), (left, y + end), _OCCUPIED, thickness)
            cv2.line(canvas, (right, y - end), (right, y + end), _OCCUPIED, thickness)

        return length, f"{metres} m, north is up", draw

    def _dot(self, canvas: Picture, place: Pixel, *, colour: Colour) -> None:
        cv2.circle(canvas, place, self._line(9), _FREE, -1, cv2.LINE_AA)
        cv2.circle(canvas, place, self._line(7), colour, -1, cv2.LINE_AA)

    def _dash(self, canvas: Picture, place: Pixel) -> None:
        half = self._line(14)
        left = (place[0] - half, place[1])
        right = (place[0] + half, place[1])
        cv2.line(canvas, left, right, _WAY, self._line(3), cv2.LINE_AA)

    def _small_arrow(self, canvas: Picture, place: Pixel) -> None:
        start = (place[0] - self._line(17), place[1])
        self._arrow(canvas, start, 0.0, 34 * self._unit)

    def _arrow(self, canvas: Picture, place: Pixel, heading: float, length: float) -> None:
        tip_x = round(place[0] + length * cos(heading))
        tip_y = round(place[1] - length * sin(heading))
        tip = (tip_x, tip_y)
        for colour, width in ((_FREE, 7), (_ROBOT, 4)):
            cv2.arrowedLine(canvas, place, tip, colour, self._line(width), cv2.LINE_AA, tipLength=0.5)

    def _line(self, pixels: float) -> int:
        return max(1, round(pixels * self._unit))

    def _text_size(self, text: str) -> Pixel:
        size = 0.8 * self._unit
        (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, self._line(2))
        return width, height

    def _write(self, canvas: Picture, text: str, place: Pixel, colour: Colour) -> None:
        font = cv2.FONT_HERSHEY_SIMPLEX
        size = 0.8 * self._unit
        cv2.putText(canvas, text, place, font, size, colour, self._line(2), cv2.LINE_AA)

    def _pixel(self, x: float, y: float) -> Pixel:
        across = round((x - self._left) * self._per_metre)
        up = round((y - self._low) * self._per_metre)
        down = self._canvas.shape[0] - 1 - up
        return across, down


def replace_non_ascii(text: str) -> str:
    """Return a text with question marks for all that OpenCV's fonts lack: they hold ASCII only."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)


def _crop_to_known(codes: NDArray[np.int8]) -> tuple[NDArray[np.int8], int, int]:
    """Return what is known with a margin around it, and the row and column of its corner in ``codes``.

    Return all of ``codes`` if nothing is known.
    """
    known = codes >= 0
    if not known.any():
        shown = codes if codes.size else np.full((1, 1), -1, np.int8)
        return shown, 0, 0
    rows = _span(np.flatnonzero(known.any(axis=1)))
    columns = _span(np.flatnonzero(known.any(axis=0)))
    shown = np.pad(codes[rows, columns], _MARGIN, constant_values=-1)
    return shown, rows.start - _MARGIN, columns.start - _MARGIN


def _span(found: NDArray[Any]) -> slice:
    return slice(int(found[0]), int(found[-1]) + 1)
