"""Snapshots as text."""

from __future__ import annotations

import pytest

from spca.map_text import LEGEND, agent_state, draw, known_objects, planner_state, symbol
from spca.perception import VOCABULARY
from tests.doubles import SNAPSHOT


@pytest.mark.parametrize("word", VOCABULARY)
def test_every_cell_word_has_a_symbol_that_the_legend_explains(word: str) -> None:
    kind, _, rest = word.partition(" ")
    meaning = f"{rest.rpartition(' ')[2]} door" if kind == "door" else kind
    assert f"{symbol(word)} {meaning}" in LEGEND.split(", ")


def test_symbols_of_different_things_differ() -> None:
    symbols = [entry[0] for entry in LEGEND.split(", ")]
    assert len(set(symbols)) == len(symbols)


def test_a_map_is_one_line_a_row() -> None:
    assert draw((("wall", "door red open"), ("agent", "unseen"))) == ["#O", "@?"]


def test_scenery_is_not_listed() -> None:
    assert known_objects((("wall", "empty", "unseen", "lava", "floor", "agent"), ("box grey",))) == [
        {"name": "box grey", "row": 1, "column": 0}
    ]


def test_the_coder_is_shown_everything_but_the_mission() -> None:
    told = planner_state(SNAPSHOT)
    assert told.pop("mission") == SNAPSHOT.mission
    assert told == agent_state(SNAPSHOT)
    assert set(told) == {"direction", "inventory", "visible_objects", "known_objects", "map"}
