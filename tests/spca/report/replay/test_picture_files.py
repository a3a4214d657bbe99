"""Pictures in files: frames in their colours and their time."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image, ImageSequence

from spca.act.frame import Frame
from spca.common.images import gif, mp4
from spca.report.replay.pictures import Painter, Picture
from tests.support.report.walking import walked


@pytest.fixture(scope="module")
def frames() -> list[Frame]:
    return walked("MiniGrid-DoorKey-8x8-v0", (1, 1, 2, 2, 0, 2))


def drawn(painter: Painter, frames: list[Frame]) -> Iterator[Picture]:
    return (painter.draw(i, [f"step {i}"]) for i in range(len(frames)))


@pytest.mark.long
def test_gif(tmp_path: Path, frames: list[Frame]) -> None:
    """Every frame, nearly in its colours, each as long as asked for, the last one longer."""
    painter = Painter(frames)
    (tmp_path / "a.gif").write_bytes(gif(drawn(painter, frames), 1 / 4))
    durations = []
    with Image.open(tmp_path / "a.gif") as image:
        assert sum(1 for _ in ImageSequence.Iterator(image)) == len(frames)
        assert image.info["loop"] == 0
        for number, picture in enumerate(drawn(painter, frames)):
            image.seek(number)
            durations.append(image.info["duration"])
            off = np.abs(np.asarray(image.convert("RGB")).astype(int) - picture)
            assert (off.max(axis=2) == 0).mean() > 0.97
            assert off.max() < 48
    assert durations == [250] * (len(frames) - 1) + [2250]


def test_gifs_are_never_faster_than_programs_show_them(tmp_path: Path, frames: list[Frame]) -> None:
    painter = Painter(frames, tile=8)
    (tmp_path / "a.gif").write_bytes(gif(drawn(painter, frames), 1 / 60))
    with Image.open(tmp_path / "a.gif") as image:
        assert image.info["duration"] == 20


def test_a_gif_of_one_frame(tmp_path: Path, frames: list[Frame]) -> None:
    painter = Painter(frames[:1])
    (tmp_path / "a.gif").write_bytes(gif(drawn(painter, frames[:1]), 1 / 5))
    with Image.open(tmp_path / "a.gif") as image:
        assert image.size == painter.size


@pytest.mark.long
def test_mp4(tmp_path: Path, frames: list[Frame]) -> None:
    painter = Painter(frames, tile=24)
    (tmp_path / "a.mp4").write_bytes(mp4(drawn(painter, frames), painter.size, 2.5))
    with av.open(str(tmp_path / "a.mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.pix_fmt, stream.average_rate) == ("h264", "yuv420p", Fraction(5, 2))
        decoded = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
    assert len(decoded) == len(frames) + 5
    for shown, picture in zip(decoded, drawn(painter, frames), strict=False):
        assert np.abs(shown.astype(int) - picture).mean() < 6
