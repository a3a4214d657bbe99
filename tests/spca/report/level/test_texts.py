"""What nobody could see is spelled out; the shelf keeps each text once."""

from __future__ import annotations

import unicodedata

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


@given(ANYTHING.filter(bool), st.sampled_from(["python", "pddl", "json", "text", "no such language"]))
def test_a_shelf_keeps_what_was_put(text: str, language: str) -> None:
    shelf = Shelf()
    name = shelf.put(text, language)
    shown = shelf.texts[name]
    assert visible("\n".join(shown.lines)) == visible(text)
    assert shown.language == language
    assert len(name) == 16
    assert set(name) <= set("0123456789abcdef")


def test_ids_tell_texts_and_languages_apart() -> None:
    shelf = Shelf()
    names = [shelf.put("a", "text"), shelf.put("a", "python"), shelf.put("b", "text"), shelf.put("a", "text")]
    assert len(set(names)) == 3
    assert names[0] == names[3]
    assert names[0] == Shelf().put("a", "text")
    assert set(shelf.texts) == set(names)


def test_there_is_no_empty_text() -> None:
    shelf = Shelf()
    assert shelf.put("", "text") == ""
    assert not shelf.texts
