"""The command ``evaluate``: play unseen seeds with the agent that a run has learned; no code is written."""

from __future__ import annotations

from spca.commands.shared_options import Handed
from spca.common.command import EXIT_FINISHED, ExitHandler, program
from spca.common.installation import where_runs_lie
from spca.evaluation.options import EvaluateOptions
from spca.plugins.loaded import format_plugin_flags
from spca.runs.phases import LoadPhases


def evaluate(
    options: EvaluateOptions = EvaluateOptions(), *, exit_handler: Handed[ExitHandler], load_phases: Handed[LoadPhases]
) -> int:
    """Play unseen seeds with what was learned: no code is written, no call is paid unless named."""
    from spca.evaluation.beginning import begin_evaluation, resume_evaluation
    from spca.evaluation.eval_folder import EvaluationFolder
    from spca.evaluation.figures import announce, show, show_progress
    from spca.evaluation.playing.harness import Harness
    from spca.evaluation.report_command import describe_page, look_at, write_page

    phases = load_phases()
    name = options.how.resume
    if name is None:
        folder, episodes = begin_evaluation(options, phases)
    else:
        folder, episodes = resume_evaluation(options, name, phases)
    where = f"{where_runs_lie(folder.path.parent)}{format_plugin_flags()}"
    exit_handler.go_on = f"{program()} evaluate --resume {folder.id}{where}"

    if not options.how.quiet:
        announce(folder, len(episodes))
    with show_progress(options.how.quiet) as progress:
        harness = Harness(folder, load_phases, options.how.workers, progress, options.how.executor)
        results = harness.run(episodes)

    folder = EvaluationFolder.load(folder.path)  # loaded again, because the file now records the end
    page = write_page(results, folder, phases.make_world)
    show(results, folder)
    print(describe_page(page))
    print(look_at(folder))
    return EXIT_FINISHED
