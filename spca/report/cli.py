"""The commands that look at runs: ``report``, ``replay``, ``watch``, ``query`` and ``pack``."""

from __future__ import annotations

import argparse
import gc
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spca.common.command import (
    EXIT_FINISHED,
    EXIT_INTERRUPTED,
    EXIT_USER_ERROR,
    PROGRAM_VARIABLE,
    Parser,
    amount,
    program,
    ranged,
)
from spca.common.debug_log import log_error
from spca.common.errors import UserError
from spca.common.installation import home, where_runs_lie
from spca.errors import ReportError
from spca.report.finding import PUBLISHED, check_target, find, find_one

if TYPE_CHECKING:
    from rich.console import Console

    from spca.act.frame import WorldMaker
    from spca.report.read import model
    from spca.report.read.comparison import Comparison
    from spca.report.read.run_files import RunFiles

_STEP: Final = ranged(int, "invalid step {!r}: expected a non-negative integer")
_RATE: Final = ranged(float, "invalid rate {!r}: expected 0.1 to 60 steps per second", 0.1, 60)
_LIMIT: Final = amount("seconds")
_PORT: Final = ranged(int, "invalid port {!r}: expected 0 to 65535", 0, 65535)


def main(
    argv: Sequence[str],
    root: Path,
    make_world: WorldMaker,
    elsewhere: Callable[[argparse.Namespace, WorldMaker], int | None] = lambda *_: None,
) -> int:
    """Carry out a command; returns the exit code.

    Args:
        root: the folder of the applications.
        elsewhere: carries out commands on what is no run; None where a run is meant.

    Raises:
        ReportError: one line that names what is wrong and how to mend it.
    """
    parser = build_parser()
    given, surplus = parser.parse_known_args(argv)
    if surplus:
        parser.error(_surplus(given.command, surplus))
    given.runs = Path.cwd() / (given.runs or home(root, Path.cwd()) / "runs")
    *_, command = COMMANDS[given.command]
    collecting = gc.isenabled()
    if given.command != "watch":
        gc.disable()  # looking for cycles among a million events takes a quarter of the time, and there are none
    try:
        code = elsewhere(given, make_world)
        return command(given, make_world) if code is None else code
    except UserError as error:  # it may name files and runs, and is going to be printed
        from spca.common.text import visible

        raise type(error)(visible(str(error))) from error
    finally:
        if collecting:
            gc.enable()


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = Parser(prog=os.environ.get(PROGRAM_VARIABLE, "main.py"))
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name, (text, add_options, _) in COMMANDS.items():
        part = commands.add_parser(name, help=text, description=text)
        part.add_argument("--runs", metavar="DIR", help="where run folders lie (default runs)")
        add_options(part)
    return parser


def _add_report(part: argparse.ArgumentParser) -> None:
    part.add_argument("run", nargs="?", help="run id, run folder or folder of runs (default: the latest run)")
    part.add_argument(
        "--compare",
        nargs=2,
        metavar=("A", "B"),
        help=f"two runs side by side; {PUBLISHED!r} is the published run of the original system",
    )
    part.add_argument("--out", metavar="FILE", help="the page (default: report.html in the folder looked at)")
    part.add_argument("--no-page", action="store_true", help="only the tables on the terminal")
    part.add_argument("--all", action="store_true", help="with --compare: the levels that do not differ as well")


def _add_replay(part: argparse.ArgumentParser) -> None:
    part.add_argument("run", help="run id or run folder")
    part.add_argument("level", help="number of the level, environment id, or category/environment-id")
    part.add_argument("--attempt", metavar="ROUND.NUMBER", help="which attempt (default: the last)")
    part.add_argument("--gif", metavar="FILE", help="write an animation")
    part.add_argument("--mp4", metavar="FILE", help="write a video; needs the extra [video]")
    part.add_argument("--png", metavar="STEP", type=_STEP, help="write the picture after this step; 0 is the beginning")
    part.add_argument("--out", metavar="FILE", help="where --png goes (default: named after level, attempt and step)")
    part.add_argument("--fps", metavar="N", type=_RATE, default=5.0, help="steps per second (default 5)")


