"""What an evaluation says while it plays."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from spca.evaluation.figures import announce, show, show_progress
from spca.evaluation.summary import Results
from tests.support.report.evaluated import LOST, WON, evaluated


def test_the_first_line_names_the_evaluation_and_who_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = evaluated(tmp_path)
    announce(folder, 1500)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"evaluation {folder.id}: 1,500 episodes of ")
    assert line.endswith("seeds 7:9; planned by reference/planner")


@pytest.mark.parametrize(("quiet", "lines"), [(False, 10), (True, 0)])
def test_who_sees_no_bar_is_told_ten_times(quiet: bool, lines: int, capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress(quiet) as progress:
        for finished in range(251):
            progress("episodes", finished, 250, finished // 2)
    out = capsys.readouterr().out.splitlines()
    assert len(out) == lines
    assert out[:1] == ["episodes: 25 of 250, 12 at the first attempt"][:lines]


def test_names_are_whole_in_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    name = "static_obstacle_navigation"
    second = replace(WON.trials[0], status="success")
    later = replace(LOST, trials=(replace(LOST.trials[0], reason=""), second))
    played = [replace(each, episode=replace(each.episode, category=name)) for each in (WON, later)]
    show(Results(tuple(played)), evaluated(tmp_path))
    printed = re.sub("\\x1b[^m]*m", "", capsys.readouterr().out)
    tables = printed.partition("no width")[0].splitlines()[2:]
    assert sum(line.startswith(name) for line in tables) == 2
    assert max(map(len, tables)) <= 80
