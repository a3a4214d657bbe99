"""The command ``pack``: write the calls of a run into one file, from which the model ``replay/FOLDER`` answers."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from spca.commands.shared_options import RunsOption
from spca.common.command import EXIT_FINISHED, program
from spca.common.options.values import NAME
from spca.common.text import format_count, one_line


def pack(
    run: str, folder: str, /, *, answered_by: Annotated[str | None, NAME] = None, where: RunsOption = RunsOption()
) -> int:
    """Write a run's calls as one file, which replay/FOLDER answers from.

    Args:
        run: run id or run folder
        folder: where the example goes, such as examples/NAME
        answered_by: who answered, where the names of the models do not say it
    """
    from spca.report.example import pack_run
    from spca.report.finding import find_one

    about = pack_run(find_one(run, where.folder, Path.cwd()), folder, answered_by)
    calls = format_count(sum(about["calls"].values()), "call")
    solved = about["solved"]
    levels = about["levels"]
    print(one_line(f"{calls} of a run with {solved} of {levels} levels solved: {folder}"))
    flags = shlex.join(["--planner-model", f"replay/{folder}", *about["flags"]])
    print(one_line(f"repeat it: {program()} {flags}"))
    return EXIT_FINISHED
