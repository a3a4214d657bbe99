"""PNG and GIF: read back by Pillow, whole or not at all, mistakes named."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from gridworld.drawing import episode_frames, png_bytes, save_gif, save_png
from gridworld.errors import GridworldError
from spca.common.images import LAST_FRAME_S
from tests.support.gridworld.drawn import drawn
from tests.support.tiers import few

ROOM = "#########\n#A.k.d.h#\n#.s.g.bG#\n#########"


def noise(count: int, seed: int = 0) -> list[NDArray[np.uint8]]:
    return list(np.random.default_rng(seed).integers(0, 256, (count, 20, 30, 3), dtype=np.uint8))


def frames_of(path: Path) -> tuple[list[NDArray[np.uint8]], list[int]]:
    """Pictures and how long each is shown, in milliseconds."""
    pictures, durations = [], []
    with Image.open(path) as gif:
        for number in range(gif.n_frames):  # type: ignore[attr-defined]
            gif.seek(number)
            pictures.append(np.asarray(gif.convert("RGB")))
            durations.append(int(gif.info["duration"]))
    return pictures, durations


def palettes_in(content: bytes) -> tuple[int, int]:
    """How many global and local palettes a GIF holds (GIF89a specification, sections 17 to 23)."""
    at, local = 13 + (3 << (content[10] & 7) + 1) * (content[10] >> 7), 0
    while content[at] != 0x3B:
        if content[at] == 0x21:
            at += 2
        else:
            own = content[at + 9] >> 7
            local += own
            at += 11 + (3 << (content[at + 9] & 7) + 1) * own
        while content[at]:
            at += content[at] + 1
        at += 1
    return content[10] >> 7, local


def test_a_png_holds_the_picture(tmp_path: Path) -> None:
    (image,) = noise(1)
    save_png(str(tmp_path / "a.png"), image)
    content = (tmp_path / "a.png").read_bytes()
    assert content == png_bytes(image)
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(content))), image)


@pytest.mark.parametrize("tiling", ["square", "hex"])
def test_a_gif_shows_the_episode_with_one_palette(tiling: str, tmp_path: Path) -> None:
    images = list(episode_frames(drawn(ROOM), tiling, [2, 1, 2, 3, 0, 2, 2, 5], tile_size=24))
    save_gif(tmp_path / "e.gif", iter(images), seconds_per_frame=0.1)
    shown, durations = frames_of(tmp_path / "e.gif")
    assert palettes_in((tmp_path / "e.gif").read_bytes()) == (1, 0)
    assert sum(durations) == 100 * len(images) + 1000 * LAST_FRAME_S
    assert durations[-1] >= 100 + 1000 * LAST_FRAME_S
    times = np.repeat(np.arange(len(durations)), [round(d / 100) for d in durations])
    for number, image in enumerate(images):
        assert np.abs(shown[times[number]].astype(int) - image).max() <= 8


@pytest.mark.long
def test_areas_keep_their_colours_where_there_are_too_many(tmp_path: Path) -> None:
    images = noise(3)
    for image in images:
        image[:10] = (222, 52, 60)
    save_gif(tmp_path / "n.gif", images)
    shown, _ = frames_of(tmp_path / "n.gif")
    assert len(shown) == 3
    for image, seen in zip(images, shown, strict=True):
        assert np.array_equal(seen[:10], image[:10])
        assert np.abs(seen.astype(int) - image).mean() < 40


def test_one_picture_is_an_animation_too(tmp_path: Path) -> None:
    image = np.full((4, 5, 3), 7, dtype=np.uint8)
    save_gif(tmp_path / "one.gif", [image])
    assert np.array_equal(frames_of(tmp_path / "one.gif")[0][0], image)


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((4, 4, 3)),
        np.zeros((4, 4), dtype=np.uint8),
        np.zeros((4, 4, 4), dtype=np.uint8),
        np.zeros((0, 4, 3), dtype=np.uint8),
        [[[0, 0, 0]]],
        None,
    ],
)
def test_what_is_no_picture_is_refused(image: Any, tmp_path: Path) -> None:
    with pytest.raises(GridworldError, match="a picture must"):
        png_bytes(image)
    with pytest.raises(GridworldError, match="a picture must"):
        save_gif(tmp_path / "a.gif", [image])
    assert not list(tmp_path.iterdir())


def test_an_animation_needs_pictures_of_one_size_and_a_pace(tmp_path: Path) -> None:
    with pytest.raises(GridworldError, match="at least one picture"):
        save_gif(tmp_path / "a.gif", [])
    with pytest.raises(GridworldError, match="one size"):
        save_gif(tmp_path / "a.gif", [*noise(1), np.zeros((3, 3, 3), dtype=np.uint8)])
    for pace in (0, -1, float("nan"), float("inf"), 1000):
        with pytest.raises(GridworldError, match="seconds_per_frame"):
            save_gif(tmp_path / "a.gif", noise(1), seconds_per_frame=pace)


@pytest.mark.parametrize("count", few(2, [1, 6, 7, 20]))
def test_a_picture_may_stay_for_long(count: int, tmp_path: Path) -> None:
    still, other = noise(2)
    save_gif(tmp_path / "a.gif", [other, *[still] * count], seconds_per_frame=100)
    shown, durations = frames_of(tmp_path / "a.gif")
    assert len(shown) == 2
    assert durations == [100_000, min(1000 * (100 * count + LAST_FRAME_S), 655_350)]


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    (image,) = noise(1)
    (tmp_path / "a.gif").write_bytes(b"before")

    def broken() -> Any:
        yield image
        raise KeyError("the episode broke off")

    with pytest.raises(KeyError):
        save_gif(tmp_path / "a.gif", broken())
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"before"]
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "no" / "a.png", tmp_path / "folder", tmp_path / "nul\0.png", Path(), Path("/")):
        with pytest.raises(GridworldError, match="cannot write"):
            save_png(path, image)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gif", "folder"]


@pytest.mark.long
def test_without_pillow_the_fix_is_named(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['PIL'] = None\n"
        "import numpy; from gridworld.drawing import save_png; from gridworld.errors import GridworldError\n"
        "try: save_png(sys.argv[1], numpy.zeros((2, 2, 3), numpy.uint8))\n"
        "except GridworldError as error: print(error)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "a.png")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    advice = f"{sys.executable} -m pip install pillow"
    assert done.stdout == f"writing pictures needs pillow, which is not installed: {advice}\n"
    assert not list(tmp_path.iterdir())
