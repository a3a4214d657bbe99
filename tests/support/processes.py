"""Programs that tests start."""

from __future__ import annotations

import os
import signal
import subprocess
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import get_context
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


def in_fork(check: Callable[[], None]) -> Callable[[], None]:
    """Return a test that runs ``check`` in a process of its own."""

    def run() -> None:
        context = get_context("fork")
        reader, writer = context.Pipe(duplex=False)

        def report() -> None:
            try:
                check()
            except BaseException:  # to be shown by the test
                writer.send(traceback.format_exc())
            else:
                writer.send("")

        process = context.Process(target=report)
        process.start()
        fault = reader.recv()
        process.join()
        assert not fault, fault

    return run
