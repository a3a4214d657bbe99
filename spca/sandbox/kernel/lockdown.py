"""Layer 3 of the sandbox, the restrictions that the kernel enforces: :func:`apply` restricts a forked worker.

Layer 3 consists of several layers (:class:`Layer`). Every layer is permanent: code that runs in the process afterwards
cannot remove it. If two layers forbid the same operation, each of them suffices. Only ``RLIMITS`` limits the address
space and the processor time; only ``SECCOMP`` refuses executable memory.
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
"""File descriptor from which the worker reads the host's frames."""

OUT_FD: Final = 4
"""File descriptor to which the worker writes its frames."""

NOBODY: Final = 65534
"""Id of the user and the group that a worker started by root changes to."""

STACK_BYTES: Final = 8 << 20

_CAPSET: Final = 126
_CAPABILITY_VERSION_3: Final = 0x20080522
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38
# The limit is 1, not 0, because a kernel that pipes core dumps to a program obeys only this value (fs/coredump.c).
_NO_CORE: Final = 1


class Layer(IntFlag):
    """The layers that the kernel enforces; several layers can be combined.

    ``USER``: drops all capabilities; if the process is root, changes to user and group 65534 without further groups.

    ``RLIMITS``: the kernel's resource limits. The limit on processes does not bind root, so for root ``USER`` must be
    applied too.

    ``LANDLOCK``: a Landlock domain without rights; sets NO_NEW_PRIVS.

    ``SECCOMP``: the allow-list of :mod:`spca.sandbox.kernel.seccomp`; sets NO_NEW_PRIVS.
    """

    USER = 1
    RLIMITS = 2
    LANDLOCK = 4
    SECCOMP = 8


class LockdownError(OSError):
    """A layer could not be applied; the message begins with the layer's name."""

    def __str__(self) -> str:
        return self.strerror or ""


ALL_LAYERS: Final = Layer.USER | Layer.RLIMITS | Layer.LANDLOCK | Layer.SECCOMP


INHERITED: Final = Layer.USER | Layer.LANDLOCK
"""Layers that a parent process can apply once for all of its children, see :func:`enter`."""


def prepare() -> None:
    """Prepare in the parent process what :func:`apply` needs in each child.

    This call is optional; it lets the children start faster.
    """
    require_x86_64()
    seccomp.prepare(IN_FD, OUT_FD)
    syscall(GETPID)


def enter(layers: Layer) -> None:
    """Apply those of ``layers`` that are in :data:`INHERITED`; children that are forked later inherit them.

    Raises:
        LockdownError: a layer could not be applied; layers that were applied before stay applied.
        OSError: this system is not x86-64 Linux.
    """
    require_x86_64()
    # Created before other layers forbid new descriptors, applied after the last step that needs a right.
    ruleset = _create_ruleset() if Layer.LANDLOCK in layers else None
    if Layer.USER in layers:
        with _name_layer_on_error("user"):
            _drop_user()
    if ruleset is not None:
        _forbid_privileges()
        with _name_layer_on_error("landlock"):
            landlock.restrict(ruleset)
        os.close(ruleset)


def apply(layers: Layer, limits: Limits) -> None:
    """Apply ``layers`` to the calling process, which must have only one thread.

    From then on, the kernel kills this process when its parent ends.

    Raises:
        LockdownError: a layer could not be applied; layers that were applied before stay applied.
        OSError: this system is not x86-64 Linux.
    """
    require_x86_64()
    parent = os.getppid()
    program = seccomp.compile_filter(IN_FD, OUT_FD)
    enter(layers)
    _die_with(parent)
    if Layer.RLIMITS in layers:
        _limit_resources(limits)
    if Layer.SECCOMP in layers:
        _forbid_privileges()
        with _name_layer_on_error("seccomp"):
            seccomp.refuse_executable_data()
            seccomp.load(program)


@contextmanager
def _name_layer_on_error(layer: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise LockdownError(error.errno, f"{layer}: {error.strerror}") from error


def _create_ruleset() -> int:
    """Return the descriptor of a new Landlock ruleset without rights; raise LockdownError if Landlock is missing."""
    with _name_layer_on_error("landlock"):
        version = landlock.abi()
        if not version:
            raise OSError(
                errno.ENOSYS, "the kernel has none, it is not in its list of security modules, or a container hides it"
            )
        return landlock.create(version)


def _forbid_privileges() -> None:
    with _name_layer_on_error("no_new_privs"):
        syscall(PRCTL, _PR_SET_NO_NEW_PRIVS, 1)


def _drop_user() -> None:
    """Drop all capabilities; if the process is root, change to the user "nobody"."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    no_capabilities = (ctypes.c_uint32 * 6)()
    syscall(_CAPSET, ctypes.addressof(header), ctypes.addressof(no_capabilities))


def _die_with(parent: int) -> None:
    """Let the kernel kill this process when ``parent`` ends.

    A change of user clears this setting, so the call must come after :func:`_drop_user`.
    """
    with _name_layer_on_error("parent"):
        syscall(PRCTL, _PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            raise OSError(errno.ESRCH, "it has died")


def _limit_resources(limits: Limits) -> None:
    """Lower the soft and hard limits of this process; raise LockdownError if the kernel refuses."""
    maxima = {
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
    with _name_layer_on_error("rlimits"):
        for kind, value in maxima.items():
            try:
                _lower_limit(kind, value)
            except ValueError as error:  # setrlimit raises this for "not permitted" and for "invalid"
                raise OSError(errno.EPERM, str(error)) from error


def _lower_limit(kind: int, value: int) -> None:
    """Set the soft and the hard limit to ``value``, or to the current hard limit if that is lower."""
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))
