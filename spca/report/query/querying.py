"""``query``: SQL over the tables of any number of runs, answered as a table, CSV or JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, TextIO

from spca.common.text import visible
from spca.report.query import answers, database
from spca.report.query.answers import Writer
from spca.report.read.run_files import RunFiles

FORMATS: Final[Mapping[str, Callable[[TextIO], Writer]]] = {
    "table": answers.TableWriter,
    "csv": answers.CsvWriter,
    "json": answers.JsonWriter,
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
        The exit code, 0: also when who reads ``out`` wants no more of it.

    Raises:
        QueryError: SQL that is wrong, takes too long, or wants more than to read the tables.
        ReportError: DuckDB is missing.
    """
    out = out or sys.stdout
    result = database.ask(files, sql, timeout_s)
    for run in files:
        for warning in run.warnings:
            print(visible(f"warning: {run.id}: {warning}"), file=sys.stderr)
    try:
        writer = FORMATS[format](out)
        writer.head(result.names, result.types)
        for batch in result.batches:
            writer.rows(batch)
        writer.end()
        out.flush()
    except BrokenPipeError:
        _discard(out)
    return 0


def _discard(out: TextIO) -> None:
    """Let what is still buffered go nowhere: at its end Python writes it once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
