"""The errors of the loop and of its parts.

::

    SPCAError                     the root, see :mod:`spca.common.errors`
    ├── UserError                 the user can fix it: one line, exit code 2
    │   ├── CurriculumError       a malformed or unknown part of a curriculum
    │   ├── SettingsError         invalid flags, environment variables or folders
    │   ├── FileError             a file that the user named cannot be read
    │   ├── PluginError           a plugin that is missing, fails, or is not the one that a run has used
    │   ├── ResumeError           a run folder that cannot be resumed as asked
    │   ├── WorkspaceBusyError    another run holds the workspace lock
    │   ├── ReportError           a run that cannot be shown as asked
    │   │   └── QueryError        SQL that is wrong, or does more than read the tables
    │   └── SandboxError          the sandbox cannot be set up or has failed, so generated code is not executed
    ├── WorldError                the simulator refused to build or reset a world
    ├── RestoreError              a replayed checkpoint does not lead to the recorded state
    ├── PatchError                generated source cannot be merged into the agent
    ├── PlanTextError             PDDL or plan text that cannot be read
    ├── ProviderError             a model did not answer
    │   ├── ProviderConfigError   missing key, unknown prefix or model, refused request (not retried)
    │   │   ├── UnknownModelError   the model does not exist
    │   │   ├── UnknownApiError     the server has no API at the address
    │   │   ├── PromptTooLongError  the prompt does not fit the model's context
    │   │   └── ReplayMissError     a recorded run holds no answer to this call
    │   ├── TransientError        no answer because the server is busy, broken or out of reach (retried)
    │   ├── UnsupportedFormError  the server does not know the requested form of answer (a weaker form is tried)
    │   │   └── UnsupportedApiError  the server lacks the API (another API is tried)
    │   ├── ProviderDownError     no answer after all retries; the run stops and can be resumed
    │   └── BadAnswerError        an answer that is not of the requested form
    │       ├── RefusalError      the model declined to answer
    │       └── TruncatedError    the answer ended at the limit on its length
    ├── PromptError               a template and its data do not fit
    └── BudgetReached             a limit on cost, calls or tokens was reached: exit code 3
        └── UnusableModelError    a model gives no usable answer; the run pauses

Failures that the loop handles (``stuck``, ``goal_not_reached``, an unsolvable problem) are not errors but values; see
:class:`spca.contracts.Outcome` and :class:`spca.contracts.SolveResult`. Errors of other libraries are translated into
these errors at the call of the library.
"""

from __future__ import annotations

from spca.common.errors import SPCAError, UserError


class CurriculumError(UserError):
    """A curriculum file, category or level that is malformed or unknown."""


class ResumeError(UserError):
    """A run folder cannot be resumed as asked."""

    resumable = False


class ReportError(UserError):
    """A run folder, level or step does not exist or cannot be shown, or a library for showing runs is missing."""

    resumable = False


class QueryError(ReportError):
    """An SQL statement is wrong, or does more than read the tables."""


class SandboxError(UserError):
    """The sandbox cannot be set up, or has failed; generated code is not executed without a sandbox."""


class WorldError(SPCAError):
    """The simulator refused to build or reset a world."""


class RestoreError(SPCAError):
    """A replayed checkpoint leads to a state whose hash is not the recorded hash."""


class ForeignCheckpointError(RestoreError):
    """A world goes back to checkpoints of its own only, because their primitives cannot be replayed."""


class PatchError(SPCAError):
    """Generated source cannot be merged into the agent; the message is meant for the coder LLM."""


class PlanTextError(SPCAError):
    """PDDL or plan text cannot be read; the message is meant for the planner LLM."""


class ProviderError(SPCAError):
    """A model did not answer."""


class ProviderConfigError(ProviderError, UserError):
    """A key is missing, a model is unknown, or a request is refused. The message names the fix; there is no retry."""


class UnknownModelError(ProviderConfigError):
    """A model does not exist; a run with this model cannot be resumed."""

    resumable = False


class UnknownApiError(ProviderConfigError):
    """A server answers, but does not have the requested API at this address."""


class PromptTooLongError(ProviderConfigError):
    """A prompt does not fit the model's context."""


class ReplayMissError(ProviderConfigError):
    """A recorded run that is used as a model holds no answer to a call; the calling run cannot be resumed."""

    resumable = False


class TransientError(ProviderError):
    """A model did not answer, but the same request may succeed later.

    Args:
        words: error message, which must not contain a key.
        status: HTTP status of the server's answer; None if the server did not answer.
        retry_after: seconds that the server asks to wait; None if the server does not ask to wait.
        lost: whether the server may have processed and billed the request, as after a timeout or a broken connection.
    """

    def __init__(
        self, words: str, *, status: int | None = None, retry_after: float | None = None, lost: bool = False
    ) -> None:
        super().__init__(words)
        self.status = status
        self.retry_after = retry_after
        self.lost = lost


class UnsupportedFormError(ProviderError):
    """The server does not know the requested form of answer."""


class UnsupportedApiError(UnsupportedFormError):
    """The server does not have the API; the next try of the request uses another API."""


class ProviderDownError(ProviderError, UserError):
    """A model did not answer after all retries; the run stops and can be resumed."""


class BadAnswerError(ProviderError):
    """An answer does not have the requested form."""


class RefusalError(BadAnswerError):
    """The model declined to answer."""


class TruncatedError(BadAnswerError):
    """The answer was cut off at the limit on its length, or reasoning used up the limit."""


class PromptError(SPCAError):
    """A prompt template and its data do not fit each other."""
