"""The system calls that a worker may make: an allow-list with argument filters, as a classic BPF program.

The filter is built in Python and loaded through ``ctypes``, without further packages or privileges. A call that is not
on the list fails with EPERM, which Python shows as a readable error. A call in another architecture's numbering kills
the process, because in that numbering the same number means another call.
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
# FUTEX_WAIT, WAKE, WAIT_BITSET, WAKE_BITSET, all with FUTEX_PRIVATE_FLAG. This excludes priority inheritance, and
# futexes in memory that another process has mapped too, such as the text segment of libc.
_WAIT_AND_WAKE: Final = (0x80, 0x81, 0x89, 0x8A)
_FUTEX_FLAGS: Final = 0x100  # FUTEX_CLOCK_REALTIME

# CLOCK_REALTIME, MONOTONIC, PROCESS_CPUTIME_ID, THREAD_CPUTIME_ID, MONOTONIC_RAW, REALTIME_COARSE, MONOTONIC_COARSE,
# BOOTTIME, TAI: the clocks of the system and of the calling process. Negative ids, which encode another process (for
# its processor time) or a descriptor, are not allowed.
_CLOCKS: Final = (0, 1, 2, 3, 4, 5, 6, 7, 11)


class Argument(NamedTuple):
    """A condition on the argument at ``position`` (from 0) of a system call.

    The condition holds if the low 32 bits of the argument, without the bits of ``ignored``, equal one of ``values``.
    The high 32 bits need no check: in the calls on the list, the kernel does not read them, or refuses the call.
    """

    position: int
    values: tuple[int, ...]
    ignored: int = 0


class Call(NamedTuple):
    """A system call on the list; it is allowed if all of its conditions hold."""

    name: str
    number: int
    conditions: tuple[Argument, ...] = ()


class Instruction(NamedTuple):
    """One instruction of classic BPF (``struct sock_filter``).

    The fields for jumps give the number of instructions to skip.
    """

    code: int
    if_true: int
    if_false: int
    value: int


def list_allowed(read_fd: int, write_fd: int) -> tuple[Call, ...]:
    """Return the allowed calls, the most frequent calls first.

    The descriptors are the worker's pipe ends; the allowed calls depend on them.
    """
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
    """Return the filter program for ``calls``.

    Every jump is short and goes forward, and every path ends in a return.
    """
    program = [
        Instruction(_LOAD, 0, 0, _ARCH_AT),
        Instruction(_JUMP_EQUAL, 1, 0, AUDIT_ARCH_X86_64),
        Instruction(_RETURN, 0, 0, RET_KILL_PROCESS),
        Instruction(_LOAD, 0, 0, _NUMBER_AT),
        Instruction(_JUMP_AT_LEAST, 0, 1, X32_BIT),  # x32 calls have the same architecture, but other numbers
        Instruction(_RETURN, 0, 0, RET_KILL_PROCESS),
    ]
    for call in calls:  # another number jumps over the body to the next call
        body = [step for condition in call.conditions for step in _compile_condition(condition)]
        body.append(Instruction(_RETURN, 0, 0, RET_ALLOW))
        program += [Instruction(_JUMP_EQUAL, 0, len(body), call.number), *body]
    return (*program, Instruction(_RETURN, 0, 0, RET_ERRNO_EPERM))


def _compile_condition(condition: Argument) -> list[Instruction]:
    """Return instructions that check a condition.

    If the condition holds, execution continues behind these instructions; otherwise the filter returns EPERM.
    """
    count = len(condition.values)
    # Each equal value jumps over the remaining comparisons and the return.
    return [
        Instruction(_LOAD, 0, 0, _ARGS_AT + 8 * condition.position),
        Instruction(_AND, 0, 0, ~condition.ignored & 0xFFFFFFFF),
        *(Instruction(_JUMP_EQUAL, count - i, 0, value) for i, value in enumerate(condition.values)),
        Instruction(_RETURN, 0, 0, RET_ERRNO_EPERM),
    ]


class _Program(ctypes.Structure):
    """The kernel's ``struct sock_fprog``."""

    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def encode(program: Iterable[Instruction]) -> bytes:
    """Return the program as the bytes that the kernel reads."""
    return b"".join(_INSTRUCTION.pack(*step) for step in program)


@cache
def compile_filter(read_fd: int, write_fd: int) -> bytes:
    """Return the encoded filter for a worker that reads from ``read_fd`` and writes to ``write_fd``."""
    return encode(assemble(list_allowed(read_fd, write_fd)))


def refuse_executable_data() -> None:
    """Switch off the personality flag that makes readable memory executable.

    This is necessary because the filter cannot see the flag.
    """
    personality = syscall(_PERSONALITY, _PERSONALITY_QUERY)
    if personality & _READ_IMPLIES_EXEC:
        syscall(_PERSONALITY, personality & ~_READ_IMPLIES_EXEC)


@cache
def _header(program: bytes) -> tuple[_Program, ctypes.Array[ctypes.c_char]]:
    """Return the structure that the system call takes, and the memory to which the structure points."""
    instructions = ctypes.create_string_buffer(program, len(program))
    return _Program(len(program) // _INSTRUCTION.size, ctypes.addressof(instructions)), instructions


def prepare(read_fd: int, write_fd: int) -> None:
    """Prepare in the parent process what :func:`load` needs in each child.

    This call is optional; it lets the children start faster.
    """
    _header(compile_filter(read_fd, write_fd))


def load(program: bytes) -> None:
    """Filter the system calls of this process permanently; NO_NEW_PRIVS must be set.

    Raises:
        OSError: the kernel refused the filter.
    """
    header, _instructions = _header(program)
    # The call returns the id of a thread that could not be filtered, 0 if there is no such thread.
    unfiltered_thread = syscall(_SECCOMP, _SET_MODE_FILTER, _FLAG_TSYNC, ctypes.addressof(header))
    if unfiltered_thread:
        raise OSError(errno.EBUSY, f"thread {unfiltered_thread} cannot be filtered")
