"""Fills the tables of ``query``: records become JSON, and DuckDB reads the columns out of it, many records at a time.

What is of another type than its column is NULL, as :mod:`spca.report.read.lenient` has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from pydantic_core import to_json

from spca.report.query.tables import POSITION, RUN, TABLES, WHOLE, Column, Record
from spca.report.read.lenient import EXACT

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_HALVES: Final = re.compile("[\ud800-\udfff]")
_BATCH: Final = 32 << 20
"""Characters of records that are loaded in one go."""
_INCOMING: Final = "incoming"

_INTEGER: Final = f"TRY_CAST({{0}} AS HUGEINT) BETWEEN -{EXACT} AND {EXACT}"
_NUMBER: Final = (
    f"CASE WHEN CASE json_type({{0}}) WHEN 'DOUBLE' THEN TRY_CAST({{0}} AS DOUBLE) BETWEEN -{EXACT} AND {EXACT} "
    f"WHEN 'UBIGINT' THEN {_INTEGER} WHEN 'BIGINT' THEN {_INTEGER} END THEN TRY_CAST({{0}} AS DOUBLE) END"
)
_MICROSECONDS: Final = "CAST(trunc(s) AS BIGINT) * 1000000 + CAST(round_even((s - trunc(s)) * 1e6, 0) AS BIGINT)"
_FIRST_S, _END_S = -62_135_596_800, 253_402_300_800
"""From year 1 until year 10,000: Python has no other times."""
_READ: Final[Mapping[str, str]] = {
    "VARCHAR": "CASE json_type({0}) WHEN 'VARCHAR' THEN {0}->>'$' END",
    "BIGINT": f"CASE json_type({{0}}) WHEN 'UBIGINT' THEN CASE WHEN {_INTEGER} THEN TRY_CAST({{0}} AS BIGINT) END END",
    "DOUBLE": _NUMBER,
    "BOOLEAN": "CASE json_type({0}) WHEN 'BOOLEAN' THEN TRY_CAST({0} AS BOOLEAN) END",
    "TIMESTAMP": f"list_transform([{_NUMBER}], lambda s: CASE WHEN s >= {_FIRST_S} AND s < {_END_S} "
    f"THEN make_timestamp({_MICROSECONDS}) END)[1]",
    "VARCHAR[]": "CASE json_type({0}) WHEN 'ARRAY' THEN list_transform(list_filter("
    "json_extract({0}, '$[*]'), lambda x: json_type(x) = 'VARCHAR'), lambda x: x->>'$') END",
    "JSON": "{0}",
}
"""How a column of each type is read from JSON."""


def fill(connection: DuckDBPyConnection, name: str, run_id: str, records: Iterable[Record]) -> None:
    """Put the records of a run into the table ``name``."""
    statement, position = _statement(name), 1
    for texts in _batches(map(_json, records)):
        positions = np.arange(position, position + len(texts))
        connection.register(_INCOMING, {"position": positions, "record": np.array(texts, dtype=object)})
        connection.execute(statement, [_spelled(run_id)])
        connection.unregister(_INCOMING)
        position += len(texts)


def schema(columns: Sequence[Column]) -> str:
    """Return columns as ``CREATE TABLE`` wants them."""
    return ", ".join(f'"{column.name}" {column.type}' for column in columns)


def _statement(name: str) -> str:
    columns = [column for column in TABLES[name] if column.name != RUN]
    form: dict[str, Any] = {}
    for key in (key for column in columns for key in column.keys if key not in (POSITION, WHOLE)):
        _add(form, key)
    values = ", ".join(_value(column) for column in columns)
    return (
        f'INSERT INTO "{name}" SELECT $1, {values} FROM '  # noqa: S608 - all of it is ours
        f"(SELECT position, record, json_transform(record, '{json.dumps(form)}') AS fields FROM {_INCOMING})"
    )


def _add(form: dict[str, Any], key: str) -> None:
    """Add a key to the form of records that ``json_transform`` wants."""
    first, _, rest = key.partition(".")
    if rest:
        _add(form.setdefault(first, {}), rest)
    else:
        form[first] = "JSON"


def _value(column: Column) -> str:
    if POSITION in column.keys:
        return "position"
    if WHOLE in column.keys:
        return "record"
    fields = ["fields" + "".join(f'."{part}"' for part in key.split(".")) for key in column.keys]
    return _READ[column.type].format(fields[0] if len(fields) == 1 else f"coalesce({', '.join(fields)})")


def _batches(texts: Iterable[str]) -> Iterator[list[str]]:
    batch, size = list[str](), 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size > _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _json(record: Record) -> str:
    try:
        return to_json(record, inf_nan_mode="null").decode()
    except ValueError:  # half of a surrogate pair, or nested too deeply
        pass
    try:
        return _spelled(json.dumps(record, ensure_ascii=False), "\\\\u")
    except RecursionError:  # writing takes more stack than reading took
        return _json({key: value for key, value in record.items() if not isinstance(value, dict | list)})


def _spelled(text: str, escape: str = "\\u") -> str:
    """Spell halves of surrogate pairs out: UTF-8 has no place for them, and DuckDB refuses their escapes in JSON."""
    return text if text.isascii() else _HALVES.sub(lambda half: f"{escape}{ord(half[0]):04x}", text)
