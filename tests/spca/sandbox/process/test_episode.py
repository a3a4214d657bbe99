"""Budgets of an episode, and what a violation is told as."""

from __future__ import annotations

import os
import signal
import time
from contextlib import closing

import pytest

from spca.contracts import AgentSource, Status
from spca.errors import SandboxError
from spca.protocols import Failed
from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.process.episode import SandboxEpisode
from spca.testing.generated_code import make_view
from tests.support.contracts.executing import codes, failure, methods, pointed_at, run, steps
from tests.support.spca.sandboxing import is_gone, opened
from tests.support.tiers import few
from tests.support.waiting import AGES, PATIENCE


def resume_when_late(episode: SandboxEpisode, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker that was stopped go on as soon as it has been waited for in vain."""
    receive = episode._worker.receive

    def received(deadline: float) -> bytes:
        try:
            return receive(deadline)
        except TimeoutError:
            os.kill(episode.pid, signal.SIGCONT)
            raise

    monkeypatch.setattr(episode._worker, "receive", received)


@pytest.mark.parametrize(
    ("body", "line"),
    few(
        2,
        [
            ("while True: pass", 4),
            ("while True:\n        try:\n            while True: pass\n        except BaseException: pass", 6),
            ("sum(range(10**13))", 4),
            ("yield from self.helper()", 7),
            ("import threading\n    threading.Event().wait()", 5),
            ("import os\n    os.read(3, 10)", 5),
        ],
    ),
)
def test_code_that_does_not_yield_dies_and_is_told_where_it_was(
    impatient: SandboxExecutor, body: str, line: int
) -> None:
    source = methods(f"def go(self):\n    yield 1\n    {body}\n\ndef helper(self):\n    while True: pass\n    yield 1")
    with closing(opened(impatient, source, "go")) as episode:
        assert codes([episode.advance(make_view())]) == [1]
        started = time.monotonic()
        failed = failure([episode.advance(make_view())])
        took = time.monotonic() - started
        assert is_gone(episode.pid)
    assert 0.3 <= took < PATIENCE
    name = "helper" if "helper" in body else "go"
    assert (failed.status, failed.position) == (Status.RUNTIME_ERROR, 0)
    assert failed.message == f"no yield for 0.3 s in {name}, line {line}"
    assert pointed_at(failed)[-1][:2] == (line, name)


def test_the_place_is_told_where_the_machine_was_late(
    impatient: SandboxExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = methods("def go(self):\n    yield 1\n    while True: pass")
    with closing(opened(impatient, source, "go")) as episode:
        assert codes([episode.advance(make_view())]) == [1]
        request_traceback = episode._worker.request_traceback

        def ask_one_that_gets_no_processor() -> None:
            os.kill(episode.pid, signal.SIGSTOP)
            request_traceback()

        resume_when_late(episode, monkeypatch)
        monkeypatch.setattr(episode._worker, "request_traceback", ask_one_that_gets_no_processor)
        failed = failure([episode.advance(make_view())])
    assert failed.message == "no yield for 0.3 s in go, line 4"


def test_the_first_primitive_has_a_deadline_of_its_own(impatient: SandboxExecutor) -> None:
    for text, where in (
        ("class Agent:\n    while True: pass\n", "Agent, line 2"),
        ("while True: pass\n", "<module>, line 1"),
    ):
        started = time.monotonic()
        failed = failure(run(impatient, AgentSource(text), steps("go")))
        assert 0.6 <= time.monotonic() - started < PATIENCE
        assert failed.message == f"no yield for 0.6 s in {where}"
        assert failed.position is None


@pytest.mark.long
def test_the_step_at_fault_is_the_one_that_hangs(impatient: SandboxExecutor) -> None:
    source = methods("def go(self):\n    yield 1\n\ndef hang(self):\n    while True: pass\n    yield 1")
    failed = failure(run(impatient, source, steps("go", "go", "hang", "go")))
    assert (failed.position, failed.message) == (2, "no yield for 0.3 s in hang, line 6")


@pytest.mark.long
def test_time_that_the_machine_was_late_is_not_held_against_the_code(
    impatient: SandboxExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = methods("def go(self):\n    while True:\n        yield 1")
    with closing(opened(impatient, source, "go")) as episode:
        episode.advance(make_view())
        os.kill(episode.pid, signal.SIGSTOP)
        resume_when_late(episode, monkeypatch)
        started = time.monotonic()
        assert codes([episode.advance(make_view())]) == [1]
        assert time.monotonic() - started >= 0.3


@pytest.mark.long
def test_a_worker_that_is_blocked_for_good_dies_all_the_same(impatient: SandboxExecutor) -> None:
    source = methods("def go(self):\n    while True:\n        yield 1")
    with closing(opened(impatient, source, "go")) as episode:
        episode.advance(make_view())
        os.kill(episode.pid, signal.SIGSTOP)
        started = time.monotonic()
        assert failure([episode.advance(make_view())]).message == "no yield for 0.3 s"
        assert time.monotonic() - started < PATIENCE
        assert is_gone(episode.pid)


def test_processor_time_of_an_episode_is_bounded() -> None:
    source = methods(
        "def go(self):\n    import time\n    while True:\n        end = time.process_time() + 0.2\n"
        "        while time.process_time() < end: pass\n        yield 1"
    )
    with SandboxExecutor(check=None, limits=Limits(AGES, AGES, cpu_seconds=1, wall_seconds=AGES)) as executor:
        events = run(executor, source, steps("go"))
    assert 1 <= len(codes(events)) <= 6
    assert failure(events).message == "more than 1 s of processor time in one episode"


def test_waiting_for_an_episode_is_bounded() -> None:
    source = methods(
        "def go(self):\n    import time\n    while True:\n        yield 1\n        end = time.monotonic() + 0.3\n"
        "        while time.monotonic() < end: pass"
    )
    with SandboxExecutor(check=None, limits=Limits(AGES, AGES, wall_seconds=0.7)) as executor:
        events = run(executor, source, steps("go"))
    assert 1 <= len(codes(events)) <= 3
    assert failure(events).message.startswith("more than 0.7 s in generated code")


@pytest.mark.parametrize(
    "body",
    few(1, ["x = bytearray(1 << 30)", "x = []\n    while True: x.append(bytearray(1 << 20))", "'x' * (1 << 30)"]),
)
def test_memory_is_bounded(body: str) -> None:
    with SandboxExecutor(check=None, limits=Limits(yield_seconds=10)) as patient:
        events = run(patient, methods(f"def go(self):\n    yield 1\n    {body}"), steps("go"))
    failed = failure(events)
    assert codes(events) == [1]
    assert failed.message == "MemoryError: more memory than an episode may use"
    assert pointed_at(failed)[-1][1] == "go"


@pytest.mark.parametrize(("code", "told"), [("os._exit(0)", "(exit code 0)"), ("os._exit(7)", "(exit code 7)")])
def test_code_that_ends_its_process_is_told_so(sandboxed: SandboxExecutor, code: str, told: str) -> None:
    events = run(sandboxed, methods(f"def go(self):\n    yield 1\n    import os\n    {code}"), steps("go"))
    assert failure(events).message == f"the code ended its own process {told}"


def test_a_crash_of_the_interpreter_is_told_with_its_line(sandboxed: SandboxExecutor) -> None:
    source = methods("def go(self):\n    yield 1\n    import ctypes\n    ctypes.string_at(0)")
    failed = failure(run(sandboxed, source, steps("go")))
    assert failed.message == "the code crashed the interpreter (Segmentation fault) in go, line 5"
    assert pointed_at(failed) == [(5, "go", "ctypes.string_at(0)")]


def test_what_is_written_into_the_protocol_is_a_violation(sandboxed: SandboxExecutor) -> None:
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
        events = run(sandboxed, source, steps("go"))
        assert codes(events) == [1], forged
        assert "broke the protocol" in failure(events).message, forged


def test_an_answer_that_was_not_asked_for_is_a_violation(sandboxed: SandboxExecutor) -> None:
    source = methods(
        "def go(self):\n    yield 1\n    import os, struct\n"
        "    os.write(4, struct.pack('<BIIBII', 0xe3, 2, 9, 2, 0, 1) + struct.pack('<BIIBII', 0xe3, 3, 9, 2, 0, 1))\n"
        "    yield 2"
    )
    events = run(sandboxed, source, steps("go"))
    assert codes(events) == [1]
    assert "broke the protocol" in failure(events).message


def test_a_violation_is_told_again_when_asked_again(sandboxed: SandboxExecutor) -> None:
    with closing(
        opened(sandboxed, methods("def go(self):\n    import os\n    os._exit(1)\n    yield 1"), "go")
    ) as episode:
        first = episode.advance(make_view())
        assert isinstance(first, Failed)
        assert episode.advance(make_view()) == first


@pytest.mark.long
def test_processor_time_is_held_against_the_step_that_used_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that was busy before is given grace all the same when the machine is late."""
    source = methods(
        "def go(self):\n    import time\n    end = time.process_time() + 0.25\n"
        "    while time.process_time() < end: pass\n    while True:\n        yield 1"
    )
    patient = SandboxExecutor(check=None, limits=Limits(yield_seconds=0.3, first_yield_seconds=PATIENCE))
    with patient as executor, closing(opened(executor, source, "go")) as episode:
        episode.advance(make_view())
        os.kill(episode.pid, signal.SIGSTOP)
        resume_when_late(episode, monkeypatch)
        assert codes([episode.advance(make_view())]) == [1]


@pytest.mark.parametrize("status", [1, 2])
def test_code_that_has_acted_cannot_say_that_it_did_not_load(sandboxed: SandboxExecutor, status: int) -> None:
    source = methods(
        "def go(self):\n    yield 1\n    import os, struct\n"
        f"    os.write(4, struct.pack('<BIIBiB', 0xe5, 2, 6, {status}, -1, 0))\n    yield 2"
    )
    failed = failure(run(sandboxed, source, steps("go")))
    assert failed.status is Status.RUNTIME_ERROR
    assert "broke the protocol" in failed.message


def test_a_closed_episode_is_not_asked(sandboxed: SandboxExecutor) -> None:
    episode = opened(sandboxed, methods("def go(self):\n    yield 1"), "go")
    episode.close()
    with pytest.raises(SandboxError, match="was closed"):
        episode.advance(make_view())


def test_the_host_may_run_anywhere_between_its_questions(sandboxed: SandboxExecutor) -> None:
    before = os.sched_getaffinity(0)
    with closing(opened(sandboxed, methods("def go(self):\n    while True:\n        yield 1"), "go")) as episode:
        for _ in range(40):
            episode.advance(make_view())
            assert os.sched_getaffinity(0) == before
