"""The host's handle for the solver's process: start, send, receive with a deadline, stop."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from multiprocessing import Pipe
from pathlib import Path
from typing import Any, Final

from spca.common.errors import PluginError, SettingsError
from spca.plan.engines import AddedEngine
from spca.plan.wire import receive_message, send_message

_LOG: Final = logging.getLogger(__name__)

START_LIMIT = 120.0
"""Seconds that the import of Unified Planning may take."""

STOP_LIMIT = 5.0
"""Seconds that the process may take to end its children; after that time the host kills the process."""

_ROOT = Path(__file__).parents[2]


class GoneError(Exception):
    """The solver's process has ended."""


class ServerProcess:
    """Handle of a process that runs :mod:`spca.plan.worker`.

    The constructor does not wait until the process is ready.

    Args:
        added: the engines of plugins that the process may use.
    """

    def __init__(self, added: Sequence[AddedEngine] = ()) -> None:
        # PYTHONPATH precedes the standard library, so an installed package, which is found anyway, is not added.
        is_installed = _ROOT.name in ("site-packages", "dist-packages")
        paths = [] if is_installed else [str(_ROOT)]
        if inherited := os.environ.get("PYTHONPATH"):
            paths.append(inherited)
        # Plugins lie where this process finds modules, which may be another place than the solver's process knows.
        plugins = json.dumps({"engines": list(map(asdict, added)), "path": sys.path if added else []})
        self._connection, theirs = Pipe()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "spca.plan.worker", str(os.getpid()), plugins],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C goes to the host only, which then stops this process
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(paths),
                    "PYTHONHASHSEED": "0",  # engines iterate over sets: the same text must give the same plan
                    "OPENBLAS_NUM_THREADS": "1",  # a process that forks must have only one thread
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
            GoneError: the process has ended.
            PluginError: an engine of a plugin cannot be used.
            SettingsError: Unified Planning cannot be loaded.
        """
        if self._ready:
            return
        message = self.receive(time.monotonic() + START_LIMIT)
        if message is None:
            raise SettingsError(f"Unified Planning was not loaded within {START_LIMIT:g} s")
        if "plugin" in message:
            raise PluginError(message["plugin"])
        if "failed" in message:
            raise SettingsError(f"Unified Planning cannot be loaded: {message['failed']}")
        self._ready = True

    def send(self, message: Mapping[str, object]) -> None:
        """Send a request.

        Raises:
            GoneError: the process has ended.
        """
        try:
            send_message(self._connection, message)
        except ConnectionError as error:
            raise GoneError from error

    def receive(self, deadline: float) -> dict[str, Any] | None:
        """Return the next message; None if no message arrives before ``time.monotonic()`` reaches ``deadline``.

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
        """End the process and all processes that it started; idempotent."""
        self._process.terminate()
        try:
            self._process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            _LOG.info("the solver's process %d is killed: it did not end in %g s", self.pid, STOP_LIMIT)
            self._process.kill()
            self._process.wait()
        self._connection.close()