def _add_watch(part: argparse.ArgumentParser) -> None:
    part.add_argument("run", nargs="?", help="run id or run folder (default: the latest run)")
    part.add_argument("--port", type=_PORT, default=0, metavar="N", help="port (default: any that is free)")
    part.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="address to listen on (default loopback)")


def _add_query(part: argparse.ArgumentParser) -> None:
    part.add_argument("run", nargs="?", help="run id, run folder or folder of runs (default: the latest run)")
    part.add_argument("sql", help="one SELECT over runs, levels, calls, events, attempts and steps (docs/queries.md)")
    part.add_argument("--format", choices=("table", "csv", "json"), default="table", help="default table")
    part.add_argument("--timeout", metavar="S", type=_LIMIT, default=60.0, help="seconds for the answer (default 60)")


def _add_pack(part: argparse.ArgumentParser) -> None:
    part.add_argument("run", help="run id or run folder")
    part.add_argument("folder", help="where the example goes, such as examples/NAME")
    told = "who answered, where the names of the models do not say it"
    part.add_argument("--answered-by", metavar="NAME", help=told)


def _surplus(command: str, surplus: Sequence[str]) -> str:
    """What to do about arguments that are too many."""
    words = [word for word in surplus if not word.startswith("-")]
    if len(words) == len(surplus) and command == "report":
        return "report takes one run; two side by side: report --compare A B"
    if len(words) == len(surplus) and command == "query":
        return "query takes a run and one statement: put the SQL in quotes"
    return f"unrecognized arguments: {' '.join(surplus)}"


def _report(given: argparse.Namespace, make_world: WorldMaker) -> int:
    from spca.common.printing import open_console
    from spca.report import terminal

    if given.compare and given.run:
        raise ReportError("report takes a run or --compare A B, not both")
    if given.all and not given.compare:
        raise ReportError("--all goes with --compare")
    if given.out and given.no_page:
        raise ReportError("report takes --out or --no-page, not both")
    console = open_console()
    folders, target = _folders(given)
    if not given.no_page:
        check_target(target)
    with _progress() as done:
        runs, comparisons, pieces = _gather(folders, given, make_world, done)
    if given.compare:
        terminal.show_comparison(comparisons[0], runs[0], runs[1], console, everything=given.all)
    elif len(runs) == 1:
        terminal.show_run(runs[0], console)
        _say_how_to_go_on(runs[0], console)
    else:
        terminal.show_runs(runs, console)
    if not given.no_page:
        _write_page(target, runs, comparisons, pieces, console, compared=bool(given.compare))
    return EXIT_FINISHED


def _say_how_to_go_on(run: model.Run, console: Console) -> None:
    """Print the command that goes on with a run that was stopped."""
    from spca.common.printing import make_text

    if run.state == "stopped" and run.finished < run.planned:
        said = f"go on with: {program()} --resume {run.id}{where_runs_lie(Path(run.folder).parent)}"
        console.print(make_text(said), soft_wrap=True)


def _folders(given: argparse.Namespace) -> tuple[list[Path | None], Path]:
    """The run folders asked for (None: the published run), and where the page goes."""
    out = Path.cwd() / given.out if given.out else None
    if given.compare:
        found = [None if name == PUBLISHED else find_one(name, given.runs, Path.cwd()) for name in given.compare]
        names = [folder.name if folder else PUBLISHED for folder in found]
        beside = next((folder.parent for folder in found if folder), given.runs)
        return list(found), out or beside / f"compare_{names[0]}_{names[1]}.html"
    folders = find(given.run, given.runs, Path.cwd())
    several = len(folders) > 1
    return list(folders), out or (folders[0].parent if several else folders[0]) / "report.html"


def _gather(
    folders: Sequence[Path | None], given: argparse.Namespace, make_world: WorldMaker, done: Callable[[str], None]
) -> tuple[list[model.Run], list[Comparison], dict[str, str]]:
    from spca.report.compare import compare
    from spca.report.page import assembly
    from spca.report.read import baseline, runs
    from spca.report.read.run_files import open_run

    published = baseline.published()
    found: list[model.Run] = []
    pieces: dict[str, str] = {}
    for number, folder in enumerate(folders):
        if folder is None:
            found.append(published)
        elif given.no_page:
            found.append(runs.overview(open_run(folder)))
        else:
            run, of_run = assembly.packed_run(number, open_run(folder), make_world, done)
            found.append(run)
            pieces |= of_run
    pairs = [(found[0], found[1])] if given.compare else [(run, published) for run in found]
    return found, [compare(a, b) for a, b in pairs], pieces


