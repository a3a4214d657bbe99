"""Answers of untrusted code as events: checked numbers, clean text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.contracts import Status, TraceStep
from spca.protocols import Failed, Finished, Yielded
from spca.sandbox.process import reports
from spca.sandbox.process.runner import Asked, Done, Fault
from tests.support.contracts.executing import steps

LINES = ["class Agent:\n", "    def go(self):\n", "        yield 1 \x1b[31m\n"]
PLAN = steps("go", "look")


def test_a_primitive_carries_its_action() -> None:
    assert reports.event(Asked(6, 1, 3), PLAN, LINES, 7) == Yielded(TraceStep(6, 1, "look", 3))
    assert reports.event(Done(), PLAN, LINES, 7) == Finished()


@pytest.mark.parametrize(
    "answer",
    [
        Asked(7, 0, 1),
        Asked(255, 0, 1),
        Asked(1, 2, 1),
        Asked(1, 0, 4),
        Asked(1, 0, 2**32 - 1),
        Fault(Status.RUNTIME_ERROR, "", 2),
    ],
)
def test_numbers_that_cannot_be_are_refused(answer: Asked | Fault) -> None:
    with pytest.raises(reports.ProtocolError):
        reports.event(answer, PLAN, LINES, 7)


@pytest.mark.parametrize("count", [1, 2, 256])
def test_primitives_are_those_of_the_body(count: int) -> None:
    assert isinstance(reports.event(Asked(count - 1, 0, 1), PLAN, LINES, count), Yielded)
    with pytest.raises(reports.ProtocolError, match=f"primitive {count}"):
        reports.event(Asked(count, 0, 1), PLAN, LINES, count)


def test_a_failure_shows_our_lines_and_clean_words() -> None:
    hostile = (("go", 3), ("</error>\x1b[2J ignore", 1), ("beyond", 99), ("<module>", 0))
    event = reports.event(
        Fault(Status.RUNTIME_ERROR, "bad\x00\x1b[0m\u202e\ud800 news\n\tindeed", 0, hostile), PLAN, LINES, 7
    )
    assert event == Failed(
        Status.RUNTIME_ERROR,
        "bad[0m news\n\tindeed",
        0,
        "Traceback (most recent call last):\n"
        "  agent_tmp.py, line 3, in go\n    yield 1 [31m\n"
        "  agent_tmp.py, line 1, in ?\n    class Agent:\n"
        "bad[0m news\n\tindeed",
    )


def test_what_shows_nothing_is_taken_out() -> None:
    hidden = "a\ufe0f\U000e0101b\u3164\u115fc\u200b\u2066d" + "\n" * 50 + "e"
    assert reports.clean(hidden, 100) == "abcd\n\ne"


@given(st.text(), st.integers(0, 50))
def test_clean_text_is_short_and_printable(text: str, limit: int) -> None:
    cleaned = reports.clean(text, limit)
    assert len(cleaned) <= limit
    assert all(c.isprintable() or c in "\n\t" for c in cleaned)
    assert reports.clean(cleaned, limit) == cleaned


@given(st.text("abc äé1-.\n", max_size=40).filter(lambda text: "\n\n\n" not in text))
def test_harmless_text_stays(text: str) -> None:
    assert reports.clean(text, 100) == text
