"""Every error that the bridge raises on purpose, in one tree below :mod:`spca.common.errors`.

::

    RobotError
    ├── SetupError         a flag, file, library or sensor that cannot be used: one line, exit code 2
    ├── DeviceError        the robot or its connection failed
    ├── ModelFailure       a model gave no answer that can be used, or none in time
    │   └── ModelEnded     nothing more can be had from it, such as where its recording is spent
    │       └── BudgetSpent
    └── RecordingError     a log that cannot be read

An action that was refused, blocked or did not get where it should is a value, see
:class:`robot_bridge.contracts.ExecutionResult`; a stop is never an error.
"""

from __future__ import annotations

from spca.common.errors import SPCAError


class RobotError(SPCAError):
    """Root of the tree."""


class SetupError(RobotError):
    """The user can fix it: names the thing and the fix. Exit code 2."""


class DeviceError(RobotError):
    """The robot or the connection to it failed."""


class ModelFailure(RobotError):  # noqa: N818  # a failed request is what the watchdog counts, not a defect
    """No usable answer to one request; the next may have one."""


class ModelEnded(ModelFailure):
    """Nothing more can be had from the model in this run."""


class BudgetSpent(ModelEnded):
    """What the user allowed it to cost is spent."""


class RecordingError(RobotError):
    """A log that is missing, damaged or not one of ours."""
