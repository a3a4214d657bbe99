"""``generate``: the same scenes however many workers make them, and whatever stopped them before."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.cli import main
from explorer.cli.generate import summarize_scenes
from explorer.generating.batch import INDEX, SCENE_OUTCOME, SceneJobs, SceneOutcome, Series, make_scenes
from explorer.generating.composer import Rejected
from explorer.generating.knobs import Knobs
from explorer.generating.production import Figures
from spca.common.jobs.work import Job
from tests.support.processes import Process
from tests.support.spca.doubles import ROOT
from tests.support.waiting import PATIENCE, becomes

LINE = ("generate", "--count", "3", "--seed", "5", "--hops", "1,2")


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "scenes"
    assert main([*LINE, "--output", str(folder)]) == 0
    return folder


def test_scenes_are_made_and_counted(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "--output", str(tmp_path / "again")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("scenes 3, drafts dropped ")
    assert "\nhops 1: 2, 2: 1\nshapes chain: 3, so with branches: 0\n" in out
    assert out.endswith(f"3 scenes in {tmp_path / 'again'}, each with its proof\n")
    assert files(tmp_path / "again") == files(made)
    assert {path.name for path in made.iterdir()} == {INDEX, "scene_5_00000", "scene_5_00001", "scene_5_00002"}
    assert main(["certify", str(made)]) == 0


@pytest.mark.long
def test_a_kill_loses_no_scene_and_resuming_gives_the_same_files(made: Path, tmp_path: Path) -> None:
    line = [sys.executable, "-m", "explorer", *LINE, "--output", "scenes", "--workers", "2"]
    options = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(ROOT)}}
    with Process(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **options) as running:
        journal = tmp_path / "scenes" / "set.partial.jsonl"
        assert becomes(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 1)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait(PATIENCE)
    kept = journal.read_bytes()
    assert main([*LINE, "--output", str(tmp_path / "scenes")]) == 2
    assert journal.read_bytes() == kept
    assert main([*LINE, "--output", str(tmp_path / "scenes"), "--resume", "--seed", "6"]) == 2
    assert main([*LINE, "--output", str(tmp_path / "scenes"), "--resume"]) == 0
    assert files(tmp_path / "scenes") == files(made)


def test_what_a_killed_write_left_is_taken_away(made: Path, tmp_path: Path) -> None:
    (tmp_path / "scene_5_00001").mkdir()
    (tmp_path / "scene_5_00001" / ".0123456789abcdef.tmp").write_text("torn")
    make_scenes(Series(5, 3, (1, 2)), tmp_path)
    assert files(tmp_path) == files(made)


def test_a_folder_that_holds_scenes_is_left_alone(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files(made)
    assert main(["generate", "--output", str(made)]) == 2
    assert capsys.readouterr().err == (
        f"error: {made / INDEX}: there are scenes already; choose another --output, or add --overwrite\n"
    )
    assert files(made) == before


@pytest.mark.parametrize(
    "line", ["--shape circle", "--shape diamond --hops 2", "--distractors 99", "--shape chain --occlusion 2"]
)
def test_knobs_that_contradict_each_other_are_one_line(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", *line.split(), "--output", str(tmp_path / "scenes")]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert not (tmp_path / "scenes").exists()


def test_an_index_without_a_scene_is_reported(tmp_path: Path) -> None:
    impossible = SceneJobs(Series(1, 1, (2,), Knobs(shape="join")), tmp_path)
    with impossible.start_worker() as make:
        made = make(Job(0, "scene_1_00000"))
    lost = impossible.make_lost_result(Job(1, "scene_1_00001"), "killed")
    assert list(summarize_scenes([made, lost]))[:3] == [
        "scene_1_00000: not made: a join needs 3 hops or more, not 2",
        "scene_1_00001: not made: killed, 2 times",
        "scenes 0, drafts dropped 0, atomic tasks 0",
    ]
    assert list(tmp_path.iterdir()) == []


def test_what_was_made_survives_its_journal() -> None:
    figures = Figures(2, "chain", ("moat", "plug"), ("a", "b"), (Rejected("text: no", ("moat",)),))
    for made in (SceneOutcome("scene_1_00000", figures), SceneOutcome("scene_1_00001", None, "lost")):
        assert SCENE_OUTCOME.validate_python(made.to_dict()) == made


def test_progress_is_reported_scene_by_scene(tmp_path: Path) -> None:
    seen: list[tuple[int, int, int]] = []
    make_scenes(Series(5, 2, (1,)), tmp_path, on_progress=lambda *each: seen.append(each))
    assert seen == [(0, 2, 0), (1, 2, 1), (2, 2, 2)]
