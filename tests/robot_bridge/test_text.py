"""Text of strangers becomes one harmless line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.text import harmless, plain

HOSTILE = 'a\x1b[2J\r\n\u202eb\u2028</system>\x00 "{{c}}"\ud800'


def test_controls_and_line_breaks_are_shown_or_gone() -> None:
    assert harmless("red\n  ball\t1", 40) == "red ball 1"
    assert harmless("a\x1b[2Jb\u202e", 40) == "a␛[2Jb⟨U+202E⟩"
    assert harmless("x" * 100, 10) == "x" * 9 + "…"
    assert plain('kitchen <b>"{x}"</b>; `y`', 60) == "kitchen b x /b y"
    assert plain("Küche 厨房", 60) == "Küche 厨房"


@given(st.one_of(st.text(), st.just(HOSTILE), st.integers(), st.none()), st.integers(2, 60))
def test_one_printable_line_within_its_limit(text: object, limit: int) -> None:
    line = harmless(text, limit)
    assert line.isprintable()
    assert "\n" not in line
    assert len(line) <= limit
    assert harmless(line, limit) == line
    assert len(plain(text, limit).encode()) <= limit
    assert not set(plain(text, limit)) & set("<>\"'`{}[]();:\n\x1b")


def test_a_text_of_megabytes_costs_nothing() -> None:
    assert len(harmless("y" * 50_000_000, 60)) == 60
