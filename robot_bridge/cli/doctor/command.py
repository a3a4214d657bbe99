"""``doctor``: which sensors answer, how often and how old, and whether everything stops that has to.

Only the standard library is imported before it is known what is installed.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from typing import Final

from robot_bridge.cli.doctor.check import Check
from robot_bridge.cli.options import AnyRobotOptions
from robot_bridge.errors import DeviceError, SetupError
from spca.common.command import EXIT_FAILED, EXIT_FINISHED
from spca.common.installation import how_to_get

_ROBOT: Final = ("cyclonedds", "mcap", "mujoco", "opencv-python-headless", "pyastar2d", "pyyaml", "rosbags")
_BASE: Final = ("gymnasium", "minigrid", "numpy", "pydantic")


def examine_robot(options: AnyRobotOptions) -> int:
    """Print the checks; the exit code says whether all of them hold."""
    worst = EXIT_FINISHED
    for check in _checks(options):
        print(f"{'ok' if check.holds else 'FAILS':<6} {check.name:<23} {check.found}", flush=True)
        worst = worst if check.holds else EXIT_FAILED
    return worst


def _checks(options: AnyRobotOptions) -> Iterator[Check]:
    libraries = list(_libraries())
    yield from libraries
    if not all(check.holds for check in libraries):
        yield Check("packages", False, f"install what is missing: {how_to_get('robot')}")
    try:
        from robot_bridge.cli import config_file
        from robot_bridge.cli.doctor import examination

        yield from examination.checks(options, *config_file.read(options.config))
    except ModuleNotFoundError as error:
        yield _unexamined(error)
    except DeviceError as error:
        yield Check("robot", False, str(error))
    except SetupError as error:
        if all(check.holds for check in libraries):
            raise
        cause = error.__cause__
        yield _unexamined(cause) if isinstance(cause, ModuleNotFoundError) else Check("robot", False, str(error))


def _unexamined(error: ModuleNotFoundError) -> Check:
    return Check("robot", False, f"not looked at any further: {error.name} is missing")


def _libraries() -> Iterator[Check]:
    for package in sorted((*_BASE, *_ROBOT)):
        try:
            yield Check(package, True, importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Check(package, False, "not installed")
