"""The judge sees what it is there to see: each kind of escape in an otherwise spotless report, and nothing in that."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import ExitStack
from subprocess import PIPE
from typing import Any

import pytest

from spca.sandbox.kernel.limits import Limits
from tests.redteam.attack import SIGNS, Attack, Control, Kind, Sign, agent_source, attacks
from tests.redteam.bait import Bait
from tests.redteam.given import GIVEN
from tests.redteam.judging import Facts, escapes, signs
from tests.redteam.own import OWN
from tests.redteam.processes import starved
from tests.support.waiting import becomes

TAIL = "0123456789abcdef"
FACTS: dict[str, Any] = {"written": (), "reached": (), "secret_changed": False, "dead_after": 0.1, "reaped": True}
REPORT: dict[str, Any] = {
    "end": "Failed",
    "status": "runtime_error",
    "message": "PermissionError: [Errno 1] Operation not permitted",
    "traceback": "Traceback (most recent call last):\n  ...",
    "steps": [[2, 0, "attack", 3]],
    "exact": True,
    "printed": "",
    "slowest": 0.1,
    "started": 0.1,
    "untouched": True,
    "grown": 0,
    "unlike": [],
    "benign": "",
}


def attack(kind: Kind = Kind.LEAK) -> Attack:
    return Attack("x", kind, agent_source("pass"), Control(SIGNS[kind]))


def judged(kind: Kind = Kind.LEAK, facts: dict[str, Any] | None = None, **changes: object) -> tuple[str, ...]:
    return escapes(attack(kind), TAIL, REPORT | changes, Facts(**(FACTS | (facts or {}))), Limits())


def test_a_spotless_report_is_no_escape() -> None:
    assert judged() == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"message": "RuntimeError: LEAK sk-canary-91b2"},
        {"message": f"RuntimeError: {TAIL}"},
        {"message": "RuntimeError: LEAK FORKED 3"},
        {"message": "RuntimeError: LEAK SYSCALL open 3"},
        {"message": "RuntimeError: LEAK STATE numpy"},
        {"printed": "SECRETFILE-7f3a"},
        {"traceback": f"  agent_tmp.py, line 3, in f\n    {TAIL}"},
        {"message": "x" * 5000},
        {"message": "\x1b[31m"},
        {"printed": "\u202e"},
        {"printed": "x" * 4097},
        {"traceback": "\ud800"},
        {"slowest": 3.5},
        {"started": 1.5},
        {"grown": 64 << 20},
        {"unlike": ["children: 1 -> 2"]},
        {"benign": "[Failed(...)]"},
        {"untouched": False},
        {"exact": False},
        {"steps": [[7, 0, "attack", 3]]},
        {"steps": [[2, 1, "attack", 3]]},
        {"steps": [[2, 0, "other", 3]]},
        {"steps": [[2, 0, "attack", 99]]},
    ],
    ids=str,
)
def test_every_kind_of_escape_is_seen_in_a_report(changes: dict[str, Any]) -> None:
    assert len(judged(**changes)) >= 1


@pytest.mark.parametrize(
    "facts",
    [
        {"written": ("written-x",)},
        {"reached": ("a TCP connection",)},
        {"secret_changed": True},
        {"dead_after": None},
        {"reaped": False},
    ],
    ids=str,
)
def test_every_kind_of_escape_is_seen_by_the_judge_itself(facts: dict[str, Any]) -> None:
    assert len(judged(facts=facts)) == 1


def test_a_host_may_wait_longer_for_a_worker_that_got_no_processor() -> None:
    assert judged(facts={"starved": 0.6}, slowest=3.5) == ()
    assert judged(facts={"starved": 0.4}, slowest=3.5) == ("the host waited 3.50 s for an answer",)


def test_a_process_that_shares_a_processor_is_starved() -> None:
    """Two that never rest on one processor: each waits for the other about half of the time."""
    busy = "import os\nos.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\nprint(flush=True)\nwhile True: pass"
    with ExitStack() as stack:
        both = [stack.enter_context(subprocess.Popen([sys.executable, "-c", busy], stdout=PIPE)) for _ in range(2)]
        for process in both:
            stack.callback(process.kill)
            assert process.stdout is not None
            process.stdout.readline()
        before = [starved(process.pid) for process in both]
        began = time.monotonic()
        assert becomes(lambda: all(starved(p.pid) > at + 0.2 for p, at in zip(both, before, strict=True)))
        assert starved(both[0].pid) - before[0] <= time.monotonic() - began
    assert starved(both[0].pid) == 0.0


@pytest.mark.parametrize("kind", [Kind.HANG, Kind.GARBAGE, Kind.CTL, Kind.MUT, Kind.OUT, Kind.MEM, Kind.CRASH])
@pytest.mark.parametrize("end", ["Finished", "Yielded"])
def test_some_kinds_may_only_fail(kind: Kind, end: str) -> None:
    assert any(words.startswith("it ended with") for words in judged(kind, end=end, steps=[]))


def test_a_source_that_is_quoted_is_no_leak() -> None:
    assert judged(traceback="  agent_tmp.py, line 3, in attack\n    x = 'sk-canary-91b2'") == ()


def test_an_attack_that_does_nothing_shows_no_sign() -> None:
    seen = {"end": "Finished", "message": "", "printed": "", "over": 0, "steps": []}
    facts = Facts(**FACTS)
    assert {kind for kind in Kind if signs(attack(kind), TAIL, seen, facts)} == {Kind.NEST}


def test_baits_are_new_each_time_and_gone_afterwards() -> None:
    with Bait() as one, Bait() as other:
        assert one.tail != other.tail
        assert one.fill("@SECRET@ @PW@ @PORT@ @UPORT@ @TAIL@").count("@") == 0
        assert one.written() == one.reached() == []
        (one.folder / "written-x").touch()
        assert one.written() == ["written-x"]
    assert not one.folder.exists()


def test_every_attack_has_a_name_of_its_own_and_a_reason_where_it_is_not_seen_to_succeed() -> None:
    corpus = (*GIVEN, *OWN)
    assert len({a.name for a in corpus}) == len(corpus)
    assert len(OWN) >= 25
    resting = {Sign.FAILED, Sign.ENDED}
    assert [a.name for a in corpus if resting & set(a.control.signs) and not a.control.why] == []


def test_a_control_of_an_unknown_attack_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="nobody"):
        attacks("## somebody: leak\npass\n", {"nobody": Control((Sign.TOLD,))})
