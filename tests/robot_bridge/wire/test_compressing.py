"""Compressed pictures: what comes back, and what is refused."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from robot_bridge.wire import compressing

HEADER = bytes(12)


def test_depth_comes_back_to_the_millimetre() -> None:
    metres = np.random.default_rng(0).uniform(0.0, 8.0, (6, 9)).astype(np.float32)
    np.testing.assert_allclose(compressing.depth(compressing.depth_png(metres)), metres, atol=0.00051)


def test_colours_come_back_in_their_order() -> None:
    red = np.zeros((16, 16, 3), np.uint8)
    red[:, :, 0] = 200
    back = compressing.picture(compressing.jpeg(red))
    assert np.abs(back.astype(int) - red).max() < 8


@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff", HEADER + b"no picture"])
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="bytes that are no picture"):
        compressing.picture(data)
    with pytest.raises(ValueError, match="bytes that are no picture"):
        compressing.depth(data)


@pytest.mark.parametrize(
    "pixels", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.uint16)], ids=["8 bits", "colour"]
)
def test_a_picture_of_another_kind_is_no_depth(pixels: np.ndarray) -> None:
    encoded = cv2.imencode(".png", pixels)[1].tobytes()
    with pytest.raises(ValueError, match="not a PNG of 16 bits"):
        compressing.depth(HEADER + encoded)
