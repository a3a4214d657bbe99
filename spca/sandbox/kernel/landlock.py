"""A Landlock domain without any rights: it blocks all files, TCP ports, outside processes and abstract sockets."""

from __future__ import annotations

import ctypes
from typing import Final

from spca.sandbox.kernel.libc import syscall

_CREATE_RULESET: Final = 444
_RESTRICT_SELF: Final = 446
_VERSION: Final = 1  # LANDLOCK_CREATE_RULESET_VERSION

# (first ABI version, bit mask of the rights that this version added), from include/uapi/linux/landlock.h
_FILES: Final = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
_NETWORK: Final = ((4, 0b11),)  # bind and connect of TCP
_SCOPES: Final = ((6, 0b11),)  # abstract UNIX sockets and signals


class _Attributes(ctypes.Structure):
    """The kernel's ``struct landlock_ruleset_attr``.

    An older kernel accepts the structure if all fields that the kernel does not know are zero.
    """

    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


def abi() -> int:
    """Return the version of the kernel's Landlock ABI; 0 if Landlock is missing, off or hidden by a container."""
    try:
        return syscall(_CREATE_RULESET, 0, 0, _VERSION)
    except OSError:
        return 0


def list_handled_rights(version: int) -> tuple[int, int, int]:
    """Return three bit masks (files, network, scopes) of all rights that ``version`` of the ABI can restrict."""

    def bits(table: tuple[tuple[int, int], ...]) -> int:
        return sum(rights for since, rights in table if since <= version)

    return bits(_FILES), bits(_NETWORK), bits(_SCOPES)


def create(version: int) -> int:
    """Return the file descriptor of a new ruleset, which restricts every right that ``version`` knows and grants none.

    Raises:
        OSError: the kernel refused to create the ruleset.
    """
    attributes = _Attributes(*list_handled_rights(version))
    return syscall(_CREATE_RULESET, ctypes.addressof(attributes), ctypes.sizeof(attributes), 0)


def restrict(ruleset: int) -> None:
    """Restrict this process permanently by ``ruleset``; NO_NEW_PRIVS must be set.

    Raises:
        OSError: the kernel refused the restriction.
    """
    syscall(_RESTRICT_SELF, ruleset, 0)
