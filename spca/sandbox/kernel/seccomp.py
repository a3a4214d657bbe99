"""The system calls that a worker may make: an allow-list with argument filters, as a classic BPF program.

Everything is built and loaded through ``ctypes``; no package and no privilege is needed. The answer to a call that
is not on the list is EPERM, which Python shows as a readable error; a call in another architecture's numbering kills
the process, because the list would be read wrongly.
"""

from __future__ import annotations

import ctypes
import errno
import struct
from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

from spca.sandbox.kernel.libc import syscall

AUDIT_ARCH_X86_64: Final = 0xC000003E
X32_BIT: Final = 0x40000000
RET_KILL_PROCESS: Final = 0x80000000
RET_ERRNO_EPERM: Final = 0x00050000 | errno.EPERM
RET_ALLOW: Final = 0x7FFF0000

_SECCOMP: Final = 317
_SET_MODE_FILTER: Final = 1
_FLAG_TSYNC: Final = 1
_PERSONALITY: Final = 135
_PERSONALITY_QUERY: Final = 0xFFFFFFFF
_READ_IMPLIES_EXEC: Final = 0x0400000

_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_AND: Final = 0x54  # BPF_ALU | BPF_AND | BPF_K
_JUMP_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_JUMP_AT_LEAST: Final = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K
_NUMBER_AT: Final = 0  # offsets in struct seccomp_data
_ARCH_AT: Final = 4
_ARGS_AT: Final = 16
_INSTRUCTION: Final = struct.Struct("=HBBI")  # struct sock_filter

_READ_WRITE: Final = 0x1 | 0x2  # PROT_READ, PROT_WRITE
_PRIVATE_ANONYMOUS: Final = 0x02 | 0x20
_NORESERVE: Final = 0x4000
_MAY_MOVE: Final = 0x1
_ADVICE: Final = (4, 8, 14)  # MADV_DONTNEED and MADV_FREE (allocators), MADV_HUGEPAGE (numpy)
# FUTEX_WAIT, WAKE, WAIT_BITSET, WAKE_BITSET, all with FUTEX_PRIVATE_FLAG: no priority inheritance, and no word that
# another process has mapped as well, such as one of libc's text.
_WAIT_AND_WAKE: Final = (0x80, 0x81, 0x89, 0x8A)
_FUTEX_FLAGS: Final = 0x100  # FUTEX_CLOCK_REALTIME

# CLOCK_REALTIME, MONOTONIC, PROCESS_CPUTIME_ID, THREAD_CPUTIME_ID, MONOTONIC_RAW, REALTIME_COARSE, MONOTONIC_COARSE,
# BOOTTIME, TAI: those of everybody and of the caller. Ids below 0 are made of the number of a process, and tell its
# processor time, or of a descriptor.
_CLOCKS: Final = (0, 1, 2, 3, 4, 5, 6, 7, 11)


class Argument(NamedTuple):
    """A condition on one argument: without the bits of ``ignored``, its low 32 bits are one of ``values``.

    The kernel itself reads only the low half of these arguments, or ignores or refuses what else is set.
    """

    position: int
    values: tuple[int, ...]
    ignored: int = 0


class Call(NamedTuple):
    """A call on the list; it is allowed when every condition holds."""

    name: str
    number: int
    conditions: tuple[Argument, ...] = ()


class Instruction(NamedTuple):
    """One instruction of classic BPF (``struct sock_filter``)."""

    code: int
    if_true: int
    if_false: int
    value: int


