"""Pictures of episodes: every cell where it belongs, captions that fit, files that are whole or not there."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image, ImageSequence

from minigridenv import MiniGridEnv
from spca.errors import ReportError
from spca.perception import UNSEEN, VOCABULARY
from spca.report.pictures import Painter, Picture
from spca.report.saving import save_gif, save_mp4, save_png
from spca.watching import Frame
from tests.contracts.truth import simulator

TOP, LEFT = 38, 16
"""Pixels above and left of the first panel."""


def walked(env_id: str, codes: tuple[int, ...], seed: int = 1) -> list[Frame]:
    with closing(MiniGridEnv(env_id, seed)) as world:
        frames = [world.frame()]
        for code in codes:
            world.step(code)
            frames.append(world.frame())
    return frames


@pytest.fixture(scope="module")
def frames() -> list[Frame]:
    return walked("MiniGrid-DoorKey-8x8-v0", (1, 1, 2, 2, 0, 2))


def cell(picture: Picture, row: int, column: int, tile: int, left: int = LEFT) -> Picture:
    y, x = TOP + row * tile, left + column * tile
    return picture[y : y + tile, x : x + tile]


@pytest.mark.parametrize("env_id", ["MiniGrid-DoorKey-8x8-v0", "MiniGrid-LavaCrossingS9N2-v0", "BabyAI-BossLevel-v0"])
def test_the_true_world_is_drawn_as_minigrid_draws_it(env_id: str) -> None:
    with closing(MiniGridEnv(env_id, 1)) as world:
        frame, sim = world.frame(), simulator(world)
        frame = replace(frame, view=np.full_like(frame.view, UNSEEN))
        expected = sim.grid.render(16, sim.agent_pos, sim.agent_dir)
    picture = Painter([frame], tile=16).draw(frame)
    rows, columns = np.nonzero(frame.known)
    top = max(0, -(int(rows.min()) + frame.known_at[0]))
    left = max(0, -(int(columns.min()) + frame.known_at[1]))
    shown = picture[TOP + 16 * top :, LEFT + 16 * left :][: expected.shape[0], : expected.shape[1]]
    assert np.array_equal(shown, expected)


def test_the_present_view_is_lit_and_unseen_cells_are_hatched(frames: list[Frame]) -> None:
    frame = frames[0]
    painter = Painter([frame], tile=16)
    picture = painter.draw(frame)
    right = LEFT + (painter.size[0] - 2 * LEFT + LEFT) // 2
    hatched = 0
    for row in range(8):
        for column in range(8):
            r, c = row - frame.view_at[0], column - frame.view_at[1]
            seen = 0 <= r < 7 and 0 <= c < 7 and frame.view[r, c] != UNSEEN
            agent = (row, column) == frame.position
            wall = VOCABULARY[frame.truth[row, column]] == "wall"
            if wall:
                assert (cell(picture, row, column, 16).mean() > 130) == seen
            if not seen and not agent:
                drawn = cell(picture, row, column, 16, right)
                assert len(np.unique(drawn.reshape(-1, 3), axis=0)) == 2
                hatched += 1
    assert hatched > 10


def test_pictures_of_an_episode_have_one_even_size_whatever_is_known_later(frames: list[Frame]) -> None:
    open_world = walked("MiniGrid-Empty-5x5-v0", (0, 0, 0, 1, 2))
    for film in (frames, open_world):
        painter = Painter(film)
        assert {painter.draw(f, ["x"] * 9).shape for f in film} == {(painter.size[1], painter.size[0], 3)}
        assert painter.size[0] % 2 == painter.size[1] % 2 == 0
    rows = max(f.known.shape[0] for f in open_world)
    assert rows > 5, "it shows walls beyond its edge"


def test_large_worlds_get_small_tiles() -> None:
    film = walked("MiniGrid-FourRooms-v0", (0, 2))
    assert max(Painter(film).size) < 1300
    assert Painter(film, tile=8).size[0] < Painter(film, tile=32).size[0]


def test_captions_are_cut_to_the_width_and_say_what_they_hide(frames: list[Frame]) -> None:
    painter = Painter(frames)
    band = slice(TOP + 8 * 32 + 8, None)
    plain, long = painter.draw(frames[0]), painter.draw(frames[0], ["W" * 100_000])
    assert np.array_equal(plain[band, -LEFT:], long[band, -LEFT:])
    assert not np.array_equal(plain[band], long[band])
    short = painter.draw(frames[0], ["W" * 30])
    assert not np.array_equal(short, painter.draw(frames[0], ["W" * 29]))
    for hostile in ("\x1b[31mred", "\u202eabc", "\ud800", "a\nb\tc", "\x00", ""):
        assert painter.draw(frames[0], [hostile]).shape == plain.shape
    assert np.array_equal(painter.draw(frames[0], ["a\nb"]), painter.draw(frames[0], ["a b"]))


def drawn(painter: Painter, frames: list[Frame]) -> Iterator[Picture]:
    return (painter.draw(frame, [f"step {i}"]) for i, frame in enumerate(frames))


def test_png(tmp_path: Path, frames: list[Frame]) -> None:
    picture = Painter(frames).draw(frames[0], ["hello"])
    save_png(tmp_path / "a.png", picture)
    with Image.open(tmp_path / "a.png") as image:
        assert np.array_equal(np.asarray(image.convert("RGB")), picture)


def test_gif(tmp_path: Path, frames: list[Frame]) -> None:
    """Every frame, nearly in its colours, each as long as asked for, the last one longer."""
    painter = Painter(frames)
    save_gif(tmp_path / "a.gif", drawn(painter, frames), len(frames), painter.palette(frames), 4)
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
    save_gif(tmp_path / "a.gif", drawn(painter, frames), len(frames), painter.palette(frames), 60)
    with Image.open(tmp_path / "a.gif") as image:
        assert image.info["duration"] == 20


def test_a_gif_of_one_frame(tmp_path: Path, frames: list[Frame]) -> None:
    painter = Painter(frames[:1])
    save_gif(tmp_path / "a.gif", drawn(painter, frames[:1]), 1, painter.palette(frames[:1]), 5)
    with Image.open(tmp_path / "a.gif") as image:
        assert image.size == painter.size


def test_mp4(tmp_path: Path, frames: list[Frame]) -> None:
    painter = Painter(frames, tile=24)
    save_mp4(tmp_path / "a.mp4", drawn(painter, frames), painter.size, 2.5)
    with av.open(str(tmp_path / "a.mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.pix_fmt, stream.average_rate) == ("h264", "yuv420p", Fraction(5, 2))
        decoded = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
    assert len(decoded) == len(frames) + 5
    for shown, picture in zip(decoded, drawn(painter, frames), strict=False):
        assert np.abs(shown.astype(int) - picture).mean() < 6


def broken(frames: list[Frame]) -> Iterator[Picture]:
    yield from drawn(Painter(frames), frames)
    raise KeyboardInterrupt


def test_files_are_whole_or_as_they_were(tmp_path: Path, frames: list[Frame]) -> None:
    """An interrupt in the middle, and a place that nothing can be written to."""
    target = tmp_path / "a.gif"
    target.write_text("before")
    with pytest.raises(KeyboardInterrupt):
        save_gif(target, broken(frames), len(frames), Painter(frames).palette(frames), 5)
    with pytest.raises(KeyboardInterrupt):
        save_mp4(target, broken(frames), Painter(frames).size, 5)
    assert target.read_text() == "before"
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(ReportError, match="cannot write"):
        save_png(folder, Painter(frames).draw(frames[0]))
    with pytest.raises(ReportError, match="cannot write"):
        save_png(tmp_path / "nowhere" / "a.png", Painter(frames).draw(frames[0]))
    assert sorted(os.listdir(tmp_path)) == ["a.gif", "folder"]


def test_a_missing_video_library_is_named(tmp_path: Path, frames: list[Frame], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    painter = Painter(frames)
    with pytest.raises(ReportError, match=r"pip install av .*\[video\]"):
        save_mp4(tmp_path / "a.mp4", drawn(painter, frames), painter.size, 5)
