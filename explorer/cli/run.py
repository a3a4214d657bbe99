"""``run``: let an agent play scenes."""

from __future__ import annotations

from pathlib import Path

from explorer.cli.certificates import require_certificates
from explorer.cli.parser import RESULTS, Settings, look_at
from explorer.evaluation.harness import Evaluation, How
from explorer.evaluation.metrics import rate_lines
from explorer.files.listing import scenes_at
from spca.common.command import EXIT_FINISHED, EXIT_INTERRUPTED, complain
from spca.common.jobs.progress import show_bar
from spca.common.text import counted, one_line


def run(settings: Settings) -> int:
    """Let an agent play, and write the results.

    Raises:
        ExplorerError: a scene, the agent or the output cannot be used.
    """
    output = settings.output or RESULTS.with_name(f"{Path(settings.agent).name}.jsonl")
    how = How(settings.seed, settings.max_steps, settings.workers, resume=settings.resume, overwrite=settings.overwrite)
    scenes = list(scenes_at(settings.paths))
    evaluation = Evaluation(scenes, settings.agent, output, how)
    require_certificates(scenes, quiet=settings.quiet)
    try:
        with show_bar(settings.quiet, "episodes") as update_bar:
            episodes = evaluation.run(update_bar)
    except KeyboardInterrupt:
        more = ": to go on, add --resume to this command" if evaluation.finished else ""
        complain(f"interrupted; {counted(evaluation.finished, 'episode')} finished{more}")
        return EXIT_INTERRUPTED
    for episode in episodes:
        if episode.error:
            print(one_line(f"{episode.scene}: the agent failed: {episode.error}"))
        if episode.certificate_refuted:
            print(one_line(f"{episode.scene}: this episode refutes the certificate; please report it with the results"))
    for line in rate_lines(episodes):
        print(one_line(line))
    print(one_line(f"results: {output}"))
    print(one_line(look_at(output)))
    return EXIT_FINISHED
