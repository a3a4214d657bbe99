"""The filter of system calls, decided by an interpreter of classic BPF for every number, architecture and argument."""

from __future__ import annotations

import errno
import itertools
import struct
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.sandbox.kernel import seccomp
from spca.sandbox.kernel.lockdown import IN_FD, OUT_FD

X86_64 = 0xC000003E
ALLOW, KILL, EPERM = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
PROGRAM = tuple(struct.iter_unpack("=HBBI", seccomp.compile_filter(IN_FD, OUT_FD)))
LONGEST_PROGRAM = 4096

# Written down a second time, from the kernel's table: what sandbox.md allows without looking at arguments.
PLAIN = {
    11: "munmap",
    12: "brk",
    14: "rt_sigprocmask",
    15: "rt_sigreturn",
    24: "sched_yield",
    39: "getpid",
    60: "exit",
    96: "gettimeofday",
    131: "sigaltstack",
    186: "gettid",
    219: "restart_syscall",
    231: "exit_group",
    318: "getrandom",
}
FILTERED: dict[int, Callable[[Sequence[int]], bool]] = {
    0: lambda a: a[0] & 0xFFFFFFFF == IN_FD,
    1: lambda a: a[0] & 0xFFFFFFFF == OUT_FD,
    9: lambda a: a[2] & 0xFFFFFFFF <= 3 and a[3] & 0xFFFFFFFF in (0x22, 0x4022),
    10: lambda a: a[2] & 0xFFFFFFFF <= 3,
    25: lambda a: a[3] & 0xFFFFFFFF <= 1,
    28: lambda a: a[2] & 0xFFFFFFFF in (4, 8, 14),
    228: lambda a: a[0] & 0xFFFFFFFF in (0, 1, 2, 3, 4, 5, 6, 7, 11),
    202: lambda a: a[1] & 0xFFFFFFFF & ~0x100 in (0x80, 0x81, 0x89, 0x8A),
}
ARCHITECTURES = {"i386": 0x40000003, "arm": 0x40000028, "aarch64": 0xC00000B7, "none": 0, "big x86-64": 0x3E000000}


def decide(number: int, arch: int = X86_64, args: Sequence[int] = (0,) * 6) -> int:
    """What the filter answers to a call (``struct seccomp_data``, little endian)."""
    data = struct.pack("<IIQ6Q", number, arch, 0x7F00DEADBEEF, *args)
    accumulator = at = 0
    for _ in range(LONGEST_PROGRAM):
        code, if_true, if_false, value = PROGRAM[at]
        at += 1
        if code == 0x20:
            (accumulator,) = struct.unpack_from("<I", data, value)
        elif code == 0x54:
            accumulator &= value
        elif code == 0x15:
            at += if_true if accumulator == value else if_false
        elif code == 0x35:
            at += if_true if accumulator >= value else if_false
        else:
            assert code == 0x06
            return int(value)
    raise AssertionError("no end")


def expected(number: int, args: Sequence[int]) -> int:
    if number >= 0x40000000:
        return KILL
    fine = number in PLAIN or (number in FILTERED and FILTERED[number](args))
    return ALLOW if fine else EPERM


def test_the_program_is_one_the_kernel_accepts() -> None:
    assert 0 < len(PROGRAM) <= LONGEST_PROGRAM
    assert {code for code, *_ in PROGRAM} == {0x20, 0x54, 0x15, 0x35, 0x06}
    for at, (code, if_true, if_false, value) in enumerate(PROGRAM):
        if code in (0x15, 0x35):
            assert at + 1 + max(if_true, if_false) < len(PROGRAM)
        if code == 0x20:
            assert value % 4 == 0
            assert value < 64
    assert PROGRAM[-1][0] == 0x06


@pytest.mark.parametrize("args", [(0,) * 6, (3,) * 6, (4,) * 6, (7,) * 6, (0xFFFFFFFFFFFFFFFF,) * 6])
def test_every_number_is_decided_as_listed(args: tuple[int, ...]) -> None:
    numbers = (*range(601), 0x3FFFFFFF, 0x40000000, 0x40000001, *range(0x40000200, 0x40000260), 0xFFFFFFFF)
    assert {number: decide(number, args=args) for number in numbers} == {n: expected(n, args) for n in numbers}


