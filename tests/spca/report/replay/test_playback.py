"""The command ``replay``: which level and attempt is meant, what is said of it, and which files it leaves."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from rich.console import Console

from minigridenv import MiniGridEnv
from spca.common.options.command_line import make_app, run_app
from spca.errors import ReportError
from spca.report.read.recordings import find_recording
from spca.report.read.run_files import open_run
from spca.report.replay.pictures import Painter
from spca.report.replay.playback import replay
from spca.report.replay.replay_options import ReplayOptions
from tests.support.report.finished_files import read_finished, write_finished
from tests.support.report.making import Writing

FAILED = "MiniGrid-GoToDoor-5x5-v0"
SOLVED = "MiniGrid-Empty-5x5-v0"


def read_options(*words: str) -> ReplayOptions:
    """Return the options of a command line of ``replay``."""
    read: list[ReplayOptions] = []

    def keep(options: ReplayOptions = ReplayOptions()) -> int:  # noqa: B008  # options are frozen
        read.append(options)
        return 0

    app = make_app("replay", "")
    app.default(keep)
    run_app(app, words)
    return read[0]


def replayed(run: Path, level: str, *flags: object) -> tuple[int, str]:
    """Exit code and output of the command."""
    options = read_options(*map(str, flags))
    output = io.StringIO()
    console = Console(file=output, width=100, highlight=False)
    code = replay(find_recording(open_run(run), level), options, MiniGridEnv, console)
    return code, output.getvalue()


def refused(run: Path, level: str, *flags: object) -> str:
    with pytest.raises(ReportError) as caught:
        replayed(run, level, *flags)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def damaged(mixed_run: Path, tmp_path: Path) -> Path:
    """A copy of a run that may be written to."""
    return Path(shutil.copytree(mixed_run, tmp_path / "copy" / mixed_run.name))


def edit(run: Path, env_id: str, **changes: object) -> dict[str, Any]:
    """Change a level's last attempt; returns the trajectory as it was."""
    (path,) = run.glob(f"trajectories/*_{env_id}.json")
    before: dict[str, Any] = json.loads(path.read_text())
    after = json.loads(path.read_text())
    after["attempts"][-1] |= changes
    path.write_text(json.dumps(after))
    return before


# On the terminal -----------------------------------------------------------------------------------------------------


def test_an_attempt_in_words(mixed_run: Path) -> None:
    code, output = replayed(mixed_run, FAILED)
    (path,) = mixed_run.glob(f"trajectories/*_{FAILED}.json")
    attempts = json.loads(path.read_text())["attempts"]
    last = attempts[-1]
    assert code == 0
    assert f"level 3, doors/{FAILED}, attempt {last['round']}.{last['attempt']}" in output
    assert "mission: go to the " in output
    for each in attempts:
        assert re.search(rf"{each['round']}\.{each['attempt']} +{each['status']} +{len(each['steps'])} ", output)
    final = last["steps"][-1]
    assert re.search(rf"turn_left x\d+ \(line {final[2]}\)", output)
    assert f"re-simulation equals the recording (state hash {last['end_hash'][:12]})" in output
    assert f"--attempt {last['round']}.{last['attempt']} --gif" in output
    assert "the agent faces" in output
    total, plan = len(last["steps"]), last["plan"]
    assert f"--png takes 1 to {total} for a primitive, 0 for the beginning" in output
    step = f"step {final[1] + 1} of {len(plan)} of the plan: {plan[final[1]]['action']}("
    said = re.search(rf"failed: line {final[2]} of \w+ \({last['agent']}\) yielded the last primitive.*", output)
    assert said
    assert step in said[0]


def test_the_line_that_raised_is_named_and_a_success_has_none(damaged: Path) -> None:
    assert "failed: " not in replayed(damaged, "1")[1]
    trace = "Traceback (most recent call last):\n  agent_tmp.py, line 1, in go\n    x\nKeyError: 'x'"
    before = edit(damaged, SOLVED, status="runtime_error", message="KeyError: 'x'", traceback=trace, end_hash=None)
    last = before["attempts"][-1]
    output = replayed(damaged, "1")[1]
    assert re.search(rf"failed: line 1 of \S+ \({last['agent']}\) raised KeyError; step \d of \d of the plan: ", output)
    edit(damaged, SOLVED, agent="agents/none.py")
    assert "failed: " not in replayed(damaged, "1")[1]


