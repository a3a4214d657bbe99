"""The command ``report``: show runs, an evaluation or a study as a page and as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from spca.commands.shared_options import Handed, RunsOption, pause_garbage_collection
from spca.common.command import EXIT_FINISHED, program
from spca.common.installation import where_runs_lie
from spca.common.options.values import FILE, name_value
from spca.common.text import one_line
from spca.errors import ReportError
from spca.report.finding import PUBLISHED, check_target, find, find_one
from spca.runs.phases import LoadPhases

if TYPE_CHECKING:
    from rich.console import Console

    from spca.act.frame import WorldMaker
    from spca.report.read import model
    from spca.report.read.comparison import Comparison


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """Options of ``report``.

    Attributes:
        compare: two runs side by side; 'published' is the published run of the original system
        output: the page (default: report.html in the folder looked at)
        no_page: only the tables on the terminal
        all: with --compare: the levels that do not differ as well
    """

    compare: Annotated[tuple[str, str] | None, name_value("A B")] = None
    output: Annotated[str | None, FILE] = None
    no_page: bool = False
    all: bool = False
    where: RunsOption = RunsOption()

    @property
    def target(self) -> Path | None:
        """Path of the page that the user has chosen; None for the default path."""
        return Path.cwd() / self.output if self.output else None


def report(
    run: str | None = None,
    /,
    *,
    options: ReportOptions = ReportOptions(),
    load_phases: Handed[LoadPhases],
) -> int:
    """Show runs as a page (one HTML file) and as tables.

    Args:
        run: run id, run folder or folder of runs (default: the latest run)
    """
    from spca.evaluation.report_command import find_evaluation, show_evaluation

    if options.compare and run:
        raise ReportError("report takes a run or --compare A B, not both")
    if options.all and not options.compare:
        raise ReportError("--all goes with --compare")
    if options.output and options.no_page:
        raise ReportError("report takes --output or --no-page, not both")

    with pause_garbage_collection():
        folder = find_evaluation(run, options.where.folder) if run else None
        if folder:
            show_evaluation(folder, options.target, load_phases, writes_page=not options.no_page)
        else:
            _report_runs(run, options, load_phases().make_world)
    return EXIT_FINISHED


def _report_runs(run: str | None, options: ReportOptions, make_world: WorldMaker) -> None:
    """Print the tables of the selected runs, and write their page unless ``options.no_page`` is set."""
    from spca.common.printing import open_console
    from spca.plugins.loaded import require_plugins
    from spca.report import terminal
    from spca.report.read.run_files import open_run

    console = open_console()
    folders, target = _find_folders(run, options)
    if not options.no_page:  # a page re-simulates every attempt, for which it needs the run's worlds
        check_target(target)
        for folder in filter(None, folders):
            require_plugins(open_run(folder).info, f"run {folder.name}")
    with _show_progress() as show_level:
        runs, comparisons, pieces = _read_runs(folders, options, make_world, show_level)

    if options.compare:
        terminal.show_comparison(comparisons[0], runs[0], runs[1], console, everything=options.all)
    elif len(runs) == 1:
        terminal.show_run(runs[0], console)
        _print_resume_command(runs[0], console)
    else:
        terminal.show_runs(runs, console)

    if not options.no_page:
        _write_page(target, runs, comparisons, pieces, console, compared=bool(options.compare))


def _print_resume_command(run: model.Run, console: Console) -> None:
    """Print the command that resumes a run, if the run was stopped before its last level."""
    from spca.common.printing import make_text
    from spca.plugins.loaded import format_plugin_flags

    if run.state == "stopped" and run.finished < run.planned:
        where = f"{where_runs_lie(Path(run.folder).parent)}{format_plugin_flags()}"
        command = f"{program()} --resume {run.id}{where}"
        console.print(make_text(f"go on with: {command}"), soft_wrap=True)


def _find_folders(run: str | None, options: ReportOptions) -> tuple[list[Path | None], Path]:
    """Return the folders of the selected runs (None stands for the published run), and the path of the page.

    By default, the page of one run lies in the run folder, and the page of several runs lies beside the run folders.
    """
    runs = options.where.folder
    if options.compare:
        compared = [None if name == PUBLISHED else find_one(name, runs, Path.cwd()) for name in options.compare]
        names = [folder.name if folder else PUBLISHED for folder in compared]
        page_folder = next((folder.parent for folder in compared if folder), runs)
        page = f"compare_{names[0]}_{names[1]}.html"
        return list(compared), options.target or page_folder / page

    folders = find(run, runs, Path.cwd())
    page_folder = folders[0].parent if len(folders) > 1 else folders[0]
    return list(folders), options.target or page_folder / "report.html"


def _read_runs(
    folders: Sequence[Path | None], options: ReportOptions, make_world: WorldMaker, show_level: Callable[[str], None]
) -> tuple[list[model.Run], list[Comparison], dict[str, str]]:
    """Return the runs, their comparisons, and the data of the page as a dict from name to packed data.

    With ``--compare``, the two runs are compared with each other; otherwise, each run that has levels of the published
    run is compared with it.

    Args:
        folders: run folders; None stands for the published run.
        show_level: called with the name of each level after the level was simulated again.
    """
    from spca.report.compare import compare
    from spca.report.page import assembly
    from spca.report.read import baseline, runs
    from spca.report.read.run_files import open_run

    published = baseline.read_published()
    selected: list[model.Run] = []
    pieces: dict[str, str] = {}
    for number, folder in enumerate(folders):
        if folder is None:
            selected.append(published)
        elif options.no_page and len(folders) > 1:
            selected.append(runs.overview(open_run(folder)))
        elif options.no_page:
            run, *_ = assembly.read_run(open_run(folder))
            selected.append(run)
        else:
            run, pieces_of_run = assembly.pack_run(number, open_run(folder), make_world, show_level)
            selected.append(run)
            pieces |= pieces_of_run

    known = {level.env_id for level in published.levels}
    pairs = [(run, published) for run in selected if any(level.env_id in known for level in run.levels)]
    if options.compare:
        pairs = [(selected[0], selected[1])]
    return selected, [compare(a, b) for a, b in pairs], pieces


def _write_page(
    target: Path,
    runs: Sequence[model.Run],
    comparisons: Sequence[Comparison],
    pieces: dict[str, str],
    console: Console,
    *,
    compared: bool,
) -> None:
    """Write the page of ``runs``, and print its path and size.

    Args:
        compared: whether the page opens at the comparison of the runs.
    """
    from spca.common.files import write_atomic
    from spca.common.printing import print_line
    from spca.report.page import assembly

    title = f"{len(runs)} runs"
    if compared or len(runs) == 1:
        title = " and ".join(run.id for run in runs)
    view = "#/compare/0" if compared else ""
    data = assembly.report_of(title, runs, comparisons, view=view)
    write_atomic(target, assembly.document(title, data, pieces))
    megabytes = target.stat().st_size / 1e6
    print_line(console, f"page: {target} ({megabytes:.1f} MB); open it in a browser")


@contextmanager
def _show_progress() -> Iterator[Callable[[str], None]]:
    """Yield a function that takes the name of a level, and shows the name and the number of levels so far.

    The function writes to standard error, so that the tables on standard output can be piped. It does nothing if
    standard error is not a terminal.
    """
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda _name: None
        return
    numbers = count(1)
    with console.status("reading ...") as status:
        yield lambda name: status.update(f"{next(numbers)} levels re-simulated, {escape(one_line(name))}")
