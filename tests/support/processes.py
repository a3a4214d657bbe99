"""Programs that tests start."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any


class Process(subprocess.Popen[str]):
    """A program that leads a process group of its own, like a command in a terminal.

    With its context it ends, whatever is left of its group is killed and its pipes are closed: a test that fails waits
    for nothing and leaves nothing to its neighbours.
    """

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        super().__init__(command, text=True, start_new_session=True, **options)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        super().__exit__(kind, error, trace)
