"""The command ``watch``: serve the page of a run, with live updates while the run goes on."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from spca.commands.shared_options import Handed, RunsOption
from spca.common.command import EXIT_FINISHED
from spca.common.options.values import name_value, whole_number
from spca.common.text import one_line
from spca.runs.phases import LoadPhases


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """Options of ``watch``.

    Attributes:
        port: port (default: any that is free)
        host: address to listen on (default loopback)
    """

    port: Annotated[int, whole_number(0, 65535)] = 0
    host: Annotated[str, name_value("ADDRESS")] = "127.0.0.1"


def watch(
    run: str | None = None,
    /,
    *,
    options: WatchOptions = WatchOptions(),
    where: RunsOption = RunsOption(),
    load_phases: Handed[LoadPhases],
) -> int:
    """Serve the page of a run, live while the run goes on.

    Args:
        run: run id or run folder (default: the latest run)
    """
    from spca.plugins.loaded import require_plugins
    from spca.report.finding import find_one
    from spca.report.live.watch import serve
    from spca.report.read.run_files import open_run

    try:
        folder = find_one(run, where.folder, Path.cwd())
        require_plugins(open_run(folder).info, f"run {folder.name}")
        print("open this address in a browser; Ctrl-C ends:", file=sys.stderr)
        serve(folder, load_phases().make_world, host=options.host, port=options.port, announce=announce)
    except KeyboardInterrupt:
        print(file=sys.stderr)
    return EXIT_FINISHED


def announce(line: str) -> None:
    """Print an address or a message on the run as one line, because names of runs may contain control characters."""
    print(one_line(line), flush=True)