def _write_page(
    target: Path,
    runs: Sequence[model.Run],
    comparisons: Sequence[Comparison],
    pieces: dict[str, str],
    console: Console,
    *,
    compared: bool,
) -> None:
    from spca.common.files import write_atomic
    from spca.common.printing import print_line
    from spca.report.page import assembly

    title = " and ".join(run.id for run in runs) if compared or len(runs) == 1 else f"{len(runs)} runs"
    view = "#/compare/0" if compared else ""
    report = assembly.report_of(title, runs, comparisons, view=view)
    write_atomic(target, assembly.document(title, report, pieces))
    size = target.stat().st_size / 1e6
    print_line(console, f"page: {target} ({size:.1f} MB); open it in a browser")


def _replay(given: argparse.Namespace, make_world: WorldMaker) -> int:
    from spca.common.printing import open_console
    from spca.report.read.run_files import open_run
    from spca.report.replay import playback

    files = open_run(find_one(given.run, given.runs, Path.cwd()))
    return playback.replay(files, given.level, given, make_world, open_console())


def _watch(given: argparse.Namespace, make_world: WorldMaker) -> int:
    from spca.report.live import watch

    try:
        folder = find_one(given.run, given.runs, Path.cwd())
        print("open this address in a browser; Ctrl-C ends:", file=sys.stderr)
        watch.serve(folder, make_world, host=given.host, port=given.port, announce=_announce, stop=None)
    except KeyboardInterrupt:
        print(file=sys.stderr)
    return EXIT_FINISHED


def _announce(line: str) -> None:
    from spca.common.text import one_line

    print(one_line(line), flush=True)


def _query(given: argparse.Namespace, _make_world: WorldMaker) -> int:
    from spca.report.query.answers import query
    from spca.report.query.database import SlowError
    from spca.report.read.run_files import open_run

    files: list[RunFiles] = [open_run(folder) for folder in find(given.run, given.runs, Path.cwd())]
    try:
        return query(files, given.sql, format=given.format, timeout_s=given.timeout)
    except (KeyboardInterrupt, SlowError) as why:
        log_error(why)
        interrupted = isinstance(why, KeyboardInterrupt)
        print("interrupted" if interrupted else f"error: {why}", file=sys.stderr, flush=True)
        os._exit(EXIT_INTERRUPTED if interrupted else EXIT_USER_ERROR)  # DuckDB may still be at work


def _pack(given: argparse.Namespace, _make_world: WorldMaker) -> int:
    from spca.common.text import counted, one_line
    from spca.report import example

    run = find_one(given.run, given.runs, Path.cwd())
    said = example.pack_run(run, given.folder, given.answered_by)
    calls = counted(sum(said["calls"].values()), "call")
    print(one_line(f"{calls} of a run with {said['solved']} of {said['levels']} levels solved: {given.folder}"))
    again = shlex.join(["--planner-model", f"replay/{given.folder}", *said["flags"]])
    print(one_line(f"repeat it: {program()} {again}"))
    return EXIT_FINISHED


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Says on a terminal which level is being worked on; on standard error, so that tables can be piped."""
    from rich.console import Console
    from rich.markup import escape

    from spca.common.text import one_line

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda _name: None
        return
    with console.status("reading ...") as status:
        count = 0

        def done(name: str) -> None:
            nonlocal count
            count += 1
            status.update(f"{count} levels re-simulated, {escape(one_line(name))}")

        yield done


COMMANDS: Final[Mapping[str, tuple[str, Callable[[argparse.ArgumentParser], None], Callable[..., int]]]] = {
    "report": ("runs as a page (one HTML file) and as tables", _add_report, _report),
    "replay": ("an episode again, exactly: as text, picture, GIF or MP4", _add_replay, _replay),
    "watch": ("the page of a run, live while the run goes on", _add_watch, _watch),
    "query": ("SQL over any number of runs", _add_query, _query),
    "pack": ("a run's calls as one file, which replay/FOLDER answers from", _add_pack, _pack),
}
"""What each command does in words, its options, and what carries it out."""
