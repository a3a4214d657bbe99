"""Runs and comparisons as a terminal shows them."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from spca.report import terminal
from spca.report.compare import compare
from spca.report.read import baseline
from spca.report.read.model import LevelRow, Run, Usage
from spca.report.read.run_files import open_run
from spca.report.read.runs import categories, overview
from tests.support.report.making import Writing

HOSTILE = "[bold]x[/] [link=http://example.org]y[/link] \x1b[2J\x1b]0;title\x07 \u202eabc :smile: \ud800 </td>\nforged"


@pytest.fixture(scope="module")
def run(finished_run: Path) -> Run:
    return overview(open_run(finished_run))


def printed(run: Run, width: int = 80, *, color: bool = False) -> str:
    console = recording(width, color=color)
    terminal.show_run(run, console)
    return text(console)


def recording(width: int = 80, *, color: bool = False) -> Console:
    system: Literal["truecolor"] | None = "truecolor" if color else None
    return Console(file=io.StringIO(), width=width, highlight=False, force_terminal=color, color_system=system)


def text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def lines(printed: str) -> list[str]:
    """With single spaces."""
    return [" ".join(line.split()) for line in printed.splitlines()]


def test_a_run_is_shown_with_all_that_it_was_made_with(run: Run) -> None:
    shown = lines(printed(run))
    assert shown[0] == f"{run.id} finished 2 of 3 levels solved"
    assert "models openai/big (planner), openai/small (planner small), openai/coder" in shown
    assert "sandbox strict, seed 1" in shown
    assert "made by spca 0.1.0, minigrid 3.2.0, python 3.11.7" in shown
    assert f"folder {run.folder}" in shown


def test_its_categories_and_what_they_took(run: Run) -> None:
    shown = lines(printed(run))
    assert "category solved rounds calls tokens reasoning USD time" in shown
    assert any(line.startswith("navigation 2/3 3 6 660 30 0.0060 ") for line in shown)
    assert "spent 6 requests, 660 tokens (30 reasoning), 0.0060 USD" in shown
    assert "time plan 0.8 s, solve 1.5 s, code 0.4 s, act 0.2 s" in shown


def test_what_was_not_solved_and_why(run: Run) -> None:
    assert "2 MiniGrid-Empty-6x6-v0 stuck: it turns and turns" in lines(printed(run))


def test_failures_of_one_kind_are_counted_and_have_headlines() -> None:
    row = LevelRow(1, "c", "all", "x", 1, "fail", "stuck", headline="attempt 1.1 got stuck", group="stuck: go")
    rows = (row, replace(row, number=2), replace(row, number=3, group="stuck: stop"))
    shown = lines(printed(replace(baseline.read_published(), levels=rows, published=False)))
    assert "2 x stuck: go" in shown
    assert not any("stuck: stop" in line for line in shown)
    assert "1 x attempt 1.1 got stuck" in shown


def test_of_a_reason_the_first_line_is_shown_and_of_many_levels_some() -> None:
    row = LevelRow(1, "c", "all", "x", 1, "fail", "first line\nsecond line")
    many = tuple(replace(row, number=number) for number in range(1, 41))
    shown = printed(replace(baseline.read_published(), levels=many, published=False))
    assert "first line" in shown
    assert "second line" not in shown
    assert "and 10 more; the page shows all of them" in shown


def test_a_run_that_was_stopped_says_what_is_missing(tmp_path: Path) -> None:
    writing = Writing(tmp_path)
    writing.begin()
    writing.plan()
    writing.kill()
    (writing.path / "state/curriculum.json").write_text("[", encoding="utf-8")
    shown = lines(printed(overview(open_run(writing.path))))
    assert shown[0].endswith("stopped 0 of 1 levels solved, 1 aborted")
    assert "1 MiniGrid-Empty-5x5-v0 aborted: the process ended during it" in shown
    assert any(line.startswith("warning: state/curriculum.json: line 1 column 2") for line in shown)


def test_models_that_cost_nothing_get_no_columns(run: Run) -> None:
    free = tuple(replace(level, usage=Usage(2, 2)) for level in run.levels)
    shown = printed(replace(run, usage=Usage(6, 6), levels=free, categories=categories(free)))
    assert "category solved rounds calls time" in lines(shown)
    assert "USD" not in shown


def test_what_is_not_known_of_the_published_run_is_not_shown() -> None:
    shown = printed(baseline.read_published())
    assert "371 requests, 2.4100 USD, tokens not known" in shown
    assert "folder" not in shown
    assert "made by" not in shown


def test_runs_are_a_row_each(run: Run) -> None:
    console = recording()
    terminal.show_runs([run, replace(run, id="other", state="running", warnings=("x: is missing",))], console)
    shown = lines(text(console))
    assert any(line.startswith(f"{run.id} finished 2/3 6 660 30 0.0060 ") for line in shown)
    assert any(line.startswith("other running 2/3 ") for line in shown)
    assert "warning: other: x: is missing" in shown


def changed(run: Run) -> Run:
    """The run with its second level solved, in two rounds."""
    first, second, third = run.levels
    return replace(run, id="changed", levels=(first, replace(second, outcome="success", rounds=2), third))


def compared(a: Run, b: Run, width: int = 80, *, everything: bool = False) -> str:
    console = recording(width)
    terminal.show_comparison(compare(a, b), a, b, console, everything=everything)
    return text(console)


def test_a_comparison_shows_what_differs_and_sums(run: Run) -> None:
    shown = lines(compared(run, changed(run)))
    assert f"A: {run.id} 2 of 3 levels solved" in shown
    assert "MiniGrid-Empty-6x6-v0 failed solved 1|2 2|2 220|220 10|10 2|2" in shown
    assert not any(line.startswith("MiniGrid-Empty-5x5-v0") for line in shown)
    assert "5|1: 5 in A, 1 in B; -: not known" in shown
    assert any(line.startswith("A 2 3 6 660 30 6 ") for line in shown)
    assert any(line.startswith("B 3 4 6 660 30 6 ") for line in shown)
    assert "solved only by A: 0; only by B: 1" in shown


def test_everything_shows_all_levels(run: Run) -> None:
    shown = compared(run, changed(run), everything=True)
    assert all(level.env_id in shown for level in run.levels)


def test_equal_runs_and_runs_without_common_levels_say_so(run: Run) -> None:
    assert "no level that both have went differently" in compared(run, run)
    assert "no level has ended in both runs" in compared(run, replace(run, levels=()))


@pytest.mark.parametrize("reasoned", [0, 8_000])
def test_a_comparison_with_the_published_run_fits_80_columns(reasoned: int) -> None:
    published = baseline.read_published()
    usage = Usage(9, 9, 9_000_000, 9_000, reasoning_tokens=reasoned)
    rows = tuple(
        replace(row, steps=1000 + row.number, rounds=5, planner_calls=40, usage=usage) for row in published.levels
    )
    ours = replace(published, id="20260101-000000-abcd", levels=rows, published=False, models={"coder": "m" * 60})
    shown = compared(ours, published, everything=True)
    assert [line for line in shown.splitlines() if len(line.rstrip()) > 80 and not line.startswith("note:")] == []
    told = "8000|- 1007|-" if reasoned else "1007|-"
    assert any(f" solved solved 5|1 42|4 9009k|- {told}" in line for line in lines(shown))


def hostile(run: Run, words: str) -> Run:
    """Words wherever a file can put some."""
    first = replace(run.levels[0], category=words, level=words, env_id=words, reason=words, outcome="fail", group=words)
    second = replace(run.levels[1], outcome="fail", headline=words, group=words)
    levels = (first, second, run.levels[2])
    told = {"planner": words, words: words}
    return replace(
        run,
        id=words,
        state=words,
        sandbox=words,
        folder=words,
        git_commit=words,
        hashes={"product": words, "prompts": words},
        continuations=(words,),
        models=told,
        versions={"minigrid": words},
        levels=levels,
        categories=categories(levels),
        warnings=(words,),
    )


def everything_printed(run: Run, plain: Run, *, color: bool = False) -> str:
    console = recording(120, color=color)
    terminal.show_run(run, console)
    terminal.show_runs([run], console)
    terminal.show_comparison(compare(run, plain), run, plain, console, everything=True)
    return text(console)


def test_hostile_words_stay_words(run: Run) -> None:
    shown = everything_printed(hostile(run, HOSTILE), run)
    shown.encode("utf-8")
    assert not any(line.startswith("forged") for line in shown.splitlines())
    assert "[bold]x[/] [link=http://example.org]y[/link]" in shown
    assert ":smile:" in shown
    assert not set(shown) & set("\x1b\x07\u202e\ud800")


def test_on_a_terminal_only_our_own_colours_are_sent(run: Run) -> None:
    shown = everything_printed(hostile(run, HOSTILE), run, color=True)
    assert set(re.findall(r"\x1b(?!\[[\d;]*m)", shown)) == set()
    assert not set(shown) & set("\x07\u202e\ud800")


@pytest.mark.long
@given(words=st.text(st.characters(), max_size=20))
def test_any_words_can_be_shown(run: Run, words: str) -> None:
    shown = everything_printed(hostile(run, words), run)
    shown.encode("utf-8")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e12, 9e15])
def test_times_that_are_none_do_not_stop_it(run: Run, seconds: float) -> None:
    assert "begun" in printed(replace(run, started=seconds, ended=seconds))
