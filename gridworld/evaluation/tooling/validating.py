"""``validate``: a check of task files, with one line for each problem."""

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
    """Check task files; return the exit code, which is 2 if a file is not valid."""
    not_found: list[str] = []  # a line for each name without task files
    paths = files_of(files, not_found)
    for problem in not_found:
        print(one_line(problem))
    invalid = len(not_found)
    for path in paths:
        notes: list[str] = []
        problems = check_file(path, strict=strict, warnings=notes)
        invalid += bool(problems)
        for problem in problems:
            print(one_line(problem))
        if not problems:
            notes += unused_proof(TaskSpecification.from_json(path, warnings=[]))
        for note in notes:
            print(one_line(f"{path}: warning: {note}"))
        if not problems and not quiet:
            print(one_line(f"{path}: ok"))
    total = len(paths) + len(not_found)
    print(f"{format_count(total, 'file')}: {total - invalid} valid, {invalid} not")
    return EXIT_USER_ERROR if invalid else EXIT_FINISHED
