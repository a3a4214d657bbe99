"""Compressed pictures: what comes back, and what is refused."""

from __future__ import annotations

import struct

import cv2
import numpy as np
import pytest

from robot_bridge.ros import images

HEADER = bytes(12)


def test_depth_comes_back_to_the_millimetre() -> None:
    metres = np.random.default_rng(0).uniform(0.0, 8.0, (6, 9)).astype(np.float32)
    np.testing.assert_allclose(images.depth(images.depth_png(metres)), metres, atol=0.00051)


def test_colours_come_back_in_their_order() -> None:
    red = np.zeros((16, 16, 3), np.uint8)
    red[:, :, 0] = 200
    back = images.picture(images.jpeg(red))
    assert np.abs(back.astype(int) - red).max() < 8


@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff", HEADER + b"no picture"])
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="bytes that are no picture"):
        images.picture(data)
    with pytest.raises(ValueError, match="bytes that are no picture"):
        images.depth(data)


@pytest.mark.parametrize(
    "pixels", [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 3), np.uint16)], ids=["8 bits", "colour"]
)
def test_a_picture_of_another_kind_is_no_depth(pixels: np.ndarray) -> None:
    encoded = cv2.imencode(".png", pixels)[1].tobytes()
    with pytest.raises(ValueError, match="not a PNG of 16 bits"):
        images.depth(HEADER + encoded)


def test_inverse_depth_is_read_as_it_is_written_by_ros() -> None:
    """A pixel is a / metres + b, 0 where nothing was measured (compressed_depth_image_transport, with its defaults: a
    quantisation of 100, at most 10 m)."""
    a = 100.0 * 101.0
    b = 1.0 - a / 10.0
    metres = np.array([[0.0, 0.5, 2.0], [1.0, 9.9, 4.0]])
    with np.errstate(divide="ignore"):
        pixels = np.where(metres > 0, np.rint(a / metres + b), 0).astype(np.uint16)
    data = struct.pack("<iff", 0, a, b) + cv2.imencode(".png", pixels)[1].tobytes()
    np.testing.assert_allclose(images.depth(data, "32FC1; compressedDepth png"), metres, rtol=0.01)


@pytest.mark.parametrize(("a", "b"), [(np.nan, 0.0), (1.0, 7.0), (-1.0, 0.0), (np.inf, 0.0)])
def test_parameters_that_make_no_distance_measure_nothing(a: float, b: float) -> None:
    data = struct.pack("<iff", 0, a, b) + cv2.imencode(".png", np.full((2, 2), 7, np.uint16))[1].tobytes()
    assert not images.depth(data, "32FC1; compressedDepth").any()


@pytest.mark.parametrize("encoding", ["", "png", "8UC1; compressedDepth png", "rgb8; jpeg compressed bgr8"])
def test_depth_of_another_encoding_is_refused(encoding: str) -> None:
    with pytest.raises(ValueError, match="depth encoded as"):
        images.depth(images.depth_png(np.ones((2, 2), np.float32)), encoding)
