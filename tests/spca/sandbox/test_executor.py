"""Generated code behind the wall: the executor contract, budgets, and what a violation is told as."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from spca.contracts import AgentSource, Executor, Failed, Finished, Status, Yielded
from spca.errors import PatchError, SandboxError
from spca.sandbox import executor as executor_module
from spca.sandbox.episode import SandboxEpisode
from spca.sandbox.executor import SandboxExecutor, default_executor
from spca.sandbox.limits import Limits
from tests.contracts.executing import Event, codes, failure, methods, pointed_at, run, steps, view
from tests.contracts.executor_suite import ExecutorSuite
from tests.inprocess import InProcessExecutor

ROOT = Path(__file__).parents[3]
IMPATIENT = Limits(yield_seconds=0.3, first_yield_seconds=0.6)


@pytest.fixture(scope="module")
def walled() -> Iterator[SandboxExecutor]:
    """The wall itself, without the gate."""
    with SandboxExecutor(check=None) as executor:
        yield executor


@pytest.fixture(scope="module")
def impatient() -> Iterator[SandboxExecutor]:
    with SandboxExecutor(check=None, limits=IMPATIENT) as executor:
        yield executor


class TestSandboxExecutor(ExecutorSuite):
    @pytest.fixture
    def executor(self, walled: SandboxExecutor) -> Executor:
        return walled


class TestGatedExecutor(ExecutorSuite):
    """The executor of every run: what the contract wants must pass the gate as well."""

    @pytest.fixture
    def executor(self) -> Executor:
        return default_executor()


def opened(executor: SandboxExecutor, source: AgentSource, *names: str) -> SandboxEpisode:
    episode = executor.start(source, steps(*names), ())
    assert isinstance(episode, SandboxEpisode)
    return episode


def is_gone(pid: int) -> bool:
    """Whether there is no such process, not even one that waits to be reaped."""
    return not Path(f"/proc/{pid}").exists()


def await_gone(pid: int, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not is_gone(pid):
        time.sleep(0.01)
    return is_gone(pid)


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("while True: pass", 4),
        ("while True:\n        try:\n            while True: pass\n        except BaseException: pass", 6),
        ("sum(range(10**13))", 4),
        ("yield from self.helper()", 7),
        ("import threading\n    threading.Event().wait()", 5),
        ("import os\n    os.read(3, 10)", 5),
    ],
)
def test_code_that_does_not_yield_dies_and_is_told_where_it_was(
    impatient: SandboxExecutor, body: str, line: int
) -> None:
    source = methods(f"def go(self):\n    yield 1\n    {body}\n\ndef helper(self):\n    while True: pass\n    yield 1")
    with closing(opened(impatient, source, "go")) as episode:
        assert codes([episode.advance(view())]) == [1]
        started = time.monotonic()
        failed = failure([episode.advance(view())])
        took = time.monotonic() - started
        assert is_gone(episode.pid)
    assert 0.3 <= took < 0.3 + 1.0 + 0.2
    name = "helper" if "helper" in body else "go"
    assert (failed.status, failed.position) == (Status.RUNTIME_ERROR, 0)
    assert failed.message == f"no yield for 0.3 s in {name}, line {line}"
    assert pointed_at(failed)[-1][:2] == (line, name)


def test_the_first_primitive_has_a_deadline_of_its_own(impatient: SandboxExecutor) -> None:
    for text, where in (
        ("class Agent:\n    while True: pass\n", "Agent, line 2"),
        ("while True: pass\n", "<module>, line 1"),
    ):
        started = time.monotonic()
        failed = failure(run(impatient, AgentSource(text), steps("go")))
        assert 0.6 <= time.monotonic() - started < 2.0
        assert failed.message == f"no yield for 0.6 s in {where}"
        assert failed.position is None


def test_the_step_at_fault_is_the_one_that_hangs(impatient: SandboxExecutor) -> None:
    source = methods("def go(self):\n    yield 1\n\ndef hang(self):\n    while True: pass\n    yield 1")
    failed = failure(run(impatient, source, steps("go", "go", "hang", "go")))
    assert (failed.position, failed.message) == (2, "no yield for 0.3 s in hang, line 6")


def test_time_that_the_machine_was_late_is_not_held_against_the_code(impatient: SandboxExecutor) -> None:
    source = methods("def go(self):\n    while True:\n        yield 1")
    with closing(opened(impatient, source, "go")) as episode:
        episode.advance(view())
        os.kill(episode.pid, signal.SIGSTOP)
        with subprocess.Popen(["/bin/sh", "-c", f"sleep 0.6; kill -CONT {episode.pid}"]):
            assert codes([episode.advance(view())]) == [1]


def test_a_worker_that_is_blocked_for_good_dies_all_the_same(impatient: SandboxExecutor) -> None:
    source = methods("def go(self):\n    while True:\n        yield 1")
    with closing(opened(impatient, source, "go")) as episode:
        episode.advance(view())
        os.kill(episode.pid, signal.SIGSTOP)
        started = time.monotonic()
        assert failure([episode.advance(view())]).message == "no yield for 0.3 s"
        assert time.monotonic() - started < 1.5
        assert is_gone(episode.pid)


def test_processor_time_of_an_episode_is_bounded() -> None:
    source = methods(
        "def go(self):\n    import time\n    while True:\n        end = time.perf_counter() + 0.2\n"
        "        while time.perf_counter() < end: pass\n        yield 1"
    )
    with SandboxExecutor(check=None, limits=Limits(cpu_seconds=1)) as executor:
        events = run(executor, source, steps("go"))
    assert 1 <= len(codes(events)) <= 6
    assert failure(events).message == "more than 1 s of processor time in one episode"


def test_waiting_for_an_episode_is_bounded() -> None:
    source = methods(
        "def go(self):\n    import time\n    while True:\n        end = time.perf_counter() + 0.2\n"
        "        while time.perf_counter() < end: pass\n        yield 1"
    )
    with SandboxExecutor(check=None, limits=Limits(wall_seconds=0.7, yield_seconds=0.5)) as executor:
        events = run(executor, source, steps("go"))
    assert 1 <= len(codes(events)) <= 3
    assert failure(events).message.startswith("more than 0.7 s in generated code")


@pytest.mark.parametrize(
    "body", ["x = bytearray(1 << 30)", "x = []\n    while True: x.append(bytearray(1 << 20))", "'x' * (1 << 30)"]
)
def test_memory_is_bounded(walled: SandboxExecutor, body: str) -> None:
    events = run(walled, methods(f"def go(self):\n    yield 1\n    {body}"), steps("go"))
    failed = failure(events)
    assert codes(events) == [1]
    assert failed.message == "MemoryError: more memory than an episode may use"
    assert pointed_at(failed)[-1][1] == "go"


@pytest.mark.parametrize(("code", "told"), [("os._exit(0)", "(exit code 0)"), ("os._exit(7)", "(exit code 7)")])
def test_code_that_ends_its_process_is_told_so(walled: SandboxExecutor, code: str, told: str) -> None:
    events = run(walled, methods(f"def go(self):\n    yield 1\n    import os\n    {code}"), steps("go"))
    assert failure(events).message == f"the code ended its own process {told}"


def test_a_crash_of_the_interpreter_is_told_with_its_line(walled: SandboxExecutor) -> None:
    source = methods("def go(self):\n    yield 1\n    import ctypes\n    ctypes.string_at(0)")
    failed = failure(run(walled, source, steps("go")))
    assert failed.message == "the code crashed the interpreter (Segmentation fault) in go, line 5"
    assert pointed_at(failed) == [(5, "go", "ctypes.string_at(0)")]


def test_what_is_written_into_the_protocol_is_a_violation(walled: SandboxExecutor) -> None:
    for forged in (
        "b'hello'",
        "b'A\\x02' * 1000",
        "b'\\xe3' + bytes(8)",  # a frame without its payload, and then silence
        "b'\\xe5\\x02\\0\\0\\0\\xff\\xff\\xff\\x7f'",
        "__import__('struct').pack('<BII', 0xe4, 2, 0) * 2",
        "__import__('struct').pack('<BII', 0xe4, 9, 0)",
        "__import__('struct').pack('<BIIBII', 0xe3, 2, 9, 9, 0, 1)",
        "__import__('struct').pack('<BIIBII', 0xe3, 2, 9, 1, 5, 1)",
        "__import__('struct').pack('<BIIBII', 0xe3, 2, 9, 1, 0, 999)",
    ):
        source = methods(f"def go(self):\n    yield 1\n    import os\n    os.write(4, {forged})\n    yield 2")
        events = run(walled, source, steps("go"))
        assert codes(events) == [1], forged
        assert "broke the protocol" in failure(events).message, forged


def test_an_answer_that_was_not_asked_for_is_a_violation(walled: SandboxExecutor) -> None:
    source = methods(
        "def go(self):\n    yield 1\n    import os, struct\n"
        "    os.write(4, struct.pack('<BIIBII', 0xe3, 2, 9, 2, 0, 1) + struct.pack('<BIIBII', 0xe3, 3, 9, 2, 0, 1))\n"
        "    yield 2"
    )
    events = run(walled, source, steps("go"))
    assert codes(events) == [1]
    assert "broke the protocol" in failure(events).message


def test_a_violation_is_told_again_when_asked_again(walled: SandboxExecutor) -> None:
    with closing(
        opened(walled, methods("def go(self):\n    import os\n    os._exit(1)\n    yield 1"), "go")
    ) as episode:
        first = episode.advance(view())
        assert isinstance(first, Failed)
        assert episode.advance(view()) == first


def test_the_gate_refuses_before_anything_is_executed() -> None:
    def refuse(_agent: AgentSource) -> None:
        raise PatchError("line 3: no")

    with SandboxExecutor(check=refuse) as executor:
        assert run(executor, methods("def go(self):\n    yield 1"), steps("go")) == [
            Failed(Status.SYNTAX_ERROR, "line 3: no")
        ]
        assert executor.level == "", "not even a process was started"


def test_equal_randomness_in_every_episode(walled: SandboxExecutor) -> None:
    source = AgentSource(
        "import random\nimport numpy as np\n\n\nclass Agent:\n    def go(self):\n        for _ in range(20):\n"
        "            yield random.randrange(7)\n            yield int(np.random.randint(7))\n"
        "            yield hash(('door', self.mission)) % 7\n"
    )
    first, second = (codes(run(walled, source, steps("go"), limit=100)) for _ in range(2))
    assert first == second
    assert len(set(first)) > 3


def test_an_episode_finds_nothing_of_an_earlier_one(walled: SandboxExecutor) -> None:
    """After a rollback the agent knows nothing that was seen later: not in modules, builtins, classes or memory."""
    plant = methods("""
        def go(self):
            import builtins, random, numpy, gc, os
            marker = "-".join(("seen", "later", self.mission))
            builtins.kept = random.kept = numpy.kept = marker
            os.environ["KEPT"] = marker
            numpy.ndarray.__doc__
            yield 1
    """)
    look = methods("""
        def go(self):
            import builtins, random, numpy, gc, os
            assert not any(hasattr(m, "kept") for m in (builtins, random, numpy))
            assert not os.environ
            texts = [o for o in gc.get_objects() if isinstance(o, (dict, list, tuple))]
            found = [t for o in texts for t in (o.values() if isinstance(o, dict) else o)
                     if isinstance(t, str) and t.startswith("-".join(("seen", "later")))]
            assert not found, found
            yield 2
    """)
    with closing(opened(walled, plant, "go")) as episode:
        assert codes([episode.advance(view(mission="the way to the exit"))]) == [1]
    assert codes(run(walled, look, steps("go"))) == [2]


def test_the_worker_is_told_no_more_than_the_view(walled: SandboxExecutor) -> None:
    """Neither environment variables nor the host's memory: a canary of the host is nowhere in the worker's memory."""
    canary = f"canary-{random.randrange(10**12)}"
    os.environ["SPCA_TEST_CANARY"] = canary
    try:
        with closing(opened(walled, methods("def go(self):\n    yield 1"), "go")) as episode:
            episode.advance(view(mission="a mission that is sent"))
            assert holds(episode.pid, b"a mission that is sent"), "the search finds what is there"
            assert not holds(episode.pid, canary.encode())
    finally:
        del os.environ["SPCA_TEST_CANARY"]


def holds(pid: int, text: bytes) -> bool:
    """Whether a process has ``text`` in its memory; skips where that cannot be read."""
    if os.geteuid() != 0:
        pytest.skip("only root may read the memory of another process")
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            if rights.startswith("rw"):
                low, high = (int(end, 16) for end in span.split("-"))
                with suppress(OSError):
                    memory.seek(low)
                    if text in memory.read(high - low):
                        return True
    return False


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


def children_of(pid: int) -> list[str]:
    return [text for task in Path(f"/proc/{pid}/task").iterdir() for text in (task / "children").read_text().split()]


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


def test_an_unsafe_executor_has_a_process_but_no_wall(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("5")
    source = methods(f"def go(self):\n    yield int(open({str(secret)!r}).read())")
    with SandboxExecutor(check=None, unsafe=True) as executor:
        assert executor.verify() == "unsafe"
        assert codes(run(executor, source, steps("go"))) == [5]
    with SandboxExecutor(check=None) as executor:
        assert executor.verify() in ("strict", "strict-nolandlock")
        assert "PermissionError" in failure(run(executor, source, steps("go"))).message


def test_the_default_executor_is_shared() -> None:
    assert default_executor() is default_executor()
    assert executor_module._of_process(-1) is not default_executor()


def walk(seed: int) -> Callable[[Executor], list[Event]]:
    """A method that reads all of its state, on views that change."""
    source = methods("""
        def go(self):
            while True:
                seen = int((self.full_grid == "wall").sum()) + len(self.previous_actions) + len(self.mission)
                seen += ("East", "South", "West", "North").index(self.current_dir) + self.start_position[0]
                yield (seen + (self.current_observation == "key blue").sum()) % 7
    """)
    rng = np.random.default_rng(seed)
    views = [
        view(
            full_grid=rng.integers(0, 40, rng.integers(1, 30, 2)).astype(np.uint8),
            observation=rng.integers(0, 40, (7, 7)).astype(np.uint8),
            direction=int(rng.integers(4)),
            mission=("a", "bc", "déf")[int(rng.integers(3))],
        )
        for _ in range(30)
    ]

    def play(executor: Executor) -> list[Event]:
        with closing(executor.start(source, steps("go"), [1] * (seed % 5))) as episode:
            return [episode.advance(shown) for shown in views]

    return play


@pytest.mark.parametrize("seed", range(5))
def test_the_wall_changes_nothing(walled: SandboxExecutor, seed: int) -> None:
    events = walk(seed)(walled)
    assert events == walk(seed)(InProcessExecutor())
    assert all(isinstance(event, Yielded) for event in events)


def test_finishing_ends_the_worker(walled: SandboxExecutor) -> None:
    with closing(opened(walled, methods("x = 1"))) as episode:
        assert episode.advance(view()) == Finished()
        assert is_gone(episode.pid)
        assert episode.advance(view()) == Finished()
