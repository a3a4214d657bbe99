"""Names of objects in plans for the grid's body."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.bodies.grid.naming import GridNames
from spca.body import NamingRules
from spca.contracts import PlanStep
from spca.sense.mission_words import mission_words
from spca.sense.object_names import words_told
from spca.sense.renaming import Renaming
from tests.support.spca.doubles import LEVEL, SNAPSHOT

RULES: NamingRules = GridNames()
SHOWN = RULES.list_shown_words(SNAPSHOT, LEVEL)


def faults(*args: str) -> dict[str, str]:
    return dict(RULES.find_name_faults(PlanStep("go", args), SHOWN, str))


def test_the_words_of_mission_level_and_map_are_shown() -> None:
    assert words_told(SNAPSHOT, LEVEL) == SHOWN
    assert {"goal", "green", "square", "door", "red", "locked", "walk"} <= SHOWN
    assert all(word == word.lower() for word in SHOWN)


def test_the_agent_needs_no_name_of_an_object_where_it_comes_first() -> None:
    assert faults("a1", "door_red") == {}
    assert faults("me", "goal_green") == {}
    assert set(faults("door_red", "me")) == {"me"}
    assert set(faults("red_door")) == {"red_door"}, "what is a thing is judged in the first place too"


def test_a_fault_is_told_with_a_better_name() -> None:
    assert faults("a1", "red_door")["red_door"].endswith("; write door_red")
    told = faults("a1", "lamp_red")["lamp_red"]
    assert told.startswith("there is no kind of thing called 'lamp'; names are kind_colour, such as")


def test_the_words_of_advice_are_renamed() -> None:
    rename = Renaming(3).text
    ((name, told),) = RULES.find_name_faults(PlanStep("go", ("a1", "lamp_red")), SHOWN, rename)
    assert name == "lamp_red"
    assert told.endswith(rename(faults("a1", "lamp_red")["lamp_red"].partition("; ")[2]))
    assert "key_blue" not in told


@pytest.mark.parametrize(
    ("passed", "wrong"),
    [
        ({}, None),
        ({"agent": "a1", "door": "door_red"}, None),
        ({"agent": "a1", "thing": "key_blue"}, None),
        ({"door": "key_blue"}, ("door", "key_blue")),
        ({"door_2": "key_blue"}, ("door_2", "key_blue")),
        ({"key": "door_red"}, ("key", "door_red")),
        ({"key": "ball_red"}, None),
        ({"key": "ball_red", "ball": "key_blue"}, ("key", "ball_red")),
        ({"box": "ball_red", "ball": "object_any"}, None),
        ({"door": "object_any"}, None),
    ],
)
def test_an_object_of_the_wrong_kind_is_found(passed: dict[str, str], wrong: tuple[str, str] | None) -> None:
    assert RULES.find_wrong_argument(passed) == wrong


def test_kinds_are_known_by_their_invented_words_too() -> None:
    rename = Renaming(5).text
    passed = {rename("door"): rename("key_blue")}
    assert RULES.find_wrong_argument(passed) == (rename("door"), rename("key_blue"))


@given(st.dictionaries(st.text("doorkeybalx_2", max_size=9), st.text("doorkeybalx_2", max_size=9), max_size=4))
def test_any_arguments_are_judged(passed: dict[str, str]) -> None:
    wrong = RULES.find_wrong_argument(passed)
    assert wrong is None or passed[wrong[0]] == wrong[1]


def test_the_words_of_the_mission_are_those_that_mean_an_object() -> None:
    mission = "put the red ball on your left next to the blue box"
    names = ("ball_red_left", "box_blue", "key_grey")
    assert RULES.find_object_words(mission, names) == mission_words(mission, names)
