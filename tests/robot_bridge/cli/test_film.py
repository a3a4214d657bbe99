"""The film of a run: what it shows, and what is left of it when its writer is killed."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import av
import numpy as np
import pytest

from robot_bridge.cli.film import CAMERA_WIDTH, HEIGHT, LONE_MAP_WIDTH, SQUARE_WIDTH, WORDS_HEIGHT, Film
from robot_bridge.cli.map_picture import Picture
from robot_bridge.contracts import Applied, Estimate, Frame, Observation, Pose, Twist
from robot_bridge.errors import SetupError

RED, GREEN = (200, 30, 30), (30, 200, 30)
KILLED = """
import os, signal, sys
from pathlib import Path
from robot_bridge.cli.film import Film
from robot_bridge.contracts import Applied, Twist
film = Film(Path(sys.argv[1]), None)
for now in range(20):
    film.record_command(float(now), (), Applied(Twist(), "model"))
os.kill(os.getpid(), signal.SIGKILL)
"""


def pictures(path: Path) -> list[Picture]:
    with av.open(str(path)) as film:
        return [picture.to_ndarray(format="rgb24").astype(np.uint8) for picture in film.decode(video=0)]


def plain(colour: tuple[int, int, int], rows: int, columns: int) -> Picture:
    return np.full((rows, columns, 3), colour, np.uint8)


def drive(film: Film, seconds: int) -> None:
    codes = np.zeros((100, 100), np.int8)
    for now in range(seconds):
        film.record_map(float(now), codes, 0.05, 0.0, 0.0)
        film.record_estimate(Estimate(float(now), Pose(1.0 + now / 10, 2.5), Twist()))
        film.record_command(float(now), (), Applied(Twist(0.1), "model"))


def test_it_shows_the_camera_the_robot_from_above_and_the_way_on_the_map(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    with closing(Film(path, lambda width: plain(GREEN, width, width))) as film:
        frame = Frame(0.0, plain(RED, 240, 320), np.ones((240, 320), np.float32), 460.0)
        film.record_observation(Observation(frame=frame))
        drive(film, 20)
    shown = pictures(path)
    assert len(shown) == 20
    last = shown[-1].astype(int)
    assert last.shape == (HEIGHT + WORDS_HEIGHT, CAMERA_WIDTH + 2 * SQUARE_WIDTH, 3)
    assert np.abs(last[200, 300] - RED).max() < 20
    assert np.abs(last[200, CAMERA_WIDTH + 240] - GREEN).max() < 20
    changed = np.abs(last - shown[1])[:HEIGHT].max(axis=2) > 60
    assert changed[:, CAMERA_WIDTH + SQUARE_WIDTH :].sum() > 100, "the way and the robot on the map"
    assert not changed[:, : CAMERA_WIDTH + SQUARE_WIDTH].any()


def test_without_a_picture_of_the_robot_the_map_is_filmed(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    with closing(Film(path, None)) as film:
        drive(film, 10)
    shown = pictures(path)
    assert shown[-1].shape == (HEIGHT + WORDS_HEIGHT, LONE_MAP_WIDTH, 3)
    assert (np.abs(shown[-1].astype(int) - shown[1])[:HEIGHT] > 60).sum() > 100


def test_of_a_killed_run_all_but_the_last_picture_plays(tmp_path: Path) -> None:
    path = tmp_path / "film.mp4"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], timeout=100, check=False)
    assert len(pictures(path)) >= 19


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="cannot write "):
        Film(tmp_path / "absent" / "film.mp4", None)
