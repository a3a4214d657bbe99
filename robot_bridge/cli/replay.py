"""``replay``: a log as a timeline, and the safety chain held against it."""

from __future__ import annotations

import os
from pathlib import Path

from robot_bridge.cli.journals import Narrator
from robot_bridge.errors import SetupError
from robot_bridge.protocols import Journal
from robot_bridge.ros.log.playback import read_log
from robot_bridge.ros.log.replay import ChainCheck
from spca.common.command import EXIT_FAILED, EXIT_FINISHED, other_program


def replay_log(path: Path, *, quiet: bool) -> int:
    """Go through the log; the exit code says whether the chain lets the same through."""
    if os.path.isfile(path / "run.json"):  # Path raises where a name is too long
        raise SetupError(
            f"{path} is a run of main.py, not of a robot: {other_program('python main.py')} replay RUN LEVEL"
        )
    log = read_log(path)
    check = ChainCheck(log.config)
    journals: list[Journal] = [check] if quiet else [Narrator(), check]
    log.tell(*journals)
    if not log.is_complete:
        print("the run was killed: its log ends a second or so before")
    print(check.verdict())
    return EXIT_FAILED if check.different else EXIT_FINISHED
