"""Writers in the sandbox: what each comes to, whatever the others do."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from spca.contracts import AgentSource, PlanStep
from spca.protocols import Episode
from spca.sandbox.executor import SandboxExecutor
from spca.writers import checking, running
from spca.writers.running import WriterRunner, Written
from spca.writers.stored import Miss
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
    assert hung.reason.startswith("no answer for 0.2 s")


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
    """Counts the episodes of an executor and the writers that are run in them."""

    def __init__(self, executor: SandboxExecutor) -> None:
        self._executor = executor.limited(running.LIMITS)
        self.episodes = self.turns = 0

    def start(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int]) -> Episode:
        self.episodes += 1
        self.turns += sum(step.action == "write" for step in steps)
        return self._executor.start(agent, steps, previous)


def test_all_writers_run_in_one_episode_and_once(executor: SandboxExecutor) -> None:
    counting = Counting(executor)
    runner = WriterRunner(counting)
    sources = [make_problem(f"raise ValueError('{n}')") for n in range(12)]
    first = each(runner, *sources)
    assert [written.reason for written in first] == [str(n) for n in range(12)]
    assert each(runner, *sources, MISSION) == [*first, READS]
    assert (counting.episodes, counting.turns) == (2, 13)


def test_what_follows_a_problem_runs_only_when_it_is_asked_for(executor: SandboxExecutor) -> None:
    counting = Counting(executor)
    unread = make_problem("raise ValueError('no')")
    results = WriterRunner(counting).each([(s, state()) for s in (unread, MISSION, FETCH)], until_written=True)
    assert [next(results).miss, next(results)] == [Miss.REFUSED, READS]
    assert counting.episodes == 1
    assert "fetched" in next(results).text
    assert counting.episodes == 2


def test_what_the_policy_refuses_is_not_run(executor: SandboxExecutor) -> None:
    counting = Counting(executor)
    (refused,) = WriterRunner(counting).each([("import os\n" + MISSION, state())])
    assert refused.miss is Miss.INVALID
    assert checking.fault_of("import os\n" + MISSION) == refused.reason
    assert counting.episodes == 0


def test_more_writers_than_an_episode_takes(runner: WriterRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MOST", 2)
    assert each(runner, MISSION, FETCH, MISSION)[::2] == [READS, READS]
