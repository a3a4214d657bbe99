"""the kernel's layer for real: every forbidden thing tried by a child process, with and without the layer."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from spca.sandbox.kernel import landlock, seccomp
from spca.sandbox.kernel.lockdown import ALL_LAYERS, IN_FD, NOBODY, OUT_FD, Layer
from tests.support.spca.kernel import Children
from tests.support.waiting import AGES

EPERM, EACCES, EAGAIN, EMFILE, EFBIG = 1, 13, 11, 24, 27
WALL = ALL_LAYERS if landlock.abi() else ALL_LAYERS & ~Layer.LANDLOCK
USERS = [None, NOBODY] if os.geteuid() == 0 else [None]
IDS = ["root", "nobody"] if os.geteuid() == 0 else ["own"]

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has a user to give up")
needs_landlock = pytest.mark.skipif(landlock.abi() < 6, reason="needs Landlock with scopes")

# Arguments that make the kernel do something, or at least look at what it was given: without the filter the answer is
# anything but EPERM. "p" is the address of 128 zero bytes.
CALLS = {
    "open": "call(2, p, 0)",
    "openat": "call(257, -100, p, 0)",
    "openat2": "call(437, -100, p, p, 24)",
    "open_by_handle_at": "call(304, 99, p, 0)",
    "stat": "call(4, p, p)",
    "readlink": "call(89, p, p, 8)",
    "getdents64": "call(217, 3, p, 64)",
    "unlink": "call(87, p)",
    "rename": "call(82, p, p)",
    "chdir": "call(80, p)",
    "write to descriptor 3": "call(1, 3, p, 1)",
    "write to descriptor 1": "call(1, 1, p, 1)",
    "read from descriptor 4": "call(0, 4, p, 1)",
    "read from descriptor 0": "call(0, 0, p, 1)",
    "writev": "call(20, 4, p, 0)",
    "pwrite64": "call(18, 4, p, 1, 0)",
    "sendfile": "call(40, 4, 3, 0, 1)",
    "splice": "call(275, 3, 0, 4, 0, 1, 0)",
    "dup": "call(32, 4)",
    "fcntl": "call(72, 4, 0, 0)",
    "ioctl": "call(16, 4, 0x541b, p)",
    "pipe": "call(22, p)",
    "memfd_create": "call(319, p, 0)",
    "memfd_secret": "call(447, 99)",
    "eventfd2": "call(290, 0, 0)",
    "inotify_init1": "call(294, 0)",
    "userfaultfd": "call(323, 99)",
    "socket": "call(41, 2, 1, 0)",
    "socketpair": "call(53, 1, 1, 0, p)",
    "connect": "call(42, 99, p, 16)",
    "sendto": "call(44, 99, p, 1, 0, 0, 0)",
    "execve": "call(59, p, 0, 0)",
    "execveat": "call(322, -100, p, 0, 0, 0)",
    "kill": "call(62, os.getpid(), 0)",
    "tgkill": "call(234, os.getpid(), os.getpid(), 0)",
    "rt_sigqueueinfo": "call(129, os.getpid(), 0, p)",
    "rt_sigaction": "call(13, 10, 0, p, 8)",
    "ptrace": "call(101, 0, 0, 0, 0)",
    "process_vm_readv": "call(310, os.getpid(), p, 0, p, 0, 0)",
    "process_vm_writev": "call(311, os.getpid(), p, 0, p, 0, 0)",
    "process_madvise": "call(440, 99, p, 0, 4, 0)",
    "pidfd_open": "call(434, os.getpid(), 0)",
    "pidfd_getfd": "call(438, 99, 0, 0)",
    "mmap executable": "call(9, 0, 4096, 5, 0x22, -1, 0)",
    "mmap writable and executable": "call(9, 0, 4096, 7, 0x22, -1, 0)",
    "mmap shared": "call(9, 0, 4096, 3, 0x21, -1, 0)",
    "mmap of a descriptor": "call(9, 0, 4096, 1, 0x02, 3, 0)",
    "mprotect executable": "call(10, page, 4096, 5)",
    "pkey_mprotect": "call(329, page, 4096, 1, -1)",
    "mremap to a fixed place": "call(25, page, 4096, 4096, 3, page + 8192)",
    "madvise paging out": "call(28, page, 4096, 21)",
    "mlock": "call(149, page, 0)",
    "futex with priority inheritance": "call(202, page, 6 | 0x80, 0, 0, 0, 0)",
    "shmget": "call(29, 0, 4096, 0o600)",
    "io_uring_setup": "call(425, 0, p)",
    "bpf": "call(321, 99, p, 0)",
    "perf_event_open": "call(298, p, 0, -1, -1, 1 << 20)",
    "keyctl": "call(250, 99)",
    "add_key": "call(248, 0, 0, 0, 0, 0)",
    "prctl": "call(157, 15, p)",
    "arch_prctl": "call(158, 0x1003, p)",
    "seccomp": "call(317, 2, 0, call_kill)",
    "setrlimit": "call(160, 4, p)",
    "prlimit64": "call(302, 0, 4, 0, p)",
    "personality": "call(135, 0xffffffff)",
    "unshare": "call(272, 0)",
    "setns": "call(308, 99, 0)",
    "mount": "call(165, p, p, p, 0, 0)",
    "chroot": "call(161, 0)",
    "setuid": "call(105, os.getuid())",
    "capset": "call(126, p, p)",
    "sched_setaffinity": "call(203, 0, 128, p)",
    "setpriority": "call(141, 0, 0, 19)",
    "nanosleep": "call(35, p, 0)",
    "timer_create": "call(222, 0, 0, p)",
    "alarm": "call(37, 0)",
    "uname": "call(63, big)",
    "sysinfo": "call(99, p)",
    "landlock_create_ruleset": "call(444, 0, 0, 1)",
}
SETUP = """
buffer, names = ctypes.create_string_buffer(128), ctypes.create_string_buffer(1024)
p, big = ctypes.addressof(buffer), ctypes.addressof(names)
action = ctypes.c_uint32(0x80000000)
call_kill = ctypes.addressof(action)
page = call(9, 0, 4 * 4096, 3, 0x22, -1, 0)
answer = """
CLONES = {
    "fork": "call(57)",
    "clone": "call(56, 17, 0, 0, 0, 0)",
    "clone3": "call(435, ctypes.addressof(arguments), 64)",
}
UPROBE_CALLS = (335, 336)
"""Newer kernels let these pass any filter; outside of their own trampoline they do nothing, or kill the caller."""


@pytest.fixture(scope="module")
def children() -> Iterator[Children]:
    with Children() as running:
        yield running


@pytest.mark.parametrize("code", CALLS.values(), ids=CALLS)
def test_forbidden_calls_are_refused(children: Children, code: str) -> None:
    without = children.run(SETUP + code)
    if without.answer in (-EPERM, -38):
        pytest.skip("this host refuses it anyway")
    assert isinstance(without.answer, int)
    for user in USERS:
        assert children.run(SETUP + code, Layer.SECCOMP, user) == (-EPERM, 0)
        assert children.run(SETUP + code, WALL, user) == (-EPERM, 0)


@pytest.mark.parametrize("code", CLONES.values(), ids=CLONES)
def test_processes_cannot_be_made(children: Children, code: str) -> None:
    forking = (
        f"arguments = (ctypes.c_uint64 * 8)(0, 0, 0, 0, 17)\nchild = {code}\nif child == 0: os._exit(0)\nanswer = child"
    )
    assert children.run(forking).answer > 0
    for user in USERS:
        assert children.run(forking, Layer.SECCOMP, user) == (-EPERM, 0)
        assert children.run(forking, Layer.USER | Layer.RLIMITS, user) == (-EAGAIN, 0)
        assert children.run(forking, WALL, user) == (-EPERM, 0)


@pytest.mark.parametrize("user", USERS, ids=IDS)
def test_no_number_that_is_not_listed_gets_through(children: Children, user: int | None) -> None:
    listed = sorted(c.number for c in seccomp.list_allowed(IN_FD, OUT_FD))
    code = "answer = [n for n in range(600) if n not in {} and call(n, -1, -1, -1, -1, -1, -1) != -1]"
    assert children.run(code.format([*listed, *UPROBE_CALLS]), Layer.USER | Layer.SECCOMP, user) == ([], 0)


@pytest.mark.parametrize("number", UPROBE_CALLS)
def test_numbers_that_pass_any_filter_are_of_no_use(children: Children, number: int) -> None:
    ended = children.run(f"answer = call({number})", WALL)
    assert ended.code == -signal.SIGILL or ended.answer < 0


def test_foreign_numbering_kills(children: Children) -> None:
    x32 = "answer = call(0x40000000 + 39)"
    assert children.run(x32).code == 0
    assert children.run(x32, Layer.SECCOMP) == (None, -signal.SIGSYS)
    i386 = "getpid = machine_code(bytes.fromhex('b814000000cd80c3'))\n{}\nanswer = getpid() == os.getpid()"
    sandboxed = children.run(i386.format(f"lockdown.apply(Layer({int(WALL)}), Limits())"))
    assert sandboxed.answer is None
    assert sandboxed.code in (-signal.SIGSYS, -signal.SIGSEGV)  # the latter where the kernel runs no 32-bit programs
    if sandboxed.code == -signal.SIGSYS:
        assert children.run(i386.format("")) == (True, 0)


@needs_root
def test_root_is_given_up_for_good(children: Children) -> None:
    code = """
