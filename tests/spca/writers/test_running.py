"""Writers in the sandbox: what each comes to, whatever the others do."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

import pytest

from spca.contracts import AgentSource, PlanStep
from spca.protocols import Episode
from spca.sandbox.executor import SandboxExecutor
from spca.writers import checking, running
from spca.writers.running import WriterRunner, Written
from spca.writers.stored import Miss
from tests.support.spca.sandboxing import await_gone
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
    assert (before, hung.miss, after) == (READS, Miss.INVALID, READS)
    assert hung.reason == "no answer for 0.2 s"


def test_a_writer_that_kills_its_process_does_so_alone(runner: WriterRunner) -> None:
    deep = make_problem("deep = iter('x')\nfor _ in range(100_000):\n    deep = map(str, deep)\nreturn next(deep)")
    before, crashed, after = each(runner, MISSION, deep, FETCH)
    assert (before, crashed.miss, after.miss) == (READS, Miss.INVALID, None)
    assert crashed.reason.startswith("the code crashed the interpreter")


def test_what_a_writer_leaves_to_be_run_later_harms_only_itself(runner: WriterRunner) -> None:
    """Its generator is collected, and goes on, in the turn of another."""
    leaving = """
        def wait():
            try:
                yield 1
            finally:
                while True:
                    pass
        left = wait()
        next(left)
        cells = [left]
        cells.append(cells)
        return 'left'
        """
    churning = make_problem("for _ in range(5000):\n    cells = []\n    cells.append(cells)\nreturn 'churned'")
    assert [written.text for written in each(runner, make_problem(leaving), churning)][1] == "churned"


def test_the_snapshot_is_each_writers_own(runner: WriterRunner) -> None:
    spoiling = make_problem("snapshot['mission'] = 'none'\nsnapshot['map'].clear()\nreturn snapshot['mission']")
    assert each(runner, spoiling, MISSION, spoiling) == [Written("none"), READS, Written("none")]


def test_nothing_is_kept_between_two_calls(runner: WriterRunner) -> None:
    counting = "SEEN = []\n\n\n" + make_problem("SEEN.append(1)\nreturn str(len(SEEN))")
    assert list(runner.each([(counting, state())] * 3, again=True)) == [Written("1")] * 3


def test_a_result_is_what_was_printed_in_its_own_turn(runner: WriterRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even of writers that the policy would refuse."""
    monkeypatch.setattr(running, "fault_of", lambda _source: "")
    forging = make_problem(
        """
        def frames():
            yield walk[0].gi_frame.f_back
        walk = [None]
        walk[0] = frames()
        frame = next(walk[0])
        while "print" not in frame.f_globals:
            frame = frame.f_back
        for _ in range(9):
            frame.f_globals["print"]("+forged", end="")
        return "own"
        """
    )
    before, forged, after = each(runner, MISSION, forging, MISSION)
    assert before == after == READS
    assert forged.text.startswith("forged")


def test_writers_cannot_reach_each_other_by_the_modules_and_builtins_they_share(
    runner: WriterRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its own, even where the policy would refuse to have them changed."""
    monkeypatch.setattr(running, "fault_of", lambda _source: "")
    spoiling = make_problem("import re\nre.fullmatch = len\n__builtins__['str'] = int\n__builtins__.clear()\nreturn ''")
    assert "(fetched ball_red)" in each(runner, spoiling, FETCH)[1].text


class Counting:
    """Counts the workers of an executor."""

    def __init__(self, executor: SandboxExecutor) -> None:
        self._executor = executor.limited(running.LIMITS)
        self.episodes: list[Episode] = []
        self.pids: list[int | None] = []

    def start(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int]) -> Episode:
        episode = self._executor.start(agent, steps, previous)
        self.episodes.append(episode)
        self.pids.append(episode.pid)
        return episode


@pytest.fixture
def counting(executor: SandboxExecutor) -> Counting:
    return Counting(executor)


def test_all_writers_of_all_levels_run_in_one_worker(counting: Counting) -> None:
    runner = WriterRunner(counting)
    sources = [make_problem(f"raise ValueError('{n}')") for n in range(12)]
    assert [written.reason for written in each(runner, *sources)] == [str(n) for n in range(12)]
    assert each(runner, MISSION) == [READS]
    assert next(runner.each([(MISSION, state("another"))])) == Written("another")
    assert len(counting.pids) == 1


def test_a_writer_runs_only_when_it_is_asked_for_and_once(
    runner: WriterRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = list[str]()

    def read_and_tell(printed: str) -> Written:
        read.append(printed)
        return Written(printed)

    monkeypatch.setattr(running, "_read", read_and_tell)
    jobs = [(MISSION, state()), (FETCH, state())]
    assert next(runner.each(jobs)) == Written("+fetch the red ball")
    assert len(read) == 1
    assert len(list(runner.each(jobs))) == len(read) == 2
    assert len(list(runner.each(jobs, again=True))) == 2
    assert len(read) == 4


def test_a_worker_that_died_meanwhile_is_nobodys_fault(counting: Counting) -> None:
    runner = WriterRunner(counting)
    each(runner, MISSION)
    pid = counting.pids[0]
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert each(runner, FETCH)[0].miss is None
    assert len(counting.pids) == 2


def test_a_worker_that_has_printed_much_is_replaced(counting: Counting) -> None:
    runner = WriterRunner(counting)
    sources = [make_problem(f"return '{n}' * 20_000") for n in range(9)]
    assert [len(written.text) for written in each(runner, *sources)] == [20_000] * 9
    assert len(counting.pids) == 2


def test_an_episode_that_was_closed_meanwhile_is_begun_anew(counting: Counting) -> None:
    runner = WriterRunner(counting)
    each(runner, MISSION)
    counting.episodes[0].close()
    assert each(runner, FETCH)[0].miss is None
    assert len(counting.pids) == 2


def test_a_fork_of_its_process_leaves_the_worker_alone(counting: Counting) -> None:
    runner = WriterRunner(counting)
    each(runner, MISSION)
    pid = os.fork()
    if pid == 0:
        runner.close()
        os._exit(0)
    os.waitpid(pid, 0)
    assert each(runner, FETCH)[0].miss is None
    assert len(counting.pids) == 1


def test_the_worker_ends_with_its_runner(counting: Counting) -> None:
    runner = WriterRunner(counting)
    each(runner, MISSION)
    runner.close()
    runner.close()
    each(runner, FETCH)
    del runner
    assert len(counting.pids) == 2
    assert all(pid is not None and await_gone(pid) for pid in counting.pids)


def test_what_the_policy_refuses_is_not_run(counting: Counting) -> None:
    source = "import os\n" + MISSION
    (refused,) = WriterRunner(counting).each([(source, state())])
    assert refused == Written(miss=Miss.INVALID, reason=checking.fault_of(source))
    assert not counting.pids


def test_a_snapshot_may_be_large(runner: WriterRunner) -> None:
    large = {**state(), "map": ["#" * 500] * 500}
    assert list(runner.each([(make_problem("return str(len(''.join(snapshot['map'])))"), large)])) == [
        Written("250000")
    ]
