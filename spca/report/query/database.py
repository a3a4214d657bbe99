"""Runs in DuckDB, as tables in memory: SQL reads them and computes, and reaches no file (``docs/queries.md``)."""

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
    "python_enable_replacements": "false",  # a table is never a variable of ours
}
_TABLES: Final = Path(__file__).with_name("tables.sql")
# External access ends with a statement: set from the beginning, files named ":memory:" would stay open to SQL.
_LOCKS: Final = (
    "SET TimeZone='UTC'; SET enable_external_access=false; SET lock_configuration=true; BEGIN TRANSACTION READ ONLY"
)
_BATCH: Final = 10_000
"""Rows that are loaded, or fetched, in one go."""
TIMEOUT_S: Final = 60.0
"""Seconds that DuckDB may work on an answer where nobody gave another limit."""
_INTERRUPT_S: Final = 0.2
_INTERRUPTS: Final = 10
_ZONED: Final = "WITH TIME ZONE"
_SAID: Final = 3
"""Lines of an error that are told."""
_INDIRECT: Final = ("query", "serialized")
"""Parts of the names of functions that read tables named in strings."""
_HALVES: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Result:
    """Rows as they come; ``names`` and SQL ``types`` of the columns."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    rows: Iterator[Row]


class SlowError(QueryError):
    """The statement takes too long; where it works on a single value, only the end of the process stops it."""


def ask(files: Sequence[RunFiles], sql: str, timeout_s: float = TIMEOUT_S) -> Result:
    """Answer a statement over the tables of runs.

    Args:
        timeout_s: seconds that DuckDB may work on it; reading the runs and using the answer do not count.

    Raises:
        QueryError: it is wrong, wants more than to read the tables, or (SlowError) takes longer.
        KeyboardInterrupt: Ctrl-C.
    """
    import duckdb

    connection = duckdb.connect(":memory:", config=_CONFIG)
    try:
        sql.encode()
    except UnicodeEncodeError as error:  # bytes of a command line that are no text
        raise QueryError("the SQL is not UTF-8") from error
    try:
        connection.execute(_TABLES.read_text(encoding="utf-8"))
        for run in files:
            for name, found in records(run, find_mentioned(sql)).items():
                _fill(connection, name, run.id, found)
        connection.execute(_LOCKS)
    except duckdb.Error as error:
        raise QueryError(_words(error)) from error
    except RuntimeError as error:  # what DuckDB makes of Ctrl-C
        if "interrupted" in str(error):
            raise KeyboardInterrupt(str(error)) from error
        raise
    worker = _Worker(connection, timeout_s)
    columns = worker.do(lambda: _execute(connection, sql))
    return Result(*columns, _fetch_rows(connection, worker))


def find_mentioned(sql: str) -> list[str]:
    """Return the tables that a statement may read; the others need not be filled."""
    text = sql.lower()
    if any(word in text for word in _INDIRECT):
        return list(TABLES)
    return [name for name in TABLES if name in text]


def _fill(connection: DuckDBPyConnection, name: str, run_id: str, found: Iterable[Record]) -> None:
    """Load the records of a run into the table ``name``."""
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
    try:
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        return _spell_surrogates(text, "\\\\u")
    except RecursionError:  # writing takes more stack than reading took
        simple_values = {key: value for key, value in record.items() if not isinstance(value, dict | list)}
        return _json(simple_values)


def _spell_surrogates(text: str, escape: str = "\\u") -> str:
    """Spell halves of surrogate pairs out: UTF-8 has no place for them, and DuckDB refuses their escapes in JSON."""
    if text.isascii():
        return text
    return _HALVES.sub(lambda half: f"{escape}{ord(half[0]):04x}", text)


def _execute(connection: DuckDBPyConnection, sql: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Begin the answer; return the names and types of its columns."""
    connection.execute(sql)
    columns: Sequence[tuple[Any, ...]] = connection.description or ()
    if not columns:
        raise QueryError('the SQL answers nothing: ask for instance "FROM levels"')
    types = [str(column[1]) for column in columns]
    if any(_ZONED in type_ for type_ in types):  # Python would need one more package; DuckDB can spell them itself
        values = (f"CAST(#{at} AS VARCHAR)" if _ZONED in type_ else f"#{at}" for at, type_ in enumerate(types, 1))
        named = ", ".join(f"{value} AS c{at}" for at, value in enumerate(values))
        connection.execute(f"SELECT {named} FROM query($1)", [sql])  # noqa: S608  # columns by number
    return tuple(str(column[0]) for column in columns), tuple(types)


def _fetch_rows(connection: DuckDBPyConnection, worker: _Worker) -> Iterator[Row]:
    while batch := worker.do(lambda: connection.fetchmany(_BATCH)):
        yield from batch


class _Worker:
    """Does the work of DuckDB where Ctrl-C and a time limit can stop it: in the main thread a signal would be noticed
    only after a while."""

    def __init__(self, connection: DuckDBPyConnection, timeout_s: float) -> None:
        self._connection = connection
        self._limit = timeout_s
        self._left = timeout_s

    def do(self, work: Callable[[], T]) -> T:
        """Do a part of the work; all parts together may take as long as the limit says."""
        import duckdb

        started = time.monotonic()
        pool = ThreadPoolExecutor(1)
        done = pool.submit(work)
        try:
            return done.result(max(0.0, self._left))
        except (KeyboardInterrupt, TimeoutError) as why:
            for _ in range(_INTERRUPTS):  # one that comes before the statement begins is forgotten
                self._connection.interrupt()
                if wait([done], timeout=_INTERRUPT_S).done:
                    break
            if isinstance(why, KeyboardInterrupt):
                raise
            said = f"there is no answer after {self._limit:g} s: ask for less, or allow more with --timeout S"
            raise SlowError(said) from why
        except duckdb.Error as error:
            raise QueryError(_words(error)) from error
        except (ValueError, ArithmeticError) as error:  # Python has no such value
            raise QueryError(f"the answer holds a value that cannot be shown ({error}): cast it to VARCHAR") from error
        finally:
            self._left -= time.monotonic() - started
            pool.shutdown(wait=False)


def _words(error: Exception) -> str:
    """Return what DuckDB says, with the place in the statement if it names one."""
    import duckdb

    text = visible(str(error)).partition("Traceback (most recent call last)")[0]
    if isinstance(error, duckdb.TransactionException):
        return "SQL here only reads: the tables cannot be changed"
    said, _, place = text.partition("\n\nLINE ")
    lines = [line for line in said.splitlines() if line.strip()]
    if lines[0].startswith("Catalog Error: Table with name"):
        lines = [lines[0], f"The tables are {', '.join(TABLES)}"]
    kept = " ".join(line.strip() for line in lines[:_SAID])
    return f"{kept}\nLINE {place}" if place else kept