def attempt(action):
    try:
        action()
    except OSError as error:
        return error.errno

answer = [os.getresuid(), os.getresgid(), os.getgroups(), attempt(lambda: os.setuid(0)),
          attempt(lambda: os.kill(os.getppid(), 0)), Path("/proc/self/status").read_text()]
"""
    *found, status = children.run(code, Layer.USER).answer
    assert found == [[NOBODY] * 3, [NOBODY] * 3, [], EPERM, EPERM]
    fields = dict(line.split(":\t") for line in status.splitlines())
    assert {int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {0}


@needs_root
def test_other_users_keep_theirs(children: Children) -> None:
    code = "answer = [os.getresuid(), Path('/proc/self/status').read_text().count('CapEff:\\t0000000000000000')]"
    assert children.run(code, Layer.USER, user=1234) == ([[1234] * 3, 1], 0)


def test_resource_limits(children: Children) -> None:
    code = """
answer = [resource.getrlimit(getattr(resource, "RLIMIT_" + name)) for name in
          ("AS", "CPU", "FSIZE", "NPROC", "NOFILE", "CORE", "MEMLOCK", "MSGQUEUE")]
"""
    found = children.run(code, Layer.RLIMITS, memory_bytes=300 << 20, cpu_seconds=7).answer
    assert found == [[value, value] for value in (300 << 20, 7, 0, 0, 0, 1, 0, 0)]


@pytest.mark.parametrize("user", USERS, ids=IDS)
def test_limits_hold_and_cannot_be_raised(children: Children, user: int | None) -> None:
    raising = "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\nopen('/dev/null')\nanswer = 'raised'"
    assert "not allowed" in children.run(raising, Layer.USER | Layer.RLIMITS, user).answer
    assert "Too many open files" in children.run("open('/dev/null')", Layer.RLIMITS, user).answer
    size = "answer = len(bytes(400 << 20))"
    assert children.run(size, user=user) == (400 << 20, 0)
    assert children.run(size, Layer.RLIMITS, user, memory_bytes=300 << 20).answer == "MemoryError: "
    growing = "x = []\ntry:\n    while True: x.append(bytes(1 << 20))\nexcept MemoryError: answer = len(x)"
    assert 50 < children.run(growing, WALL, user, memory_bytes=300 << 20).answer < 300


def test_no_file_can_grow(children: Children, tmp_path: Path) -> None:
    code = f"""
