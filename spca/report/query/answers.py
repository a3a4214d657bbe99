"""``query``: SQL over the tables of any number of runs, answered as a table, CSV or JSON."""

from __future__ import annotations

import csv
import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any, Final, TextIO

from rich.table import Table
from rich.text import Text

from spca.common.printing import make_table, open_console
from spca.common.text import visible
from spca.report.query import database
from spca.report.query.database import Result, Row
from spca.report.read.run_files import RunFiles

MAX_ROWS: Final = 10_000
"""Rows of a table; the other formats have no limit."""
_NARROW: Final = 8
"""Columns that would be narrower than this on a terminal are shown one below the other."""
_MAX_BYTES: Final = 50_000_000
"""Characters of a table outside of a terminal; of a larger one, where one long value makes all rows long, the columns
are shown one below the other as well."""
_NAME: Final = 24
"""Characters of a name that are shown there in any case."""
_EXPLAINED: Final = ("explain_key", "explain_value")
"""Columns of a plan, which is a drawing of many lines."""
_NUMERIC: Final = re.compile("U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL")


def write_csv(result: Result, out: TextIO) -> None:
    """Write RFC 4180 with a header; NULL is an empty field, lists and structures are JSON. Exact but on a terminal."""
    show = visible if out.isatty() else str
    lines = csv.writer(out, lineterminator="\r\n")
    lines.writerow(map(show, result.names))
    for row in result.rows:
        lines.writerow([show(cell(value)) for value in row])


def write_json(result: Result, out: TextIO) -> None:
    """Write a list of objects, one a line; a name that comes again gets a number. Exact, unless on a terminal."""
    show = visible if out.isatty() else str
    names = distinct(result.names)
    before = "["
    for row in result.rows:
        entry = {name: plain(value) for name, value in zip(names, row, strict=True)}
        out.write(f"{before}\n{show(json.dumps(entry, ensure_ascii=False))}")
        before = ","
    out.write("[]\n" if before == "[" else "\n]\n")


def write_table(result: Result, out: TextIO) -> None:
    """Write a table for people: on a terminal in colour and as wide as that, elsewhere as wide as it needs."""
    rows = list(islice(result.rows, MAX_ROWS))
    count = len(rows) + sum(1 for _ in result.rows)
    console = open_console(out)
    is_narrow = len(result.names) * _NARROW > console.width if console.is_terminal else _measure(rows) > _MAX_BYTES
    if is_narrow and rows:
        for row in rows:
            console.print(_make_record(result.names, row))
            console.print()
    else:
        console.print(_make_table(result, rows))
    out.write(f"{count} row{'s' * (count != 1)}\n")
    if count > MAX_ROWS:
        out.write(f"shown are the first {MAX_ROWS}; --format csv and --format json give all\n")


def _measure(rows: Sequence[Row]) -> int:
    """Return the characters of a table, in which the longest value of each column makes all rows long."""
    columns = zip(*rows, strict=True)
    widths = [max(len(cell(value)) for value in column) for column in columns]
    return len(rows) * sum(widths)


def _make_table(result: Result, rows: Sequence[Row]) -> Table:
    table = make_table(*map(_line, result.names), left=len(result.names))
    for column, type_ in zip(table.columns, result.types, strict=True):
        column.justify = "right" if _NUMERIC.fullmatch(type_.partition("(")[0]) else "left"
        column.no_wrap = True
    for row in rows:
        table.add_row(*(_text_of(value, lines=result.names == _EXPLAINED) for value in row))
    return table


def _make_record(names: Sequence[str], row: Row) -> Table:
    """Return a row as a table of names and values."""
    table = Table.grid(padding=(0, 1))
    table.add_column(style="bold", no_wrap=True, min_width=min(_NAME, max(map(len, names))))
    table.add_column(no_wrap=True)
    for name, value in zip(names, row, strict=True):
        table.add_row(_line(name), _text_of(value))
    return table


FORMATS: Final = {"table": write_table, "csv": write_csv, "json": write_json}


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
    FORMATS[format](result, out)
    out.flush()
    return 0


def plain(value: object) -> Any:
    """Convert a value of an answer to JSON: times as ISO 8601 text, durations in seconds, bytes in hexadecimal.

    Decimals become floats; what JSON has no number for (NaN, infinities) becomes None.
    """
    match value:
        case None | bool() | int() | str():
            found: Any = value
        case float() | Decimal():
            found = float(value) if math.isfinite(value) else None
        case date() | time():
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
    """Return a value of an answer as the text of a field; NULL is empty."""
    match value:
        case None:
            return ""
        case bool() | Mapping() | list() | tuple():
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
        other = name
        number = 2
        while other in found or (other != name and other in taken):
            other = f"{name}_{number}"
            number = number + 1
        found.append(other)
    return found


def _line(text: str) -> str:
    return visible(text).replace("\n", "\u240a").replace("\t", "\u2409")


def _text_of(value: object, *, lines: bool = False) -> Text:
    """Return a value as a cell of a table, on one line unless ``lines``."""
    if value is None:
        return Text("NULL", "dim")
    text = cell(value)
    return Text(visible(text) if lines else _line(text), overflow="ellipsis")
