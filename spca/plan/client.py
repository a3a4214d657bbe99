"""The solver's process as its host sees it: start, send, receive with a deadline, stop."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, Final

from spca.common.errors import SettingsError
from spca.plan.wire import receive_message, send_message

_LOG: Final = logging.getLogger(__name__)

START_LIMIT = 120.0
"""Seconds that importing Unified Planning may take."""

STOP_LIMIT = 5.0
"""Seconds that the process has to end its children before it is killed itself."""

_ROOT = Path(__file__).parents[2]


class GoneError(Exception):
    """The process has ended."""


class ServerProcess:
    """A running :mod:`spca.plan.worker`; starting it does not wait for it."""

    def __init__(self) -> None:
        # What a new process does not find by itself; site-packages would come before the standard library.
        own = [] if _ROOT.name in ("site-packages", "dist-packages") else [str(_ROOT)]
        paths = [*own, *filter(None, [os.environ.get("PYTHONPATH")])]
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "spca.plan.worker", str(os.getpid())],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the host, which then stops this process
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(paths),
                    "PYTHONHASHSEED": "0",  # engines iterate over sets: the same text must give the same plan
                    "OPENBLAS_NUM_THREADS": "1",  # the process forks, so it must have one thread
                    "OMP_NUM_THREADS": "1",
                },
            )
        self._ready = False
        _LOG.debug("the solver's process %d starts", self.pid)

    @property
    def pid(self) -> int:
        return self._process.pid

    def await_ready(self) -> None:
        """Wait until Unified Planning is loaded.

        Raises:
            GoneError: the process ended for no reason of its own.
            SettingsError: Unified Planning cannot be loaded.
        """
        if self._ready:
            return
        message = self.receive(time.monotonic() + START_LIMIT)
        if message is None:
            raise SettingsError(f"Unified Planning was not loaded within {START_LIMIT:g} s")
        if "failed" in message:
            raise SettingsError(f"Unified Planning cannot be loaded: {message['failed']}")
        self._ready = True

    def send(self, message: Mapping[str, object]) -> None:
        """Send a request.

        Raises:
            GoneError: nobody receives it.
        """
        try:
            send_message(self._connection, message)
        except ConnectionError as error:
            raise GoneError from error

    def receive(self, deadline: float) -> dict[str, Any] | None:
        """Return the next message, or None when ``time.monotonic()`` passes ``deadline`` first.

        Raises:
            GoneError: the process has ended.
        """
        try:
            if not self._connection.poll(max(0.0, deadline - time.monotonic())):
                return None
            return receive_message(self._connection)
        except (EOFError, OSError) as error:
            raise GoneError from error

    def stop(self) -> None:
        """End the process and everything it started; idempotent."""
        self._process.terminate()
        try:
            self._process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            _LOG.info("the solver's process %d is killed: it did not end in %g s", self.pid, STOP_LIMIT)
            self._process.kill()
            self._process.wait()
        self._connection.close()
