"""Layer 3, the kernel wall: what a forked worker may still do before it has seen any generated code."""

from __future__ import annotations

from enum import IntFlag

from spca.sandbox.limits import Limits

IN_FD = 3
"""The worker reads its frames here, and nothing else."""

OUT_FD = 4
"""The worker writes its frames here, and nothing else."""


class Layer(IntFlag):
    """The parts of the wall; each holds on its own."""

    USER = 1
    RLIMITS = 2
    LANDLOCK = 4
    SECCOMP = 8


ALL_LAYERS = Layer.USER | Layer.RLIMITS | Layer.LANDLOCK | Layer.SECCOMP


def apply(layers: Layer, limits: Limits) -> None:
    """Put ``layers`` on the calling process for good; OSError says which could not be put on, and why."""
    raise OSError("not built yet")
