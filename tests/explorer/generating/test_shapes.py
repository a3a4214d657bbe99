"""The order of a plan is what the gates and keys enforce, crafting and handles included."""

from __future__ import annotations

import random

import pytest

from explorer.generating.knobs import MIN_HOPS, SHAPES, Knobs, Shape
from explorer.generating.plans.gadgets import Draw
from explorer.generating.plans.goals import draw_plan
from explorer.generating.plans.keys import add_craftable, take_apart
from explorer.generating.plans.plan import Area, Gate, Hop, Plan, RejectedDraw, Thing
from explorer.generating.plans.shapes import classify_shape, order_hops, reduce_order
from tests.support.explorer.drafts import plan_of


def gated(plan: Plan, parent: Area, gate: Gate, name: str) -> tuple[Area, Hop]:
    area = plan.add_area(parent, gate)
    gate.hop = Hop("enter_room", name, "enter", area)
    return area, plan.add_hop(gate.hop)


def door(plan: Plan, *where: Area) -> Gate:
    devices = [plan.add_thing(Thing("device", area, block="lever")) for area in where]
    return Gate("lever_door", "iron_door", "devices", "iron_door", devices, mode="all")


def test_a_door_waits_for_all_its_levers() -> None:
    plan = Plan()
    root = plan.add_area()
    left, first = gated(plan, root, Gate("maze", "maze"), "red")
    right, second = gated(plan, root, Gate("maze", "maze"), "blue")
    _, goal = gated(plan, root, door(plan, left, right), "green")
    before = order_hops(plan)
    assert before == {first: frozenset(), second: frozenset(), goal: {first, second}}
    assert classify_shape(before) == "join"


def test_a_lever_in_the_open_makes_the_rest_needless() -> None:
    plan = Plan()
    root = plan.add_area()
    far, _ = gated(plan, root, Gate("maze", "maze"), "red")
    gated(plan, root, door(plan, far), "green")
    assert len(order_hops(plan)) == 2
    plan.add_thing(Thing("lying", root, "lever"))
    with pytest.raises(RejectedDraw, match="not needed"):
        order_hops(plan)


@pytest.mark.parametrize(("item", "fits"), [("oak_log", False), ("cobblestone", True), ("stick", True)])
def test_what_can_be_crafted_into_a_handle_opens_doors(item: str, fits: bool) -> None:
    plan = Plan()
    root = plan.add_area()
    far, _ = gated(plan, root, Gate("maze", "maze"), "red")
    gated(plan, root, door(plan, far), "green")
    plan.add_thing(Thing("chest", root, item))
    if fits:
        assert order_hops(plan)
    else:
        with pytest.raises(RejectedDraw, match="not needed"):
            order_hops(plan)


def test_any_solid_block_bridges_a_moat() -> None:
    plan = Plan()
    root = plan.add_area()
    dirt = plan.add_thing(Thing("block", root, "dirt", 9, "dirt"))
    plan.add_hop(Hop("dig_ground", "dirt", "item", dirt, "dirt"))
    gated(plan, root, Gate("moat", "moat", "blocks", "lava", item="dirt"), "red")
    assert classify_shape(order_hops(plan)) == "chain"
    plan.add_thing(Thing("chest", root, "white_wool"))
    with pytest.raises(RejectedDraw, match="not needed"):
        order_hops(plan)


def test_edges_that_others_imply_are_left_out() -> None:
    one, two, three = (Hop("enter_room", name, "enter", Area(0)) for name in ("red", "blue", "green"))
    assert reduce_order({one: frozenset(), two: frozenset({one}), three: frozenset({one, two})}) == {
        one: (),
        two: (one,),
        three: (two,),
    }


@pytest.mark.parametrize("kind", SHAPES)
def test_plans_have_the_shape_and_hops_that_are_asked_for(kind: Shape) -> None:
    for hops in range(MIN_HOPS[kind], 7):
        _, plan, before = plan_of(hops, Knobs(hops=hops, shape=kind))
        assert len(plan.hops) == hops
        assert classify_shape(before) == kind


def test_crafting_closes_over_tables_and_never_makes_what_it_must_not() -> None:
    have = {"oak_log"}
    add_craftable(have, table=False, never="stick")
    assert {"oak_planks", "crafting_table", "chest", "oak_button"} <= have
    assert "stick" not in have
    assert "wooden_pickaxe" not in have


def test_a_pickaxe_is_taken_apart_into_logs() -> None:
    raw, times = take_apart("wooden_pickaxe", 1, frozenset({"oak_log"}))
    assert raw == {"oak_log": 2}
    assert times == (("oak_planks", 2), ("stick", 1), ("wooden_pickaxe", 1))


def test_each_gadget_is_drawn_within_its_hops() -> None:
    for seed in range(60):
        draw = Draw(random.Random(seed), Knobs(hops=4, shape="chain"))
        try:
            draw.extend(draw.root, 4)
        except RejectedDraw:
            continue
        assert len(draw.plan.hops) == 4


@pytest.mark.long
def test_a_draw_that_does_not_fit_is_told_with_its_stage() -> None:
    reasons = set()
    for seed in range(60):
        try:
            draw_plan(random.Random(seed), Knobs(hops=6, shape="diamond"))
        except RejectedDraw as unfit:
            reasons.add(str(unfit))
    assert reasons
    assert all(reason.startswith("plan: ") for reason in reasons)
