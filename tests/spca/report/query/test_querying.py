"""SQL over runs: what it answers, how it is shown, and that no file is read or written."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from spca.errors import QueryError
from spca.report.query import database
from spca.report.query.answers import query
from spca.report.query.database import find_mentioned
from spca.report.query.tables import TABLES
from spca.report.read.run_files import open_run
from tests.support.commands import main_py, start
from tests.support.report.making import Writing
from tests.support.tiers import few, long
from tests.support.waiting import PATIENCE


def ask(path: Path, sql: str) -> list[database.Row]:
    return list(database.ask([open_run(path)], sql).rows)


def answer(path: Path, sql: str, format: str = "table") -> str:
    out = io.StringIO(newline="")
    assert query([open_run(path)], sql, format=format, out=out) == 0
    return out.getvalue()


READS = {
    "SELECT count(*) FROM levels": [(3,)],
    "FROM levels SELECT outcome ORDER BY level_index": [("success",), ("fail",), ("success",)],
    "WITH l AS (FROM levels) SELECT max(level_index) FROM l;": [(3,)],
    "VALUES (1), (2)": [(1,), (2,)],
    "SELECT 'é' -- who reads this; nobody": [("é",)],
    "PIVOT levels ON outcome USING count(*) GROUP BY category": [("navigation", 1, 2)],
    "SELECT * FROM (PIVOT levels ON outcome USING count(*) GROUP BY category)": [("navigation", 1, 2)],
    "SELECT count(*) FROM query('FROM ' || 'le' || 'vels')": [(3,)],
    'SELECT count(*) FROM "LEVELS"': [(3,)],
    "SELECT data->>'event' FROM events LIMIT 1": [("level_start",)],
    "SELECT to_timestamp(r) AS t FROM range(3) x(r) ORDER BY r DESC; -- in UTC": [
        ("1970-01-01 00:00:02+00",),
        ("1970-01-01 00:00:01+00",),
        ("1970-01-01 00:00:00+00",),
    ],
}


@pytest.mark.parametrize("sql", few(6, READS))
def test_reads(finished_run: Path, sql: str) -> None:
    assert ask(finished_run, sql) == READS[sql]


@pytest.mark.parametrize(
    "sql",
    few(
        1,
        [
            "EXPLAIN SELECT * FROM levels",
            "EXPLAIN ANALYZE FROM levels",
            "EXPLAIN (FORMAT json) SELECT 1",
            "EXPLAIN (SELECT 1)",
            "/* of */ DESCRIBE levels",
            "SUMMARIZE levels",
            "SHOW TABLES",
            "TABLE levels",
            "UNPIVOT (SELECT seed, rounds FROM levels) ON seed, rounds",
        ],
    ),
)
def test_reads_in_other_words(finished_run: Path, sql: str) -> None:
    assert ask(finished_run, sql)


LARGE = "SELECT list(hash(a.range, b.range)) FROM range(100000000) a, range(100) b"

SEALED = """
SELECT * FROM read_csv('/etc/passwd')
SELECT * FROM read_text('/etc/passwd')
SELECT * FROM read_blob('/proc/self/environ')
SELECT * FROM read_json('{run}/run.json')
SELECT * FROM read_ndjson('{run}/metrics.jsonl')
SELECT * FROM read_parquet('https://example.com/a.parquet')
SELECT * FROM read_duckdb('{run}/x.db')
SELECT * FROM parquet_metadata('/etc/passwd')
SELECT * FROM sniff_csv('/etc/passwd')
SELECT * FROM glob('/etc/*')
SELECT * FROM '/etc/passwd'
SELECT * FROM '{run}/metrics.jsonl'
SELECT * FROM 's3://bucket/a.parquet'
SELECT * FROM ':memory:'
SELECT * FROM read_text(':memory:')
SELECT * FROM query('FROM read_text(''/etc/passwd'')')
SELECT * FROM query_table('{run}/metrics.jsonl')
SELECT (SELECT content FROM read_text('/etc/passwd'))
DESCRIBE SELECT * FROM read_csv('/etc/passwd')
SUMMARIZE '{run}/metrics.jsonl'
PIVOT read_csv('/etc/passwd') ON column0
PIVOT (FROM read_text('/etc/passwd')) ON filename
EXPLAIN ANALYZE FROM read_text('/etc/passwd')
EXPLAIN COPY levels TO '{target}'
EXPLAIN ANALYZE COPY levels TO '{target}'
EXPLAIN ANALYZE INSERT INTO levels(seed) VALUES (1)
EXPLAIN ANALYZE CREATE TEMP TABLE x(a INT)
EXPLAIN (FORMAT json) DELETE FROM levels
COPY levels TO '{target}'
COPY (SELECT 1) TO '/dev/stdout'
COPY levels FROM '/etc/passwd'
EXPORT DATABASE '{target}'
IMPORT DATABASE '{run}'
ATTACH '{target}' AS other
ATTACH ':memory:' AS other
DETACH memory
USE temp
INSTALL httpfs
LOAD httpfs
LOAD '/tmp/evil.so'
SET enable_external_access=true
SET lock_configuration=false
SET VARIABLE a = 1
RESET enable_external_access
PRAGMA database_list
PRAGMA enable_profiling
CALL pragma_version()
CALL enable_logging(storage_path='{target}')
SELECT * FROM enable_logging(storage_path='{target}')
SELECT * FROM enable_profiling(save_location='{target}')
CREATE TABLE x(a INT)
CREATE TEMP TABLE x(a INT)
CREATE TABLE x AS PIVOT levels ON outcome
CREATE TEMP TABLE x AS PIVOT levels ON outcome
CREATE VIEW x AS SELECT 1
CREATE MACRO f() AS 1
CREATE SECRET s (TYPE s3)
INSERT INTO levels(seed) VALUES (1)
WITH x AS (INSERT INTO levels(seed) VALUES (1) RETURNING *) FROM x
UPDATE levels SET seed = 2
DELETE FROM levels
TRUNCATE levels
ALTER TABLE levels ADD COLUMN x INT
DROP TABLE levels
BEGIN TRANSACTION
CHECKPOINT
VACUUM
PREPARE p AS SELECT 1
SELECT 1; SELECT 2
SELECT 1; DROP TABLE levels
SELECT getenv('HOME')
SELECT * FROM duckdb_extensions()
SELECT * FROM files
SELECT * FROM connection
SELECT ?
SELECT * FROM python_map_function(1)
""".strip().splitlines()
HARMLESS = {
    "EXPLAIN ANALYZE CREATE TEMP TABLE x(a INT)",
    "ATTACH ':memory:' AS other",
    "SET VARIABLE a = 1",
    "PRAGMA database_list",
    "CALL pragma_version()",
    "CREATE TEMP TABLE x(a INT)",
    "CREATE TEMP TABLE x AS PIVOT levels ON outcome",
    "CHECKPOINT",
    "VACUUM",
    "PREPARE p AS SELECT 1",
    "SELECT 1; SELECT 2",
}
"""Statements that write into memory at most: it ends with them."""


@pytest.mark.parametrize("sql", few(8, SEALED))
def test_no_file_is_read_and_none_is_written(
    finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ":memory:").write_text("secret")
    monkeypatch.chdir(home)
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    target = tmp_path / "target"
    before = contents(finished_run)
    try:
        said = str(ask(finished_run, sql.format(run=finished_run, target=target)))
        assert sql in HARMLESS
    except QueryError as error:
        assert sql not in HARMLESS
        said = str(error)
    assert said
    assert not [word for word in ("Traceback", "root:", "secret") if word in said.replace("stored_secrets", "")]
    assert not target.exists()
    assert contents(finished_run) == before
    assert os.listdir(home) == [":memory:"]


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.long
def test_no_statement_opens_what_was_closed_before_it(finished_run: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    for opening in ("SET lock_configuration=false", "SET enable_external_access=true", "COMMIT", "ROLLBACK"):
        with pytest.raises(QueryError):
            ask(finished_run, f"{opening}; COPY (SELECT 1) TO '{target}'; SELECT 1")
    assert not target.exists()


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("", "answers nothing"),
        ("-- nothing", "answers nothing"),
        ("SELECT '\udcff'", "not UTF-8"),
        ("FROM nope", "The tables are runs, levels, calls, events, attempts, steps, writers\nLINE 1: FROM nope\n"),
        ("SELECT sed FROM runs", 'column "sed" not found'),
        ("SELEC 1", "syntax error"),
        ("CREATE TABLE x(a INT)", "only reads"),
        ("WITH x AS (DELETE FROM levels RETURNING *) FROM x", "only reads"),
        ("SELECT '\x1b[2J'::INT", "␛[2J"),
        ("CONNECT 'x'", "disabled by configuration"),
        ("SELECT INTERVAL 100000000 YEAR", "cannot be shown (Python int too large"),
        long(LARGE, "Out of Memory"),
    ],
)
def test_mistakes_are_told_in_a_line(finished_run: Path, sql: str, words: str) -> None:
    with pytest.raises(QueryError) as caught:
        ask(finished_run, sql)
    assert words in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.long
def test_an_answer_beyond_the_memory_is_a_mistake_as_well(finished_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(database._CONFIG, "memory_limit", "100MB")
    with pytest.raises(QueryError, match=r"Out of Memory.*/95\.3 MiB used"):
        ask(finished_run, LARGE)


def test_only_tables_that_are_mentioned_are_filled() -> None:
    assert find_mentioned("SELECT * FROM Levels JOIN calls USING (run_id)") == ["levels", "calls"]
    assert find_mentioned("SELECT 1") == []
    assert find_mentioned("FROM query('FROM st' || 'eps')") == list(TABLES)


def test_several_runs(finished_run: Path, mixed_run: Path) -> None:
    files = [open_run(finished_run), open_run(mixed_run)]
    out = io.StringIO()
    query(files, "SELECT run_id, count(*) AS n FROM levels GROUP BY ALL ORDER BY ALL", format="json", out=out)
    assert {entry["run_id"]: entry["n"] for entry in json.loads(out.getvalue())} == {
        finished_run.name: 3,
        mixed_run.name: 3,
    }


def test_a_table_elsewhere_than_on_a_terminal_is_not_cut(finished_run: Path) -> None:
    text = answer(finished_run, "SELECT repeat('long', 100) AS words, NULL AS nothing, 'a\nb' AS lines, 12 AS n")
    assert not [part for part in ("long" * 100, "NULL", "a␊b") if part not in text]
    assert text.endswith("1 row\n")
    assert "\x1b" not in text


@pytest.mark.long
def test_a_long_value_does_not_make_all_rows_long(finished_run: Path) -> None:
    """A line of the log that is a megabyte long would make a table of gigabytes."""
    sql = "SELECT repeat('a', 200000 * (i = 7)::INT) AS words, i FROM range(1000) AS t(i)"
    text = answer(finished_run, sql)
    assert 200_000 < len(text) < 2_000_000
    assert "a" * 200_000 in text
    assert text.endswith("1000 rows\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("COLUMNS", "60")
    return Terminal()


def test_a_terminal_cuts_what_is_wide(finished_run: Path, terminal: Terminal) -> None:
    query([open_run(finished_run)], "SELECT repeat('long', 100) AS words, 1 AS n", out=terminal)
    assert "longlong" in terminal.getvalue()
    assert "long" * 15 not in terminal.getvalue()
    assert "…" in terminal.getvalue()


def test_a_terminal_shows_many_columns_one_below_the_other(finished_run: Path, terminal: Terminal) -> None:
    query([open_run(finished_run)], "FROM levels LIMIT 2", out=terminal)
    names = [
        line.split()[0] for line in re.sub("\x1b\\[[0-9;]*m", "", terminal.getvalue()).splitlines() if line.strip()
    ]
    columns = database.ask([open_run(finished_run)], "FROM levels").names
    assert names == [*columns * 2, "2"]


@pytest.mark.parametrize("format", ["table", "csv", "json"])
def test_nothing_controls_a_terminal(finished_run: Path, terminal: Terminal, format: str) -> None:
    query([open_run(finished_run)], "SELECT chr(155) || '2J' || chr(8238) AS \"a\x1b[2J\"", format=format, out=terminal)
    assert not [character for character in ("\x9b", "\u202e", "\x1b[2J") if character in terminal.getvalue()]


@pytest.mark.long
def test_nothing_found_still_has_names(finished_run: Path) -> None:
    assert answer(finished_run, "SELECT seed FROM runs WHERE false").split() == ["seed", "─" * 4, "0", "rows"]
    assert answer(finished_run, "SELECT seed FROM runs WHERE false", "csv") == "seed\r\n"
    assert answer(finished_run, "SELECT seed FROM runs WHERE false", "json") == "[]\n"


def test_csv_comes_back_as_it_was(finished_run: Path) -> None:
    text = answer(finished_run, "SELECT 'a,\"b\"\nc' AS \"x,y\", NULL, true, [1, NULL], '=1+1'", "csv")
    assert list(csv.reader(io.StringIO(text, newline="")))[1:] == [['a,"b"\nc', "", "true", "[1, null]", "=1+1"]]
    assert "\r\n" in text


def test_json_has_sensible_values(finished_run: Path) -> None:
    sql = """SELECT 1 AS a, 2 AS a, 1.5::DECIMAL(4,2) AS d, 'nan'::DOUBLE AS nan, TIMESTAMP '2026-01-02 03:04:05' AS t,
        INTERVAL 90 SECOND AS i, {'k': [DATE '2026-01-02']} AS s, MAP {1: 'x'} AS m, 'ab'::BLOB AS b, NULL AS n"""
    assert json.loads(answer(finished_run, sql, "json")) == [
        {
            "a": 1,
            "a_2": 2,
            "d": 1.5,
            "nan": None,
            "t": "2026-01-02T03:04:05",
            "i": 90.0,
            "s": {"k": ["2026-01-02"]},
            "m": {"1": "x"},
            "b": "6162",
            "n": None,
        }
    ]


def test_what_cannot_be_read_is_told(finished_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = shutil.copytree(finished_run, tmp_path / finished_run.name)
    with (broken / "metrics.jsonl").open("a") as log:
        log.write('{"event": "level_sta')
    assert answer(broken, "SELECT count(*) FROM levels", "csv").split() == ["count_star()", "3"]
    assert (
        capsys.readouterr().err == f"warning: {broken.name}: metrics.jsonl: its last line is half-written, left out\n"
    )


def test_text_of_a_model_stays_text(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    run.begin()
    run.kill()
    error = "[bold]\x1b[31m\u202e\ud800\x00[/bold]"
    with (run.path / "metrics.jsonl").open("a") as log:
        log.write(json.dumps({"event": "planner_call", "error": error}) + "\n")
    text = answer(run.path, "SELECT error FROM events WHERE event = 'planner_call'")
    assert "[bold]␛[31m⟨U+202E⟩\\ud800␀[/bold]" in text


def test_the_command(finished_run: Path, tmp_path: Path) -> None:
    good = main_py(tmp_path, "query", finished_run, "SELECT count(*) AS n FROM levels", "--format", "csv")
    assert (good.returncode, good.stdout, good.stderr) == (0, "n\n3\n", "")
    bad = main_py(tmp_path, "query", finished_run, "DROP TABLE levels")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr.startswith("error: SQL here only reads")
    assert bad.stderr.count("\n") == 1


@pytest.mark.long
@pytest.mark.parametrize("format", ["table", "csv", "json"])
def test_a_reader_who_has_enough(finished_run: Path, tmp_path: Path, format: str) -> None:
    sql = "SELECT range, repeat('x', 100) FROM range(100000)"
    with start(tmp_path, "query", finished_run, sql, "--format", format) as child:
        assert child.stdout
        assert child.stdout.readline()
        child.stdout.close()
        assert child.wait(PATIENCE) == 0
        assert child.stderr
        assert child.stderr.read() == ""


@pytest.mark.long
def test_names_and_contents_of_files_are_data(finished_run: Path, tmp_path: Path) -> None:
    name = "x'); DROP TABLE levels; COPY (SELECT 1) TO 'out.csv'; --\"$1"
    path = Path(shutil.copytree(finished_run, tmp_path / name))
    with (path / "metrics.jsonl").open("a") as log:
        log.write(json.dumps({"event": name, "error": "{}'); DROP TABLE levels; --"}) + "\n")
    before = contents(tmp_path)
    assert ask(path, "FROM levels SELECT DISTINCT run_id") == [(name,)]
    assert ask(path, "FROM events SELECT run_id, event WHERE event = error OR event LIKE '%DROP%'") == [(name, name)]
    assert contents(tmp_path) == before
    assert not Path("out.csv").exists()
