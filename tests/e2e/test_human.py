"""Runs in which a person plans and codes: through files, and in an editor."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from tests.support.commands import curriculum, level_summaries, main_py, only_run, read, start, wait_for
from tests.support.spca.doubles import ROOT
from tests.support.spca.student import learned, studying
from tests.support.waiting import PATIENCE

EDITOR = """\
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.support.spca.student import learned
path = Path(sys.argv[1])
question = path.read_text()
path.write_text(learned(path.stem.partition("-")[2], question) + question)
"""


def where(home: Path) -> tuple[object, ...]:
    chosen = curriculum(home / "curriculum.json", goal_navigation=["MiniGrid-Empty-5x5-v0"])
    return ("--curriculum", chosen, "--runs", home / "runs", "--workspace", home / "workspace")


def played_by(model: object) -> tuple[object, ...]:
    return ("--planner-model", f"human/{model}", "--coder-model", f"human/{model}", "--only", "goal_navigation")


@pytest.mark.long
def test_a_student_is_planner_and_coder_and_told_why_an_answer_cannot_be_used(tmp_path: Path) -> None:
    desk, mistakes = tmp_path / "desk", ['{"domain": "(define", "problem": ""}']
    with studying(desk, lambda role, asked: mistakes.pop() if mistakes else learned(role, asked)) as answered:
        done = main_py(tmp_path, *where(tmp_path), *played_by("desk"))
    assert done.returncode == 0, done.stderr
    assert answered == ["0001-planner.answer.md", "0002-planner.answer.md", "0003-coder.answer.md"]
    assert done.stdout.count("\nthat answer cannot be used: ") == 1
    waited = [line.partition(", ")[0] for line in done.stderr.splitlines()]
    assert waited == [f"waiting for {desk / name}" for name in answered]
    (level,) = level_summaries(only_run(tmp_path / "runs"))
    assert (level["outcome"], level["usage"]["cost_usd"]) == ("success", 0)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_run_that_was_interrupted_goes_on_with_the_same_question(tmp_path: Path) -> None:
    desk, flags = tmp_path / "desk", (*where(tmp_path), *played_by("desk"))
    with start(tmp_path, *flags) as process:
        wait_for(lambda: list(desk.glob("*.prompt.md")))
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
    run = only_run(tmp_path / "runs")
    assert (process.returncode, "interrupted; go on with: " in err) == (130, True)
    (question,) = desk.glob("*.prompt.md")
    (desk / "0001-planner.answer.md").write_text(learned("planner", question.read_text()))
    with studying(desk) as answered:
        done = main_py(tmp_path, "--resume", run.name, "--runs", tmp_path / "runs")
    assert (done.returncode, answered) == (0, ["0002-coder.answer.md"])
    assert done.stderr.count("waiting for") == 1, "the planner's answer was there"
    assert read(run / "summary.json")["solved"] == 1


@pytest.mark.long
def test_an_editor_is_opened_on_each_question(tmp_path: Path) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text(EDITOR.format(root=str(ROOT)))
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(editor))}"
    state = {"XDG_STATE_HOME": str(tmp_path / "state"), "VISUAL": ""}
    done = main_py(tmp_path, *where(tmp_path), *played_by("editor"), EDITOR="false", **state)
    run = only_run(tmp_path / "runs")
    go_on = ("--resume", run.name, "--runs", tmp_path / "runs")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: human/editor: the editor ended with exit code 1; what it saved is in ")
    assert (done.returncode, line.endswith(f"; go on with: python main.py {' '.join(map(str, go_on))}")) == (2, True)
    done = main_py(tmp_path, *go_on, EDITOR=command, **state)
    assert (done.returncode, done.stderr) == (0, "")
    assert read(run / "summary.json")["solved"] == 1
