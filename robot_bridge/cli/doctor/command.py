"""The command ``doctor``: check libraries, the rate and age of sensor values, and every way to stop the robot.

Modules that need libraries are imported only after the check that these libraries are installed.
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

_ROBOT_PACKAGES: Final = ("cyclonedds", "mcap", "mujoco", "opencv-python-headless", "pyastar2d", "pyyaml", "rosbags")
_BASE_PACKAGES: Final = ("gymnasium", "minigrid", "numpy", "pydantic")


def examine_robot(options: AnyRobotOptions) -> int:
    """Run and print the checks; return the exit code, which says whether all checks passed."""
    exit_code = EXIT_FINISHED
    for check in _run_checks(options):
        verdict = "ok" if check.holds else "FAILS"
        line = f"{verdict:<6} {check.name:<23} {check.found}"
        print(line, flush=True)
        if not check.holds:
            exit_code = EXIT_FAILED
    return exit_code


def _run_checks(options: AnyRobotOptions) -> Iterator[Check]:
    """Yield the checks of the libraries, then the checks of the robot as far as the installed libraries allow."""
    libraries = list(_check_libraries())
    yield from libraries
    has_all_libraries = all(check.holds for check in libraries)
    if not has_all_libraries:
        yield Check("packages", False, f"install what is missing: {how_to_get('robot')}")
    try:
        from robot_bridge.cli import config_file
        from robot_bridge.cli.doctor import examination

        yield from examination.checks(options, *config_file.read(options.config))
    except ModuleNotFoundError as error:
        yield _report_missing(error)
    except DeviceError as error:
        yield Check("robot", False, str(error))
    except SetupError as error:
        if has_all_libraries:
            raise
        cause = error.__cause__
        if isinstance(cause, ModuleNotFoundError):
            yield _report_missing(cause)
        else:
            yield Check("robot", False, str(error))


def _report_missing(error: ModuleNotFoundError) -> Check:
    return Check("robot", False, f"not looked at any further: {error.name} is missing")


def _check_libraries() -> Iterator[Check]:
    for package in sorted((*_BASE_PACKAGES, *_ROBOT_PACKAGES)):
        try:
            yield Check(package, True, importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Check(package, False, "not installed")
