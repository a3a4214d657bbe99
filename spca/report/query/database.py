"""Runs as tables in an in-memory DuckDB database; SQL can read the tables, but no file (``docs/queries.md``)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from spca.common.text import visible
from spca.errors import QueryError
from spca.report.query.tables import TABLES, Record, records
from spca.report.read.run_files import RunFiles

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

T = TypeVar("T")
Row: TypeAlias = Sequence[object]

_CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "memory_limit": "2GB",  # tables and intermediate results together
    "temp_directory": "",
    "python_enable_replacements": "false",  # SQL must not read Python variables as tables
}
_TABLES: Final = Path(__file__).with_name("tables.sql")
# A statement disables external access. As an option of the connection, it would leave files named ":memory:" readable.
_LOCKS: Final = (
    "SET TimeZone='UTC'; SET enable_external_access=false; SET lock_configuration=true; BEGIN TRANSACTION READ ONLY"
)
_BATCH: Final = 10_000
"""Number of rows that are loaded or fetched at once."""
TIMEOUT_S: Final = 60.0
"""Default time limit for DuckDB's work on an answer, in seconds."""
_INTERRUPT_S: Final = 0.2
_INTERRUPTS: Final = 10
_ZONED: Final = "WITH TIME ZONE"
_MAX_ERROR_LINES: Final = 3
"""Largest number of lines that are shown of DuckDB's error message."""
_INDIRECT: Final = ("query", "serialized")
"""Words in the names of those SQL functions that get the names of tables in strings."""
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Result:
    """An answer: names and SQL types of the columns, and the rows, which are fetched lazily."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: Iterator[Row]


class SlowError(QueryError):
    """The statement takes too long. Work of DuckDB on a single value stops only when the process ends."""


def ask(files: Sequence[RunFiles], sql: str, timeout_s: float = TIMEOUT_S) -> Result:
    """Execute a statement over the tables of runs, and return the answer.

    Args:
        timeout_s: seconds that DuckDB may work on the statement; reading the runs and using the answer do not count.

    Raises:
        QueryError: the statement is wrong, does more than read the tables, or takes too long (:class:`SlowError`).
        KeyboardInterrupt: the user pressed Ctrl-C.
    """
    import duckdb

    connection = duckdb.connect(":memory:", config=_CONFIG)
    try:
        sql.encode()
    except UnicodeEncodeError as error:  # the command line had bytes that are not UTF-8
        raise QueryError("the SQL is not UTF-8") from error
    try:
        connection.execute(_TABLES.read_text(encoding="utf-8"))
        for run in files:
            for name, rows in records(run, find_mentioned(sql)).items():
                _fill(connection, name, run.id, rows)
        connection.execute(_LOCKS)
    except duckdb.Error as error:
        raise QueryError(_describe_error(error)) from error
    except RuntimeError as error:  # DuckDB turns Ctrl-C into this error
        if "interrupted" in str(error):
            raise KeyboardInterrupt(str(error)) from error
        raise
    worker = _Worker(connection, timeout_s)
    names, types = worker.do(lambda: _execute(connection, sql))
    return Result(names, types, _fetch_rows(connection, worker))


def find_mentioned(sql: str) -> list[str]:
    """Return the tables that a statement may read, so that the other tables need not be filled."""
    text = sql.lower()
    if any(word in text for word in _INDIRECT):
        return list(TABLES)
    return [name for name in TABLES if name in text]


def _fill(connection: DuckDBPyConnection, name: str, run_id: str, found: Iterable[Record]) -> None:
    """Load the records ``found`` of a run into the table ``name``, and number them from 1."""
    import numpy as np

    number = 1
    remaining = map(_json, found)
    while texts := list(islice(remaining, _BATCH)):
        numbers = np.arange(number, number + len(texts))
        batch = {"number": numbers, "record": np.array(texts, dtype=object)}
        connection.register("batch", batch)
        connection.execute(f'INSERT INTO "{name}" FROM files."{name}"($1)', [_spell_surrogates(run_id)])
        connection.unregister("batch")
        number += len(texts)


def _json(record: Record) -> str:
    """Return a record as JSON text; if the record is nested too deeply, leave out its objects and lists."""
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        return _spell_surrogates(text, "\\\\u")
    except RecursionError:  # writing JSON needs more stack than reading the same JSON
        simple_values = {key: value for key, value in record.items() if not isinstance(value, dict | list)}
        return _json(simple_values)


def _spell_surrogates(text: str, escape: str = "\\u") -> str:
    """Replace each lone surrogate by ``escape`` and four hexadecimal digits.

    UTF-8 cannot encode surrogates, and DuckDB refuses their escapes in JSON.
    """
    if text.isascii():
        return text
    return _SURROGATES.sub(lambda surrogate: f"{escape}{ord(surrogate[0]):04x}", text)


def _execute(connection: DuckDBPyConnection, sql: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Execute a statement and return the names and the types of the answer's columns."""
    connection.execute(sql)
    columns: Sequence[tuple[Any, ...]] = connection.description or ()
    if not columns:
        raise QueryError('the SQL answers nothing: ask for instance "FROM levels"')
    names = [str(column[0]) for column in columns]
    types = [str(column[1]) for column in columns]
    if any(_ZONED in sql_type for sql_type in types):
        # Python would need another package for times with a zone, so DuckDB converts these times to text.
        selected = []
        for position, sql_type in enumerate(types):
            reference = f"#{position + 1}"  # columns by number, because names may be ambiguous
            value = f"CAST({reference} AS VARCHAR)" if _ZONED in sql_type else reference
            selected.append(f"{value} AS c{position}")
        connection.execute(f"SELECT {', '.join(selected)} FROM query($1)", [sql])  # noqa: S608  # no names of the user
    return tuple(names), tuple(types)


