"""The commands of ``python -m robot_bridge``."""

from __future__ import annotations

import importlib
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

from robot_bridge.cli.parser import Settings, parse
from spca.common.command import EXIT_INTERRUPTED, EXIT_USER_ERROR, complain
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
    settings = parse(argv)
    try:
        run: Callable[[Settings], int] = importlib.import_module(COMMANDS[settings.command]).run
        with _interruptible():
            return run(settings)
    except KeyboardInterrupt:
        complain("interrupted")
        return EXIT_INTERRUPTED
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        complain(f"error: {error.name} is missing: {how_to_get('robot')}")
        return EXIT_USER_ERROR
    except SPCAError as error:
        complain(f"error: {error!s:.{_LONGEST}}")
        return error.exit_code


@contextmanager
def _interruptible() -> Iterator[None]:
    """Ending the process or closing its terminal is an interrupt: the robot is stopped, what was found is saved."""
    signals = [] if threading.current_thread() is not threading.main_thread() else [signal.SIGTERM, signal.SIGHUP]
    before = {each: signal.signal(each, signal.default_int_handler) for each in signals}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


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
