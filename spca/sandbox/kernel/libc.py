"""Raw system calls that Python's ``os`` does not offer (x86-64 Linux only)."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from typing import Any, Final

GETPID: Final = 39
PRCTL: Final = 157
_ARGUMENTS: Final = 6


def require_x86_64() -> None:
    """Raise OSError if this system's call numbers differ from the numbers in this package."""
    machine = os.uname().machine
    is_linux = sys.platform.startswith("linux")
    is_64_bit_python = sys.maxsize >= 1 << 32
    if not is_linux or machine != "x86_64" or not is_64_bit_python:
        raise OSError(
            errno.ENOSYS, f"the sandbox needs a 64-bit Python on x86-64 Linux, this is {sys.platform} {machine}"
        )


@cache
def _syscall_function() -> Any:
    function = ctypes.CDLL(None, use_errno=True).syscall
    function.restype = ctypes.c_long
    function.argtypes = [ctypes.c_long] * (1 + _ARGUMENTS)
    return function


def syscall(number: int, *args: int) -> int:
    """Make the system call ``number`` and return its result; pass pointers as integer addresses.

    Raises:
        OSError: the call failed.
    """
    unused_arguments = (0,) * (_ARGUMENTS - len(args))
    result: int = _syscall_function()(number, *args, *unused_arguments)
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
