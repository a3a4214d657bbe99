"""What an evaluation says while it plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca.evaluation.figures import announce, shown
from tests.support.report.evaluated import evaluated


def test_the_first_line_names_the_evaluation_and_who_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = evaluated(tmp_path)
    announce(folder, 1500)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"evaluation {folder.id}: 1,500 episodes of ")
    assert line.endswith("seeds 7:9; planned by reference/planner")


@pytest.mark.parametrize(("quiet", "lines"), [(False, 10), (True, 0)])
def test_who_sees_no_bar_is_told_ten_times(quiet: bool, lines: int, capsys: pytest.CaptureFixture[str]) -> None:
    with shown(quiet) as progress:
        for finished in range(251):
            progress("episodes", finished, 250, finished // 2)
    out = capsys.readouterr().out.splitlines()
    assert len(out) == lines
    assert out[:1] == ["episodes: 25 of 250, 12 at the first attempt"][:lines]
