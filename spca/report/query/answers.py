"""The command ``query``: SQL over the tables of runs, with the answer as a table, CSV or JSON."""

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
"""Largest number of rows that a table shows; the other formats have no limit."""
_MIN_COLUMN_WIDTH: Final = 8
"""Least average width of the columns on a terminal, in characters.

If the columns would be narrower, each row is shown as a record, which has one line for each column.
"""
_MAX_CHARS: Final = 50_000_000
"""Largest number of characters of a table that is not on a terminal.

A larger table is shown as records, because one long value makes all rows of a table long.
"""
_MIN_NAME_WIDTH: Final = 24
"""Number of characters that a record shows of a column name even if space is scarce."""
_EXPLAINED: Final = ("explain_key", "explain_value")
"""Names of the columns of DuckDB's answer to EXPLAIN. Their values are drawings of several lines."""
_NUMERIC: Final = re.compile("U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL")


def write_csv(result: Result, out: TextIO) -> None:
    """Write CSV (RFC 4180) with a header line.

    NULL becomes an empty field; lists and structures become JSON. On a terminal, control characters are made visible.
    Everywhere else, values are written unchanged.
    """
    show = visible if out.isatty() else str
    lines = csv.writer(out, lineterminator="\r\n")
    lines.writerow(map(show, result.names))
    for row in result.rows:
        lines.writerow([show(cell(value)) for value in row])


def write_json(result: Result, out: TextIO) -> None:
    """Write a JSON list of objects, with each object on a line of its own. Duplicate column names get numbers.

    On a terminal, control characters are made visible. Everywhere else, values are written unchanged.
    """
    show = visible if out.isatty() else str
    names = distinct(result.names)
    is_empty = True
    for row in result.rows:
        entry = {name: plain(value) for name, value in zip(names, row, strict=True)}
        separator = "[" if is_empty else ","
        out.write(f"{separator}\n{show(json.dumps(entry, ensure_ascii=False))}")
        is_empty = False
    out.write("[]\n" if is_empty else "\n]\n")


def write_table(result: Result, out: TextIO) -> None:
    """Write the answer as a table for people, and the number of rows.

    On a terminal, the table is in colour and fits the terminal's width. Elsewhere, it is as wide as necessary. A table
    that would be too wide is written as a record for each row.
    """
    rows = list(islice(result.rows, MAX_ROWS))
    count = len(rows) + sum(1 for _ in result.rows)
    console = open_console(out)
    if console.is_terminal:
        is_too_wide = len(result.names) * _MIN_COLUMN_WIDTH > console.width
    else:
        is_too_wide = _measure(rows) > _MAX_CHARS
    if is_too_wide and rows:
        for row in rows:
            console.print(_make_record(result.names, row))
            console.print()
    else:
        console.print(_make_table(result, rows))
    out.write(f"{count} row{'s' * (count != 1)}\n")
    if count > MAX_ROWS:
        out.write(f"shown are the first {MAX_ROWS}; --format csv and --format json give all\n")


def _measure(rows: Sequence[Row]) -> int:
    """Return the number of characters of a table if each column is as wide as its longest value."""
    columns = zip(*rows, strict=True)
    widths = [max(len(cell(value)) for value in column) for column in columns]
    return len(rows) * sum(widths)


def _make_table(result: Result, rows: Sequence[Row]) -> Table:
    """Return the answer as a table. Numbers are aligned to the right, other values to the left."""
    table = make_table(*map(_join_to_line, result.names), left=len(result.names))
    for column, sql_type in zip(table.columns, result.types, strict=True):
        type_name, _, _ = sql_type.partition("(")  # without parameters, as of DECIMAL(18,3)
        column.justify = "right" if _NUMERIC.fullmatch(type_name) else "left"
        column.no_wrap = True
    is_explanation = result.names == _EXPLAINED
    for row in rows:
        table.add_row(*(_text_of(value, lines=is_explanation) for value in row))
    return table


def _make_record(names: Sequence[str], row: Row) -> Table:
    """Return a row as a table with a line for each column: name and value."""
    longest_name = max(map(len, names))
    table = Table.grid(padding=(0, 1))
    table.add_column(style="bold", no_wrap=True, min_width=min(_MIN_NAME_WIDTH, longest_name))
    table.add_column(no_wrap=True)
    for name, value in zip(names, row, strict=True):
        table.add_row(_join_to_line(name), _text_of(value))
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
    """Execute SQL over the tables of runs. Write the answer to ``out``, and warnings to standard error.

    Args:
        format: ``table``, ``csv`` or ``json``.
        timeout_s: time limit for DuckDB, in seconds.
        out: None for standard output.

    Returns:
        The exit code, 0.

    Raises:
        QueryError: the SQL is wrong, takes too long, or does more than read the tables.
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
    """Convert a value of an answer to a JSON-compatible value.

    Times become ISO 8601 text, durations become seconds, bytes become hexadecimal text, and decimals become floats.
    NaN and infinities, for which JSON has no number, become None.
    """
    match value:
        case None | bool() | int() | str():
            converted: Any = value
        case float() | Decimal():
            converted = float(value) if math.isfinite(value) else None
        case date() | time():
            converted = value.isoformat()
        case timedelta():
            converted = value.total_seconds()
        case bytes():
            converted = value.hex()
        case Mapping():
            converted = {cell(name): plain(item) for name, item in value.items()}
        case list() | tuple():
            converted = [plain(item) for item in value]
        case _:
            converted = str(value)
    return converted


def cell(value: object) -> str:
    """Return a value of an answer as the text of a field; "" for NULL."""
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
    """Return the names, made unique. Each later duplicate gets a suffix with a free number, such as ``name_2``."""
    unique: list[str] = []
    originals = set(names)
    for name in names:
        candidate = name
        number = 2
        while candidate in unique or (candidate != name and candidate in originals):
            candidate = f"{name}_{number}"
            number += 1
        unique.append(candidate)
    return unique


def _join_to_line(text: str) -> str:
    """Return a text on one line, with symbols for line breaks and tabs."""
    return visible(text).replace("\n", "\u240a").replace("\t", "\u2409")


def _text_of(value: object, *, lines: bool = False) -> Text:
    """Return a value as the text of a table's cell. Line breaks are kept if ``lines`` is true, else they become
    symbols.
    """
    if value is None:
        return Text("NULL", "dim")
    text = cell(value)
    return Text(visible(text) if lines else _join_to_line(text), overflow="ellipsis")
