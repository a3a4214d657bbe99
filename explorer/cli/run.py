"""``run``: let an agent play scenes."""

from __future__ import annotations

from pathlib import Path

from explorer.cli.certificates import require_certificates
from explorer.cli.options import RESULTS, RunOptions, suggest_report
from explorer.evaluation.harness import Evaluation, EvaluationOptions
from explorer.evaluation.metrics import rate_lines
from explorer.files.listing import scenes_at
from spca.common.command import EXIT_FINISHED, EXIT_INTERRUPTED, complain
from spca.common.jobs.progress import show_bar
from spca.common.text import format_count, one_line


def run_agent(scenes: tuple[Path, ...], /, options: RunOptions = RunOptions()) -> int:
    """Let an agent play scenes, and write the results.

    Args:
        scenes: scenes, folders of scenes, or files with one per line

    Raises:
        ExplorerError: a scene, the agent or the output cannot be used.
    """
    output = options.output or RESULTS.with_name(f"{Path(options.agent).name}.jsonl")
    jobs = options.jobs
    settings = EvaluationOptions(
        options.seed, options.max_steps, jobs.workers, resume=jobs.resume, overwrite=jobs.overwrite
    )
    loaded = list(scenes_at(scenes))
    evaluation = Evaluation(loaded, options.agent, output, settings)
    require_certificates(loaded, quiet=jobs.quiet)

    try:
        with show_bar(jobs.quiet, "episodes") as update_bar:
            episodes = evaluation.run(update_bar)
    except KeyboardInterrupt:
        more = ": to go on, add --resume to this command" if evaluation.finished else ""
        complain(f"interrupted; {format_count(evaluation.finished, 'episode')} finished{more}")
        return EXIT_INTERRUPTED

    for episode in episodes:
        if episode.error:
            print(one_line(f"{episode.scene}: the agent failed: {episode.error}"))
        if episode.certificate_refuted:
            print(one_line(f"{episode.scene}: this episode refutes the certificate; please report it with the results"))
    for line in rate_lines(episodes):
        print(one_line(line))
    print(one_line(f"results: {output}"))
    print(one_line(suggest_report(output)))
    return EXIT_FINISHED
