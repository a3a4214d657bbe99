"""Knobs say what falls to which index."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from explorer.errors import GenerationError
from explorer.generating.knobs import MIN_HOPS, SHAPES, Knobs


def test_a_thousand_scenes_have_every_hop_count_and_branches() -> None:
    settled = [Knobs().settle(1, index) for index in range(1000)]
    assert min(Counter(each.hops for each in settled).values()) >= 166
    assert sum(each.shape != "chain" for each in settled) >= 200
    assert {each.shape for each in settled} == set(SHAPES)
    assert all(each.shape and each.hops >= MIN_HOPS[each.shape] for each in settled)


def test_an_index_is_settled_by_itself() -> None:
    assert Knobs().settle(7, 40) == Knobs().settle(7, 40)
    assert Knobs(hops=5, shape="join").settle(7, 40) == Knobs(hops=5, shape="join")
    assert {Knobs(shape="diamond").settle(1, index).hops for index in range(9)} == {5, 6}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"hops": 7}, "hops 7 is out of range: give 0 to 6"),
        ({"spare": -1}, "spare -1 is out of range: give 0 to 32"),
        ({"shape": "ring"}, "unknown shape 'ring'; choose from chain, join, fork, diamond"),
        ({"shape": "diamond", "hops": 4}, "a diamond needs 5 hops or more, not 4"),
    ],
)
def test_a_wrong_knob_is_told_in_a_line(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(GenerationError) as told:
        Knobs(**wrong)
    assert str(told.value) == said


def test_seeds_begin_at_0() -> None:
    with pytest.raises(GenerationError, match="must be 0 or more"):
        Knobs().settle(-1, 0)
