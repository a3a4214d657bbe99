"""The commands of ``python -m robot_bridge``."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from robot_bridge.cli.parser import Settings, parse
from spca.common.command import EXIT_INTERRUPTED, EXIT_USER_ERROR, complain, program_scope
from spca.common.debug_log import log_error
from spca.common.errors import SPCAError
from spca.common.installation import how_to_get

COMMANDS: Final[Mapping[str, str]] = {
    "explore": "robot_bridge.cli.explore",
    "act": "robot_bridge.cli.act",
    "replay": "robot_bridge.cli.replay",
    "doctor": "robot_bridge.cli.doctor.command",
    "twin": "robot_bridge.cli.twin",
}
"""Command -> module whose ``run(settings)`` carries it out and returns the exit code; imported on use."""


def main(argv: Sequence[str] | None = None) -> int:
    """The program; returns the exit code."""
    with program_scope():
        return _call(parse(argv))


def _call(settings: Settings) -> int:
    """Carry out a command; whatever a user can act on ends as a line and an exit code."""
    try:
        run: Callable[[Settings], int] = importlib.import_module(COMMANDS[settings.command]).run
        return run(settings)
    except KeyboardInterrupt as error:
        log_error(error)
        complain("interrupted")
        return EXIT_INTERRUPTED
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        log_error(error)
        complain(f"error: {error.name} is missing: {how_to_get('robot')}")
        return EXIT_USER_ERROR
    except SPCAError as error:
        log_error(error)
        complain(f"error: {error!s:.{_LONGEST}}")
        return error.exit_code


_EXTRA: Final = (
    "mujoco",
    "cv2",
    "pyastar2d",
    "cyclonedds",
    "mcap",
    "rosbags",
    "yaml",
    "gymnasium",
    "minigrid",
    "numpy",
)
_LONGEST: Final = 4000
"""Characters of a complaint: two paths, and what is said of them."""
