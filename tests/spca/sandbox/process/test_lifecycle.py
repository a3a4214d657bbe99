"""Whatever ends, nothing is left: episodes, executors, zygotes, hosts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from spca.errors import SandboxError
from spca.protocols import Finished
from spca.sandbox.executor import SandboxExecutor
from spca.testing.generated_code import make_view
from tests.support import forked
from tests.support.contracts.executing import codes, failure, methods, run, steps
from tests.support.processes import Process
from tests.support.spca.sandboxing import await_gone, children_of, is_gone, opened, unmeasured
from tests.support.tiers import long
from tests.support.waiting import AGES

ROOT = Path(__file__).parents[4]


@pytest.mark.long
def test_nothing_logs_in_the_sandbox() -> None:
    """A handler there would be a way out: what its host knows is logged by its host."""
    modules = "zygote", "worker", "runner", "reports", "wire"
    program = f"import sys; {'; '.join(f'import spca.sandbox.process.{name}' for name in modules)}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"logging", "spca.common.debug_log"} & set(loaded.stdout.split())


@pytest.mark.long
def test_many_killed_episodes_leave_nothing_behind(sandboxed: SandboxExecutor) -> None:
    source = methods("def go(self):\n    while True:\n        yield 1")
    zygote = sandboxed._get_zygote().pid
    run(sandboxed, source, steps("go"), limit=2)
    before = set(os.listdir("/proc/self/fd")), set(os.listdir(f"/proc/{zygote}/fd"))
    pids = []
    for number in range(30):
        episode = opened(sandboxed, source, "go")
        for _ in range(number % 3):
            episode.advance(make_view())
        pids.append(episode.pid)
        episode.close()
    assert all(map(is_gone, pids))
    assert (set(os.listdir("/proc/self/fd")), set(os.listdir(f"/proc/{zygote}/fd"))) == before
    assert not children_of(zygote)


def test_closing_the_executor_ends_everything() -> None:
    source = methods("def go(self):\n    while True:\n        yield 1")
    with SandboxExecutor(check=None) as executor:
        open_episode = opened(executor, source, "go")
        open_episode.advance(make_view())
        pids = [open_episode.pid, executor._get_zygote().pid]
    assert all(map(await_gone, pids))
    open_episode.close()
    executor.close()


def test_an_executor_can_be_used_again_after_closing() -> None:
    executor = SandboxExecutor()
    source = methods("def go(self):\n    yield 1")
    for _ in range(2):
        with executor:
            assert codes(run(executor, source, steps("go"))) == [1]


def test_a_sandbox_that_dies_is_not_blamed_on_the_code() -> None:
    source = methods("def go(self):\n    while True:\n        yield 1")
    with SandboxExecutor(check=None) as executor:
        with closing(opened(executor, source, "go")) as episode:
            episode.advance(make_view())
            os.kill(executor._get_zygote().pid, signal.SIGKILL)
            assert await_gone(episode.pid), "its worker died with it"
            with pytest.raises(SandboxError, match="has ended"):
                episode.advance(make_view())
        with closing(opened(executor, source, "go")) as episode:
            assert codes([episode.advance(make_view())]) == [1], "the next one has a new sandbox"


HOST = """
import sys
sys.path.insert(0, {root!r})
from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.limits import Limits
from tests.support.contracts.executing import *
from spca.testing.generated_code import GRID, make_view
executor = SandboxExecutor(limits=Limits({ages}, {ages}, {ages}, {ages}))
episode = executor.start(methods({code!r}), steps("go"), (), GRID)
print(episode.advance(make_view()))
print(executor._get_zygote().pid, episode.pid, flush=True)
{then}
"""


@pytest.mark.parametrize(
    ("code", "then"),
    [
        ("def go(self):\n    while True:\n        yield 1", "sys.stdin.read()"),
        long("def go(self):\n    yield 1\n    while True:\n        pass", "episode.advance(make_view())"),
    ],
)
def test_a_host_that_is_killed_leaves_nothing_running(code: str, then: str) -> None:
    text = HOST.format(root=str(ROOT), ages=int(AGES), code=code, then=then)
    command, pipes = [sys.executable, "-c", text], {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with Process(command, env=unmeasured(), **pipes) as host:
        assert host.stdout is not None
        assert "Yielded" in host.stdout.readline()
        pids = [int(pid) for pid in host.stdout.readline().split()]
        time.sleep(0.1)
        host.kill()
    assert len(pids) == 2
    assert all(map(await_gone, pids))


def host(text: str) -> subprocess.CompletedProcess[str]:
    """A host of its own that does what ``text`` says with an ``executor``."""
    prelude = (
        f"import os, signal, socket, sys, time\nsys.path.insert(0, {str(ROOT)!r})\n"
        "from spca.sandbox.executor import SandboxExecutor\nfrom spca.errors import SandboxError\n"
        "from tests.support.contracts.executing import *\nfrom spca.testing.generated_code import GRID, make_view\n"
        "executor = SandboxExecutor(check=None)\n"
        "source = methods('def go(self):\\n    while True:\\n        yield 1')\n"
    )
    return forked.run_statements(prelude + text, cwd=ROOT, env=unmeasured())


@pytest.mark.parametrize(
    "before",
    [
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
        "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGCHLD})",
        long("signal.signal(signal.SIGPIPE, signal.SIG_DFL)"),
        "os.closerange(3, 100)",
        long("os.close(0)"),
        long("sys.path.insert(0, '.')"),
        "sys.path.insert(0, '')",
    ],
)
def test_it_does_not_matter_how_the_host_is_set_up(before: str, tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text("raise SystemExit('the wrong numpy')\n")
    use = "print(len(codes(run(executor, source, steps('go'), limit=3))))\nexecutor.close()\n"
    done = host(f"import numpy\nos.chdir({str(tmp_path)!r})\n{before}\n{use}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")


def test_a_host_of_high_priority_gives_generated_code_none() -> None:
    done = host("""