def allowed(read_fd: int, write_fd: int) -> tuple[Call, ...]:
    """The list, most frequent calls first."""
    return (
        Call("read", 0, (Argument(0, (read_fd,)),)),
        Call("write", 1, (Argument(0, (write_fd,)),)),
        Call("mmap", 9, (Argument(2, (0,), _READ_WRITE), Argument(3, (_PRIVATE_ANONYMOUS,), _NORESERVE))),
        Call("munmap", 11),
        Call("brk", 12),
        Call("mremap", 25, (Argument(3, (0,), _MAY_MOVE),)),
        Call("madvise", 28, (Argument(2, _ADVICE),)),
        Call("mprotect", 10, (Argument(2, (0,), _READ_WRITE),)),
        Call("futex", 202, (Argument(1, _WAIT_AND_WAKE, _FUTEX_FLAGS),)),
        Call("rt_sigprocmask", 14),
        Call("rt_sigreturn", 15),
        Call("sigaltstack", 131),
        Call("clock_gettime", 228, (Argument(0, _CLOCKS),)),
        Call("gettimeofday", 96),
        Call("getrandom", 318),
        Call("getpid", 39),
        Call("gettid", 186),
        Call("sched_yield", 24),
        Call("restart_syscall", 219),
        Call("exit", 60),
        Call("exit_group", 231),
    )


def assemble(calls: tuple[Call, ...]) -> tuple[Instruction, ...]:
    """The filter program: every jump is short and forward, every path ends in a return."""
    program = [
        Instruction(_LOAD, 0, 0, _ARCH_AT),
        Instruction(_JUMP_EQUAL, 1, 0, AUDIT_ARCH_X86_64),
        Instruction(_RETURN, 0, 0, RET_KILL_PROCESS),
        Instruction(_LOAD, 0, 0, _NUMBER_AT),
        Instruction(_JUMP_AT_LEAST, 0, 1, X32_BIT),
        Instruction(_RETURN, 0, 0, RET_KILL_PROCESS),
    ]
    for call in calls:
        body = [step for condition in call.conditions for step in _checks(condition)]
        body.append(Instruction(_RETURN, 0, 0, RET_ALLOW))
        program += [Instruction(_JUMP_EQUAL, 0, len(body), call.number), *body]
    return (*program, Instruction(_RETURN, 0, 0, RET_ERRNO_EPERM))


def _checks(condition: Argument) -> list[Instruction]:
    """Goes on behind itself when the condition holds, else answers EPERM."""
    count = len(condition.values)
    return [
        Instruction(_LOAD, 0, 0, _ARGS_AT + 8 * condition.position),
        Instruction(_AND, 0, 0, ~condition.ignored & 0xFFFFFFFF),
        *(Instruction(_JUMP_EQUAL, count - i, 0, value) for i, value in enumerate(condition.values)),
        Instruction(_RETURN, 0, 0, RET_ERRNO_EPERM),
    ]


class _Program(ctypes.Structure):
    """``struct sock_fprog``."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def encode(program: Iterable[Instruction]) -> bytes:
    """A program as the kernel reads it."""
    return b"".join(_INSTRUCTION.pack(*step) for step in program)


@cache
def compiled(read_fd: int, write_fd: int) -> bytes:
    """The filter of a worker with these two descriptors."""
    return encode(assemble(allowed(read_fd, write_fd)))


def refuse_executable_data() -> None:
    """Undo a personality in which readable memory is executable; the filter could not see that."""
    now = syscall(_PERSONALITY, _PERSONALITY_QUERY)
    if now & _READ_IMPLIES_EXEC:
        syscall(_PERSONALITY, now & ~_READ_IMPLIES_EXEC)


@cache
def _header(program: bytes) -> tuple[_Program, ctypes.Array[ctypes.c_char]]:
    """Return a program as the system call takes it, and the memory that it points to."""
    instructions = ctypes.create_string_buffer(program, len(program))
    return _Program(len(program) // _INSTRUCTION.size, ctypes.addressof(instructions)), instructions


def prepare(read_fd: int, write_fd: int) -> None:
    """Do once in a parent what :func:`load` needs in each of its children; optional."""
    _header(compiled(read_fd, write_fd))


def load(program: bytes) -> None:
    """Filter this process's system calls for good; NO_NEW_PRIVS must be set.

    Raises:
        OSError: the kernel did not take the filter.
    """
    header, _instructions = _header(program)
    stray = syscall(_SECCOMP, _SET_MODE_FILTER, _FLAG_TSYNC, ctypes.addressof(header))
    if stray:
        raise OSError(errno.EBUSY, f"thread {stray} cannot be filtered")
