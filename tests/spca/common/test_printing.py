"""Lines and tables for people."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from spca.common.printing import make_table, make_text, open_console, print_line, print_table

HEADS = ("setting", "solved", "tokens", "95 %")
ROWS = (("full", "150/150", "1,234,567", "59.6 to 98.2"), ("no-reuse", "1/2", "~200", "-"), ("all", 1, 2, 3))
TABLE = [dict(zip(HEADS, row, strict=True)) for row in ROWS]


def a_terminal(width: int) -> Console:
    return Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None, highlight=False)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_file_gets_whole_lines_and_tables_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    console = open_console(io.StringIO())
    print_line(console, "long words " * 99, "bold red", indent=3)
    print_line(console, "")
    print_table(console, TABLE)
    line, *table = printed(console).splitlines()
    assert line == f"   {'long words ' * 99}".rstrip()
    assert [" ".join(row.split()) for row in table if "─" not in row] == [
        " ".join(map(str, row)) for row in (HEADS, *ROWS)
    ]
    assert "\x1b" not in printed(console)


def test_nothing_is_markup_and_nothing_controls_the_terminal() -> None:
    words = "[red]x[/] :smile: \x1b[2J\n\u202e"
    console = open_console(io.StringIO())
    print_line(console, words)
    print_table(console, [{"a": words, "b": words}])
    table = make_table("a")
    table.add_row(make_text(words))
    console.print(table)
    console.print("[red]:smile:")
    assert printed(console).count("[red]x[/] :smile: ␛[2J ⟨U+202E⟩") == 4
    assert "[red]:smile:" in printed(console).splitlines()[-1]


def test_columns_that_do_not_fit_follow_below_after_the_first_again() -> None:
    console = a_terminal(30)
    print_table(console, TABLE, has_total=True)
    assert [line.rstrip() for line in printed(console).splitlines()] == [
        "setting   solved    tokens",
        "──────────────────────────",
        "full     150/150 1,234,567",
        "no-reuse     1/2      ~200",
        "",
        "all            1         2",
        "setting          95 %",
        "─────────────────────",
        "full     59.6 to 98.2",
        "no-reuse            -",
        "",
        "all                 3",
    ]


@pytest.mark.parametrize("rows", [0, 1])
def test_a_table_may_have_no_rows_and_a_total_may_stand_alone(rows: int) -> None:
    console = open_console(io.StringIO())
    print_table(console, TABLE[:rows], has_total=True)
    assert len(printed(console).splitlines()) == 3 * rows


@given(st.lists(st.text(st.sampled_from("ab水"), min_size=1, max_size=9), min_size=1), st.integers(1, 30))
def test_a_terminal_wraps_lines_between_words_only(words: list[str], width: int) -> None:
    console = a_terminal(width)
    print_line(console, " ".join(words))
    lines = printed(console).splitlines()
    assert " ".join(lines) == " ".join(words)
    assert all(cell_len(line) <= width or " " not in line for line in lines)


def test_nobody_reading_any_more_is_an_error_of_whoever_prints() -> None:
    class Closed(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        print_line(open_console(Closed()), "x")
