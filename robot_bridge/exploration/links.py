"""Ask a slow question without stopping the control loop.

One question at a time: ``ask`` returns at once, ``poll`` returns the answer when it has come, ``pending_since`` says
since when it is owed, all on the robot's clock. With a simulated clock the question is answered at once and the answer
held back for its latency, so that runs are repeatable; in real time it is asked in a thread.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from robot_bridge.protocols import Clock

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a question, and how long it takes on the robot's clock; None means the real time it takes."""

    value: object
    latency_s: float | None = None


Question = Callable[[], Reply]
"""May raise; the error is an answer too."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a question: ``value``, or ``error`` if it raised; times on the robot's clock."""

    asked_at: float
    latency_s: float
    value: object = None
    error: Exception | None = None


class Link(Protocol):
    """One pending question."""

    @property
    def pending_since(self) -> float | None:
        """Return when the pending question was asked, or None."""
        ...

    def ask(self, question: Question) -> None:
        """Ask a question; raise RuntimeError while another one is pending."""
        ...

    def poll(self) -> Answer | None:
        """Return the answer once, when it has come, else None."""
        ...

    def close(self) -> None:
        """Forget the pending question; its answer is thrown away when it comes."""
        ...


def asked(question: Question) -> tuple[Reply, Exception | None]:
    """Ask and wait; return the reply and the error raised, if any."""
    try:
        return question(), None
    except Exception as error:  # the boundary to models: whoever polls decides what an error means
        _LOG.info("the model gave no answer", exc_info=error)
        return Reply(None), error


class LockstepLink:
    """A link for clocks that stand still while a model thinks.

    Args:
        clock: the robot's clock.
        latency_s: delay added to the latency that an answer states; None adds nothing, and an answer without a stated
            latency takes the real time that passed, which is not repeatable.
    """

    def __init__(self, clock: Clock, latency_s: float | None = 0.0) -> None:
        self._clock, self._latency = clock, latency_s
        self._answer: Answer | None = None

    @property
    def pending_since(self) -> float | None:
        return self._answer.asked_at if self._answer else None

    def ask(self, question: Question) -> None:
        if self._answer is not None:
            raise RuntimeError("a question is pending")
        began = time.perf_counter()
        reply, error = asked(question)
        took = time.perf_counter() - began if self._latency is None else 0.0
        latency = (took if reply.latency_s is None else reply.latency_s) + (self._latency or 0.0)
        self._answer = Answer(self._clock.now(), latency, reply.value, error)

    def poll(self) -> Answer | None:
        answer = self._answer
        if answer is None or self._clock.now() < answer.asked_at + answer.latency_s - _INSTANT:
            return None
        self._answer = None
        return answer

    def close(self) -> None:
        self._answer = None


_INSTANT: Final = 1e-6


class ThreadedLink:
    """A link for real time: every question runs in its own daemon thread, so that one that hangs blocks nobody.

    It blocks only the next question: a forgotten question is still running, and neither a model nor its ledger support
    two at a time. The wait counts as the model's latency.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._asked_at: float | None = None
        self._answer: Answer | None = None
        self._number = 0
        self._thread: threading.Thread | None = None

    @property
    def pending_since(self) -> float | None:
        return self._asked_at

    def ask(self, question: Question) -> None:
        with self._lock:
            if self._asked_at is not None:
                raise RuntimeError("a question is pending")
            self._asked_at = self._clock.now()
            self._number += 1
            arguments = (question, self._number, self._asked_at, self._thread)
            self._thread = threading.Thread(target=self._work, args=arguments, name="model", daemon=True)
            self._thread.start()

    def poll(self) -> Answer | None:
        with self._lock:
            answer = self._answer
            if answer is not None:
                self._asked_at = self._answer = None
            return answer

    def close(self) -> None:
        with self._lock:
            self._asked_at = self._answer = None
            self._number += 1

    def _work(self, question: Question, number: int, asked_at: float, earlier: threading.Thread | None) -> None:
        if earlier is not None:
            earlier.join()
        if number != self._number:  # forgotten before it was asked
            return
        reply, error = asked(question)
        with self._lock:
            if number == self._number:
                self._answer = Answer(asked_at, self._clock.now() - asked_at, reply.value, error)
