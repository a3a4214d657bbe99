"""Runs in DuckDB, behind a wall: SQL reads the tables and computes, and reaches no file, network or variable.

What holds the wall, each part by itself:

- the parser's word on what a statement is: exactly one, and one that reads;
- a transaction that is read-only;
- ``enable_external_access=false``: no files, no extensions, no other databases;
- ``lock_configuration``: none of this can be taken back, nothing is logged or profiled into files;
- an empty search for Python variables; settings without paths of the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from spca.common.text import visible
from spca.errors import QueryError, ReportError
from spca.report.query.tables import TABLES, records
from spca.report.read.run_files import RunFiles

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection, Statement

T = TypeVar("T")

MEMORY: Final = "2GB"
"""What tables and intermediate results may take together."""
_CONFIG: Final[dict[str, str | bool | int | float | list[str]]] = {
    "memory_limit": MEMORY,
    "temp_directory": "",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "home_directory": "none",
    "secret_directory": "none",
    "python_enable_replacements": "false",
}
# External access is closed by a statement: closed from the beginning, files named ":memory:" would stay open to SQL.
_LOCKS: Final = (
    "SET TimeZone='UTC'",
    "SET enable_external_access=false",
    "SET lock_configuration=true",
    "BEGIN TRANSACTION READ ONLY",
)
_BATCH: Final = 10_000
TIMEOUT_S: Final = 60.0
"""Seconds that DuckDB may work on an answer where nobody gave another limit."""
_INTERRUPT_S: Final = 0.2
_GRACE_S: Final = 2.0
"""Seconds after which a statement that was told to stop, and goes on, is given up."""
_ZONED: Final = "WITH TIME ZONE"
_SAID: Final = 3
"""Lines of an error that are told."""
_READING: Final = (
    "DESC",
    "DESCRIBE",
    "FROM",
    "PIVOT",
    "SELECT",
    "SHOW",
    "SUMMARIZE",
    "TABLE",
    "UNPIVOT",
    "VALUES",
    "WITH",
)
_INDIRECT: Final = ("query", "serialized")
"""Parts of the names of functions that read tables named in strings."""


@dataclass(frozen=True, slots=True)
class Result:
    """Rows as they come, in batches; ``names`` and SQL ``types`` of the columns."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    batches: Iterator[Sequence[tuple[object, ...]]]


class StuckError(QueryError):
    """DuckDB works on a single value and hears no interrupt: only the end of the process stops it.

    ``__cause__`` is why it was to stop.
    """


def ask(files: Sequence[RunFiles], sql: str, timeout_s: float = TIMEOUT_S) -> Result:
    """Answer a statement over the tables of runs.

    Args:
        timeout_s: seconds that DuckDB may work on it; reading the runs and using the answer do not count.

    Raises:
        QueryError: it is wrong, takes longer, or is more than one statement that reads.
        ReportError: DuckDB is missing.
        KeyboardInterrupt: Ctrl-C; the statement is stopped.
        StuckError: it cannot be stopped.
    """
    try:
        import duckdb
    except ImportError as error:
        raise ReportError("query needs duckdb: pip install duckdb (extra [report])") from error

    connection = duckdb.connect(":memory:", config=_CONFIG)
    try:
        _check(connection, sql)
        _load(connection, files, mentioned(sql))
        for statement in _LOCKS:
            connection.execute(statement)
        return _run(connection, sql, _Worker(connection, timeout_s))
    except duckdb.Error as error:
        connection.close()
        raise QueryError(_words(error)) from error
    except StuckError:  # closing would wait for it
        raise
    except BaseException:  # whatever it is, nobody will read from this connection
        connection.close()
        raise


def mentioned(sql: str) -> list[str]:
    """The tables that a statement may read; the others need not be filled."""
    text = sql.lower()
    return [name for name in TABLES if name in text or any(word in text for word in _INDIRECT)]


def _check(connection: DuckDBPyConnection, sql: str) -> None:
    """Refuse what is not one statement that reads, by the word of DuckDB's parser."""
    try:
        sql.encode()
    except UnicodeEncodeError as error:  # bytes of a command line that are no text
        raise QueryError("the SQL is not UTF-8") from error
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(f'one statement is wanted, as "FROM levels" is, here are {len(statements) or "none"}')
    kind = _kind(statements[0])
    # A PIVOT whose columns come from the data is several statements to DuckDB, and so is all that holds one.
    if kind == "SELECT" or (kind in ("EXPLAIN", "MULTI") and _reads(sql)):
        return
    raise QueryError(
        f"SQL here only reads (SELECT, FROM, WITH, DESCRIBE, PIVOT ...): {_tokens(sql)[0][1].upper()} is refused"
    )


