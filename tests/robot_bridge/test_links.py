"""Questions that do not stop the control loop."""

from __future__ import annotations

import threading

import pytest

from robot_bridge.errors import ModelEnded, ModelFailure
from robot_bridge.links import Answer, LockstepLink, Reply, ThreadedLink
from robot_bridge.realtime import MonotonicClock
from tests.robot_bridge.kinematic import SteppedClock


def fails() -> Reply:
    raise ModelFailure("no network")


def ends() -> Reply:
    raise ModelEnded("the budget is spent")


def test_an_answer_comes_when_its_time_has_come() -> None:
    clock = SteppedClock()
    clock.time = 10.0
    link = LockstepLink(clock, 1.5)
    link.ask(lambda: Reply("left", 0.5))
    assert link.pending_since == 10.0
    clock.time = 11.9
    assert link.poll() is None
    clock.time = 12.0
    answer = link.poll()
    assert answer == Answer(10.0, 2.0, "left")
    assert link.poll() is None
    assert not link.pending_since


def test_without_a_latency_it_counts_what_it_took() -> None:
    link = LockstepLink(SteppedClock(), None)
    link.ask(lambda: Reply("left"))
    assert link.poll() is None


@pytest.mark.parametrize(("question", "has_ended"), [(fails, False), (ends, True)])
def test_what_a_model_raises_is_an_answer(question: object, has_ended: bool) -> None:
    for link in (LockstepLink(SteppedClock()), ThreadedLink(MonotonicClock())):
        link.ask(question)  # type: ignore[arg-type]
        while (answer := link.poll()) is None:
            pass
        assert isinstance(answer.error, ModelFailure)
        assert answer.has_ended is has_ended


def test_one_question_at_a_time() -> None:
    link = LockstepLink(SteppedClock(), 1.0)
    link.ask(lambda: Reply(1))
    with pytest.raises(RuntimeError, match="pending"):
        link.ask(lambda: Reply(2))


def test_a_thread_is_waited_for_by_nobody() -> None:
    link, go_on = ThreadedLink(MonotonicClock()), threading.Event()
    link.ask(lambda: Reply(go_on.wait(10)))
    assert link.poll() is None
    assert link.pending_since is not None
    go_on.set()
    while (answer := link.poll()) is None:
        pass
    assert answer.value is True
    assert answer.latency_s > 0


def test_the_answer_to_a_forgotten_question_is_thrown_away() -> None:
    link, first, done = ThreadedLink(MonotonicClock()), threading.Event(), threading.Event()

    def slow() -> Reply:
        first.wait(10)
        done.set()
        return Reply("old")

    link.ask(slow)
    link.close()
    link.ask(lambda: Reply("new"))
    first.set()
    done.wait(10)
    while (answer := link.poll()) is None:
        pass
    assert answer.value == "new"
