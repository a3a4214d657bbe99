"""``validate``: what is wrong with task files, each problem on a line."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from gridworld.evaluation.options import Strict
from gridworld.evaluation.tooling.common import Source, files_of, unused_proof
from gridworld.task.validation import check_file
from gridworld.task_spec import TaskSpecification
from spca.common.command import EXIT_FINISHED, EXIT_USER_ERROR
from spca.common.text import format_count, one_line


def validate_files(
    *files: Source,
    quiet: Annotated[bool, Parameter(help="print problems and the summary only")] = False,
    strict: Strict = False,
) -> int:
    """Check files; return 2 if any is not valid."""
    absent: list[str] = []
    paths = files_of(files, absent)
    for problem in absent:
        print(one_line(problem))
    bad = len(absent)
    for path in paths:
        notes: list[str] = []
        problems = check_file(path, strict=strict, warnings=notes)
        bad += bool(problems)
        for problem in problems:
            print(one_line(problem))
        if not problems:
            notes += unused_proof(TaskSpecification.from_json(path, warnings=[]))
        for note in notes:
            print(one_line(f"{path}: warning: {note}"))
        if not problems and not quiet:
            print(one_line(f"{path}: ok"))
    total = len(paths) + len(absent)
    print(f"{format_count(total, 'file')}: {total - bad} valid, {bad} not")
    return EXIT_USER_ERROR if bad else EXIT_FINISHED
