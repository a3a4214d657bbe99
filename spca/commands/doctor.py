"""The command ``doctor``: check that sandbox and models are ready to use."""

from __future__ import annotations

from contextlib import closing

from spca.common.command import EXIT_FAILED, EXIT_FINISHED
from spca.runs.options import RunOptions


def examine(options: RunOptions = RunOptions()) -> int:
    """Examine the sandbox of generated code and the models that a run with these options uses."""
    from spca.runs.models import Models
    from spca.runs.resolution import find_run
    from spca.sandbox.doctor import examination
    from spca.sandbox.process.client import Zygote

    settings, _ = find_run(options)
    with closing(Zygote()) as zygote:
        report = examination.examine(zygote)
    print(examination.render(report))
    models = Models.load(settings.models).catalogue.look_up(settings.models.refs)
    print(f"\nModels:\n{models.render()}")
    is_ready = report.level == "strict" and not models.is_refused
    return EXIT_FINISHED if is_ready else EXIT_FAILED
