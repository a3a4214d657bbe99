"""The command ``export``: write what a run has learned as a program of another harness."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from spca.commands.shared_options import RunsOption
from spca.common.command import EXIT_FINISHED
from spca.common.options.values import FOLDER
from spca.common.text import format_count, one_line


def export(run: str, /, *, evopolicygym: Annotated[str, FOLDER], where: RunsOption = RunsOption()) -> int:
    """Write what a run has learned as a program of another harness.

    Args:
        run: run id or run folder
        evopolicygym: new folder for a program of EvoPolicyGym
    """
    from spca.policy.program_export import export_program

    exported = export_program(run, Path.cwd() / evopolicygym, where.runs)
    writers = format_count(exported.writers, "problem writer")
    print(one_line(f"the library and {writers} of run {exported.run}: {evopolicygym}"))
    return EXIT_FINISHED
