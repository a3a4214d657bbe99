"""Kinds and colours that plugins add. Each case runs in a forked process, because added words stay."""

from __future__ import annotations

import json

import numpy as np
import pytest

from spca.contracts import LevelInfo
from spca.prompts.formatting import format_state
from spca.sense import added_words, map_text, object_names, perception
from spca.sense.mission_words import mission_words
from spca.sense.renaming import Renaming
from tests.support.bodies.grid import make_snapshot
from tests.support.processes import in_fork

BEFORE = tuple(perception.VOCABULARY)


LEVEL = LevelInfo("lab", "take it", "relics")


def encode(kind: int, colour: int, state: int = 0) -> str:
    image = np.array([[[kind, colour, state]]], dtype=np.uint8)
    return str(perception.word_array()[perception.encode_view(image)][0, 0])


@in_fork
def test_words_that_exist_keep_their_codes() -> None:
    added_words.add_object_kind("relic", "r", carry=True)
    added_words.add_colour("teal")
    assert perception.vocabulary()[: len(BEFORE)] == BEFORE
    assert len(set(perception.VOCABULARY)) == len(perception.VOCABULARY) <= perception.MAX_WORDS
    assert {"relic red", "relic other", "relic teal", "key teal", "door teal locked"} <= {*perception.VOCABULARY}
    renamed = Renaming(3).vocabulary
    assert len(renamed) == len(perception.VOCABULARY)
    assert renamed[perception.VOCABULARY.index("relic teal")] == "relic teal"


@in_fork
def test_numbers_come_from_the_tables_of_the_simulator() -> None:
    assert encode(11, 2) == "thing blue"
    added_words.add_object_kind("relic", "r", carry=True)
    added_words.add_object_kind("rug", "=", blocks=False)
    added_words.add_colour("teal")
    assert encode(14, 2) == "thing blue"  # the environment has not given numbers yet

    perception.bind_numbers({"relic": 14, "rug": 11, "lamp": 12}, {"teal": 6})
    assert [encode(number, 2) for number in range(10, 16)] == [
        "agent",
        "rug blue",
        "thing blue",
        "thing blue",
        "relic blue",
        "thing blue",
    ]
    assert (encode(14, 6), encode(5, 6), encode(4, 6, 2), encode(14, 7)) == (
        "relic teal",
        "key teal",
        "door teal locked",
        "relic other",
    )
    assert encode(255, 255, 255) == "thing other"


@in_fork
def test_the_largest_number_has_its_word() -> None:
    added_words.add_object_kind("relic", "r")
    perception.bind_numbers({"relic": 255}, {})
    assert (encode(255, 0), encode(254, 0)) == ("relic red", "thing red")


@in_fork
def test_two_kinds_of_one_number_are_refused() -> None:
    added_words.add_object_kind("relic", "r")
    added_words.add_object_kind("idol", "i")
    with pytest.raises(ValueError, match="relic and idol have the same number 11"):
        perception.bind_numbers({"relic": 11, "idol": 11}, {})
    with pytest.raises(ValueError, match="relic has the number 5, which is not from 11 to 255"):
        perception.bind_numbers({"relic": 5}, {})


@in_fork
def test_an_added_kind_is_drawn_named_and_carried() -> None:
    added_words.add_object_kind("relic", "r", carry=True)
    added_words.add_object_kind("rug", "=", blocks=False)
    added_words.add_colour("teal")
    grid = (("wall", "relic teal"), ("rug red", "agent"))
    assert map_text.draw(grid, "East") == ["#r", "=>"]
    assert map_text.legend(map_text.draw(grid)).endswith("r relic (can be carried), = rug (can be entered)")
    assert map_text.list_known_objects(grid) == {"relic teal": [[0, 1]], "rug red": [[1, 0]]}
    assert json.loads(format_state({"map": ["#r", "=>"]})) == {"map": ["#r", "=>"]}

    view = np.full((3, 3), perception.EMPTY, dtype=np.uint8)
    for word, carried in (("relic teal", "relic teal"), ("rug red", None)):
        view[2, 1] = perception.VOCABULARY.index(word)
        assert perception.read_carried(view) == carried

    told = object_names.words_told(make_snapshot("take the relic", "East", None, grid), LEVEL)
    assert object_names.fault_of("relic_teal", told) == object_names.fault_of("key_teal", told) == ""
    assert "relic_red" in object_names.advice("red_relic", told)
    assert mission_words("take the teal relic", ["relic_teal"]) == {"relic_teal": "the teal relic"}
    assert perception.star_details("relic teal 7") == "relic * *"


@in_fork
def test_wrong_words_and_symbols_are_refused() -> None:
    for word in ("Relic", "r", "red relic", "key", "red", "locked", "any", "agent", ""):
        with pytest.raises(ValueError, match="word"):
            added_words.add_object_kind(word, "r")
        with pytest.raises(ValueError, match="word"):
            added_words.add_colour(word)
    for symbol in ("#", ">", "k", "rr", "", " ", '"', "\\", "é"):
        with pytest.raises(ValueError, match="symbol"):
            added_words.add_object_kind("relic", symbol)
    assert tuple(perception.VOCABULARY) == BEFORE


@in_fork
def test_the_codes_are_bytes() -> None:
    room = (perception.MAX_WORDS - len(perception.VOCABULARY)) // 7  # words of a kind
    for letter, symbol in zip("abcdefghijklmnopqrstuvwxyz"[:room], "acdefghijlmnopqruwyzACEFHIJKMN", strict=False):
        added_words.add_object_kind(f"kind{letter}", symbol)
    with pytest.raises(ValueError, match="room for 256 words"):
        added_words.add_object_kind("relic", "Z")
    assert len(perception.VOCABULARY) <= perception.MAX_WORDS
    assert perception.word_array().shape == (len(perception.VOCABULARY),)
