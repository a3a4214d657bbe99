"""``validate``: what is wrong with task files, each problem on a line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gridworld.evaluation.terminal import EXIT_FINISHED, EXIT_USER_ERROR, visible
from gridworld.evaluation.tooling.common import counted, files_of, tool_parser
from gridworld.validation import check_file


def build_parser() -> argparse.ArgumentParser:
    """The parser of the tool."""
    parser = tool_parser(
        "validate",
        "Check task files; prints FILE: ok, or FILE: FIELD: REASON for each problem.\n"
        "What names and places mean is checked once every field of the file has its form.",
        ["my_task.json", "my_tasks/ gridworld/tasks validation_10"],
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file, folder or benchmark")
    parser.add_argument("--quiet", action="store_true", help="print problems and the summary only")
    return parser


def run(argv: Sequence[str]) -> int:
    """Check files; 2 if any is not valid."""
    arguments = build_parser().parse_args(argv)
    absent: list[str] = []
    files = files_of(arguments.files, absent)
    for problem in absent:
        print(visible(problem))
    bad = len(absent)
    for path in files:
        problems = check_file(path)
        bad += bool(problems)
        for problem in problems:
            print(visible(problem))
        if not problems and not arguments.quiet:
            print(visible(f"{path}: ok"))
    total = len(files) + len(absent)
    print(f"{counted(total, 'file')}: {total - bad} valid, {bad} not")
    return EXIT_USER_ERROR if bad else EXIT_FINISHED
