"""The command ``query``: answer an SQL query on any number of runs."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from spca.commands.shared_options import RunsOption, pause_garbage_collection
from spca.common.command import EXIT_INTERRUPTED, EXIT_USER_ERROR
from spca.common.debug_log import log_error
from spca.common.errors import UsageError
from spca.common.options.values import amount, name_value


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOptions:
    """Options of ``query``.

    Attributes:
        format: default table
        timeout: seconds for the answer (default 60)
    """

    format: Literal["table", "csv", "json"] = "table"
    timeout: Annotated[float, amount("seconds"), name_value("S")] = 60.0


def query(
    *words: Annotated[str, Parameter(name="[RUN] SQL")],
    options: QueryOptions = QueryOptions(),
    where: RunsOption = RunsOption(),
) -> int:
    """Answer SQL over any number of runs.

    Args:
        words: run id, run folder or folder of runs (default: the latest run); one SELECT over runs, levels, calls,
            events, attempts and steps (docs/queries.md)
    """
    if len(words) not in (1, 2):
        raise UsageError("query takes a run and one statement: put the SQL in quotes")
    from spca.report.finding import find
    from spca.report.query.answers import query as answer_query
    from spca.report.query.database import SlowError
    from spca.report.read.run_files import open_run

    *names, sql = words
    run = names[0] if names else None
    with pause_garbage_collection():
        files = [open_run(folder) for folder in find(run, where.folder, Path.cwd())]
        try:
            return answer_query(files, sql, format=options.format, timeout_s=options.timeout)
        except (KeyboardInterrupt, SlowError) as error:
            log_error(error)
            is_interrupted = isinstance(error, KeyboardInterrupt)
            print("interrupted" if is_interrupted else f"error: {error}", file=sys.stderr, flush=True)
            # os._exit ends the process even if a thread of DuckDB still works on the query.
            os._exit(EXIT_INTERRUPTED if is_interrupted else EXIT_USER_ERROR)
