"""All errors that the bridge raises on purpose, in one tree below :mod:`spca.common.errors`.

::

    RobotError
    ├── SetupError         a flag, file, library or sensor is unusable; the message is one line, the exit code is 2
    ├── DeviceError        the robot or its connection failed
    ├── ModelFailure       a model gave no usable answer in time
    │   └── ModelEnded     the model will give no more answers, for example because its recording has ended
    │       └── BudgetSpent
    └── RecordingError     a log cannot be read

An action that was refused, was blocked or missed its goal is a value, not an error: see
:class:`robot_bridge.contracts.ExecutionResult`. A stop is never an error.
"""

from __future__ import annotations

from spca.common.errors import UserError


class RobotError(UserError):
    """Root of the tree."""


class SetupError(RobotError):
    """Error that the user can fix; the message names the faulty thing and the fix. Exit code 2."""


class DeviceError(RobotError):
    """The robot or the connection to it failed."""


class ModelFailure(RobotError):  # noqa: N818  # a failed request is what the watchdog counts, not a defect
    """A request got no usable answer; the next request may succeed."""


class ModelEnded(ModelFailure):
    """The model will give no more answers in this run."""


class BudgetSpent(ModelEnded):
    """The user's budget for the model is spent."""


class RecordingError(RobotError):
    """A log is missing, damaged or of an unknown format."""
