"""Other words for the same snapshot and problem."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.bodies.grid.body import GRID
from spca.sense.map_text import legend
from spca.sense.perception import COLOURS
from spca.sense.renaming import Renaming, find_meaning
from spca.writers.renamings import Permutation
from tests.support.bodies.grid import likeness, recolourings
from tests.support.spca.writing import snapshot, state

assert GRID.vocabulary is not None
SWAPPED_KINDS, REDRAW = GRID.vocabulary.swapped, GRID.vocabulary.redraw
TURN = dict(zip(COLOURS, (*COLOURS[1:], COLOURS[0]), strict=True))
WORDS = st.sampled_from(
    (*COLOURS, "Red", "BLUE", "ball", "boxes", "Box", "goal", "key", "_", "-", "2", "reddish", "the")
)
texts = st.lists(WORDS | st.sampled_from((" ", "_", ", ")), max_size=20).map("".join)
renamings = st.builds(
    Permutation, st.permutations(COLOURS).map(lambda image: dict(zip(COLOURS, image, strict=True))), st.booleans()
) | st.builds(Permutation, st.just(SWAPPED_KINDS), st.booleans(), st.just(REDRAW))


def inverse(renaming: Permutation) -> Permutation:
    """The renaming that undoes this one."""
    return Permutation({new: old for old, new in renaming.words.items()}, renaming.keep_goals, renaming.redraw)


@given(renamings, texts)
def test_a_renaming_is_undone_by_its_inverse(renaming: Permutation, text: str) -> None:
    assert inverse(renaming).text(renaming.text(text)) == text


@given(renamings, st.lists(st.sampled_from(COLOURS), min_size=3, max_size=3))
def test_so_is_that_of_a_state(renaming: Permutation, colours: list[str]) -> None:
    given = coloured(*colours)
    assert inverse(renaming).state(renaming.state(given)) == given


def coloured(*colours: str) -> dict[str, Any]:
    text = json.dumps(state())
    for old, new in zip(("red", "blue", "green"), colours, strict=True):
        text = text.replace(f" {old}", f" {new.upper()}")
    given: dict[str, Any] = json.loads(text.lower())
    given["legend"] = legend(given["map"])
    return given


@pytest.mark.parametrize(
    ("text", "renamed"),
    [
        ("fetch the red ball", "fetch the green ball"),
        ("Go To Red Ball Grey", "Go To Green Ball Red"),
        ("(at key_red_2) (fits key-red red)", "(at key_green_2) (fits key-green green)"),
        ("reddish infrared", "reddish infrared"),
    ],
)
def test_words_are_renamed_where_they_stand_alone(text: str, renamed: str) -> None:
    assert Permutation(TURN).text(text) == renamed


def test_the_colour_of_a_goal_can_be_kept() -> None:
    text = "get to the green goal with the green key: goal_green key_green"
    assert (
        Permutation(TURN, keep_goals=True).text(text) == "get to the green goal with the blue key: goal_green key_blue"
    )


def test_a_map_is_renamed_with_its_legend() -> None:
    renamed = Permutation(SWAPPED_KINDS, redraw=REDRAW).state(state())
    assert renamed["mission"] == "fetch the red box"
    assert renamed["known_objects"] == {"box red": [[0, 1]], "key blue": [[0, 2]], "ball green": [[1, 0]]}
    assert renamed["map"] == [">xk", "b.#"]
    assert renamed["legend"] == state()["legend"]


@given(st.sets(st.sampled_from(COLOURS), max_size=6))
def test_a_state_is_recoloured_twice(colours: set[str]) -> None:
    given = {"mission": " and ".join(sorted(colours)), "level": {"skill": "walk"}, "known_objects": {}}
    found = recolourings(given)
    assert len(found) == (2 if colours else 0)
    for permutation in found:
        assert sorted(permutation) == sorted(permutation.values()) == sorted(COLOURS)
        assert any(permutation[colour] != colour for colour in colours)
    if colours:
        assert all(any(each[colour] != colour for each in found) for colour in colours)
        assert found[0] != found[1]
    if len(colours) < len(COLOURS):
        ordered = [[each[colour] for colour in sorted(colours)] for each in found]
        assert all(image == sorted(image) for image in ordered)


def test_invented_colours_are_permuted_among_themselves() -> None:
    words = {"known_objects": {"key zib": [], "door wug locked": [], "thing other": []}, "mission": "take the zib key"}
    assert recolourings(words) == ({"wug": "zib", "zib": "wug"},)
    assert recolourings({"known_objects": {"key zib": []}, "mission": "take it"}) == ()


@pytest.mark.parametrize("seed", [0, 3])
def test_colours_of_a_renamed_world_are_exchanged_for_other_invented_ones(seed: int) -> None:
    red, key = map(Renaming(seed).text, ("red", "key"))
    found = recolourings({"known_objects": {f"{key} {red}": []}, "mission": f"take the {red} {key}"})
    assert len({each[red] for each in found} - {red}) == 2
    assert all(find_meaning(new) in COLOURS and find_meaning(new) != new for each in found for new in each.values())


@given(renamings, texts, texts)
def test_texts_are_alike_up_to_renaming(renaming: Permutation, first: str, second: str) -> None:
    plain = Permutation(renaming.words)
    assert likeness(plain.text(first), plain.text(second)) == likeness(first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("the red key",), ("the red door",)),
        (("red and red",), ("red and blue",)),
        (("red", "red"), ("red", "blue")),
        (("ball",), ("balls",)),
        (("ball red",), ("key red",)),
    ],
)
def test_what_differs_otherwise_is_not_alike(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    assert likeness(*first) != likeness(*second)


def test_the_snapshot_of_the_tests_has_what_they_speak_of() -> None:
    assert state(snapshot().mission)["map"] == [">bk", "x.#"]