try:
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))
except OSError:
    print("not allowed here: [0, 0]")
    os._exit(0)
episode = executor.start(source, steps('go'), (), GRID)
episode.advance(make_view())
parent = int(open(f"/proc/{episode.pid}/stat").read().rpartition(")")[2].split()[1])
print([os.sched_getscheduler(pid) for pid in (parent, episode.pid)])
executor.close()
""")
    assert done.stdout.endswith("[0, 0]\n")
    assert done.stderr == ""


def test_a_host_without_standard_streams_can_run_code(tmp_path: Path) -> None:
    said = f"open({str(tmp_path / 'said')!r}, 'w').write(str(len(codes(run(executor, source, steps('go'), limit=3)))))"
    done = host(f"os.closerange(0, 3)\n{said}\nexecutor.close()\nos._exit(0)")
    assert done.returncode == 0
    assert (tmp_path / "said").read_text() == "3"


def test_a_worker_that_ends_while_it_is_written_to_does_not_end_the_host() -> None:
    done = host("""
import numpy as np
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
quits = "def go(self):\\n    yield 1\\n    import os\\n    os.read = lambda *_: os._exit(0)\\n    yield 2"
episode = executor.start(methods(quits), steps("go"), (), GRID)
big = make_view(full_grid=np.zeros((1000, 1000), np.uint8))
for _ in range(3):
    event = episode.advance(big)
print(type(event).__name__, signal.pthread_sigmask(signal.SIG_BLOCK, ()))
executor.close()
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "Failed set()\n", "")


def test_an_answer_that_never_came_is_not_taken_for_the_next() -> None:
    """A request that is interrupted spoils its zygote, which is replaced; no number is taken for a process id."""
    done = host("""
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
killed = []
kill, recv_fds = os.kill, socket.recv_fds
def interrupted_where_it_waits(*args):
    signal.raise_signal(signal.SIGALRM)
    return recv_fds(*args)
episode = executor.start(source, steps("go"), (), GRID)
episode.advance(make_view())
first = executor._get_zygote().pid
kill(first, signal.SIGSTOP)
os.kill = lambda *args: killed.append(args)
socket.recv_fds = interrupted_where_it_waits
try:
    episode.close()
except KeyboardInterrupt:
    print("interrupted")
os.kill, socket.recv_fds = kill, recv_fds
kill(first, signal.SIGCONT)
print(len(codes(run(executor, source, steps("go"), limit=3))), executor._get_zygote().pid != first, killed)
executor.close()
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n3 True []\n", "")


def test_a_fork_of_the_host_neither_holds_nor_uses_its_sandbox() -> None:
    done = host("""
from spca.sandbox.process import client
client.STOP_LIMIT = 600
executor.verify()
zygote = executor._get_zygote()
waiting, release = os.pipe()
child = os.fork()
if not child:
    os.close(release)
    try:
        zygote.worker(executor._layers, executor._limits)
    except SandboxError:
        os.read(waiting, 1)  # until the host has closed its sandbox
        os._exit(7)
    os._exit(1)
executor.close()
print(zygote._process.poll())
os.close(release)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n7\n", "")


def test_a_fork_that_the_system_refuses_is_an_answer_like_any_other() -> None:
    """The serve loop itself, where ``os.fork`` fails as on a full system; nobody but its own workers is reaped."""
    done = host("""
import errno, threading
from spca.sandbox.process import zygote
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
def refuse():
    raise OSError(errno.EAGAIN, "no more")
os.fork = refuse
threading.Thread(target=zygote.serve, args=(theirs, os.getppid(), lambda payload: None), daemon=True).start()
for number in range(20):
    pipe = os.pipe()
    socket.send_fds(ours, [zygote.REQUEST.pack(zygote.FORK, number) + b"x"], pipe)
    print(zygote.ANSWER.unpack(ours.recv(100)) == (number, -errno.EAGAIN), end=" ")
    for end in pipe:
        os.close(end)
ours.send(zygote.REQUEST.pack(zygote.REAP, 99) + zygote.PID.pack(1))
print(zygote.ANSWER.unpack(ours.recv(100)), len(os.listdir("/proc/self/fd")) < 20)
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "True " * 20 + "(99, 0) True\n", "")


def test_interrupting_the_host_from_the_keyboard_does_not_reach_the_sandbox(sandboxed: SandboxExecutor) -> None:
    with closing(opened(sandboxed, methods("def go(self):\n    yield 1"), "go")) as episode:
        assert os.getsid(episode.pid) != os.getsid(0)


def test_a_failure_ends_the_worker_at_once_and_closing_a_finished_one(sandboxed: SandboxExecutor) -> None:
    with closing(opened(sandboxed, methods("def go(self):\n    yield 9"), "go")) as episode:
        failure([episode.advance(make_view())])
        assert is_gone(episode.pid)
    with closing(opened(sandboxed, methods("x = 1"))) as episode:
        assert episode.advance(make_view()) == Finished()
        assert episode.advance(make_view()) == Finished()
    assert is_gone(episode.pid)
