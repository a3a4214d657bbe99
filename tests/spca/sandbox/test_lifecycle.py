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

from spca.contracts import Finished
from spca.errors import SandboxError
from spca.sandbox.executor import SandboxExecutor
from tests.contracts.executing import codes, methods, run, steps, view
from tests.sandboxing import await_gone, children_of, is_gone, opened

ROOT = Path(__file__).parents[3]


def test_many_killed_episodes_leave_nothing_behind(walled: SandboxExecutor) -> None:
    source = methods("def go(self):\n    while True:\n        yield 1")
    zygote = walled._process().pid
    run(walled, source, steps("go"), limit=2)
    before = set(os.listdir("/proc/self/fd")), set(os.listdir(f"/proc/{zygote}/fd"))
    pids = []
    for number in range(30):
        episode = opened(walled, source, "go")
        for _ in range(number % 3):
            episode.advance(view())
        pids.append(episode.pid)
        episode.close()
    assert all(map(is_gone, pids))
    assert (set(os.listdir("/proc/self/fd")), set(os.listdir(f"/proc/{zygote}/fd"))) == before
    assert not children_of(zygote)


def test_closing_the_executor_ends_everything() -> None:
    source = methods("def go(self):\n    while True:\n        yield 1")
    with SandboxExecutor(check=None) as executor:
        open_episode = opened(executor, source, "go")
        open_episode.advance(view())
        pids = [open_episode.pid, executor._process().pid]
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
            episode.advance(view())
            os.kill(executor._process().pid, signal.SIGKILL)
            assert await_gone(episode.pid), "its worker died with it"
            with pytest.raises(SandboxError, match="has ended"):
                episode.advance(view())
        with pytest.raises(SandboxError):
            executor.start(source, steps("go"), ())


HOST = """
import sys
sys.path.insert(0, {root!r})
from spca.sandbox.executor import SandboxExecutor
from tests.contracts.executing import *
executor = SandboxExecutor()
episode = executor.start(methods({code!r}), steps("go"), ())
print(episode.advance(view()))
print(executor._process().pid, episode.pid, flush=True)
{then}
"""


@pytest.mark.parametrize(
    ("code", "then"),
    [
        ("def go(self):\n    while True:\n        yield 1", "sys.stdin.read()"),
        ("def go(self):\n    yield 1\n    while True:\n        pass", "episode.advance(view())"),
    ],
)
def test_a_host_that_is_killed_leaves_nothing_running(code: str, then: str) -> None:
    text = HOST.format(root=str(ROOT), code=code, then=then)
    with subprocess.Popen(
        [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as host:
        assert host.stdout is not None
        assert "Yielded" in host.stdout.readline()
        pids = [int(pid) for pid in host.stdout.readline().split()]
        time.sleep(0.1)
        host.kill()
    assert len(pids) == 2
    assert all(map(await_gone, pids))


def test_interrupting_the_host_from_the_keyboard_does_not_reach_the_sandbox(walled: SandboxExecutor) -> None:
    with closing(opened(walled, methods("def go(self):\n    yield 1"), "go")) as episode:
        assert os.getsid(episode.pid) != os.getsid(0)


def test_finishing_ends_the_worker(walled: SandboxExecutor) -> None:
    with closing(opened(walled, methods("x = 1"))) as episode:
        assert episode.advance(view()) == Finished()
        assert is_gone(episode.pid)
        assert episode.advance(view()) == Finished()