@pytest.mark.long
def test_the_line_to_type_works(mixed_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    line = next(line for line in replayed(mixed_run, "1")[1].splitlines() if " replay " in line)
    words = line.partition(" replay ")[2].split()
    code, output = replayed(Path(words[0]), *words[1:])
    assert (code, "gif: " in output) == (0, True)
    assert (tmp_path / "episode.gif").is_file()


@pytest.mark.parametrize("name", ["3", FAILED, f"doors/{FAILED}"])
def test_a_level_goes_by_its_number_its_environment_or_its_category(mixed_run: Path, name: str) -> None:
    assert f"level 3, doors/{FAILED}" in replayed(mixed_run, name)[1]


def test_an_attempt_that_is_not_the_last(mixed_run: Path) -> None:
    assert f"{FAILED}, attempt 1.1" in replayed(mixed_run, FAILED, "--attempt", "1.1")[1]
    assert refused(mixed_run, FAILED, "--attempt", "7.1").startswith("there is no attempt '7.1': the level has 1.1, ")


def test_what_is_no_level_is_answered_with_the_nearest(mixed_run: Path) -> None:
    assert f"did you mean {FAILED}" in refused(mixed_run, "GoToDoor-5x5")
    assert f"doors/{FAILED}" in refused(mixed_run, "door/GoToDoor-5x5-v0")
    assert refused(mixed_run, "4").endswith("the run has levels 1 to 3")
    assert refused(mixed_run, "§§").endswith("the run has levels 1 to 3")
    assert "\x1b" not in refused(mixed_run, "\x1b[31m")


def test_several_levels_of_one_name_are_named(damaged: Path) -> None:
    summaries = read_finished(damaged)
    summaries[1]["level"]["level_name"] = FAILED
    write_finished(damaged, summaries)
    message = refused(damaged, FAILED)
    assert f"2 (navigation/{FAILED})" in message
    assert f"3 (doors/{FAILED})" in message
    assert "level 2, " in replayed(damaged, f"navigation/{FAILED}")[1]


def test_levels_that_are_not_finished_or_were_not_tried(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    run.begin()
    run.plan(error="no plan")
    run.finish("no plan")
    run.kill()
    assert "nothing was executed" in refused(run.path, "1")
    assert "not finished" in refused(run.path, "2")
    (run.path / "trajectories").rename(run.path / "elsewhere")
    assert "trajectories/" in refused(run.path, "1")


# What differs --------------------------------------------------------------------------------------------------------


def test_a_difference_is_said_and_is_the_exit_code(damaged: Path) -> None:
    edit(damaged, SOLVED, end_hash="0" * 64)
    code, output = replayed(damaged, "1")
    assert code == 1
    assert "DIFFERS: every step was replayed, but the state after its last step differs" in output


def test_old_recordings_are_not_checked(damaged: Path) -> None:
    edit(damaged, SOLVED, end_hash=None, start_hash=None)
    code, output = replayed(damaged, "1")
    assert (code, "NOT CHECKED: " in output) == (0, True)


def test_a_file_that_holds_anything(damaged: Path, tmp_path: Path) -> None:
    """Hostile words are spelled out, what cannot be replayed is shown as far as it goes."""
    hostile = "\x1b]0;title\x07[red]x[/red] \u202eevil"
    plan = [{"action": hostile, "args": [hostile, 3]}, 4]
    steps = [[2, 0, 10**9], [2, -5, "x"], "no step", [2, 7, 1]]
    edit(
        damaged,
        SOLVED,
        status=hostile,
        message=hostile,
        plan=plan,
        steps=steps,
        agent="../../etc/passwd",
        round=hostile,
    )
    code, output = replayed(damaged, "1")
    assert code == 1
    assert "step 3 of 4 cannot be replayed: 'no step' is not a primitive" in output
    assert "[red]x[/red]" in output
    assert not set("\x1b\x07\u202e") & set(output)
    code, output = replayed(damaged, "1", "--gif", tmp_path / "a.gif", "--png", 2, "--output", tmp_path / "a.png")
    assert code == 1
    assert (tmp_path / "a.png").is_file()
    with Image.open(tmp_path / "a.gif") as image:
        image.seek(2)
        with pytest.raises(EOFError):
            image.seek(3)
    assert "re-simulation ends at step 2" in refused(damaged, "1", "--png", 3)


def test_a_world_that_cannot_be_built_leaves_no_file(damaged: Path, tmp_path: Path) -> None:
    (path,) = damaged.glob(f"trajectories/*_{SOLVED}.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"env_id": "os:../x"}))
    code, output = replayed(damaged, "1", "--gif", tmp_path / "a.gif")
    assert code == 1
    assert "DIFFERS: the world cannot be built" in output
    assert not (tmp_path / "a.gif").exists()
    assert replayed(damaged, "1")[0] == 1


# Files ---------------------------------------------------------------------------------------------------------------


def test_pictures_go_where_they_are_asked_for(mixed_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, output = replayed(mixed_run, SOLVED, "--png", 2)
    assert code == 0
    assert str(tmp_path / f"{SOLVED}-1.1-step2.png") in output.replace("\n", "")
    flags = ("--png", 0, "--output", "first.png", "--gif", tmp_path / "a.gif", "--mp4", "a.mp4", "--fps", 10)
    assert replayed(mixed_run, SOLVED, *flags)[0] == 0
    assert sorted(os.listdir(tmp_path)) == [f"{SOLVED}-1.1-step2.png", "a.gif", "a.mp4", "first.png"]
    with Image.open("a.gif") as image, Image.open("first.png") as first:
        assert image.info["duration"] == 100
        assert image.size == first.size


def test_what_cannot_be_written_is_refused_before_anything_is_drawn(mixed_run: Path, tmp_path: Path) -> None:
    assert "there is no folder" in refused(mixed_run, SOLVED, "--gif", tmp_path / "no" / "a.gif")
    assert "is a folder" in refused(mixed_run, SOLVED, "--mp4", tmp_path)
    assert "--png STEP" in refused(mixed_run, SOLVED, "--output", tmp_path / "a.png")
    steps = refused(mixed_run, SOLVED, "--png", 6)
    assert steps == "step 6 is out of range: the attempt has steps 0 to 5"
    assert os.listdir(tmp_path) == []


def test_an_interrupt_leaves_a_file_as_it_was(mixed_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Painter, "draw", interrupt)
    for kind in ("gif", "mp4"):
        target = tmp_path / f"a.{kind}"
        target.write_text("before")
        with pytest.raises(KeyboardInterrupt):
            replayed(mixed_run, SOLVED, f"--{kind}", target)
        assert target.read_text() == "before"
    assert sorted(os.listdir(tmp_path)) == ["a.gif", "a.mp4"]


def test_a_missing_video_library_is_named(mixed_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    assert "-m pip install av" in refused(mixed_run, SOLVED, "--mp4", tmp_path / "a.mp4")


def test_captions_tell_the_step_and_its_source_line(mixed_run: Path, tmp_path: Path) -> None:
    """Two steps that look alike but come from other lines of code have other pictures."""
    (path,) = mixed_run.glob(f"trajectories/*_{SOLVED}.json")
    trajectory = json.loads(path.read_text())
    copy = Path(shutil.copytree(mixed_run, tmp_path / mixed_run.name))
    replayed(copy, SOLVED, "--png", 1, "--output", tmp_path / "a.png")
    steps = trajectory["attempts"][-1]["steps"]
    edit(copy, SOLVED, steps=[[steps[0][0], steps[0][1], steps[0][2] + 1], *steps[1:]])
    replayed(copy, SOLVED, "--png", 1, "--output", tmp_path / "b.png")
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()
