"""What the doctor tries on workers: real attempts at what no worker may do, and how the host sees that one came off.

An attempt has *happened* when its effect is there: the canary's text arrived, the file exists, the listener was
called, the victim is dead, machine code ran. What a call returned proves nothing. The same attempts are made in a
worker without any layer first; one that has no effect even there shows nothing.
"""

from __future__ import annotations

import secrets
import socket
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from types import CodeType, TracebackType
from typing import Final, NamedTuple, Self

import numpy as np

from spca.contracts import AgentSource, AgentView, PlanStep
from spca.protocols import Failed, Finished, Yielded
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import Layer
from spca.sandbox.process.client import Worker, Zygote
from spca.sandbox.process.episode import SandboxEpisode
from spca.sandbox.process.runner import FILENAME
from spca.sense.perception import EMPTY

REFUSED: Final = 0
"""Primitive by which an attempt tells that it looked refused from the inside; 1 that it did not."""

_EFFECT_SECONDS: Final = 0.5

SOURCE: Final = AgentSource("""
def attempt(action):
    try:
        action()
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", end="")
        yield 0
    else:
        yield 1


def c(name, result, *types):
    import ctypes

    function = ctypes.CDLL(None, use_errno=True)[name]
    function.restype, function.argtypes = getattr(ctypes, result), [getattr(ctypes, each) for each in types]

    def call(*arguments):
        value = function(*arguments)
        if value in (-1, 2**64 - 1):
            number = ctypes.get_errno()
            raise OSError(number, __import__("os").strerror(number))
        return value

    return call


class Agent:
    def read_file(self, path):
        yield from attempt(lambda: print(open(path).read()))

    def write_file(self, path):
        yield from attempt(lambda: open(path, "w").close())

    def connect(self, port):
        import socket

        yield from attempt(lambda: socket.socket().connect(("127.0.0.1", int(port))))

    def fork(self, token):
        import os

        def action():
            pid = os.fork()
            if not pid:
                print(token)
                os._exit(0)
            os.waitpid(pid, 0)

        yield from attempt(action)

    def thread(self, token):
        import _thread

        done = _thread.allocate_lock()
        done.acquire()

        def work():
            print(token)
            done.release()

        yield from attempt(lambda: _thread.start_new_thread(work, ()) and done.acquire(timeout=5))

    def machine_code(self, token):
        import ctypes

        size, read, write, execute, private_anonymous = 4096, 1, 2, 4, 0x22
        code = b"\\xb8" + int(token, 16).to_bytes(4, "little") + b"\\xc3"  # mov eax, token; ret
        mmap = c("mmap", "c_size_t", "c_size_t", "c_size_t", "c_int", "c_int", "c_int", "c_long")
        mprotect = c("mprotect", "c_int", "c_size_t", "c_size_t", "c_int")

        def run(protection, later):
            address = mmap(0, size, protection, private_anonymous, -1, 0)
            ctypes.memmove(address, code, len(code))
            if later:
                mprotect(address, size, later)
            print(f"{ctypes.CFUNCTYPE(ctypes.c_uint32)(address)():08x}")

        def action():
            try:
                run(read | write | execute, 0)
            except OSError:
                run(read | write, read | execute)

        yield from attempt(action)

    def trace(self, pid):
        ptrace, seize = c("ptrace", "c_long", "c_long", "c_int", "c_size_t", "c_size_t"), 0x4206
        yield from attempt(lambda: ptrace(seize, int(pid), 0, 0))

    def kill(self, pid):
        import os

        yield from attempt(lambda: os.kill(int(pid), 9))

    def memory(self, size):
        yield from attempt(lambda: setattr(self, "kept", bytes(int(size))))

    def execute(self):
        import os

        yield from attempt(lambda: os.execve("/proc/self/exe", ["python", "-I", "-S", "-c", ""], {}))

    def change_map(self):
        def action():
            grid = self.full_grid
            grid.flags.writeable = True
            grid[:] = ""

        yield from attempt(action)

    def forge(self):
        import os

        os.write(4, b"\\xe3" + bytes(8))
        yield 1

    def hang(self):
        while True:
            pass
        yield 1
""")


class Answer(NamedTuple):
    """How one attempt ended: whether its effect is there, whether it thought so itself, its error."""

    happened: bool
    claimed: bool
    words: str


class Probe(NamedTuple):
    """One attempt.

    Attributes:
        action: its method in :data:`SOURCE`.
        title: what it tries.
        refused_by: names of the layers that must refuse it, each of them alone.
        argument: what the method is given.
        effect: whether the effect is there, given the bait, the worker, and what the attempt printed.
        landlock_abi: first version of Landlock's ABI that refuses it.
    """

    action: str
    title: str
    refused_by: frozenset[str]
    argument: Callable[[Bait], str | None]
    effect: Callable[[Bait, Worker, str], bool]
    landlock_abi: int = 1


