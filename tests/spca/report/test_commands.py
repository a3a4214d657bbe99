"""The commands that look at runs: what is refused before any work is done, and names that nobody has vouched for."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from main import load_phases
from spca.commands import watch
from spca.commands.program import OLD_NAMES, make_program
from spca.common.errors import UsageError
from spca.common.options.command_line import run_app
from spca.common.text import one_line
from spca.errors import ReportError
from tests.support.report.finished_files import read_finished, write_finished
from tests.support.report.making import Writing


def refuse_worlds() -> Any:
    def untouched(*_: object, **__: object) -> Any:
        raise AssertionError("a world was built")

    return replace(load_phases(), make_world=untouched)


def carry_out(words: list[str], load: Callable[[], Any] = refuse_worlds) -> int:
    """Carry out a command as the program does, but let its errors through."""
    return run_app(make_program("main.py"), words, OLD_NAMES, load_phases=load)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--output", "there/is/none/page.html"], "there is no folder"),
        (["--output", "."], "it is a folder"),
        (["--output", "page.html", "--no-page"], "--output or --no-page, not both"),
        (["--all"], "--all goes with --compare"),
    ],
)
def test_a_page_that_cannot_be_written_is_refused_before_anything_is_simulated(
    finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ReportError, match=words):
        carry_out(["report", str(finished_run), *flags])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["report", "a", "b"], 'Unexpected argument "b"'),
        (["query", "a", "select", "1"], "put the SQL in quotes"),
        (["replay", "a", "1", "--nonsense"], "Unknown option: --nonsense"),
        (["replay", "a"], "parameter LEVEL requires an argument"),
    ],
)
def test_too_many_or_too_few_arguments_are_told_with_the_way_out(arguments: list[str], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        carry_out(arguments)
    assert words in str(caught.value)


def test_a_stopped_run_is_shown_with_how_to_go_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Writing(tmp_path / "runs")
    run.solve()
    run.kill()
    assert carry_out(["report", "--no-page", "--runs", str(tmp_path / "runs")]) == 0
    assert (
        f"go on with: python main.py --resume {run.path.name} --runs {tmp_path / 'runs'}\n" in capsys.readouterr().out
    )


def test_in_a_pipe_no_cell_is_folded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    run = Writing(tmp_path / "runs")
    message = "it turns " * 12
    run.begin()
    run.plan(error=message)
    run.finish()
    run.kill()
    assert carry_out(["report", "--no-page", "--runs", str(tmp_path / "runs")]) == 0
    assert re.search(
        rf"^ +1 {run.tasks[0].env_id} +no plan in 1 round: {message.strip()}", capsys.readouterr().out, re.MULTILINE
    )


def test_a_comparison_opens_with_the_comparison(finished_run: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert carry_out(["report", "--compare", str(finished_run), "published", "--output", str(page)], load_phases) == 0
    (piece,) = re.findall(r'data-piece="report">([^<]+)<', page.read_text(encoding="utf-8"))
    assert json.loads(gzip.decompress(base64.b64decode(piece)))["value"]["view"] == "#/compare/0"


NAME = "run\x1b]0;title\x07\udcff"


def test_a_run_may_have_any_name_that_a_folder_can_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = Writing(tmp_path / "written")
    run.end()
    try:
        os.rename(run.path, tmp_path / NAME)
    except OSError:
        pytest.skip("this file system has UTF-8 names only")
    assert carry_out(["report", "--runs", str(tmp_path)], load_phases) == 0
    said = capsys.readouterr().out
    assert "run␛]0;title␇⟨U+DCFF⟩/report.html" in said
    assert "\x1b]" not in said
    assert "<title>run␛]0;title␇⟨U+DCFF⟩</title>" in (tmp_path / NAME / "report.html").read_text(encoding="utf-8")
    with pytest.raises(ReportError) as caught:
        carry_out(["report", "no such run", "--runs", str(tmp_path)], load_phases)
    assert "the latest is run␛" in one_line(str(caught.value)), "as it is printed"


def test_the_line_that_tells_of_progress_controls_no_terminal(
    finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = shutil.copytree(finished_run, tmp_path / finished_run.name)
    summaries = read_finished(run)
    for summary in summaries:
        summary["level"]["level_name"] = "\x1b]0;title\a" + summary["level"]["level_name"]
    write_finished(run, summaries)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert carry_out(["report", str(run)], load_phases) == 0
    said = capsys.readouterr().err
    assert "levels re-simulated, ␛]0;title␇" in said
    assert "\x1b]" not in said


def test_what_is_announced_controls_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    watch.announce("run a\x1b]0;title\x07\u202e has finished")
    assert capsys.readouterr().out == "run a␛]0;title␇⟨U+202E⟩ has finished\n"
