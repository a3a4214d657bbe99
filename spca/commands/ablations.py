"""The command ``ablations``: measure what each part of learning contributes."""

from __future__ import annotations

import shlex
from functools import partial

from spca.commands.evaluate import evaluate
from spca.commands.shared_options import Handed
from spca.common.command import EXIT_FINISHED, ExitHandler, program
from spca.common.installation import where_runs_lie
from spca.common.text import one_line
from spca.evaluation.ablations.options import StudyOptions
from spca.plugins.loaded import format_plugin_flags
from spca.runs.phases import LoadPhases


def study_ablations(
    options: StudyOptions = StudyOptions(), *, exit_handler: Handed[ExitHandler], load_phases: Handed[LoadPhases]
) -> int:
    """Learn once in full and once without each part; play what was learned on unseen seeds."""
    from spca.evaluation.ablations import table
    from spca.evaluation.ablations.study import TABLE, Study, begin_study, resume_study
    from spca.runs.run import play_run

    path = begin_study(options) if options.resume is None else resume_study(options, options.resume)
    where = f"{where_runs_lie(path.parent)}{format_plugin_flags()}"
    exit_handler.go_on = f"{program()} ablations --resume {path.name}{where}"

    learn = partial(play_run, ExitHandler(), load_phases())
    play = partial(evaluate, exit_handler=ExitHandler(), load_phases=load_phases)
    study = Study(path, learn, play, options)
    table.show(study.run())

    tables = path / TABLE
    print(one_line(f"tables: {tables}.md and {tables}.json"))
    report_arguments = shlex.join(study.list_report_arguments())
    print(one_line(f"look at it: {program()} {report_arguments}{format_plugin_flags()}"))
    return EXIT_FINISHED
