"""System calls that a worker has no business with, made directly, past every library.

A call has got through when it succeeds, or fails for any other reason than that it is not permitted.
"""

from __future__ import annotations

from typing import Final

from tests.redteam.attack import Attack, Control, Kind, Sign, agent_source

_ABOVE: Final = """
import ctypes
import os
libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(4096)
here = ctypes.addressof(room)
libc.syscall.restype = ctypes.c_long
def call(number, *arguments):
    plain = [ctypes.c_long(a) if isinstance(a, int) else ctypes.c_char_p(a) for a in arguments]
    answer = libc.syscall(ctypes.c_long(number), *plain)
    return answer if answer >= 0 or ctypes.get_errno() in (1, 13, 38) else 0
def words(*values):
    ctypes.memmove(room, b"".join(value.to_bytes(8, "little") for value in values), 8 * len(values))
    return here
"""

_ANYONE: Final = {
    "open": 'call(2, b"@SECRET@", 0)',
    "openat": 'call(257, -100, b"@SECRET@", 0)',
    "openat2": 'call(437, -100, b"@SECRET@", words(0, 0, 0), 24)',
    "creat": 'call(85, b"@PW@creat", 0o600)',
    "mkdir": 'call(83, b"@PW@mkdir", 0o700)',
    "symlink": 'call(88, b"/etc/passwd", b"@PW@symlink")',
    "mknod": 'call(133, b"@PW@mknod", 0o10600, 0)',
    "link": 'call(86, b"@SECRET@", b"@PW@link")',
    "chmod": 'call(90, b"@PW@", 0o777)',
    "stat": 'call(4, b"@SECRET@", here)',
    "statx": 'call(332, -100, b"@SECRET@", 0, 0x7FF, here)',
    "access": 'call(21, b"@SECRET@", 0)',
    "readlink": 'call(89, b"/proc/self/exe", here, 4096)',
    "getcwd": "call(79, here, 4096)",
    "chdir": 'call(80, b"/tmp")',
    "socket_inet": "call(41, 2, 1, 0)",
    "socket_unix": "call(41, 1, 1, 0)",
    "socket_netlink": "call(41, 16, 3, 0)",
    "socketpair": "call(53, 1, 1, 0, here)",
    "pipe2": "call(293, here, 0)",
    "eventfd2": "call(290, 0, 0)",
    "epoll_create1": "call(291, 0)",
    "timerfd_create": "call(283, 1, 0)",
    "inotify_init1": "call(294, 0)",
    "memfd_create": 'call(319, b"x", 0)',
    "memfd_secret": "call(447, 0)",
    "dup_of_the_pipe": "call(32, 4)",
    "fcntl_dup_of_the_pipe": "call(72, 4, 0, 100)",
    "ioctl_of_the_pipe": "call(16, 3, 0x541B, here)",
    "sendfile": "call(40, 4, 3, 0, 0)",
    "splice": "call(275, 3, 0, 4, 0, 0, 0)",
    "vmsplice": "call(278, 4, words(here, 0), 1, 0)",
    "tee": "call(276, 3, 4, 0, 0)",
    "write_elsewhere": 'call(1, 0, b"x", 1)',
    "read_elsewhere": "call(0, 5, here, 0)",
    "pwrite_to_memory": "call(18, 5, here, 0, 0)",
    "execve": 'call(59, b"/nonexistent", 0, 0)',
    "execveat": 'call(322, -100, b"/nonexistent", 0, 0, 0)',
    "kill_host": "call(62, @HPID@, 0)",
    "tgkill_host": "call(234, @HPID@, @HPID@, 0)",
    "tkill_host": "call(200, @HPID@, 0)",
    "rt_sigqueueinfo_host": "call(129, @HPID@, 0, words(0, 0xFFFFFFFF, 0))",
    "pidfd_open_host": "call(434, @HPID@, 0)",
    "pidfd_getfd": "call(438, 5, 0, 0)",
    "ptrace_host": "call(101, 0x4206, @HPID@, 0, 0)",
    "process_vm_readv_host": "call(310, @HPID@, words(here, 8), 1, words(here, 8), 1, 0)",
    "process_vm_writev_host": "call(311, @HPID@, words(here, 0), 1, words(here, 0), 1, 0)",
    "kcmp_host": "call(312, @HPID@, @HPID@, 1, 0, 0)",
    "prlimit_own": "call(302, 0, 7, words(1, 1), 0)",
    "setrlimit": "call(160, 4, words(0, 0))",
    "prctl_parent_death": "call(157, 1, 0, 0, 0, 0)",
    "prctl_dumpable": "call(157, 4, 1, 0, 0, 0)",
    "prctl_timer_slack": "call(157, 29, 1, 0, 0, 0)",
    "personality": "call(135, 0x40000)",
    "arch_prctl": "call(158, 0x1003, here)",
    "modify_ldt": "call(154, 0, here, 16)",
    "seccomp_own_filter": "call(317, 2, 0, words(0xFFFFFFFF, 0))",
    "io_uring_setup": "call(425, 4, here)",
    "userfaultfd": "call(323, 1)",
    "keyctl": "call(250, 0, -2, 1)",
    "add_key": 'call(248, b"user", b"x", b"y", 1, -2)',
    "shmget": "(lambda i: -1 if i < 0 else call(31, i, 0, 0))(call(29, 0, 4096, 0o600))",
    "unshare_user": "call(272, 0x10000000)",
    "setsid": "call(112)",
    "sched_setaffinity_host": "call(203, @HPID@, 8, words(1))",
    "setpriority_host": "call(141, 0, @HPID@, 19)",
    "clock_of_the_host": "call(228, ~@HPID@ << 3 | 2, here)",
    "ioprio_set_host": "call(251, 1, @HPID@, 0x6000)",
    "alarm": "call(37, 0)",
    "setitimer": "call(38, 0, words(0, 0, 0, 0), 0)",
    "timer_create": "call(222, 1, 0, here)",
    "rt_sigaction": "call(13, 12, words(1, 0, 0, 0), 0, 8)",
    "mlock": "call(149, here, 0)",
    "process_madvise": "call(440, 5, 0, 0, 0, 0)",
    "mmap_write_and_execute": "call(9, 0, 4096, 7, 0x22, -1, 0)",
    "mmap_of_a_descriptor": "call(9, 0, 4096, 1, 2, 0, 0)",
    "mprotect_execute": "call(10, here & ~4095, 4096, 7)",
    "pkey_mprotect_execute": "call(329, here & ~4095, 4096, 7, -1)",
    "remap_file_pages": "call(216, 0, 0, 0, 0, 0)",
    "setns": "call(308, 5, 0)",
    "name_to_handle": "call(304, -100, here, 0)",
    "uname": "call(63, here)",
    "sysinfo": "call(99, here)",
}
_ROOT: Final = {
    "mount": 'call(165, b"none", b"/nonexistent", b"tmpfs", 0, 0)',
    "open_tree": 'call(428, -100, b"/", 1)',
    "fsopen": 'call(430, b"tmpfs", 0)',
    "chroot": 'call(161, b"/")',
    "unshare_names": "call(272, 0x04000000)",
    "bpf_map": "call(321, 0, words(4 << 32 | 2, 1 << 32 | 4, 0), 72)",
    "perf_event_open": "call(298, words(120 << 32 | 1), 0, -1, -1, 0)",
    "setuid": "call(105, 0)",
    "setgroups": "call(116, 0, 0)",
    "iopl": "call(172, 3)",
    "ioperm": "call(173, 0x80, 1, 1)",
    "syslog": "call(103, 10, 0, 0)",
}
_DETOURS: Final = {
    "x32_getpid": "call(0x40000000 + 39)",
    "int_80": """(lambda at: ctypes.CFUNCTYPE(ctypes.c_int)(at)() and 0 if ctypes.memmove(
    at, b"\\x53\\xb8\\x14\\0\\0\\0\\xcd\\x80\\x5b\\xc3", 10) else -1)(libc.mmap(None, 4096, 7, 0x22, -1, 0) or 1)""",
    "own_machine_code": """(lambda at: ctypes.CFUNCTYPE(ctypes.c_int)(at)() - 7 if ctypes.memmove(
    at, b"\\xb8\\x07\\0\\0\\0\\xc3", 6) else -1)(libc.mmap(None, 4096, 7, 0x22, -1, 0) or 1)""",
}