def _fetch_rows(connection: DuckDBPyConnection, worker: _Worker) -> Iterator[Row]:
    while batch := worker.do(lambda: connection.fetchmany(_BATCH)):
        yield from batch


class _Worker:
    """Runs DuckDB in a second thread, so that Ctrl-C and a time limit can interrupt the work.

    If DuckDB ran in the main thread, Python would react to Ctrl-C only after DuckDB has returned.
    """

    def __init__(self, connection: DuckDBPyConnection, timeout_s: float) -> None:
        self._connection = connection
        self._limit = timeout_s
        self._left = timeout_s

    def do(self, work: Callable[[], T]) -> T:
        """Return the result of ``work``. All calls of this method together may take ``timeout_s`` seconds.

        Raises:
            QueryError: DuckDB raised an error, Python cannot represent a value, or the time is over
                (:class:`SlowError`).
        """
        import duckdb

        started = time.monotonic()
        pool = ThreadPoolExecutor(1)
        future = pool.submit(work)
        try:
            return future.result(max(0.0, self._left))
        except (KeyboardInterrupt, TimeoutError) as cause:
            # Interrupt repeatedly, because DuckDB forgets an interrupt that comes before the statement begins.
            for _ in range(_INTERRUPTS):
                self._connection.interrupt()
                if wait([future], timeout=_INTERRUPT_S).done:
                    break
            if isinstance(cause, KeyboardInterrupt):
                raise
            message = f"there is no answer after {self._limit:g} s: ask for less, or allow more with --timeout S"
            raise SlowError(message) from cause
        except duckdb.Error as error:
            raise QueryError(_describe_error(error)) from error
        except (ValueError, ArithmeticError) as error:  # Python cannot represent a value of DuckDB
            raise QueryError(f"the answer holds a value that cannot be shown ({error}): cast it to VARCHAR") from error
        finally:
            self._left -= time.monotonic() - started
            pool.shutdown(wait=False)


def _describe_error(error: Exception) -> str:
    """Return the beginning of DuckDB's message, and the place in the statement if the message names a place."""
    import duckdb

    text, _, _ = visible(str(error)).partition("Traceback (most recent call last)")
    if isinstance(error, duckdb.TransactionException):
        return "SQL here only reads: the tables cannot be changed"
    message, _, place = text.partition("\n\nLINE ")
    lines = [line for line in message.splitlines() if line.strip()]
    if lines[0].startswith("Catalog Error: Table with name"):
        lines = [lines[0], f"The tables are {', '.join(TABLES)}"]
    shown = " ".join(line.strip() for line in lines[:_MAX_ERROR_LINES])
    return f"{shown}\nLINE {place}" if place else shown
