"""``report``: write results as one HTML file."""

from __future__ import annotations

from pathlib import Path

from explorer.cli.options import RESULTS, ReportOptions
from explorer.errors import EpisodeError
from explorer.evaluation.metrics import rate_lines
from explorer.evaluation.results import read_episodes
from explorer.report.reading import Read, Shelf, report
from spca.common.command import EXIT_FINISHED, program
from spca.common.files import make_folder, write_atomic
from spca.common.jobs.progress import show_bar
from spca.common.text import one_line


def write_report(results: tuple[Path, ...] = (), /, options: ReportOptions = ReportOptions()) -> int:
    """Write the report page of results files.

    Args:
        results: results in JSON Lines (default results/explorer/human.jsonl)

    Raises:
        EpisodeError: a results file cannot be read, or there are no episodes.
    """
    if not results and not RESULTS.exists():
        raise EpisodeError(f"nothing has been played yet: begin with {program('python -m explorer')} play")
    paths = results or (RESULTS,)
    episodes = [Read(episode, path.parent) for path in paths for episode in read_episodes(path)]
    if not episodes:
        raise EpisodeError(f"{paths[0]}: there are no episodes: play one first")
    output = options.output or paths[0].with_suffix(".html")
    if output in paths:
        raise EpisodeError(f"{output}: is the results file; choose another --output")

    make_folder(output.parent)
    with show_bar(jobs="episodes", good="drawn") as update_bar:

        def on_episode(done: int) -> None:
            update_bar(done, len(episodes), done)

        page = report(episodes, _title(paths), Shelf(folder=options.scenes), on_episode)
    write_atomic(output, page)

    for line in rate_lines(each.episode for each in episodes):
        print(one_line(line))
    megabytes = output.stat().st_size / 1e6
    print(one_line(f"page: {output} ({megabytes:.1f} MB); open it in a browser"))
    return EXIT_FINISHED


def _title(paths: tuple[Path, ...]) -> str:
    return "Exploration results" if len(paths) > 1 else f"Exploration results: {paths[0].stem}"