def _kind(statement: Statement) -> str:
    try:
        return str(statement.type.name)
    except ValueError:  # one that DuckDB knows and its Python API does not, such as UPDATE EXTENSIONS
        return ""


def _reads(sql: str) -> bool:
    """Whether the first word that is not EXPLAIN, or an option of it, begins something that reads."""
    words = [word.upper() for _, word in _tokens(sql)]
    if words[0] == "EXPLAIN":
        del words[: 2 if words[1:2] == ["ANALYZE"] else 1]
        if words[:1] == ["("] and words[1:2] and words[1] not in _READING:
            del words[: words.index(")") + 1 if ")" in words else 1]
    return bool(words) and (words[0] in _READING or words[0] == "(")


def _tokens(sql: str) -> list[tuple[int, str]]:
    """What a statement consists of, comments left out, each with the position (in bytes) of its end."""
    import duckdb

    data = sql.encode()
    found = duckdb.tokenize(sql)
    ends = [start for start, _ in found[1:]] + [len(data)]
    return [
        (end, data[start:end].decode("utf-8", "replace").strip())
        for (start, kind), end in zip(found, ends, strict=True)
        if kind != duckdb.token_type.comment
    ]


def _load(connection: DuckDBPyConnection, files: Sequence[RunFiles], names: Sequence[str]) -> None:
    from spca.report.query.loading import fill, schema

    for name, columns in TABLES.items():
        connection.execute(f'CREATE TABLE "{name}" ({schema(columns)})')
    for run in files if names else ():
        for name, found in records(run, names).items():
            fill(connection, name, run.id, found)


def _run(connection: DuckDBPyConnection, sql: str, worker: _Worker) -> Result:
    worker.do(lambda: connection.execute(sql))
    names = [str(column[0]) for column in connection.description or ()]
    types = [str(column[1]) for column in connection.description or ()]
    if any(_ZONED in type_ for type_ in types):
        # Python would need one more package for these; DuckDB can spell them itself.
        spelled = _spelled(sql, types)
        worker.do(lambda: connection.execute(spelled))
    return Result(tuple(names), tuple(types), _batches(connection, worker))


def _spelled(sql: str, types: Sequence[str]) -> str:
    """The statement with its times that have a zone as text."""
    end = max((end for end, word in _tokens(sql) if word != ";"), default=0)
    inner = sql.encode()[:end].decode()
    columns = [f"CAST(c{at} AS VARCHAR)" if _ZONED in type_ else f"c{at}" for at, type_ in enumerate(types)]
    names = ", ".join(f"c{at}" for at in range(len(types)))
    return f"SELECT {', '.join(columns)} FROM ({inner}\n) AS answer({names})"  # noqa: S608 - it was checked


def _batches(connection: DuckDBPyConnection, worker: _Worker) -> Iterator[Sequence[tuple[object, ...]]]:
    while batch := worker.do(lambda: connection.fetchmany(_BATCH)):
        yield batch
    connection.close()


class _Worker:
    """Does the work of DuckDB where Ctrl-C and a time limit can stop it: in the main thread a signal would be noticed
    only after a while."""

    def __init__(self, connection: DuckDBPyConnection, timeout_s: float) -> None:
        self._connection, self._limit, self._left = connection, timeout_s, timeout_s

    def do(self, work: Callable[[], T]) -> T:
        """Do a part of the work; all parts together may take as long as the limit says."""
        import duckdb

        started = time.monotonic()
        pool = ThreadPoolExecutor(1)
        done = pool.submit(work)
        try:
            return done.result(max(0.0, self._left))
        except (KeyboardInterrupt, TimeoutError) as why:
            said = f"there is no answer after {self._limit:g} s: ask for less, or allow more with --timeout S"
            if not self._stops(done):
                raise StuckError(said) from why
            if isinstance(why, KeyboardInterrupt):
                raise
            raise QueryError(said) from why
        except duckdb.Error as error:
            raise QueryError(_words(error)) from error
        except (ValueError, ArithmeticError) as error:  # Python has no such value
            raise QueryError(f"the answer holds a value that cannot be shown ({error}): cast it to VARCHAR") from error
        finally:
            self._left -= time.monotonic() - started
            pool.shutdown(wait=False)

    def _stops(self, done: Future[T]) -> bool:
        """Interrupt DuckDB, again and again: an interrupt that comes before the statement begins is forgotten."""
        for _ in range(round(_GRACE_S / _INTERRUPT_S)):
            self._connection.interrupt()
            if wait([done], timeout=_INTERRUPT_S).done:
                return True
        return False


def _words(error: Exception) -> str:
    """What DuckDB says, with the place in the statement where it tells one."""
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
