"""Writers in the sandbox: what each comes to, whatever the others do."""

from __future__ import annotations

import os
import signal

import pytest

from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import Layer
from spca.sandbox.process.client import Worker, Zygote
from spca.writers import checking, running
from spca.writers.running import WriterRunner, Written
from spca.writers.stored import Miss
from tests.support.spca.sandboxing import await_gone, is_gone
from tests.support.spca.writing import FETCH, make_problem, state

MISSION = make_problem("return snapshot['mission']")
READS = Written("fetch the red ball")


def each(runner: WriterRunner, *sources: str) -> list[Written]:
    return list(runner.each([(source, state()) for source in sources]))


def test_a_problem_a_refusal_and_a_fault_are_told_apart(runner: WriterRunner) -> None:
    crashing = make_problem("cells = snapshot['known_objects']\nreturn cells['ball pink']")
    written, refused, invalid = runner.each([(FETCH, state()), (FETCH, state("sing")), (crashing, state())])
    assert "(fetched ball_red)" in written.text
    assert refused == Written(miss=Miss.REFUSED, reason="cannot read sing")
    assert invalid == Written(miss=Miss.INVALID, reason="KeyError: 'ball pink' (line 3)")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (make_problem("return 7"), "make_problem returned int, not str"),
        (make_problem("pass"), "make_problem returned NoneType, not str"),
        (make_problem("return 'x' * 20_001"), "make_problem returned 20001 characters, at most 20000 are read"),
        (make_problem("return make_problem(snapshot)"), "RecursionError: maximum recursion depth exceeded (line 2)"),
        (make_problem("return snapshot['map'] * 10**12"), "MemoryError (line 2)"),
        (
            "def make_problem():\n    return ''\n",
            "TypeError: make_problem() takes 0 positional arguments but 1 was given",
        ),
        ("X = int('seven')\n\n\ndef make_problem(snapshot):\n    return X\n", "invalid literal for int()"),
        (make_problem("raise KeyError('a\\x1b[2J\\n+(define)' * 100)"), "KeyError: "),
    ],
)
def test_a_fault_is_told_in_one_short_line(runner: WriterRunner, source: str, reason: str) -> None:
    before, faulty, after = each(runner, MISSION, source, MISSION)
    assert faulty.miss is not None
    assert faulty.reason.startswith(reason)
    assert faulty.reason.isprintable()
    assert len(faulty.reason) <= 300
    assert before == after == READS


@pytest.mark.parametrize(
    "endless",
    [
        "while True:\n    try:\n        while True:\n            pass\n    except:\n        pass",
        "import re\nreturn re.match('(a+)+$', 'a' * 60 + 'b')",
    ],
    ids=["swallowing", "in C"],
)
def test_an_endless_writer_ends_alone(runner: WriterRunner, endless: str) -> None:
    before, hung, after = each(runner, MISSION, make_problem(endless), MISSION)
    assert (before, hung.miss, after) == (READS, Miss.LATE, READS)
    assert hung.reason == "no answer for 0.2 s"


def test_a_writer_that_kills_its_process_does_so_alone(runner: WriterRunner) -> None:
    deep = make_problem("deep = iter('x')\nfor _ in range(100_000):\n    deep = map(str, deep)\nreturn next(deep)")
    before, crashed, after = each(runner, MISSION, deep, FETCH)
    assert (before, crashed.miss, after.miss) == (READS, Miss.INVALID, None)
    assert crashed.reason.startswith("the code crashed the interpreter")


def test_the_snapshot_is_each_writers_own(runner: WriterRunner) -> None:
    spoiling = make_problem("snapshot['mission'] = 'none'\nsnapshot['map'].clear()\nreturn snapshot['mission']")
    assert each(runner, spoiling, MISSION, spoiling) == [Written("none"), READS, Written("none")]


def test_nothing_is_kept_between_two_calls(runner: WriterRunner) -> None:
    counting = "SEEN = []\n\n\n" + make_problem("SEEN.append(1)\nreturn str(len(SEEN))")
    assert list(runner.each([(counting, state())] * 3, again=True)) == [Written("1")] * 3


