"""``validate``: what is wrong with task files, each problem on a line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gridworld.evaluation.tooling.common import add_strict, files_of, tool_parser, unused_proof
from gridworld.task.validation import check_file
from gridworld.task_spec import TaskSpecification
from spca.common.command import EXIT_FINISHED, EXIT_USER_ERROR
from spca.common.text import counted, one_line


def build_parser() -> argparse.ArgumentParser:
    """The parser of the tool."""
    parser = tool_parser(
        "validate",
        "Check task files; prints FILE: ok, or FILE: FIELD: REASON for each problem, and FILE: warning: FIELD: REASON\n"
        "for what is not used, such as an unknown field.\n"
        "What names and places mean is checked once every field of the file has its form.",
        ["my_task.json", "my_tasks/ gridworld/tasks validation_10 --strict"],
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file, folder or benchmark")
    parser.add_argument("--quiet", action="store_true", help="print problems and the summary only")
    add_strict(parser)
    return parser


def run(argv: Sequence[str]) -> int:
    """Check files; 2 if any is not valid."""
    arguments = build_parser().parse_args(argv)
    absent: list[str] = []
    files = files_of(arguments.files, absent)
    for problem in absent:
        print(one_line(problem))
    bad = len(absent)
    for path in files:
        notes: list[str] = []
        problems = check_file(path, strict=arguments.strict, warnings=notes)
        bad += bool(problems)
        for problem in problems:
            print(one_line(problem))
        if not problems:
            notes += unused_proof(TaskSpecification.from_json(path, warnings=[]))
        for note in notes:
            print(one_line(f"{path}: warning: {note}"))
        if not problems and not arguments.quiet:
            print(one_line(f"{path}: ok"))
    total = len(files) + len(absent)
    print(f"{counted(total, 'file')}: {total - bad} valid, {bad} not")
    return EXIT_USER_ERROR if bad else EXIT_FINISHED
