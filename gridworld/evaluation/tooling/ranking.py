"""``leaderboard``: one page from many results files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gridworld.errors import EvaluationError
from gridworld.evaluation.results.leaderboard import grouped, read_entries
from gridworld.evaluation.results.leaderboard_page import page, thumbnails_of
from gridworld.evaluation.tooling.common import tool_parser
from spca.common.command import EXIT_FINISHED, EXIT_USER_ERROR, complain
from spca.common.errors import FileError
from spca.common.files import make_folder, opened, write_atomic
from spca.common.text import counted, one_line


def build_parser() -> argparse.ArgumentParser:
    """The parser of the tool."""
    parser = tool_parser(
        "leaderboard",
        "Make an HTML page from results files; it needs nothing else and loads nothing.",
        ["results/*.json", "results/ --out board.html"],
    )
    parser.add_argument("results", nargs="+", metavar="RESULTS", help="results file, or folder of them")
    parser.add_argument(
        "--out", type=Path, default=Path("leaderboard.html"), metavar="FILE", help="default %(default)s"
    )
    return parser


def run(argv: Sequence[str]) -> int:
    """Make the page; 2, and no page, if any file cannot be used.

    Raises:
        EvaluationError: there are no results.
        SettingsError: the page cannot be written.
    """
    arguments = build_parser().parse_args(argv)
    from gridworld.evaluation.display import show_ranking

    entries, problems = read_entries(_files(arguments.results))
    for problem in problems:
        complain(f"error: {problem}")
    if problems:
        return EXIT_USER_ERROR
    groups = grouped(entries)
    html = page(groups, thumbnails_of(groups))
    out: Path = arguments.out
    if out.exists() and not _is_page(out):
        raise EvaluationError(f"{out}: exists and is no leaderboard: choose another --out")
    make_folder(out.parent)
    write_atomic(out, html)
    show_ranking(groups)
    held = f"{counted(len(entries), 'result')}, {counted(len(groups), 'benchmark')}"
    print(one_line(f"page: {out} ({held}); open it in a browser"))
    return EXIT_FINISHED


def _files(named: Sequence[str]) -> list[Path]:
    """Each file once, however it is named; of folders their ``*.json``."""
    found: dict[Path, Path] = {}
    for name in named:
        path = Path(name)
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            raise EvaluationError(f"{name}: holds no *.json")
        for each in inside:
            found.setdefault(each.resolve(), each)
    return list(found.values())


def _is_page(path: Path) -> bool:
    """Whether a file was made by this tool, so that making it again loses nothing."""
    try:
        with opened(path) as file:
            return b"<title>Gridworld leaderboard</title>" in file.read(2000)
    except (FileError, OSError):
        return False
