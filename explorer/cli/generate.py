"""``generate``: make scenes, each with its proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from explorer.cli.options import GenerateOptions
from explorer.generating.batch import SceneOutcome, Series, make_scenes
from explorer.generating.production import Tally
from spca.common.command import EXIT_FAILED, EXIT_FINISHED, EXIT_INTERRUPTED, complain
from spca.common.jobs.progress import show_bar
from spca.common.text import format_count, one_line


def generate_scenes(options: GenerateOptions = GenerateOptions()) -> int:
    """Make scenes; return 0 for success, 1 if some scenes could not be made, 130 for an interruption.

    Raises:
        GenerationError: the knobs contradict each other, or the output folder contains files of other scenes.
    """
    series = Series(options.seed, options.count, options.hops, options.knobs)
    output = options.output
    jobs = options.jobs
    finished = 0
    with show_bar(jobs.quiet, "scenes", "certified") as update_bar:

        def on_progress(done: int, total: int, good: int) -> None:
            nonlocal finished
            finished = done
            update_bar(done, total, good)

        try:
            outcomes = make_scenes(
                series,
                output,
                jobs.workers,
                resume=jobs.resume,
                overwrite=jobs.overwrite,
                on_progress=on_progress,
            )
        except KeyboardInterrupt:
            complain(
                f"interrupted; {format_count(finished, 'scene')} in {output}: to go on, add --resume to this command"
            )
            return EXIT_INTERRUPTED

    for line in summarize_scenes(outcomes):
        print(one_line(line))
    certified = sum(not each.error for each in outcomes)
    print(one_line(f"{format_count(certified, 'scene')} in {output}, each with its proof"))
    return EXIT_FINISHED if certified == len(outcomes) else EXIT_FAILED


def summarize_scenes(made: Sequence[SceneOutcome]) -> Iterator[str]:
    """Yield a line for each scene that could not be made, then lines with statistics of the other scenes."""
    tally = Tally()
    for each in made:
        if each.figures is None:
            yield f"{each.task_id}: not made: {each.error}"
        else:
            tally.count(each.figures)
    yield from tally.format_lines()