fd = os.open({str(tmp_path / "f")!r}, os.O_WRONLY | os.O_CREAT)
{{}}
answer = call(1, fd, ctypes.addressof(ctypes.create_string_buffer(b"text")), 4)
"""
    assert children.run(code.format("")) == (4, 0)
    limited = code.format(f"lockdown.apply(Layer({int(Layer.RLIMITS)}), Limits())")
    assert children.run(limited) == (-EFBIG, 0)


@pytest.mark.long  # tests/spca/sandbox/process/test_episode.py has it for an episode
def test_processor_time_is_limited(children: Children) -> None:
    assert children.run("while True: pass", Layer.RLIMITS, cpu_seconds=1) == (None, -signal.SIGKILL)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may change, with a file."""
    with tempfile.TemporaryDirectory(prefix="spca-test-") as name:
        Path(name).chmod(0o777)
        (file := Path(name) / "file").write_text("text")
        file.chmod(0o777)
        yield file.parent


ATTEMPTS = """
server = socket.socket()
folder = Path({!r})
file, other = folder / "file", folder / "other"
def attempt(action):
    try:
        action()
    except OSError as error:
        return error.errno

answer = [attempt(action) for action in (
    file.read_text, lambda: os.listdir(folder), other.touch, (folder / "made").mkdir, lambda: os.truncate(file, 2),
    lambda: other.symlink_to(file), lambda: os.mkfifo(folder / "pipe"), lambda: file.rename(folder / "moved"),
    (folder / "moved" if {} else file).unlink, lambda: server.bind(("127.0.0.1", 0)))]
"""


@needs_landlock
@pytest.mark.parametrize("user", USERS, ids=IDS)
def test_landlock_alone(children: Children, folder: Path, user: int | None) -> None:
    found = children.run(ATTEMPTS.format(str(folder), False), Layer.LANDLOCK, user)
    assert found == ([EACCES] * 10, 0)
    assert [(each.name, each.read_text()) for each in folder.iterdir()] == [("file", "text")]
    (folder / "other").unlink(missing_ok=True)
    without = children.run(
        ATTEMPTS.replace("other.symlink_to", "(folder / 'soft').symlink_to").format(str(folder), True)
    )
    assert without == ([None] * 10, 0)


