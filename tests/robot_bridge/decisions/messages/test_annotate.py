"""What is drawn on the camera image, and where."""

from __future__ import annotations

import base64
from math import inf, nan

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from robot_bridge.decisions.messages.annotate import (
    POINTS,
    DepthPoint,
    annotate_image,
    cardinal,
    draw_annotations,
    is_image,
    sample_depth,
)

GREY = np.full((480, 640, 3), 128, np.uint8)


def changed(image: NDArray[np.uint8]) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = np.any(image != 128, axis=2)
    return mask


def test_depths_are_medians_of_valid_pixels_around_the_seven_points() -> None:
    depth = np.full((480, 640), 2.0, np.float32)
    depth[238:243, 318:323] = 0.0
    depth[240, 160] = 9.0
    depth[238:243, 478:483] = [[nan, inf, -1, 0, 3.5]] * 5
    points = sample_depth(depth)
    assert [(point.column, point.row) for point in points] == list(POINTS)
    assert [str(point) for point in points] == ["--", "2.0m", "3.5m", "2.0m", "2.0m", "2.0m", "2.0m"]
    assert [str(point) for point in sample_depth(None)] == ["--"] * 7
    assert sample_depth(np.zeros((0, 0), np.float32))[0].metres is None


def test_depth_of_another_size_is_sampled_at_the_same_places() -> None:
    depth = np.full((240, 320), 2.0, np.float32)
    depth[115:125, 75:85] = 4.0
    assert [point.metres for point in sample_depth(depth)] == [2.0, 4.0, 2.0, 2.0, 2.0, 2.0, 2.0]


def test_text_stands_at_the_points_and_the_compass_top_right() -> None:
    drawn = changed(draw_annotations(GREY, [DepthPoint(320, 240, 1.5)], 0.0, "E"))
    assert drawn[215:240, 295:345].any()
    assert drawn[:120, 540:].any()
    drawn[200:245, 280:360] = drawn[:130, 520:] = False
    assert not drawn.any()
    assert (GREY == 128).all()


def test_the_arrow_points_where_the_robot_heads() -> None:
    def tip(heading: float) -> tuple[int, int]:
        """Where most of the arrow lies, seen from the middle of the compass: its head."""
        rows, columns = np.nonzero(changed(draw_annotations(GREY, [], heading))[:88, 540:])
        return int(np.sign(columns.mean() - 50)), int(np.sign(rows.mean() - 50))

    assert tip(0)[0] == 1
    assert tip(180)[0] == -1
    assert tip(90)[1] == -1
    assert tip(270)[1] == 1


@pytest.mark.parametrize("shape", [(480, 640, 3), (720, 1280, 3), (120, 160, 3), (1, 1, 3)])
def test_any_size_becomes_a_jpeg_of_640_by_480(shape: tuple[int, int, int]) -> None:
    image = np.zeros(shape, np.uint8)
    image[:, :, 0] = 200
    data = base64.b64decode(annotate_image(image, sample_depth(None), 45.0))
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert decoded is not None
    assert decoded.shape == (480, 640, 3)
    blue, green, red = decoded[300, 50]
    assert red > 180
    assert max(blue, green) < 40


def test_cardinals() -> None:
    assert [cardinal(angle) for angle in (0, 44, 90, 135, 180, 225, 270, 315, 359)] == [
        *("E", "NE", "N", "NW", "W", "SW", "S", "SE", "E")
    ]
    assert not is_image(None)
    assert not is_image(np.zeros((4, 4), np.uint8))
