"""How long a statement may take, and how it is stopped."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from spca.errors import QueryError
from spca.report.query import database
from spca.report.read.run_files import open_run
from tests.support import forked
from tests.support.commands import environment, start
from tests.support.tiers import few
from tests.support.waiting import PATIENCE, becomes

ENDLESS = "SELECT sum(a.r * b.r) FROM range(10000000) a(r), range(10000000) b(r)"


@pytest.mark.parametrize(
    "sql",
    few(
        3,
        [
            "WITH RECURSIVE t(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM t) SELECT max(a) FROM t",
            "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b",
            "SELECT sum(range) FROM range(1000000000000)",
            "SELECT sleep_ms(1000000)",
            "FROM range(1000000000000)",
            "EXPLAIN ANALYZE SELECT sum(range) FROM range(1000000000000)",
            "SELECT sum(range)::TIMESTAMPTZ FROM range(1000000000000)",
        ],
    ),
)
def test_a_statement_without_an_end_is_stopped(finished_run: Path, sql: str) -> None:
    with pytest.raises(QueryError, match=r"no answer after 0\.3 s: ask for less, or allow more with --timeout S"):
        for _ in database.ask([open_run(finished_run)], sql, 0.3).rows:
            pass


@pytest.mark.long
def test_only_the_work_of_duckdb_counts(finished_run: Path) -> None:
    rows = database.ask([open_run(finished_run)], "FROM range(50000)", 0.5).rows
    next(rows)
    time.sleep(0.6)
    assert sum(1 for _ in rows) == 49_999


def test_what_hears_no_interrupt_ends_with_the_process(finished_run: Path, tmp_path: Path) -> None:
    sql = "SELECT levenshtein(repeat('x', 400000), repeat('y', 400000))"
    # A hundredth of the patience, in a process that ends for good: DuckDB works on and on.
    program = (
        "import sys; from spca.report.query import database; database._INTERRUPT_S /= 100; from main import main; "
        "sys.exit(main())"
    )
    asked = ("query", str(finished_run), sql, "--timeout", "0.2")
    done = forked.run_statements(program, *asked, cwd=tmp_path, env=environment())
    said = "error: there is no answer after 0.2 s: ask for less, or allow more with --timeout S\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_an_interrupt_while_the_tables_are_filled_is_one(finished_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object) -> None:
        raise RuntimeError("Query interrupted")  # as DuckDB does in the main thread

    monkeypatch.setattr(database, "_fill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        database.ask([open_run(finished_run)], "SELECT * FROM levels")


def test_an_interrupt_stops_a_long_statement(finished_run: Path) -> None:
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            database.ask([open_run(finished_run)], ENDLESS)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def used(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    ticks = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.long
def test_ctrl_c_stops_a_long_statement(finished_run: Path, tmp_path: Path) -> None:
    with start(tmp_path, "query", finished_run, ENDLESS) as child:
        assert becomes(lambda: child.poll() is not None or used(child.pid) > 3), "to begin takes one"
        assert child.poll() is None
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=PATIENCE)
    assert (child.returncode, said) == (130, "interrupted\n")