@pytest.mark.parametrize("arch", ARCHITECTURES.values(), ids=ARCHITECTURES)
def test_foreign_architectures_are_killed_whatever_the_number(arch: int) -> None:
    assert {decide(number, arch, (3, 4, 0, 0x22, 0, 0)) for number in range(601)} == {KILL}


@given(arch=st.integers(0, 0xFFFFFFFF).filter(lambda a: a != X86_64), number=st.integers(0, 0xFFFFFFFF))
def test_any_other_architecture_is_killed(arch: int, number: int) -> None:
    assert decide(number, arch) == KILL


@given(st.integers(0, 0xFFFFFFFF), st.tuples(*[st.integers(0, 2**64 - 1)] * 6))
def test_any_call_is_decided_as_listed(number: int, args: tuple[int, ...]) -> None:
    assert decide(number, args=args) == expected(number, args)


words = st.one_of(
    st.sampled_from([0, 1, 3, 4, 5, 7, 0x22, 0x4022, 0x21, 0x32]), st.integers(0, 0x1FF), st.integers(0, 2**64 - 1)
)


@given(st.sampled_from(sorted(FILTERED)), st.tuples(*[words] * 6))
def test_arguments_are_decided_as_listed(number: int, args: tuple[int, ...]) -> None:
    assert decide(number, args=args) == expected(number, args)


@pytest.mark.parametrize(("number", "own"), [(0, IN_FD), (1, OUT_FD)], ids=["read", "write"])
def test_only_the_own_descriptor_can_be_used(number: int, own: int) -> None:
    allowed = [fd for fd in (*range(300), -1, 2**31) if decide(number, args=(fd & (2**64 - 1), 0, 0, 0, 0, 0)) == ALLOW]
    assert allowed == [own]


def test_no_memory_becomes_executable_or_shared_or_a_file() -> None:
    for protection, flags in itertools.product(range(16), range(0x80)):
        answer = decide(9, args=(0, 4096, protection, flags, 2**64 - 1, 0))
        assert (answer == ALLOW) == (protection < 4 and flags == 0x22), (protection, flags)
    assert {p for p in (*range(64), 0x01000000, 0x02000000) if decide(10, args=(0, 4096, p, 0, 0, 0)) == ALLOW} == {
        0,
        1,
        2,
        3,
    }


def test_memory_stays_where_it_was_put() -> None:
    assert [flags for flags in range(16) if decide(25, args=(0, 0, 0, flags, 0, 0)) == ALLOW] == [0, 1]
    assert [advice for advice in range(64) if decide(28, args=(0, 0, advice, 0, 0, 0)) == ALLOW] == [4, 8, 14]


def test_no_priority_inheritance_and_no_requeueing_of_futexes() -> None:
    operations = {o & ~0x100 for o in range(0x200) if decide(202, args=(0, o, 0, 0, 0, 0)) == ALLOW}
    assert operations == {0x80, 0x81, 0x89, 0x8A}, "and none on a word that another process may have mapped"


@pytest.mark.parametrize("process", [0, 1, 4242, 0x3FFFFF])
@pytest.mark.parametrize("kind", range(8))
def test_no_clock_of_a_process_or_device(process: int, kind: int) -> None:
    """Their ids are negative numbers made of a process id or a descriptor (include/linux/posix-timers.h)."""
    clock = ~process << 3 | kind
    assert {decide(228, args=(clock & mask, 0, 0, 0, 0, 0)) for mask in (2**32 - 1, 2**64 - 1)} == {EPERM}


def test_names_and_numbers_of_the_list_are_unique() -> None:
    calls = seccomp.list_allowed(IN_FD, OUT_FD)
    assert len({call.number for call in calls}) == len({call.name for call in calls}) == len(calls)
    assert {call.number: call.name for call in calls if not call.conditions} == PLAIN
    assert {call.number for call in calls if call.conditions} == set(FILTERED)