_SCARCE: Final = "a kernel may be built without it or keep it for root"


def _attack(name: str, expression: str, control: Control) -> Attack:
    body = (
        f"answer = {expression}\n"
        f'if answer >= 0:\n    raise RuntimeError("LEAK SYSCALL {name} %d" % answer)\n'
        'raise RuntimeError("refused: %d" % ctypes.get_errno())'
    )
    above = (
        _ABOVE + "libc.mmap.restype = ctypes.c_void_p\nlibc.mmap.argtypes = [ctypes.c_void_p] + [ctypes.c_long] * 5\n"
    )
    return Attack(f"call_{name}", Kind.CALL, agent_source(body, above), control)


_SOMETIMES: Final = {
    "io_uring_setup",
    "userfaultfd",
    "memfd_secret",
    "unshare_user",
    "modify_ldt",
    "kcmp_host",
    "iopl",
    "ioperm",
    "keyctl",
}

CALLS: tuple[Attack, ...] = (
    *(
        _attack(n, e, Control((Sign.TOLD, Sign.FAILED), _SCARCE) if n in _SOMETIMES else Control((Sign.TOLD,)))
        for n, e in _ANYONE.items()
    ),
    *(
        _attack(
            n,
            e,
            Control((Sign.TOLD, Sign.FAILED), _SCARCE, root=True)
            if n in _SOMETIMES
            else Control((Sign.TOLD,), root=True),
        )
        for n, e in _ROOT.items()
    ),
    *(_attack(n, e, Control((Sign.TOLD, Sign.DIED, Sign.FAILED), _SCARCE)) for n, e in _DETOURS.items()),
)
