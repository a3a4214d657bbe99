"""What nobody could see is spelled out; the shelf keeps each text once."""

from __future__ import annotations

import threading
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.text import visible
from spca.report.level.texts import Shelf

ANYTHING = st.text(st.characters(codec=None, categories=None))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one\r\ntwo\n\tthree", "one\ntwo\n\tthree"),
        ("over\rwritten", "over␍written"),
        ("\x1b[2J\x1b]8;;http://x\x07", "␛[2J␛]8;;http://x␇"),
        ("\x00\x7f\x85", "␀␡⟨U+0085⟩"),
        ("if admin\u202e\u2066 # no\u2069", "if admin⟨U+202E⟩⟨U+2066⟩ # no⟨U+2069⟩"),
        ("a\u200bb\ufeffc\u061cd\u2028e\u00adf", "a⟨U+200B⟩b⟨U+FEFF⟩c⟨U+061C⟩d⟨U+2028⟩e⟨U+00AD⟩f"),
        ("\U000e0041\U000e01ef\u3164", "⟨U+E0041⟩⟨U+E01EF⟩⟨U+3164⟩"),
        ("\ud800 and \udfff", "⟨U+D800⟩ and ⟨U+DFFF⟩"),
        ("<b>&amp;</script> élève 鍵 🗝️ ↯ ½", "<b>&amp;</script> élève 鍵 🗝️ ↯ ½"),
    ],
)
def test_what_cannot_be_seen_is_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(ANYTHING)
def test_nothing_that_controls_or_hides_is_left(text: str) -> None:
    shown = visible(text)
    kinds = {unicodedata.category(character) for character in shown if character not in "\n\t"}
    assert not kinds & {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}
    assert visible(shown) == shown
    shown.encode()


@given(ANYTHING, st.sampled_from(["python", "pddl", "json", "text", "no such language"]))
def test_a_shelf_shows_what_was_put(text: str, language: str) -> None:
    shelf = Shelf()
    name = shelf.put(text, language)
    shown = shelf.text(name)
    lines = ["".join(token if isinstance(token, str) else token[1] for token in line) for line in shown.lines]
    assert lines == visible(text).split("\n")
    assert (shelf.raw(name), shown.language) == (text, language)
    assert len(name) == 16
    assert set(name) <= set("0123456789abcdef")


def test_ids_tell_texts_and_languages_apart() -> None:
    shelf = Shelf()
    names = [shelf.put("a", "text"), shelf.put("a", "python"), shelf.put("b", "text"), shelf.put("a", "text")]
    assert len(set(names)) == 3
    assert names[0] == names[3]
    assert shelf.text(names[0]) is shelf.text(names[3])
    assert names[0] == Shelf().put("a", "text")


def test_an_unknown_id_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        Shelf().text("0" * 16)


def test_what_is_put_while_a_collection_is_open_is_collected() -> None:
    shelf = Shelf()
    shelf.put("before", "text")
    with shelf.collecting() as outer:
        first = shelf.put("first", "text")
        with shelf.collecting() as inner:
            second = shelf.put("second", "text")
            shelf.put("first", "text")
    shelf.put("after", "text")
    assert (outer, inner) == ({first, second}, {first, second})


def test_each_thread_collects_its_own() -> None:
    shelf, together = Shelf(), threading.Barrier(4)

    def collect(worker: int) -> bool:
        with shelf.collecting() as mine:
            together.wait()
            put = {shelf.put(f"{worker} {number}", "python") for number in range(50)}
            together.wait()
        return mine == put and all(shelf.text(name).lines for name in put)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(collect, range(4)))
