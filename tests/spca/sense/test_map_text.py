"""Snapshots as text."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.prompts.formatting import format_data, format_state
from spca.sense.map_text import (
    crop_map,
    draw,
    end_state,
    legend,
    list_known_objects,
    symbol,
)
from spca.sense.perception import DIRECTIONS, VOCABULARY, VisibleObject
from tests.support.bodies.grid import agent_state, planner_state, show
from tests.support.spca.doubles import SNAPSHOT, SNAPSHOT_GRID, change_snapshot

GRIDS = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(st.sampled_from(VOCABULARY), min_size=width, max_size=width), min_size=1)
)


@pytest.mark.parametrize("word", VOCABULARY)
def test_every_cell_word_has_a_symbol_that_the_legend_explains(word: str) -> None:
    kind, *rest = word.split()
    meaning = kind if len(rest) < 2 else f"switch {rest[1]}" if kind == "switch" else f"{rest[1]} {kind}"
    assert legend(draw([[word]])) == f"{symbol(word)} {meaning}"


def test_the_legend_explains_what_occurs_and_each_symbol_once() -> None:
    entries = legend(draw([VOCABULARY])).split(", ")
    assert len({entry[0] for entry in entries}) == len(entries)
    assert legend(["#.", ".>"]) == "# wall, . empty"


def test_a_map_is_one_line_a_row() -> None:
    assert draw((("wall", "door red open"), ("agent", "unseen"))) == ["#O", "@?"]


@pytest.mark.parametrize(("direction", "arrow"), [*zip(DIRECTIONS, ">v<^", strict=True)])
def test_the_agent_points_where_it_faces(direction: str, arrow: str) -> None:
    assert draw((("empty", "agent"),), direction) == [f".{arrow}"]


@given(GRIDS)
def test_a_cropped_map_holds_all_that_was_seen_and_no_empty_border(grid: Sequence[Sequence[str]]) -> None:
    part = crop_map(grid)
    seen = {(r, c): word for r, line in enumerate(grid) for c, word in enumerate(line) if word != "unseen"}
    top, left = (min(places, default=0) for places in zip(*seen, strict=True)) if seen else (0, 0)
    shown = {(r + top, c + left): word for r, line in enumerate(part) for c, word in enumerate(line)}
    assert {place: word for place, word in shown.items() if word != "unseen"} == seen
    if seen:
        for border in (part[0], part[-1], [line[0] for line in part], [line[-1] for line in part]):
            assert set(border) != {"unseen"}


@given(GRIDS)
def test_listed_objects_lie_where_they_are_drawn(grid: Sequence[Sequence[str]]) -> None:
    state = agent_state(change_snapshot(visible_grid=tuple(map(tuple, grid))))
    part = crop_map(grid)
    for name, places in state["known_objects"].items():
        for r, c in places:
            assert state["map"][r][c] == symbol(name)
            assert part[r][c] == name


def test_things_of_one_name_are_listed_together_and_scenery_is_not() -> None:
    grid = (("wall", "box grey", "unseen", "lava", "floor", "agent"), ("box grey", *["door red open"] * 5))
    assert list_known_objects(grid) == {
        "box grey": [[0, 1], [1, 0]],
        "door red open": [[1, 1], [1, 2], [1, 3], [1, 4], [1, 5]],
    }


def test_things_in_view_are_placed_as_the_agent_sees_them() -> None:
    seen = (
        VisibleObject("key blue", None, 0, -1),
        VisibleObject("door red", "closed", 2, 3),
        VisibleObject("lava", None, 1, 0),
        VisibleObject("ball green", None, 4, 0),
    )
    assert planner_state(change_snapshot(visible_objects=seen))["visible_objects"] == [
        "key blue: 1 left",
        "door red closed: 2 ahead, 3 right",
        "ball green: 4 ahead",
    ]


def test_the_coder_is_shown_everything_but_the_mission_and_the_skill_instead() -> None:
    padded = (("unseen",) * 4, *(("unseen", *row) for row in SNAPSHOT_GRID))
    state = planner_state(SNAPSHOT)
    assert state.pop("mission") == SNAPSHOT.mission
    assert agent_state(SNAPSHOT, "Open doors") == {"skill": "Open doors", **state}
    named = agent_state(SNAPSHOT, "Open doors", ["a1", "goal_green", "door_red"])
    assert named == {"skill": "Open doors", "mission_words": {"goal_green": "the green goal square"}, **state}
    assert agent_state(change_snapshot(visible_grid=padded)) == {"skill": "", **state}
    assert set(state) == {"direction", "inventory", "visible_objects", "known_objects", "legend", "map"}


def test_the_map_is_drawn_row_below_row() -> None:
    text = format_state(planner_state(SNAPSHOT))
    assert text.split("\n")[1:] == ['"##?",', '">.G",', '"#L?"', "]}"]
    assert json.loads(text) == planner_state(SNAPSHOT)


@given(st.dictionaries(st.text(), st.text()), st.lists(st.text()) | st.lists(st.text("<>/?#.k")))
def test_a_state_is_json_without_a_tag(others: dict[str, str], rows: list[str]) -> None:
    state = {**others, "map": rows}
    text = format_state(state)
    assert json.loads(text) == state
    assert not re.search(r"</", text)
    assert not re.search("[<>]", text.split('"map": [')[0])


def test_a_state_without_a_map_is_plain_data() -> None:
    assert format_state({"mission": "<b>"}) == format_data({"mission": "<b>"})


def test_the_end_is_told_with_what_is_where_and_drawn_below_its_legend() -> None:
    grid = (("unseen", "unseen", "unseen"), ("unseen", "agent", "key red"), ("unseen", "key red", "door blue locked"))
    assert end_state(show(grid, "South")) == [
        "the agent faces South; in its hand: nothing",
        "known objects at [row, column]: key red [0, 1] [1, 0], door blue locked [1, 1]",
        "(k key, L locked door)",
        "vk",
        "kL",
    ]
    assert end_state(show((("agent", "wall"),)))[1:] == ["(# wall)", ">#"]


@pytest.mark.parametrize(("held", "told"), [("ball grey", "ball grey"), (None, "nothing")])
def test_the_end_is_told_with_pose_and_hand(held: str | None, told: str) -> None:
    assert end_state(show((("agent", "empty"),), "West", held)) == [
        f"the agent faces West; in its hand: {told}",
        "(. empty)",
        "<.",
    ]
