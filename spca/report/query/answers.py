"""``query``: SQL over the tables of any number of runs, answered as a table, CSV or JSON."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final, Protocol, TextIO

from rich.table import Table
from rich.text import Text

from spca.common.printing import make_table, open_console
from spca.common.text import visible
from spca.report.query import database
from spca.report.read.run_files import RunFiles

Row = Sequence[object]

MOST_ROWS: Final = 10_000
"""Rows of a table; the other formats have no limit."""
_NARROW: Final = 8
"""Columns that would be narrower than this on a terminal are shown one below the other."""
_LARGEST: Final = 50_000_000
"""Characters of a table outside of a terminal; of a larger one, where one long value makes all rows long, the columns
are shown one below the other as well."""
_NAME: Final = 24
"""Characters of a name that are shown there in any case."""
_EXPLAINED: Final = ("explain_key", "explain_value")
"""Columns of a plan, which is a drawing of many lines."""
_NUMERIC: Final = re.compile("U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL")


class Writer(Protocol):
    """Writes an answer as it comes."""

    def head(self, names: Sequence[str], types: Sequence[str]) -> None: ...

    def rows(self, batch: Iterable[Row]) -> None: ...

    def end(self) -> None: ...


class CsvWriter:
    """RFC 4180 with a header; NULL is an empty field, lists and structures are JSON. Exact, unless on a terminal."""

    def __init__(self, out: TextIO) -> None:
        self._show = visible if out.isatty() else str
        self._csv = csv.writer(out, lineterminator="\r\n")

    def head(self, names: Sequence[str], _types: Sequence[str]) -> None:
        self._csv.writerow([self._show(name) for name in names])

    def rows(self, batch: Iterable[Row]) -> None:
        self._csv.writerows([self._show(cell(value)) for value in row] for row in batch)

    def end(self) -> None:
        """There is no footer."""


class JsonWriter:
    """A list of objects, one a line; a name that comes again gets a number. Exact, unless on a terminal."""

    def __init__(self, out: TextIO) -> None:
        self._out, self._show = out, visible if out.isatty() else str
        self._names: Sequence[str] = ()
        self._before = "["

    def head(self, names: Sequence[str], _types: Sequence[str]) -> None:
        self._names = distinct(names)

    def rows(self, batch: Iterable[Row]) -> None:
        for row in batch:
            entry = {name: plain(value) for name, value in zip(self._names, row, strict=True)}
            self._out.write(f"{self._before}\n{self._show(json.dumps(entry, ensure_ascii=False))}")
            self._before = ","

    def end(self) -> None:
        self._out.write("[]\n" if self._before == "[" else "\n]\n")


class TableWriter:
    """A table for people: on a terminal in colour and as wide as that, elsewhere as wide as it needs."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._names: Sequence[str] = ()
        self._types: Sequence[str] = ()
        self._rows: list[Row] = []
        self._count = 0

    def head(self, names: Sequence[str], types: Sequence[str]) -> None:
        self._names, self._types = names, types

    def rows(self, batch: Iterable[Row]) -> None:
        for row in batch:
            if self._count < MOST_ROWS:
                self._rows.append(row)
            self._count += 1

    def end(self) -> None:
        console = open_console(self._out)
        is_narrow = len(self._names) * _NARROW > console.width if console.is_terminal else self._size() > _LARGEST
        if is_narrow and self._rows:
            for row in self._rows:
                console.print(self._record(row))
                console.print()
        else:
            console.print(self._table())
        self._out.write(f"{self._count} row{'s' * (self._count != 1)}\n")
        if self._count > MOST_ROWS:
            self._out.write(f"shown are the first {MOST_ROWS}; --format csv and --format json give all\n")

    def _size(self) -> int:
        """Characters of the table, in which all rows are as long as the longest value of each column makes them."""
        return len(self._rows) * sum(
            max(len(cell(value)) for value in column) for column in zip(*self._rows, strict=True)
        )

    def _table(self) -> Table:
        table = make_table(*map(_line, self._names), left=len(self._names))
        for column, type_ in zip(table.columns, self._types, strict=True):
            column.justify = "right" if _is_number(type_) else "left"
            column.no_wrap = True
        for row in self._rows:
            table.add_row(*(_text_of(value, lines=self._names == _EXPLAINED) for value in row))
        return table

    def _record(self, row: Row) -> Table:
        """Return a row as a table of names and values."""
        table = Table.grid(padding=(0, 1))
        table.add_column(style="bold", no_wrap=True, min_width=min(_NAME, max(map(len, self._names))))
        table.add_column(no_wrap=True)
        for name, value in zip(self._names, row, strict=True):
            table.add_row(_line(name), _text_of(value))
        return table


FORMATS: Final[Mapping[str, Callable[[TextIO], Writer]]] = {
    "table": TableWriter,
    "csv": CsvWriter,
    "json": JsonWriter,
}


def query(
    files: Sequence[RunFiles],
    sql: str,
    *,
    format: str = "table",
    timeout_s: float = database.TIMEOUT_S,
    out: TextIO | None = None,
) -> int:
    """Answer ``sql`` on ``out`` (standard output); what could not be read of the runs is told on standard error.

    Returns:
        The exit code, 0.

    Raises:
        QueryError: SQL that is wrong, takes too long, or wants more than to read the tables.
        ReportError: DuckDB is missing.
    """
    out = out or sys.stdout
    result = database.ask(files, sql, timeout_s)
    for run in files:
        for warning in run.warnings:
            print(visible(f"warning: {run.id}: {warning}"), file=sys.stderr)
    writer = FORMATS[format](out)
    writer.head(result.names, result.types)
    for batch in result.batches:
        writer.rows(batch)
    writer.end()
    out.flush()
    return 0


def plain(value: object) -> Any:
    """A value of an answer as JSON has it: times as ISO 8601 text, durations in seconds, bytes in hexadecimal.

    Decimals become floats; what JSON has no number for (NaN, infinities) becomes None.
    """
    match value:
        case None | bool() | int() | str():
            found: Any = value
        case float() | Decimal():
            found = float(value) if math.isfinite(value) else None
        case datetime() | date() | time():
            found = value.isoformat()
        case timedelta():
            found = value.total_seconds()
        case bytes():
            found = value.hex()
        case Mapping():
            found = {cell(name): plain(item) for name, item in value.items()}
        case list() | tuple():
            found = [plain(item) for item in value]
        case _:
            found = str(value)
    return found


def cell(value: object) -> str:
    """A value of an answer as the text of a field; NULL is empty."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat(" ")
        case Mapping() | list() | tuple():
            return json.dumps(plain(value), ensure_ascii=False)
        case bytes():
            return value.hex()
        case _:
            return str(value)


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names made unique: later duplicates get the first free number."""
    found: list[str] = []
    taken = set(names)
    for name in names:
        other, number = name, 2
        while other in found or (other != name and other in taken):
            other, number = f"{name}_{number}", number + 1
        found.append(other)
    return found


def _is_number(type_: str) -> bool:
    return bool(_NUMERIC.fullmatch(type_.partition("(")[0]))


def _line(text: str) -> str:
    return visible(text).replace("\n", "\u240a").replace("\t", "\u2409")


def _text_of(value: object, *, lines: bool = False) -> Text:
    """Return a value as a cell of a table, on one line unless ``lines``."""
    if value is None:
        return Text("NULL", "dim")
    text = cell(value)
    return Text(visible(text) if lines else _line(text), overflow="ellipsis")
