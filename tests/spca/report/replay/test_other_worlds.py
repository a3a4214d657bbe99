"""Episodes of a plugin's world seen again: rows and pictures, primitives of its own body, and a world with one life."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageSequence
from rich.console import Console

from spca.act.frame import ReplayedWorld, TextFrame
from spca.bodies.recorded import BODY, describe_body
from spca.common.web.films import TextFilm
from spca.contracts import LevelSpec
from spca.errors import ReportError
from spca.report.read.recordings import Recording
from spca.report.replay.pictures import PicturePainter
from spca.report.replay.playback import replay
from spca.report.replay.replay_options import ReplayOptions
from spca.report.replay.resimulation import MAX_PICTURES, replay_attempts, resimulate
from tests.support.bodies.plugin_world import ENV_ID, MISSION, CorridorWorld, make_corridor

STRIDE, RETREAT = 0, 1


def record(*attempts: Sequence[int], world: str = "corridor", chained: bool = False, length: int = 4) -> dict[str, Any]:
    """Return a trajectory; each attempt begins at the beginning or, ``chained``, where the last one ended."""
    place = {"env_id": ENV_ID, "seed": 1, "mission_text": MISSION, "world": world, "kwargs": {"length": length}}
    recorded = []
    before: list[int] = []
    for number, codes in enumerate(attempts, 1):
        with closing(make_corridor(LevelSpec.from_record(place), 1)) as played:
            for code in before:
                played.step(code)
            start = played.checkpoint().state_hash
            for code in codes:
                played.step(code)
            end = played.checkpoint().state_hash
        steps = [[code, 0, -1] for code in codes]
        hashes = {"start_hash": start, "end_hash": end}
        plan = [{"action": "walk", "args": ["corridor"]}]
        recorded.append({"round": 1, "attempt": number, "start": before, "steps": steps, "plan": plan, **hashes})
        before = [*before, *codes] if chained else before
    return {**place, "attempts": recorded}


def test_a_film_has_the_rows_and_the_pictures_of_every_step() -> None:
    result = resimulate(make_corridor, record((STRIDE, STRIDE, RETREAT)))
    ((film, check),) = result.attempts
    assert (check.result, result.mission) == ("equal", MISSION)
    assert isinstance(film, TextFilm)
    maps = [film.lines[rows[-1]] for rows in film.rows]
    assert maps == ["@....", ".@...", "..@..", ".@..."]
    assert film.picture == (0, 1, 2, 1)


def test_primitives_are_those_of_the_body() -> None:
    trajectory = record((STRIDE,))
    trajectory["attempts"][0]["steps"].append([3, 0, -1])  # the grid has a primitive 3, the corridor has not
    ((film, check),) = resimulate(make_corridor, trajectory).attempts
    assert check.message == "step 2 of 2 cannot be replayed: 3 is not a primitive"
    assert isinstance(film, TextFilm)
    assert len(film.rows) == 2


@pytest.mark.parametrize("lengths", [(500,), (120, 90), (3,) * 150])
def test_a_level_keeps_few_pictures_and_all_rows(lengths: tuple[int, ...]) -> None:
    back_and_forth = [(STRIDE, RETREAT) * (length // 2 + index % 2) for index, length in enumerate(lengths)]
    _, replayed = replay_attempts(make_corridor, record(*back_and_forth), max_pictures=MAX_PICTURES)
    kept = 0
    for codes, attempt in zip(back_and_forth, replayed, strict=True):
        frames = [frame for frame in attempt.frames if isinstance(frame, TextFrame)]
        assert len(frames) == 1 + len(codes)
        kept += sum(frame.picture is not None for frame in frames)
        assert attempt.check.result == "equal"
        assert frames[0].picture is not None
    assert 0 < kept <= MAX_PICTURES


def test_evaluations_keep_no_pictures() -> None:
    ((film, _),) = resimulate(make_corridor, record((STRIDE,)), max_pictures=0).attempts
    assert isinstance(film, TextFilm)
    assert (film.pictures, film.picture) == ((), (-1, -1))


def test_a_world_with_one_life_is_built_again_for_each_attempt() -> None:
    trajectory = record((STRIDE, STRIDE), (RETREAT, STRIDE), world="corridor-life", chained=True)
    checks = [check.result for _, check in resimulate(make_corridor, trajectory).attempts]
    assert checks == ["equal", "equal"]


def test_a_world_with_one_life_may_differ_and_the_check_says_why() -> None:
    trajectory = record((STRIDE,), world="corridor-life")
    trajectory["attempts"][0]["end_hash"] = "other"
    ((_, check),) = resimulate(make_corridor, trajectory).attempts
    assert check.result == "different"
    assert check.message.endswith("; a world with one life need not repeat itself")


@pytest.mark.parametrize("env_id", ["planted_module:Env-v0", "a b\n"])
def test_no_module_of_a_recorded_id_is_imported(env_id: str) -> None:
    ((film, check),) = resimulate(make_corridor, record((STRIDE,)) | {"env_id": env_id}).attempts
    assert (film, check.result) == (None, "different")
    assert check.message.startswith("the world cannot be built: ")


def test_a_plugin_that_cannot_draw_is_one_line() -> None:
    def make_broken(level: LevelSpec, seed: int, /, *, upstream_rules: bool = False) -> ReplayedWorld:  # noqa: ARG001
        class Broken(CorridorWorld):
            def draw_picture(self) -> bytes | None:
                raise RuntimeError("no display")

        return Broken(level, seed, None)  # type: ignore[arg-type]  # nothing is executed

    ((film, check),) = resimulate(make_broken, record((STRIDE,))).attempts
    assert film is None
    assert check.message.startswith("the state before the first step cannot be shown: ")
    assert ": RuntimeError: no display" in check.message


# The command replay --------------------------------------------------------------------------------------------------


def play_back(trajectory: dict[str, Any], path: Path, options: ReplayOptions = ReplayOptions()) -> str:  # noqa: B008
    info = {BODY: describe_body(CorridorWorld.body)}
    recording = Recording(path, "1", "level 1", trajectory, info)
    output = io.StringIO()
    code = replay(recording, options, make_corridor, Console(file=output, width=100, highlight=False))
    assert code == 0
    return output.getvalue()


def test_the_terminal_shows_rows_and_names_of_primitives(tmp_path: Path) -> None:
    said = play_back(record((STRIDE, STRIDE, RETREAT)), tmp_path)
    assert "stride x2; retreat" in said
    assert ".@...\nto see it move: " in said


def test_pictures_go_into_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trajectory = record((STRIDE, STRIDE))
    play_back(trajectory, tmp_path, ReplayOptions(png=1))
    play_back(trajectory, tmp_path, ReplayOptions(gif="a.gif"))
    with Image.open(tmp_path / "Lab~Corridor-v0-1.1-step1.png") as picture, Image.open("a.gif") as film:
        assert picture.size == film.size
        assert sum(1 for _ in ImageSequence.Iterator(film)) == 3
        colours = [picture.convert("RGB").getpixel((x, 40)) for x in range(0, picture.width, 8)]
    agent = [x for x, colour in enumerate(colours) if colour == (255, 90, 80)]
    assert 0.2 < agent[0] / len(colours) < agent[-1] / len(colours) < 0.5  # the second place of five


@pytest.mark.parametrize("picture", [None, b"no picture"])
def test_without_pictures_there_are_no_files(picture: bytes | None) -> None:
    with pytest.raises(ReportError, match=r"draws no pictures|cannot be read") as caught:
        PicturePainter([TextFrame(("a",), picture, 0.0, False)])
    assert "\n" not in str(caught.value)
