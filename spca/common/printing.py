"""Lines and tables for people: on a terminal as wide as that, in a file as wide as they need to be.

Nothing in a text is markup, and nothing in it controls the terminal.
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
"""Columns of a file."""


class _Output(Console):
    """A console whose user handles that nobody reads it any more."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def open_console(file: IO[str] | None = None) -> Console:
    """Return standard output, or ``file``, for people."""
    console = _Output(file=file, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = _UNLIMITED
    return console


def make_text(value: object, style: str = "") -> Text:
    """Return a value as one line that is shown as it is."""
    return Text(one_line(str(value)), style)


def print_line(console: Console, text: str, style: str = "", indent: int = 0) -> None:
    """Print a text, unless it is empty: one line in a file; on a terminal it is wrapped, but no word is broken."""
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
        heads: of its columns.
        left: how many of them hold words; the others hold numbers and stand on the right.
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
    """Print a table, unless it is empty; columns that do not fit follow below, after the first ones again.

    Args:
        rows: cells by the heads of their columns; those of the first row are the columns.
        left: how many of them hold words and stand in each part.
        has_total: the last row is the sum of the others.
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
    """Return a value as the cell of a table: ``1,249``, and "-" for None."""
    if isinstance(value, Text):
        return value
    words = f"{value:,}" if isinstance(value, int) else value
    return make_text("-" if value is None else words)


def _split_columns(columns: Sequence[Sequence[Text]], left: int, width: int) -> Iterator[list[Sequence[Text]]]:
    """Yield the columns in parts of at most this width, each after the columns of words."""
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
