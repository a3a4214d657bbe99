"""A Landlock domain without a single right: no file, no TCP port, no signal or abstract socket leads out of it."""

from __future__ import annotations

import ctypes
from typing import Final

from spca.sandbox.kernel.libc import syscall

_CREATE_RULESET: Final = 444
_RESTRICT_SELF: Final = 446
_VERSION: Final = 1  # LANDLOCK_CREATE_RULESET_VERSION

# Bits that each version of the ABI added (include/uapi/linux/landlock.h): first version, rights.
_FILES: Final = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
_NETWORK: Final = ((4, 0b11),)  # bind and connect of TCP
_SCOPES: Final = ((6, 0b11),)  # abstract UNIX sockets and signals


class _Attributes(ctypes.Structure):
    """``struct landlock_ruleset_attr``; fields that an older kernel does not know are accepted while zero."""

    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


def abi() -> int:
    """Version of the kernel's Landlock; 0 when it has none, it is switched off, or a container hides it."""
    try:
        return syscall(_CREATE_RULESET, 0, 0, _VERSION)
    except OSError:
        return 0


def handled(version: int) -> tuple[int, int, int]:
    """All rights over files, network and scopes that this ``version`` of the ABI can take away, as bit masks."""

    def bits(table: tuple[tuple[int, int], ...]) -> int:
        return sum(rights for since, rights in table if since <= version)

    return bits(_FILES), bits(_NETWORK), bits(_SCOPES)


def create(version: int) -> int:
    """Descriptor of a ruleset that handles every right and grants none.

    Raises:
        OSError: the kernel made none.
    """
    attributes = _Attributes(*handled(version))
    return syscall(_CREATE_RULESET, ctypes.addressof(attributes), ctypes.sizeof(attributes), 0)


def restrict(ruleset: int) -> None:
    """Enter the domain for good; NO_NEW_PRIVS must be set.

    Raises:
        OSError: the kernel refused.
    """
    syscall(_RESTRICT_SELF, ruleset, 0)
