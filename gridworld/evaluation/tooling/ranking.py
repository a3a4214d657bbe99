"""``leaderboard``: one HTML page that ranks many results files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gridworld.errors import EvaluationError
from gridworld.evaluation.results.leaderboard import rank_entries, read_entries
from gridworld.evaluation.results.leaderboard_page import TITLE, make_page
from spca.common.command import EXIT_FINISHED, EXIT_USER_ERROR, complain
from spca.common.errors import FileError
from spca.common.files import make_folder, open_to_read, write_atomic
from spca.common.options.values import FILE
from spca.common.text import format_count, one_line


def make_leaderboard(
    *results: Annotated[str, Parameter(name="RESULTS", required=True, help="results file, or folder of them")],
    output: Annotated[Path, FILE] = Path("leaderboard.html"),
) -> int:
    """Write the page; return the exit code. If a file cannot be used, the code is 2 and no page is written.

    Args:
        output: default leaderboard.html

    Raises:
        EvaluationError: a folder holds no results files, or the output exists and is no leaderboard.
        SettingsError: the page cannot be written.
    """
    from gridworld.evaluation.display import show_ranking

    entries, problems = read_entries(_list_files(results))
    for problem in problems:
        complain(f"error: {problem}")
    if problems:
        return EXIT_USER_ERROR
    groups = rank_entries(entries)
    html = make_page(groups)
    if output.exists() and not _is_page(output):
        raise EvaluationError(f"{output}: exists and is no leaderboard: choose another --output")
    make_folder(output.parent)
    write_atomic(output, html)
    show_ranking(groups)
    held = f"{format_count(len(entries), 'result')}, {format_count(len(groups), 'benchmark')}"
    print(one_line(f"page: {output} ({held}); open it in a browser"))
    return EXIT_FINISHED


def _list_files(named: Sequence[str]) -> list[Path]:
    """Return the given files and the ``*.json`` files in the given folders, in order; each file is returned once."""
    files: dict[Path, Path] = {}  # the given paths by absolute path
    for name in named:
        path = Path(name)
        inside = sorted(path.glob("*.json")) if path.is_dir() else [path]
        if not inside:
            raise EvaluationError(f"{name}: holds no *.json")
        for each in inside:
            files.setdefault(each.resolve(), each)
    return list(files.values())


def _is_page(path: Path) -> bool:
    """Return whether a file is a page of this tool, which may be overwritten."""
    try:
        with open_to_read(path) as file:
            return f"<title>{TITLE}</title>".encode() in file.read(2000)
    except (FileError, OSError):
        return False