@needs_landlock
def test_landlock_lets_no_signal_and_no_program_out(children: Children) -> None:
    signalling = "answer = call(62, os.getppid(), 0)"
    assert (children.run(signalling), children.run(signalling, Layer.LANDLOCK)) == ((0, 0), (-EPERM, 0))
    executing = "os.execve('/proc/self/exe', ['python', '-I', '-S', '-c', 'import os; os.write(4, b\\'7\\')'], {})"
    executing = "os.set_inheritable(4, True)\n" + executing
    assert children.run(executing) == (7, 0)
    assert "Permission denied" in children.run(executing, Layer.LANDLOCK).answer


@needs_landlock
def test_no_descriptor_is_left_behind(children: Children) -> None:
    code = "answer = [fd for fd in range(64) if call(72, fd, 1) >= 0]"
    assert children.run(code, Layer.LANDLOCK | Layer.USER) == ([IN_FD, OUT_FD], 0)


def test_python_remains_usable(children: Children) -> None:
    code = """
def deep(): deep()
answer = []
try: deep()
except RecursionError: answer.append("deep")
try: bytes(1 << 31)
except MemoryError: answer.append("memory")
try: open("/etc/passwd")
except PermissionError: answer.append("denied")
try: np.zeros(3)[5]
except IndexError: answer.append("index")
matrix = np.arange(90000.0).reshape(300, 300) % 7
answer.append(float((matrix @ np.eye(300) - matrix).sum()))
answer.append(int(np.random.default_rng(0).permutation(10**6).max()))
many = [bytearray(1 << 20) for _ in range(150)]
del many
answer.append(len([[] for _ in range(10**5)]) and gc.collect() >= 0)
print("to nowhere")
answer.append(time.time() > 0 and time.perf_counter() > 0 and len(os.urandom(9)))
"""
    expected = ["deep", "memory", "denied", "index", 0.0, 10**6 - 1, True, 9]
    for user in USERS:
        assert children.run(code, WALL, user) == (expected, 0)


def test_where_the_interpreter_is_can_be_asked_for(children: Children) -> None:
    asked = f"""
import mmap; is_busy, was_asked = mmap.mmap(-1, 1), mmap.mmap(-1, 1)
faulthandler.register(signal.SIGUSR1, {OUT_FD}, all_threads=False)
if not os.fork():
    while not is_busy[0]: time.sleep(0.01)
    os.kill(os.getppid(), signal.SIGUSR1)
    time.sleep(0.1)
    was_asked[0] = 1
    os._exit(0)
lockdown.apply(Layer({int(Layer.RLIMITS | Layer.SECCOMP)}), Limits())
def busy():
    while not was_asked[0]: is_busy[0] = 1
busy()
answer = "went on"
"""
    answer, code = children.run(asked)
    assert code == 0
    assert "in busy" in answer
    assert answer.endswith('"went on"')


def test_aborting_ends_the_process(children: Children) -> None:
    assert children.run("os.abort()", WALL).code in (-signal.SIGABRT, -signal.SIGSEGV)


def test_it_dies_with_its_parent(children: Children) -> None:
    code = f"""
read, write = os.pipe()
if not os.fork():
    if not os.fork():
        lockdown.apply(Layer({int(Layer.USER | Layer.RLIMITS | Layer.LANDLOCK & WALL)}), Limits())
        os.write(write, b"ready")
        time.sleep({AGES})
        os._exit(0)
    os.read(read, 5)
    os._exit(0)
os.wait()
os.close(write)
answer = os.read(read, 5).decode()
"""
    assert children.run(code) == ("", 0)


def test_readable_memory_does_not_become_executable(children: Children) -> None:
    code = "call(135, 0x400000)\nseccomp.refuse_executable_data()\nanswer = call(135, 0xffffffff)"
    assert children.run(code) == (0, 0)


def test_other_architectures_are_refused(children: Children) -> None:
    code = "call(135, 8)\nlockdown.apply(Layer(15), Limits())"  # PER_LINUX32: uname says i686
    assert "needs a 64-bit Python on x86-64 Linux" in children.run(code).answer


@pytest.mark.parametrize(
    ("number", "error", "layer"),
    [
        (444, 38, "landlock"),
        (444, 95, "landlock"),
        (446, 1, "landlock"),
        (317, 38, "seccomp"),
        (317, 22, "seccomp"),
        (302, 1, "rlimits"),
        (126, 1, "user"),
    ],
)
def test_a_layer_that_cannot_be_put_on_is_named(children: Children, number: int, error: int, layer: str) -> None:
    if layer == "landlock" and not landlock.abi():
        pytest.skip("no Landlock here")
    code = f"""
from tests.support.spca.kernel import forbid
forbid({{{number}: {error}}})
try:
    lockdown.apply(Layer({int(WALL)}), Limits())
except OSError as failure:
    answer = failure.strerror
"""
    answer, _ = children.run(code)
    assert answer.startswith(f"{layer}: ")
    assert children.run(code.replace(f"Layer({int(WALL)})", f"Layer({int(WALL & ~Layer[layer.upper()])})")) == (None, 0)
