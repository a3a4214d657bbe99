"""The command ``replay``: print a log as a timeline, and check the recorded velocities with the safety chain."""

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
    """Print the events of a log and the verdict of the check, and return the exit code.

    The exit code says whether today's safety chain lets the recorded velocities through.
    """
    if os.path.isfile(path / "run.json"):  # Path.is_file raises OSError if a name is too long
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
