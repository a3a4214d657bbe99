"""What a coder is told of the mission: how it calls the objects of the plan."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.sense.mission_words import mission_words


@pytest.mark.parametrize(
    ("mission", "name", "words"),
    [
        ("open the door", "door_any", "the door"),
        ("open a red door", "door_red", "a red door"),
        ("pick up the ball in front of you", "ball_any_front", "the ball in front of you"),
        ("go to a red ball and the red ball on your left", "ball_red_left", "the red ball on your left"),
        ("go to the red ball on your left and a red ball", "ball_red", "a red ball"),
        ("put the gray box near the key", "box_grey", "the grey box"),
        ("use the key to open the door and then get to the goal", "key_yellow", "the key"),
        ("Get to the green goal square", "goal_green", "the green goal square"),
        ("pick up a red object", "object_red", "a red object"),
        ("put a red ball next to a red ball", "ball_red_2", "a red ball"),
        ("get the amber orb", "orb_amber", "the amber orb"),
    ],
)
def test_the_words_for_an_object(mission: str, name: str, words: str) -> None:
    assert mission_words(mission, ["a1", name]) == {name: words}


@pytest.mark.parametrize("name", ["door_any", "key_red", "box_red", "ball", "", "_", "ball_blue"])
def test_what_a_mission_does_not_speak_of_is_left_out(name: str) -> None:
    assert mission_words("go to the red door, then pick up the red ball", [name]) == {}


@given(st.text(), st.lists(st.text()))
def test_the_words_are_the_missions(mission: str, names: list[str]) -> None:
    told = mission_words(mission, names)
    text = " ".join(mission.lower().replace("gray", "grey").split())
    assert told.keys() <= {*names}
    assert all(words in text for words in told.values())
