"""What a page asks for becomes steps, and what it is told is what was seen."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from explorer.play.session import Session
from explorer.rules.actions import Primitive
from explorer.rules.blocks import BLOCKS
from tests.support.explorer.scenes import Puzzle, hall, having, plug
from tests.support.explorer.told import EMERALD, TO_EMERALD, TO_LEVER, told
from tests.support.explorer.twins import KINDS, compare_views, furnish, make_twins, walk_codes
from tests.support.explorer.world_suite import SCENES

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def do(session: Session, *names: str) -> dict[str, Any]:
    return [session.ask({"do": name.lower()}) for name in names][-1]


def read_blocks(answer: dict[str, Any]) -> NDArray[np.int64]:
    """Return the looks of all cells, as a page reads them."""
    looks = np.repeat(answer["blocks"][::2], answer["blocks"][1::2])
    return np.where(looks < 0, 0, looks)


def test_wishes_win_and_the_page_is_told_what_is_new() -> None:
    session = Session(told())
    answers = [session.ask({"do": name.lower()}) for name in TO_LEVER.split()]
    answers.append(session.ask({"touch": [9, 1, 6]}))
    answers += [session.ask({"do": name.lower()}) for name in TO_EMERALD.split()]
    known = session.looks.numbers(session.game.view.known).ravel()
    assert (read_blocks(answers[-1]) == known).all()
    assert len(answers[-1]["trail"]) == 1 + len(EMERALD)
    assert [answer["over"] for answer in answers[:-1]] == [""] * (len(answers) - 1)
    assert (answers[-1]["over"], answers[-1]["latched"], answers[-1]["hops"]) == ("goal", 2, 2)
    assert session.finished.is_set()
    episode = session.episode()
    assert (episode.codes, episode.solved, episode.model) == (EMERALD, True, "human")


def test_milestones_are_hidden_until_the_end() -> None:
    session = Session(told())
    texts = [str(session.describe()), str(do(session, "forward", "turn_left"))]
    assert not any("behind_the_door" in text or "latched" in text or "hops" in text for text in texts)


def test_what_cannot_be_reached_takes_no_step() -> None:
    session = Session(told())
    whys = {(9, 1, 6): "not seen yet", (5, 1, 8): "too far away", (99, 0, 0): "too far away"}
    for cell, why in whys.items():
        answer = session.ask({"touch": list(cell)})
        assert (answer["step"], answer["said"][-1]) == (0, ("", why)), cell


def test_what_hides_behind_something_is_not_touched() -> None:
    shelves = hall().put("bookshelf", (4, 1, 6), (4, 1, 7)).scene("hall")
    session = Session(told(Puzzle(shelves, told().milestones)))
    session.ask({"do": "right"})
    session.ask({"do": "left"})
    answer = session.ask({"touch": [4, 1, 7]})
    assert (answer["step"], answer["said"][-1]) == (2, ("", "something is in the way"))


def test_hands_dig_craft_and_hold() -> None:
    session = Session(told(plug()))
    do(session, "turn_right", "forward", "forward", "forward", "back")
    session.ask({"touch": [1, 2, 1]})
    do(session, "left")
    for height in (2, 1, 3):
        session.ask({"touch": [1, height, 1]})
    inventory = dict(session.game.view.inventory)
    assert inventory.get("oak_log", 0) >= 1, session.describe()["said"]
    session.ask({"craft": "oak_planks"})
    assert session.game.view.inventory["oak_planks"] == 4
    session.ask({"hold": "oak_planks"})
    assert session.describe()["held"] == "oak_planks"
    session.ask({"touch": [2, 0, 2], "place": True})


def test_a_mob_that_is_clicked_is_attacked() -> None:
    pen = hall().mob("sheep", (4, 1, 6)).scene("pen")
    session = Session(told(Puzzle(pen, (having("take_wool", "wool", "white_wool"),))))
    answer = session.ask({"touch": [4, 1, 6]})
    assert answer["over"] == "goal"
    assert session.game.view.inventory == {"white_wool": 1}


@pytest.mark.parametrize("name", SCENES)
def test_looks_come_as_they_are_seen(name: str) -> None:
    """A page that has them all would tell what is hidden, before the first step."""
    session = Session(told(SCENES[name]()))
    seen, kinds = set[str](), set[str]()
    page = session.describe()
    for deed in ["", *["forward", "use", "dig", "turn_left", "place", "jump"] * 10]:
        if deed and not session.game.over:
            page = do(session, deed)
        look = session.describe_looks()
        view = session.game.view
        seen |= {BLOCKS[code].name for code in np.unique(view.known).tolist()}
        kinds |= {*view.inventory, *(thing.kind for thing in view.things)}
        kinds |= {offer.makes.item for offer in view.recipes}
        assert {each["name"] for each in look["looks"]} <= seen | {"unseen", "air"}
        assert look["sprites"].keys() <= kinds
        assert {kind for kind, _ in page["things"]} <= look["sprites"].keys()
        assert len(look["looks"]) > session.looks.numbers(view.known).max()


def test_looks_have_another_name_only_when_there_are_more() -> None:
    session = Session(told())
    names = [session.describe()["look"], *(session.ask({"do": name.lower()})["look"] for name in TO_LEVER.split())]
    assert [at for at in range(1, len(names)) if names[at] != names[at - 1]] == [5]


@pytest.mark.parametrize("kind", KINDS)
def test_twins_have_the_same_page_until_the_difference_is_noticed(kind: str) -> None:
    rng = random.Random(kind)
    loaded = told()
    scene, begin = furnish(loaded.scene)
    codes = [code for code in walk_codes(rng, begin, EMERALD, 30) if code < Primitive.DONE]
    twins = make_twins(kind, scene, codes, rng)
    steps = compare_views(twins, codes).steps
    one, other = (Session(replace(loaded, scene=each)) for each in (twins.one, twins.other))
    assert one.describe() == other.describe()
    for code in codes[: max(0, steps - 1)]:
        wish = {"do": Primitive(code).name.lower()}
        assert one.ask(wish) == other.ask(wish)


@pytest.mark.parametrize(
    "wish",
    [{}, {"do": "fly"}, {"do": 1}, {"hold": "nothing"}, {"craft": "x" * 1000}, {"touch": [1, 2]}, {"touch": "abc"}],
)
def test_wishes_for_nothing_are_refused(wish: dict[str, Any]) -> None:
    session = Session(told())
    with pytest.raises(ValueError, match="unknown request"):
        session.ask(wish)
    assert session.game.view.step == 0


@given(st.dictionaries(st.sampled_from(["do", "hold", "craft", "touch", "place"]), JSON))
def test_whatever_is_asked_for_is_answered_or_refused(wish: dict[str, Any]) -> None:
    session = Session(told())
    try:
        answer = session.ask(wish)
    except ValueError:
        return
    assert answer["step"] <= 2


def test_after_the_end_nothing_happens() -> None:
    session = Session(told())
    do(session, "done")
    answer = session.ask({"do": "forward"})
    assert (answer["step"], answer["over"], answer["said"][-1]) == (1, "done", ("", "the episode is over"))
    assert session.episode().codes == (int(Primitive.DONE),)


def test_an_episode_that_is_broken_off_is_ended() -> None:
    session = Session(told())
    do(session, "forward")
    assert session.episode().codes == (int(Primitive.FORWARD), int(Primitive.DONE))


def test_an_empty_hand_places_nothing_and_takes_no_step() -> None:
    session = Session(told(plug()))
    do(session, "turn_right", "forward", "forward", "forward", "back")
    before = session.game.view.step
    answer = session.ask({"touch": [1, 2, 1], "place": True})
    assert (answer["step"], answer["said"][-1]) == (before, ("", "your hand is empty"))
