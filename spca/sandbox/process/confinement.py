"""How a fork of a zygote locks itself in, before it reads anything that the host sends."""

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
"""Seconds after which a process ends itself, even if its host is gone."""


def keep_pipes(incoming: int, outgoing: int) -> None:
    """Keep two descriptors under their fixed numbers, and no others, the standard streams included."""
    spare = [os.dup(fd) for fd in (incoming, outgoing)]
    while min(spare) <= OUT_FD:
        spare = [os.dup(fd) for fd in spare]
    os.dup2(spare[0], IN_FD, inheritable=False)
    os.dup2(spare[1], OUT_FD, inheritable=False)
    sys.stdin = sys.stdout = sys.stderr = None
    os.closerange(0, IN_FD)
    os.closerange(OUT_FD + 1, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


def go_first() -> None:
    """Have this process and its children end before the host where memory runs out."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as first_to_go:
        first_to_go.write("1000")


def lock_in(layers: Layer, limits: Limits) -> None:
    """Put on every layer and tell the host; the process ends where one cannot be put on."""
    signal.alarm(_FORGOTTEN_AFTER)
    try:
        if layers:  # none of them for a host that does without a sandbox, which may be any system
            lockdown.apply(layers, limits)
    except OSError as error:
        framing.write_bytes(framing.pack(framing.OPEN, 0, str(error).encode(errors="replace")[:4096]))
        os._exit(1)
    framing.write_bytes(framing.pack(framing.READY, 0))
