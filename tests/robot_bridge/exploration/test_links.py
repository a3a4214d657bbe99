"""Questions that do not stop the control loop."""

from __future__ import annotations

import threading
import time

import pytest

from robot_bridge.control.realtime import MonotonicClock
from robot_bridge.errors import ModelEnded, ModelFailure
from robot_bridge.exploration.asker import Answer, Link, LockstepLink, Question, ThreadedLink
from tests.support.robot_bridge.kinematic import SteppedClock


def fails() -> Answer:
    raise ModelFailure("no network")


def ends() -> Answer:
    raise ModelEnded("the budget is spent")


def answered(link: Link) -> Answer:
    while (answer := link.poll()) is None:
        time.sleep(0.001)
    return answer


def test_an_answer_comes_when_its_time_has_come() -> None:
    clock = SteppedClock()
    clock.time = 10.0
    link = LockstepLink(clock, 1.5)
    link.ask(lambda: Answer("left", 0.5))
    clock.time = 11.9
    assert link.poll() is None
    clock.time = 12.0
    answer = link.poll()
    assert answer == Answer("left", 2.0)
    assert link.poll() is None


def test_without_a_latency_it_counts_what_it_took() -> None:
    link = LockstepLink(SteppedClock(), None)
    link.ask(lambda: Answer("left"))
    assert link.poll() is None


@pytest.mark.parametrize(("question", "kind"), [(fails, ModelFailure), (ends, ModelEnded)])
def test_what_a_model_raises_is_an_answer(question: Question, kind: type[ModelFailure]) -> None:
    for link in (LockstepLink(SteppedClock()), ThreadedLink(MonotonicClock())):
        link.ask(question)
        assert type(answered(link).error) is kind


def test_a_thread_is_waited_for_by_nobody() -> None:
    link, go_on = ThreadedLink(MonotonicClock()), threading.Event()
    link.ask(lambda: Answer("done" if go_on.wait(10) else "late"))
    assert link.poll() is None
    go_on.set()
    answer = answered(link)
    assert answer.value == "done"
    assert answer.latency_s


def test_the_answer_to_a_forgotten_question_is_thrown_away() -> None:
    link, first, done = ThreadedLink(MonotonicClock()), threading.Event(), threading.Event()

    def slow() -> Answer:
        first.wait(10)
        done.set()
        return Answer("old")

    link.ask(slow)
    link.close()
    link.ask(lambda: Answer("new"))
    first.set()
    done.wait(10)
    assert answered(link).value == "new"


def test_a_question_waits_for_one_that_was_forgotten_and_is_not_asked_if_it_is_forgotten_itself() -> None:
    link, go_on, asked = ThreadedLink(MonotonicClock()), threading.Event(), []

    def named(name: str) -> Question:
        def question() -> Answer:
            asked.append(f"{name} begins")
            go_on.wait(60)
            asked.append(f"{name} ends")
            return Answer(name)

        return question

    for name in ("first", "second", "third"):
        link.close()
        link.ask(named(name))
        while not asked:
            time.sleep(0.001)
    assert link.poll() is None
    go_on.set()
    assert answered(link).value == "third"
    assert asked == ["first begins", "first ends", "third begins", "third ends"]
