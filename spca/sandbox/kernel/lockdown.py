"""Layer 3, the kernel's layer: what a forked worker may still do once it has called :func:`apply`.

Every layer is for good: nothing that runs in the process afterwards can take it off. Where the layers overlap, each
holds on its own; an address space and processor time are limited by ``RLIMITS`` alone, executable memory is refused
by ``SECCOMP`` alone.
"""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntFlag
from typing import Final

from spca.sandbox.kernel import landlock, seccomp
from spca.sandbox.kernel.libc import GETPID, PRCTL, require_x86_64, syscall
from spca.sandbox.kernel.limits import Limits

IN_FD: Final = 3
"""The worker reads its frames here, and nothing else."""

OUT_FD: Final = 4
"""The worker writes its frames here, and nothing else."""

NOBODY: Final = 65534
"""User and group that a worker of root changes to."""

STACK_BYTES: Final = 8 << 20

_CAPSET: Final = 126
_CAPABILITY_VERSION_3: Final = 0x20080522
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
# Not 0: a kernel that pipes its core dumps to a program heeds only this value (fs/coredump.c).
_NO_CORE: Final = 1


class Layer(IntFlag):
    """The parts of the sandbox.

    ``USER``: capabilities dropped and, where the process is root, user and group 65534 without further groups.
    ``RLIMITS``: the kernel's resource limits; the one on processes does not bind root, so it needs ``USER`` there.
    ``LANDLOCK``: a Landlock domain without rights. ``SECCOMP``: the allow-list of :mod:`spca.sandbox.kernel.seccomp`.
    The last two set NO_NEW_PRIVS.
    """

    USER = 1
    RLIMITS = 2
    LANDLOCK = 4
    SECCOMP = 8


class LockdownError(OSError):
    """A layer that could not be put on; its words begin with the layer's name."""

    def __str__(self) -> str:
        return self.strerror or ""


ALL_LAYERS: Final = Layer.USER | Layer.RLIMITS | Layer.LANDLOCK | Layer.SECCOMP


INHERITED: Final = Layer.USER | Layer.LANDLOCK
"""What a parent can put on once for all of its children: see :func:`enter`."""


def prepare() -> None:
    """Do once in a parent what each :func:`apply` of its children needs; optional."""
    require_x86_64()
    seccomp.prepare(IN_FD, OUT_FD)
    syscall(GETPID)


def enter(layers: Layer) -> None:
    """Put on those of ``layers`` that are among :data:`INHERITED`; children of the process have them from then on.

    Raises:
        LockdownError: a layer could not be put on; those before it are.
        OSError: this is no x86-64 Linux.
    """
    require_x86_64()
    # Made before descriptors run out, used after the last step that needs a right.
    ruleset = _ruleset() if Layer.LANDLOCK in layers else None
    if Layer.USER in layers:
        with _named("user"):
            _drop_user()
    if ruleset is not None:
        _forbid_privileges()
        with _named("landlock"):
            landlock.restrict(ruleset)
        os.close(ruleset)


def apply(layers: Layer, limits: Limits) -> None:
    """Put ``layers`` on the calling process, which has one thread, and have it die with its parent.

    Raises:
        LockdownError: a layer could not be put on; those before it are.
        OSError: this is no x86-64 Linux.
    """
    require_x86_64()
    parent = os.getppid()
    program = seccomp.compiled(IN_FD, OUT_FD)
    enter(layers)
    _die_with(parent)
    if Layer.RLIMITS in layers:
        _limit_resources(limits)
    if Layer.SECCOMP in layers:
        _forbid_privileges()
        with _named("seccomp"):
            seccomp.refuse_executable_data()
            seccomp.load(program)


@contextmanager
def _named(layer: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LockdownError(error.errno, f"{layer}: {error.strerror}") from error


def _ruleset() -> int:
    with _named("landlock"):
        version = landlock.abi()
        if not version:
            raise OSError(
                errno.ENOSYS, "the kernel has none, it is not in its list of security modules, or a container hides it"
            )
        return landlock.create(version)


def _forbid_privileges() -> None:
    with _named("no_new_privs"):
        syscall(PRCTL, _PR_SET_NO_NEW_PRIVS, 1)


def _drop_user() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    syscall(_CAPSET, ctypes.addressof(header), ctypes.addressof(nothing))


def _die_with(parent: int) -> None:
    """Comes after the change of user, which clears the wish."""
    with _named("parent"):
        syscall(PRCTL, _PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            raise OSError(errno.ESRCH, "it has died")


def _limit_resources(limits: Limits) -> None:
    wanted = {
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_STACK: STACK_BYTES,
        resource.RLIMIT_CORE: _NO_CORE,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_NOFILE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
    }
    with _named("rlimits"):
        for kind, value in wanted.items():
            try:
                _lower(kind, value)
            except ValueError as error:  # resource's word for "not permitted" and "invalid"
                raise OSError(errno.EPERM, str(error)) from error


def _lower(kind: int, value: int) -> None:
    """Set soft and hard limit to ``value``, or to the hard limit where that is lower."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))
