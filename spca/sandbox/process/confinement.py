"""Steps by which a process that a zygote has forked restricts itself, before it reads any message of the host."""

from __future__ import annotations

import os
import resource
import signal
import sys
from contextlib import suppress
from typing import Final

from spca.sandbox.kernel import lockdown
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import IN_FD, OUT_FD, Layer
from spca.sandbox.process import framing

_FORGOTTEN_AFTER: Final = 3600
"""Seconds after which a process ends itself, even without a host."""


def keep_pipes(incoming: int, outgoing: int) -> None:
    """Move the descriptors ``incoming`` and ``outgoing`` to the numbers IN_FD and OUT_FD.

    Close all other descriptors, including the standard streams.
    """
    # Copies above OUT_FD, so that no dup2 below overwrites its own source.
    spare = [os.dup(fd) for fd in (incoming, outgoing)]
    while min(spare) <= OUT_FD:
        spare = [os.dup(fd) for fd in spare]
    os.dup2(spare[0], IN_FD, inheritable=False)
    os.dup2(spare[1], OUT_FD, inheritable=False)
    sys.stdin = sys.stdout = sys.stderr = None
    os.closerange(0, IN_FD)
    os.closerange(OUT_FD + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def go_first() -> None:
    """If memory runs out, let the kernel kill this process and its children rather than the host."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as oom_score:
        oom_score.write("1000")


def lock_in(layers: Layer, limits: Limits) -> None:
    """Apply ``layers`` and send READY to the host; if a layer fails, send the reason and end the process."""
    signal.alarm(_FORGOTTEN_AFTER)
    try:
        if layers:  # empty for a host without a sandbox, which may be any system
            lockdown.apply(layers, limits)
    except OSError as error:
        reason = str(error).encode(errors="replace")[:4096]
        framing.write_bytes(framing.pack(framing.OPEN, 0, reason))
        os._exit(1)
    framing.write_bytes(framing.pack(framing.READY, 0))
