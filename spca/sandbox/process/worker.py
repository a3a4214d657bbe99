"""The program of a forked worker: it applies the layers to itself, then answers the host's views until it is killed.

A worker has no data of the run when it begins, and is killed at the end of its episode.
"""

from __future__ import annotations

import faulthandler
import os
import random
import signal
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import numpy as np

from spca.code.policy.available import MODULES
from spca.contracts import Status
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import OUT_FD, Layer
from spca.sandbox.process import confinement, framing, wire
from spca.sandbox.process.runner import Fault, Runner

DUMP_SIGNAL = signal.SIGUSR1
"""Signal from the host to an overdue worker, on which the interpreter writes its traceback, even during C code."""

_LAZY_MODULES = ("unicodedata", "encodings.latin_1", "encodings.ascii", "traceback", "linecache", "numpy.random")


def load_libraries() -> None:
    """Import all modules that generated code may use, and everything that these modules load on first use.

    A worker behind its layers can no longer open the modules' files.
    """
    for name in (*MODULES, *_LAZY_MODULES):
        import_module(name)
    words = np.array(["one word", "another"])
    np.char.startswith(words, "one")
    np.unique(words, return_counts=True)
    np.random.default_rng(0).integers(9)
    f"{words!r} {np.arange(3.0)} {np.linalg.norm(np.ones(2))}".encode("latin-1")


def main(incoming: int, outgoing: int, layers: Layer, limits: Limits) -> NoReturn:
    """Run the worker in this process and never return.

    ``incoming`` and ``outgoing`` are the pipe ends to read from and write to.
    """
    try:
        confinement.keep_pipes(incoming, outgoing)
        _prepare()
        confinement.lock_in(layers, limits)
        _serve()
    finally:  # this copy of the zygote must not continue after any error
        os._exit(1)


def _prepare() -> None:
    """Seed the random generators equally in every worker, so that runs can be repeated.

    Also enable tracebacks of hangs and crashes.
    """
    random.seed(0)
    np.random.seed(0)
    faulthandler.enable(OUT_FD, all_threads=False)
    faulthandler.register(DUMP_SIGNAL, OUT_FD, all_threads=False)
    confinement.go_first()


def _serve() -> NoReturn:
    """Read the start of an episode, then answer every view."""
    read_frame = framing.frame_reader()
    start = wire.unpack_start(read_frame().payload)
    runner = wire.make_runner(start, _send_printed)
    reader = wire.ViewReader(len(start.attributes))
    while True:
        request = read_frame()
        reader.read(request.payload)
        framing.write_bytes(_answer(runner, reader.values, request.sequence))


def _answer(runner: Runner, values: Sequence[Any], sequence: int) -> bytes:
    try:
        return wire.pack_answer(runner.advance(values), sequence)
    except BaseException as error:  # boundary: reporting a failure may itself fail
        fault = Fault(Status.RUNTIME_ERROR, f"{type(error).__name__[:60]} while failing")
        return wire.pack_answer(fault, sequence)


def _send_printed(text: str) -> None:
    data = text.encode(errors="replace")
    longest = framing.MAX_PAYLOAD_BYTES[framing.PRINTED]
    for start in range(0, len(data), longest):
        framing.write_bytes(framing.pack(framing.PRINTED, 0, data[start : start + longest]))
