"""Picture of the map for people, with the path driven, frontiers, rooms and discoveries."""

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
"""RGB picture: uint8 (height, width, 3)."""
Colour = tuple[int, int, int]
Pixel = tuple[int, int]
"""Position of a pixel, counted from the left and from the top. For the size of a text: width and height in pixels."""
Draw = Callable[[Picture, Pixel], None]
"""Function that draws a mark onto a canvas, given the pixel of the mark's middle."""

_UNKNOWN = (206, 210, 214)
_FREE = (255, 255, 255)
_OCCUPIED = (38, 50, 56)
_WAY = (30, 136, 229)
_START = (67, 160, 71)
_ROBOT = (229, 57, 53)
_FRONTIER = (230, 112, 0)
_PLACE = (142, 36, 170)
_MARGIN: Final = 8
"""Width of the unknown margin around the known part of the map, in map cells."""
_MAX_SIDE_PIXELS: Final = 1600
_ARROW_M: Final = 0.45
"""Length of the robot's arrow, in metres."""
_BARS_M: Final = (5, 2, 1)
"""Possible lengths of the scale bar, in metres. The longest that fits into a quarter of the picture's width is used."""


class MapPicture:
    """Picture of a map, onto which paths, frontiers and places in the map frame can be drawn.

    Args:
        codes: int8 (rows, columns), -1 unknown, 0 free to 100 occupied, row 0 at the lowest y.
        resolution: edge of a map cell, in metres.
        x, y: lower left corner of the map, in metres.
        size: greatest length of the picture's longest side, in pixels.
        bold: factor for the thickness of lines and the size of text; 1 suits a picture of 1600 pixels. If 0, the factor
            is proportional to the picture's size.
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
        self._bottom = y + row * resolution

        # A whole number of pixels per map cell, where the map is small enough, makes square cells with sharp edges.
        fitting = size / max(1, *shown.shape)
        self._scale = min(8, int(fitting)) if fitting >= 1 else fitting
        self._pixels_per_metre = self._scale / resolution

        colours = np.full((*shown.shape, 3), _UNKNOWN, dtype=np.uint8)
        colours[(shown >= 0) & (shown < 50)] = _FREE
        colours[shown >= 50] = _OCCUPIED

        rows, columns = shown.shape
        width = max(1, round(columns * self._scale))
        height = max(1, round(rows * self._scale))
        interpolation = cv2.INTER_AREA if self._scale < 1 else cv2.INTER_NEAREST
        # Row 0 of a map is its lowest row, row 0 of a picture its top row.
        canvas = cv2.resize(colours[::-1], (width, height), interpolation=interpolation)
        self._canvas: Picture = np.ascontiguousarray(canvas)
        self._unit = bold or max(0.5, max(width, height) / _MAX_SIDE_PIXELS)
        self._legend: list[tuple[str, Draw]] = []

    def picture(self) -> Picture:
        """Return the map with everything drawn so far."""
        return self._canvas

    def sheet(self) -> Picture:
        """Return the map with everything drawn so far, and below the map a scale bar and a legend."""
        row = round(44 * self._unit)
        pad = round(16 * self._unit)

        # Entries are (width of the mark, text, function that draws the mark).
        entries = [self._make_scale_bar()]
        mark_width = round(34 * self._unit)
        entries += [(mark_width, text, draw) for text, draw in self._legend]
        widths = [mark + 2 * pad + self._text_size(text)[0] for mark, text, _ in entries]
        width = max(self._canvas.shape[1], max(widths) + 2 * pad)

        # Place entries from left to right and begin a new row where an entry does not fit.
        places = []
        x = pad
        y = 0
        for entry_width in widths:
            is_row_full = x > pad and x + entry_width > width - pad
            if is_row_full:
                x = pad
                y += row
            places.append((x, y))
            x += entry_width

        height = y + row + pad
        strip: Picture = np.full((height, width, 3), 255, dtype=np.uint8)
        for (mark, text, draw), (left, top) in zip(entries, places, strict=True):
            middle = top + pad // 2 + row // 2
            draw(strip, (left + mark // 2, middle))
            text_left = left + mark + pad // 2
            _, text_height = self._text_size(text)
            baseline = middle + text_height // 2
            self._write(strip, text, (text_left, baseline), _OCCUPIED)

        canvas_height, canvas_width = self._canvas.shape[:2]
        above: Picture = np.full((canvas_height, width, 3), _UNKNOWN, dtype=np.uint8)
        above[:, :canvas_width] = self._canvas
        return np.vstack((above, strip))

    def way(self, poses: Sequence[Pose]) -> None:
        """Draw the driven path with a dot at its start and the robot's arrow at its end."""
        if not poses:
            return
        points = np.array([self._pixel_at(pose.x, pose.y) for pose in poses], dtype=np.int32)
        cv2.polylines(self._canvas, [points], False, _WAY, self._scale_pixels(3), cv2.LINE_AA)
        start = points[0].tolist()
        end = points[-1].tolist()
        self._draw_dot(self._canvas, start, colour=_START)
        length = max(_ARROW_M * self._pixels_per_metre, 34 * self._unit)
        self._draw_arrow(self._canvas, end, poses[-1].heading, length)

        self._legend.append(("start", partial(self._draw_dot, colour=_START)))
        self._legend.append(("way", self._draw_dash))
        self._legend.append(("robot", self._draw_small_arrow))

    def frontiers(self, frontiers: Iterable[Frontier]) -> None:
        """Draw the frontiers with their ids, by which the model knows them."""
        places = [(frontier.x, frontier.y, str(frontier.id)) for frontier in frontiers]
        self._draw_places(places, _FRONTIER, "frontier that is left")

    def places(self, places: Iterable[tuple[float, float, str]]) -> None:
        """Draw rooms or discoveries, given as (x, y, label) in the map frame."""
        self._draw_places(list(places), _PLACE, "room, where it was entered")

    def _draw_places(self, places: Sequence[tuple[float, float, str]], colour: Colour, legend: str) -> None:
        pixels = [self._pixel_at(x, y) for x, y, _ in places]
        for pixel in pixels:
            self._draw_dot(self._canvas, pixel, colour=colour)
        for pixel, (_, _, label) in zip(pixels, places, strict=True):
            self._draw_label(pixel, label, colour)
        if places:
            self._legend.append((legend, partial(self._draw_dot, colour=colour)))

    def _draw_label(self, place: Pixel, label: str, colour: Colour) -> None:
        """Write a label beside a place, on the side where the label covers the fewest drawn pixels."""
        text = replace_non_ascii(label)[:24]
        width, height = self._text_size(text)
        gap = self._scale_pixels(12)

        # Pixels of the label left of its anchor, by the side of the place: 1 right, 0 middle, -1 left.
        left_of_anchor = {1: 0, 0: width // 2, -1: width}
        x, y = place
        corners = []
        for across, down in product((1, -1, 0), (0, -1, 1)):
            if (across, down) == (0, 0):
                continue
            left = x + across * gap - left_of_anchor[across]
            top = y + down * (gap + height // 2) - height // 2
            corners.append(self._move_inside(left, top, width, height))

        left, top = min(corners, key=lambda corner: self._count_hidden(corner, width, height))
        upper_left = (left - 3, top - 3)
        lower_right = (left + width + 3, top + height + 3)
        cv2.rectangle(self._canvas, upper_left, lower_right, _FREE, -1)
        cv2.rectangle(self._canvas, upper_left, lower_right, colour, 1, cv2.LINE_AA)
        self._write(self._canvas, text, (left, top + height), colour)

    def _move_inside(self, left: int, top: int, width: int, height: int) -> Pixel:
        """Return the upper left corner of a box after moving the box inside the canvas."""
        rows, columns = self._canvas.shape[:2]
        max_left = columns - width - 4
        max_top = rows - height - 4
        return max(4, min(left, max_left)), max(4, min(top, max_top))

    def _count_hidden(self, corner: Pixel, width: int, height: int) -> int:
        """Return how many of the pixels under a box show more than free or unknown ground.

        ``corner`` is the upper left corner of the box.
        """
        left, top = corner
        rows = slice(top - 3, top + height + 3)
        columns = slice(left - 3, left + width + 3)
        under = self._canvas[rows, columns]
        is_drawn = np.any(under != _FREE, axis=2) & np.any(under != _UNKNOWN, axis=2)
        return int(is_drawn.sum())

    def _make_scale_bar(self) -> tuple[int, str, Draw]:
        """Return the scale bar's length in pixels, its text, and the function that draws the bar."""
        max_length = self._canvas.shape[1] / 4
        fitting = [metres for metres in _BARS_M if metres * self._pixels_per_metre <= max_length]
        metres = fitting[0] if fitting else _BARS_M[-1]
        length = round(metres * self._pixels_per_metre)
        half_tick = self._scale_pixels(8)

        def draw(canvas: Picture, place: Pixel) -> None:
            x, y = place
            left = x - length // 2
            right = left + length
            top = y - half_tick
            bottom = y + half_tick
            thickness = self._scale_pixels(3)
            cv2.line(canvas, (left, y), (right, y), _OCCUPIED, thickness)
            cv2.line(canvas, (left, top), (left, bottom), _OCCUPIED, thickness)
            cv2.line(canvas, (right, top), (right, bottom), _OCCUPIED, thickness)

        return length, f"{metres} m, north is up", draw

    def _draw_dot(self, canvas: Picture, place: Pixel, *, colour: Colour) -> None:
        cv2.circle(canvas, place, self._scale_pixels(9), _FREE, -1, cv2.LINE_AA)
        cv2.circle(canvas, place, self._scale_pixels(7), colour, -1, cv2.LINE_AA)

    def _draw_dash(self, canvas: Picture, place: Pixel) -> None:
        half = self._scale_pixels(14)
        x, y = place
        cv2.line(canvas, (x - half, y), (x + half, y), _WAY, self._scale_pixels(3), cv2.LINE_AA)

    def _draw_small_arrow(self, canvas: Picture, place: Pixel) -> None:
        """Draw the arrow of the legend, with its middle at a pixel."""
        x, y = place
        self._draw_arrow(canvas, (x - self._scale_pixels(17), y), 0.0, 34 * self._unit)

    def _draw_arrow(self, canvas: Picture, place: Pixel, heading: float, length: float) -> None:
        """Draw an arrow of ``length`` pixels that begins at a pixel and points in the direction of a heading."""
        x, y = place
        tip_x = round(x + length * cos(heading))
        tip_y = round(y - length * sin(heading))
        tip = (tip_x, tip_y)
        for colour, width in ((_FREE, 7), (_ROBOT, 4)):
            cv2.arrowedLine(canvas, place, tip, colour, self._scale_pixels(width), cv2.LINE_AA, tipLength=0.5)

    def _scale_pixels(self, pixels: float) -> int:
        """Return a length scaled by the factor ``bold``, in whole pixels, at least 1."""
        return max(1, round(pixels * self._unit))

    def _text_size(self, text: str) -> Pixel:
        """Return the width and height of a text, in pixels."""
        size = 0.8 * self._unit
        (width, height), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, size, self._scale_pixels(2))
        return width, height

    def _write(self, canvas: Picture, text: str, place: Pixel, colour: Colour) -> None:
        """Write a text whose lower left corner is at a pixel."""
        font = cv2.FONT_HERSHEY_SIMPLEX
        size = 0.8 * self._unit
        cv2.putText(canvas, text, place, font, size, colour, self._scale_pixels(2), cv2.LINE_AA)

    def _pixel_at(self, x: float, y: float) -> Pixel:
        """Return the pixel of a point in the map frame."""
        right = round((x - self._left) * self._pixels_per_metre)
        up = round((y - self._bottom) * self._pixels_per_metre)
        down = self._canvas.shape[0] - 1 - up
        return right, down


def replace_non_ascii(text: str) -> str:
    """Replace every character outside of printable ASCII by a question mark, because OpenCV's fonts lack others."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)


def _crop_to_known(codes: NDArray[np.int8]) -> tuple[NDArray[np.int8], int, int]:
    """Return the known part of a map with a margin of unknown cells, and the row and column of the result's corner.

    Row and column count in ``codes`` and may be negative because of the margin. If nothing is known, return all of
    ``codes``, or a single unknown cell if ``codes`` is empty.
    """
    known = codes >= 0
    if not known.any():
        shown = codes if codes.size else np.full((1, 1), -1, np.int8)
        return shown, 0, 0
    rows = _slice_over(np.flatnonzero(known.any(axis=1)))
    columns = _slice_over(np.flatnonzero(known.any(axis=0)))
    shown = np.pad(codes[rows, columns], _MARGIN, constant_values=-1)
    return shown, rows.start - _MARGIN, columns.start - _MARGIN


def _slice_over(indices: NDArray[Any]) -> slice:
    """Return the slice from the first to the last of the indices, which are sorted."""
    return slice(int(indices[0]), int(indices[-1]) + 1)
