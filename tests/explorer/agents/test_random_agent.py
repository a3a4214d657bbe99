"""The random agent: anything that the view offers, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from explorer.agents.random_agent import RandomAgent
from explorer.rules.actions import Primitive, aim, craft, decode, hold
from explorer.rules.items import item
from explorer.rules.recipes import recipe
from explorer.scene import Stack
from explorer.view import Offer, Thing, View
from tests.support.explorer.bare_view import BARE


def drawn(view: View, seed: int = 1, text: str = "Take the emerald.", count: int = 2000) -> list[int]:
    agent = RandomAgent()
    agent.reset(view, text, seed)
    return [agent.act(view) for _ in range(count)]


def thing(**values: Any) -> Thing:
    return replace(Thing("lever_1", "lever", "", (6, 2, 1), 0, True), **values)


def test_every_primitive_but_wait_and_done_is_drawn_equally() -> None:
    counts = Counter(drawn(BARE))
    assert counts.keys() == set(Primitive) - {Primitive.WAIT, Primitive.DONE}
    assert min(counts.values()) > 80
    assert max(counts.values()) < 180


def test_what_the_view_offers_is_drawn() -> None:
    offers = (
        Offer("oak_planks", Stack("oak_planks", 4), (), table=False, craftable=True),
        Offer("chest", Stack("chest"), (), table=True, craftable=False),
    )
    things = (thing(), thing(in_view=False, cell=(5, 1, 4)), thing(cell=(4, 1, 10)))
    view = replace(BARE, inventory={"oak_log": 1, "lever": 2}, held="lever", things=things, recipes=offers)
    found = {code for code in drawn(view) if decode(code).kind != "primitive"}
    assert found == {aim(2, 1, -3), hold(item("oak_log")), craft(recipe("oak_planks"))}


@pytest.mark.parametrize("change", [{"seed": 2}, {"text": "Find the bell."}, {"view": replace(BARE, origin=(0, 0, 0))}])
def test_seed_text_and_spawn_decide(change: dict[str, Any]) -> None:
    assert drawn(BARE) == drawn(BARE)
    assert drawn(**{"view": BARE, **change}) != drawn(BARE)
