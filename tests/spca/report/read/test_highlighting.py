"""Highlighting: the text stays the text, whatever it is, and takes little time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.report.read.highlighting import MAX_CHARS, highlighted, lines_in_strings
from tests.support.tiers import few

PIECES = ['"', "'", '"""', "'''", "\\", "\n", "\\\n", "f", "r", "#", "def f", "{", "}", "\t", ":", "x", "0x1", ";", "?"]
BROKEN = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


def classes(text: str, language: str) -> list[list[tuple[str, str]]]:
    return [[(t[0], t[1].strip()) for t in line if isinstance(t, tuple)] for line in highlighted(text, language)]


def joined(text: str, language: str) -> str:
    lines = highlighted(text, language)
    return "\n".join("".join(t if isinstance(t, str) else t[1] for t in line) for line in lines)


@pytest.mark.parametrize(
    ("line", "tokens"),
    [
        ("    def go(self, x):  # on", [("k", "def"), ("f", "go"), ("b", "self"), ("c", "# on")]),
        ("class Agent:", [("k", "class"), ("f", "Agent")]),
        ("x = len(y.len) + 0x1F", [("o", "="), ("b", "len"), ("o", "+"), ("n", "0x1F")]),
        ("""a = f"b'#{c}" + r'\\'""", [("o", "="), ("s", """f"b'#{c}\""""), ("o", "+"), ("s", r"r'\'")]),
        ("return not 1.5e-3", [("k", "return not"), ("n", "1.5e-3")]),
        ("défi = None", [("o", "="), ("k", "None")]),
    ],
)
def test_python(line: str, tokens: list[tuple[str, str]]) -> None:
    assert classes(line, "python")[0][: len(tokens)] == tokens


def test_a_string_goes_on_over_lines_until_its_own_quote() -> None:
    text = "x = '''a \"\"\" # b\n  def c\nd''' + \"e\\\n f\" # g\n\"h\ndef i"
    assert [[kind for kind, _ in line] for line in classes(text, "python")] == [
        ["o", "s"],
        ["s"],
        ["s", "o", "s"],
        ["s", "c"],
        ["s"],
        ["k", "f"],
    ]
    assert list(lines_in_strings(text)) == [False, True, True, True, False, False]


def test_pddl() -> None:
    text = "(define (domain rooms) ; small\n (:action go-to :parameters (?a - agent) :effect (not (at ?a 2))))"
    first, second = classes(text, "pddl")
    assert first == [("k", "define"), ("k", "domain"), ("f", "rooms"), ("c", "; small")]
    assert second[:4] == [("k", ":action"), ("f", "go-to"), ("k", ":parameters"), ("v", "?a")]
    assert second[4:] == [("o", "-"), ("k", ":effect"), ("o", "not"), ("v", "?a"), ("n", "2")]


def test_json() -> None:
    text = '{"a": "b\\"c", "d": [1.5, null, "e"]}'
    assert classes(text, "json") == [
        [("v", '"a"'), ("s", '"b\\"c"'), ("v", '"d"'), ("n", "1.5"), ("k", "null"), ("s", '"e"')]
    ]


@given(BROKEN, st.sampled_from(["python", "pddl", "json"]))
def test_broken_text_stays_what_it_is(text: str, language: str) -> None:
    assert joined(text, language) == text


def test_what_is_not_known_or_too_long_is_plain() -> None:
    assert highlighted("def f\n\nx", "klingon") == (("def f",), (), ("x",))
    assert highlighted("#" * (MAX_CHARS + 1), "python") == (("#" * (MAX_CHARS + 1),),)


@pytest.mark.parametrize(
    "unit", few(5, ['"', "'", '"""\\N{', "\\", "\n ", "(", " ", ". ", "'\\", 'f"{', "1_", "e+", '"":', "\u3000a"])
)
@pytest.mark.parametrize("language", ["python", "pddl", "json"])
def test_hostile_text_takes_time_in_proportion(unit: str, language: str) -> None:
    """Measured: at most 0.1 s; lexers in wide use need minutes for some of these."""
    text = (unit * 50_000)[:50_000]
    started = time.process_time()
    assert joined(text, language) == text
    assert time.process_time() - started < 5
