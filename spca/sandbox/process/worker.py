"""What a forked worker does: lock itself in, then answer the host's views until it is killed.

It has seen nothing of the run when it begins, and dies with its episode.
"""

from __future__ import annotations

import faulthandler
import os
import random
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

import numpy as np

from spca.contracts import Status
from spca.sandbox.kernel import lockdown
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import IN_FD, OUT_FD, Layer
from spca.sandbox.process import wire
from spca.sandbox.process.runner import Fault, Runner

DUMP_SIGNAL = signal.SIGUSR1
"""Sent by the host to a worker that is overdue: the interpreter then writes where it is, even from within C code."""

_CHUNK = 1 << 12
_FORGOTTEN_AFTER = 3600
"""Seconds after which a worker ends itself, even if its host is gone."""


def main(incoming: int, outgoing: int, layers: Layer, limits: Limits) -> NoReturn:
    """Never returns. The arguments are the pipe ends to read from and to write to."""
    try:
        _keep_only(incoming, outgoing)
        _prepare()
        try:
            if layers:  # none of them for a host that does without a sandbox, which may be any system
                lockdown.apply(layers, limits)
        except OSError as error:
            _write(wire.pack_answer(Fault(Status.RUNTIME_ERROR, str(error)), 0))
            os._exit(1)
        _write(wire.pack(wire.READY, 0))
        _serve()
    finally:  # whatever happened, this copy of the zygote must not go on
        os._exit(1)


def _keep_only(incoming: int, outgoing: int) -> None:
    """Two descriptors under their fixed numbers, and no others, the standard streams included."""
    spare = [os.dup(fd) for fd in (incoming, outgoing)]
    while min(spare) <= OUT_FD:
        spare = [os.dup(fd) for fd in spare]
    os.dup2(spare[0], IN_FD, inheritable=False)
    os.dup2(spare[1], OUT_FD, inheritable=False)
    sys.stdin = sys.stdout = sys.stderr = None
    os.closerange(0, IN_FD)
    os.closerange(OUT_FD + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def _prepare() -> None:
    """Equal randomness in every worker, so that a replay is one; where the code is, should it hang or crash."""
    random.seed(0)
    np.random.seed(0)
    faulthandler.enable(OUT_FD, all_threads=False)
    faulthandler.register(DUMP_SIGNAL, OUT_FD, all_threads=False)
    signal.alarm(_FORGOTTEN_AFTER)
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as first_to_go:
        first_to_go.write("1000")  # where memory runs out, the host is not what has to go


def _serve() -> NoReturn:
    frame = _reader()
    start = wire.unpack_start(frame().payload)
    runner = Runner(
        start.module, start.steps, start.previous, wire.words_array(start.words), _send_printed, start.print_limit
    )
    mission = ""
    while True:
        asked = frame()
        view = wire.View(asked.payload, mission)
        mission = view.mission
        _write(_answer(runner, view, asked.sequence))


def _answer(runner: Runner, view: wire.View, sequence: int) -> bytes:
    try:
        return wire.pack_answer(runner.advance(view), sequence)
    except BaseException as error:  # boundary: a failure may be such that even telling it fails
        return wire.pack_answer(Fault(Status.RUNTIME_ERROR, f"{type(error).__name__[:60]} while failing"), sequence)


def _reader() -> Callable[[], wire.Frame]:
    """Frames of the host, one for each call; the process ends when there are no more."""
    received = b""

    def frame() -> wire.Frame:
        nonlocal received
        kind = sequence = 0
        wanted = wire.HEADER.size
        while True:
            if len(received) >= wanted:
                kind, sequence, length = wire.HEADER.unpack_from(received)
                wanted = wire.HEADER.size + length
                if len(received) >= wanted:
                    break
            chunk = os.read(IN_FD, max(_CHUNK, wanted - len(received)))
            if not chunk:
                os._exit(0)
            received = received + chunk if received else chunk
        payload, received = received[wire.HEADER.size : wanted], received[wanted:]
        return wire.Frame(kind, sequence, payload)

    return frame


def _send_printed(text: str) -> None:
    data = text.encode(errors="replace")
    longest = wire.LONGEST[wire.PRINTED]
    for at in range(0, len(data), longest):
        _write(wire.pack(wire.PRINTED, 0, data[at : at + longest]))


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(OUT_FD, data) :]
