"""The finished tasks of an evaluation, one line each, kept until the results file is written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gridworld.evaluation.metrics import TaskBenchmarkResult
from gridworld.evaluation.running.worker_setup import WorkerSetup
from spca.common.jobs import journal


class Journal(journal.Journal[TaskBenchmarkResult]):
    """A journal of an evaluation, with the arguments and errors of the shared one."""

    def __init__(
        self,
        path: Path,
        header: Mapping[str, Any],
        may_change: frozenset[str] = frozenset(),
        *,
        resume: bool = False,
        overwrite: bool = False,
    ) -> None:
        read, terms = TaskBenchmarkResult.from_dict, WorkerSetup.terms
        super().__init__(path, header, read, may_change, resume=resume, overwrite=overwrite, terms=terms)