class Bait:
    """Things that a worker must not get at, made for one examination; a context manager.

    ``limits`` are those of every worker. The victim is a process that must be neither traced nor killed.
    """

    def __init__(self, zygote: Zygote, limits: Limits) -> None:
        self._zygote, self.limits = zygote, limits
        self.token = secrets.token_hex(4)
        self.secret = secrets.token_hex(16)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="spca-doctor-")))
            self.canary, self.new_file = folder / "canary", folder / "new"
            self.canary.write_text(self.secret)
            self.canary.chmod(0o600)
            self._listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            self._listener.setblocking(False)
            self.port = self._listener.getsockname()[1]
            self.victim = self._new_victim()
            stack.callback(lambda: self.victim.close())
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def renew_victim(self) -> None:
        self.victim.close()
        self.victim = self._new_victim()

    def was_called(self) -> bool:
        """Whether somebody has connected to the listener since the last look."""
        try:
            self._listener.accept()[0].close()
        except BlockingIOError:
            return False
        return True

    def was_written(self) -> bool:
        written = self.new_file.exists()
        self.new_file.unlink(missing_ok=True)
        return written

    def was_killed(self) -> bool:
        return self.victim.pending()  # it says nothing; that its pipe can be read means that it is gone

    def was_traced(self) -> bool:
        return self.victim.status().get("TracerPid", "0") != "0"

    def _new_victim(self) -> Worker:
        return self._zygote.worker(Layer(0), self.limits)


def _size(worker: Worker) -> int:
    """Largest address space that the process ever had, in bytes."""
    return int(worker.status().get("VmPeak", "0 kB").split()[0]) << 10


def _everyone() -> frozenset[str]:
    return frozenset(("user", "rlimits", "landlock", "seccomp"))


PROBES: Final = (
    Probe("read_file", "read a file", _everyone(), lambda b: str(b.canary), lambda b, _, said: b.secret in said),
    Probe("write_file", "create a file", _everyone(), lambda b: str(b.new_file), lambda b, *_: b.was_written()),
    Probe(
        "connect",
        "connect a socket",
        frozenset(("rlimits", "landlock", "seccomp")),
        lambda b: str(b.port),
        lambda b, *_: b.was_called(),
        landlock_abi=4,
    ),
    Probe(
        "fork",
        "fork a process",
        frozenset(("user+rlimits", "seccomp")),
        lambda b: b.token,
        lambda b, _, said: b.token in said,
    ),
    Probe(
        "thread",
        "start a thread",
        frozenset(("user+rlimits", "seccomp")),
        lambda b: b.token,
        lambda b, _, said: b.token in said,
    ),
    Probe(
        "machine_code",
        "run machine code",
        frozenset(("seccomp",)),
        lambda b: b.token,
        lambda b, _, said: b.token in said,
    ),
    Probe(
        "trace",
        "trace another process",
        frozenset(("user", "landlock", "seccomp")),
        lambda b: str(b.victim.pid),
        lambda b, *_: b.was_traced(),
    ),
    Probe(
        "kill",
        "kill another process",
        frozenset(("user", "landlock", "seccomp")),
        lambda b: str(b.victim.pid),
        lambda b, *_: b.was_killed(),
        landlock_abi=6,
    ),
    Probe(
        "memory",
        "exceed its memory",
        frozenset(("rlimits",)),
        lambda b: str(b.limits.memory_bytes),
        lambda b, worker, _: _size(worker) > b.limits.memory_bytes,
    ),
    # Last, because what happens is that the worker's program is another one afterwards.
    Probe("execute", "execute a program", frozenset(("landlock", "seccomp")), lambda _: None, lambda *_: False),
)
"""Every attempt, in the order in which one worker makes them."""


def view() -> AgentView:
    """What the attempts are shown; it does not matter."""
    grid = np.full((3, 3), EMPTY, np.uint8)
    return AgentView("", grid, np.zeros((7, 7), np.uint8), 0, None, (1, 1), (1, 1), 0)


def episode(worker: Worker, plan: Sequence[tuple[str, str | None]], limits: Limits) -> SandboxEpisode:
    """An episode of :data:`SOURCE` that makes the attempts of ``plan``: method and argument."""
    steps = [PlanStep(action, () if argument is None else (argument,)) for action, argument in plan]
    return SandboxEpisode(worker, SOURCE, _module(), steps, (), limits)


@lru_cache(maxsize=1)
def _module() -> CodeType:
    return compile(SOURCE.text, FILENAME, "exec", dont_inherit=True)


def make(worker: Worker, probes: Sequence[Probe], bait: Bait) -> Mapping[str, Answer]:
    """Make attempts in a worker, and see what came of them: answers by action."""
    running = episode(worker, [(probe.action, probe.argument(bait)) for probe in probes], bait.limits)
    answers: dict[str, Answer] = {}
    heard = 0
    for probe in probes:
        event = running.advance(view())
        said, heard = running.printed[heard:], len(running.printed)
        answers[probe.action] = _answer(event, probe, bait, worker, said)
    running.close()
    return answers


def _answer(event: Yielded | Finished | Failed, probe: Probe, bait: Bait, worker: Worker, said: str) -> Answer:
    if not isinstance(event, Yielded):  # the program that answered is no more
        return Answer(True, True, getattr(event, "message", ""))
    claimed = event.step.code != REFUSED
    deadline = time.monotonic() + (_EFFECT_SECONDS if claimed else 0)
    while not (happened := probe.effect(bait, worker, said)) and time.monotonic() < deadline:
        time.sleep(0.001)
    return Answer(happened, claimed, "" if claimed else said)
