"""Lines and tables for people; they are wrapped to the width of a terminal, but not wrapped in a file.

Texts are never interpreted as markup and cannot control the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spca.common.text import one_line

_UNLIMITED: Final = 100_000_000
"""Width in columns of a console that prints to a file."""


class _Output(Console):
    """A console that raises BrokenPipeError for the caller to handle; without this, rich would end the process."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def open_console(file: IO[str] | None = None) -> Console:
    """Return a console that prints to ``file``, standard output by default."""
    console = _Output(file=file, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = _UNLIMITED
    return console


def make_text(value: object, style: str = "") -> Text:
    """Return a value as one line of text without markup."""
    return Text(one_line(str(value)), style)


def print_line(console: Console, text: str, style: str = "", indent: int = 0) -> None:
    """Print a text unless it is empty. On a terminal, wrap the text between words; in a file, print one line."""
    if not text:
        return
    line = make_text(text, style)
    line.overflow = "ignore"
    width = console.width - indent if console.is_terminal else _UNLIMITED
    for part in line.wrap(console, max(1, width)):
        part.rstrip()
        console.print(Text(" " * indent) + part, soft_wrap=True)


def make_table(*heads: str, left: int = 1) -> Table:
    """Return an empty table.

    Args:
        heads: headings of the columns.
        left: number of leading columns that hold words; the other columns hold numbers and are aligned to the right.
    """
    table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
    for head in heads[:left]:
        table.add_column(Text(head), overflow="fold")
    for head in heads[left:]:
        table.add_column(Text(head), justify="right", no_wrap=True)
    return table


def print_table(
    console: Console, rows: Sequence[Mapping[str, object]], *, left: int = 1, has_total: bool = False
) -> None:
    """Print a table unless ``rows`` is empty.

    If the terminal is too narrow for all columns, the remaining columns are printed below, in further tables.

    Args:
        rows: for each row, heading of a column -> cell. The keys of the first row are the columns.
        left: number of leading columns that hold words; these columns are repeated in each table.
        has_total: whether the last row is the sum of the other rows.
    """
    columns = [[make_text(head), *(make_cell(row[head]) for row in rows)] for head in rows[0]] if rows else []
    for part in _split_columns(columns, left, console.width):
        table = make_table(*(head.plain for head, *_ in part), left=left)
        for row in zip(*(cells for _, *cells in part), strict=True):
            table.add_row(*row)
        if has_total and len(rows) > 1:
            table.rows[-2].end_section = True
        console.print(table)


def make_cell(value: object) -> Text:
    """Return a value as a table cell, such as ``1,249``, or "-" for None."""
    if isinstance(value, Text):
        return value
    words = f"{value:,}" if isinstance(value, int) else value
    return make_text("-" if value is None else words)


def _split_columns(columns: Sequence[Sequence[Text]], left: int, width: int) -> Iterator[list[Sequence[Text]]]:
    """Yield groups of columns of at most ``width`` characters; each group begins with the ``left`` leading columns."""
    part = list(columns[:left])
    for column in columns[left:]:
        if len(part) > left and _measure([*part, column]) > width:
            yield part
            part = list(columns[:left])
        part.append(column)
    if part:
        yield part


def _measure(columns: Sequence[Sequence[Text]]) -> int:
    return sum(max(cell.cell_len for cell in column) + 1 for column in columns) - 1
