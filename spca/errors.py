"""The errors of the loop and of what it is built of.

::

    SPCAError                     the root, see :mod:`spca.common.errors`
    ├── UserError                 the user can fix it: one line, exit code 2
    │   ├── CurriculumError       a malformed or unknown part of a curriculum
    │   ├── SettingsError         flags, environment variables or folders that cannot be used
    │   ├── FileError             a file that a user named and that cannot be read
    │   ├── ResumeError           a run folder that cannot be continued as asked
    │   ├── WorkspaceBusyError    another run holds the workspace lock
    │   ├── ReportError           a run that cannot be looked at as asked
    │   │   └── QueryError        SQL that is wrong, or wants more than to read the tables
    │   └── SandboxError          the sandbox for generated code cannot be set up or has failed: nothing is executed
    ├── WorldError                the simulator refused to build or reset a world
    ├── RestoreError              a replayed checkpoint is not the state that was recorded
    ├── PatchError                generated source cannot be merged into the agent
    ├── PlanTextError             PDDL or plan text that cannot be read
    ├── ProviderError             a model did not answer
    │   ├── ProviderConfigError   missing key, unknown prefix or model, refused request (not retried)
    │   │   ├── UnknownModelError
    │   │   ├── UnknownApiError     nothing answers at the address
    │   │   ├── PromptTooLongError  it does not fit the model's context
    │   │   └── ReplayMissError   a recorded run holds no answer to this call
    │   ├── TransientError        no answer this time: busy, broken or out of reach (retried)
    │   ├── UnsupportedFormError  the server does not know the form asked for (a weaker one is tried)
    │   │   └── UnsupportedApiError  it lacks the API (another one is tried)
    │   ├── ProviderDownError     no answer after all retries: the run stops and can be resumed
    │   └── BadAnswerError        an answer that is not of the requested form
    │       ├── RefusalError      the model declined to answer
    │       └── TruncatedError    the answer ended at the limit on its length
    ├── PromptError               a template was given too little or unknown data
    └── BudgetReached             a limit on cost, calls or tokens was reached: exit code 3
        └── UnusableModelError    a model gives no usable answer: the run pauses

Failures that the loop is built to live with (``stuck``, ``goal_not_reached``, an unsolvable problem) are values,
see :class:`spca.contracts.Outcome` and :class:`spca.contracts.SolveResult`. Errors of other libraries are translated
where they enter.
"""

from __future__ import annotations

from spca.common.errors import SPCAError, UserError


class CurriculumError(UserError):
    """A curriculum file, category or level that is malformed or unknown."""


class ResumeError(UserError):
    """A run folder that cannot be continued as asked."""

    resumable = False


class ReportError(UserError):
    """A run folder, level or step that does not exist or cannot be shown, or a library for it that is missing."""

    resumable = False


class QueryError(ReportError):
    """SQL that is wrong, or wants more than to read the tables."""


class SandboxError(UserError):
    """The sandbox cannot be set up, or has failed; generated code is not executed without it."""


class WorldError(SPCAError):
    """The simulator refused to build or reset a world."""


class RestoreError(SPCAError):
    """A replayed checkpoint does not hash to the state that was recorded."""


class PatchError(SPCAError):
    """Generated source that cannot be merged; the text is meant for the coder LLM."""


class PlanTextError(SPCAError):
    """PDDL or plan text that cannot be read; the text is meant for the planner LLM."""


class ProviderError(SPCAError):
    """A model did not answer."""


class ProviderConfigError(ProviderError, UserError):
    """A missing key, an unknown model or a refused request: never retried, names the fix."""


class UnknownModelError(ProviderConfigError):
    """A model that does not exist; a run that was begun with it cannot go on."""

    resumable = False


class UnknownApiError(ProviderConfigError):
    """A server that is there, but does not have the API that was asked for at this address."""


class PromptTooLongError(ProviderConfigError):
    """A prompt that does not fit the model's context."""


class ReplayMissError(ProviderConfigError):
    """A recorded run holds no answer to this call; it cannot go on."""

    resumable = False


class TransientError(ProviderError):
    """No answer this time; the same request may succeed later.

    Args:
        words: what happened, without any key.
        status: HTTP status of the server's answer; None when there was none.
        retry_after: seconds that the server asks to wait; None when it does not.
        lost: the server may have worked on the request, and may bill it: a timeout, a connection that broke.
    """

    def __init__(
        self, words: str, *, status: int | None = None, retry_after: float | None = None, lost: bool = False
    ) -> None:
        super().__init__(words)
        self.status = status
        self.retry_after = retry_after
        self.lost = lost


class UnsupportedFormError(ProviderError):
    """The server does not know the form of answer that was asked for."""


class UnsupportedApiError(UnsupportedFormError):
    """The server does not have the API; the same request goes through another one the next time."""


class ProviderDownError(ProviderError, UserError):
    """A model that did not answer after all retries; the run stops and can be resumed."""


class BadAnswerError(ProviderError):
    """An answer that is not of the requested form."""


class RefusalError(BadAnswerError):
    """The model declined to answer."""


class TruncatedError(BadAnswerError):
    """The answer ended at the limit on its length, or reasoning used it up."""


class PromptError(SPCAError):
    """A prompt template and its data do not fit."""