def test_writers_cannot_reach_each_other_by_the_modules_and_builtins_they_share(
    runner: WriterRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its own, even where the policy would refuse to have them changed."""
    monkeypatch.setattr(running, "fault_of", lambda _source: "")
    spoiling = make_problem("import re\nre.fullmatch = len\n__builtins__['str'] = int\n__builtins__.clear()\nreturn ''")
    assert "(fetched ball_red)" in each(runner, spoiling, FETCH)[1].text


@pytest.fixture
def pids(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processes of all calls, in order."""
    fork, seen = Zygote.worker, list[int]()

    def forked(zygote: Zygote, layers: Layer, limits: Limits) -> Worker:
        worker = fork(zygote, layers, limits)
        seen.append(worker.pid)
        return worker

    monkeypatch.setattr(Zygote, "worker", forked)
    return seen


def zygote_of(runner: WriterRunner) -> int:
    return runner._caller.begin().pid


def test_every_call_has_a_process_of_its_own(runner: WriterRunner, pids: list[int]) -> None:
    sources = [make_problem(f"raise ValueError('{n}')") for n in range(12)]
    assert [written.reason for written in each(runner, *sources)] == [str(n) for n in range(12)]
    assert len(set(pids)) == 12
    assert all(map(is_gone, pids))


def test_a_writer_runs_only_when_it_is_asked_for_and_once(
    runner: WriterRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()

    def read_and_tell(printed: str) -> Written:
        read.append(printed)
        return Written(printed)

    monkeypatch.setattr(running, "read_answer", read_and_tell)
    jobs = [(MISSION, state()), (FETCH, state())]
    assert next(runner.each(jobs)) == Written("+fetch the red ball")
    assert len(read) == 1
    assert len(list(runner.each(jobs))) == len(read) == 2
    assert len(list(runner.each(jobs, again=True))) == 2
    assert len(read) == 4


def test_a_zygote_that_died_meanwhile_is_nobodys_fault(runner: WriterRunner) -> None:
    each(runner, MISSION)
    before = zygote_of(runner)
    os.kill(before, signal.SIGKILL)
    assert each(runner, FETCH)[0].miss is None
    assert zygote_of(runner) != before


def test_a_call_whose_process_is_killed_is_made_again(runner: WriterRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    send, killed = Worker.send, list[int]()

    def send_after_kill(worker: Worker, data: bytes, deadline: float) -> None:
        if not killed:
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)
        send(worker, data, deadline)

    monkeypatch.setattr(Worker, "send", send_after_kill)
    assert each(runner, FETCH)[0].miss is None
    assert len(killed) == 1


def test_a_fork_of_its_process_leaves_the_zygote_alone(runner: WriterRunner) -> None:
    each(runner, MISSION)
    before = zygote_of(runner)
    pid = os.fork()
    if pid == 0:
        runner.close()
        os._exit(0)
    os.waitpid(pid, 0)
    assert each(runner, FETCH)[0].miss is None
    assert zygote_of(runner) == before


def test_the_zygote_ends_with_its_runner(executor: SandboxExecutor) -> None:
    runner = WriterRunner(executor)
    each(runner, MISSION)
    zygotes = [zygote_of(runner)]
    runner.close()
    runner.close()
    each(runner, FETCH)
    zygotes.append(zygote_of(runner))
    del runner
    assert len(set(zygotes)) == 2
    assert all(map(await_gone, zygotes))


def test_what_the_policy_refuses_is_not_run(runner: WriterRunner, pids: list[int]) -> None:
    source = "import os\n" + MISSION
    (refused,) = runner.each([(source, state())])
    assert refused == Written(miss=Miss.INVALID, reason=checking.fault_of(source))
    assert not pids


def test_a_snapshot_may_be_large(runner: WriterRunner) -> None:
    large = {**state(), "map": ["#" * 500] * 500}
    assert list(runner.each([(make_problem("return str(len(''.join(snapshot['map'])))"), large)])) == [
        Written("250000")
    ]
