"""Draw the goal of a plan, and then what hides it."""

from __future__ import annotations

import random
from typing import Final

from explorer.generating.knobs import Knobs
from explorer.generating.plans.gadgets import Draw
from explorer.generating.plans.keys import DROPPED, tasks_of
from explorer.generating.plans.plan import Area, Plan, RejectedDraw, ThingKind
from explorer.generating.plans.shapes import Order, classify_shape, order_hops

_FIND: Final = ("find_block", "find_banner", "find_animal", "find_odd", "find_pair", "find_tallest", "find_flower")
_HAVE: Final = (
    "take_item",
    "take_from_chest",
    "take_from_third_chest",
    "pick_flower",
    "harvest",
    "take_wool",
    "mine_ore",
    "craft_furniture",
    "craft_part",
    "craft_gear",
    "craft_food",
    "craft_bed",
    "craft_stone_tool",
    "craft_wooden_tool",
    "get_drop",
    "mine_stone",
    "chop_log",
    "dig_ground",
    "craft_planks",
    "cut_cobweb",
)
_SPOTS: Final[dict[str, ThingKind]] = {"put_on_pedestal": "pedestal", "fill_hole": "hole", "close_gap": "gap"}
_OF_TWO: Final = ("craft_gear", "craft_gear", "craft_furniture", "craft_bed", "craft_food", "craft_stone_tool")


def draw_plan(rng: random.Random, knobs: Knobs) -> tuple[Plan, Order]:
    """Draw a plan with the given hops and shape.

    Raises:
        RejectedDraw: this draw leads to no plan.
    """
    draw = Draw(rng, knobs)
    hops = knobs.hops
    if knobs.shape == "chain":
        add_goal = rng.choice((_add_possession, _add_possession, _add_search, _add_entry, _add_change))
        add_goal(draw, draw.root, hops)
    else:
        _add_branches(draw, hops)

    plan = draw.plan
    if len(plan.hops) != hops:
        raise RejectedDraw("plan: hops miscounted")
    before = order_hops(plan)
    if classify_shape(before) != knobs.shape:
        raise RejectedDraw("plan: another shape")
    return plan, before


def _add_branches(draw: Draw, hops: int) -> None:
    """Spend some hops before the branches and after they meet; a diamond has both."""
    shape = draw.knobs.shape
    least_last = 1 if shape == "diamond" else 0
    first = 0
    last = 0
    if shape != "join":
        first = draw.rng.randint(1, hops - 3 - least_last)
    if shape != "fork":
        last = draw.rng.randint(least_last, hops - first - 3)

    start = draw.extend(draw.root, first)
    if not last and draw.rng.random() < 0.5:
        _add_craft_of_two(draw, start, hops - first)
        return
    area = draw.merge(start, hops - first - last)
    if last:
        add_goal = draw.rng.choice((_add_possession, _add_possession, _add_search, _add_entry))
        add_goal(draw, area, last)


def _add_possession(draw: Draw, area: Area, hops: int) -> None:
    """Add the goal to have an item."""
    schema = draw.rng.choice(_HAVE)
    task = draw.rng.choice(tasks_of(schema) or tasks_of("take_item"))
    draw.obtain(task.object, area, hops, schema=task.schema)


def _add_craft_of_two(draw: Draw, area: Area, hops: int) -> None:
    """Add the goal to craft something from two ingredients, each behind its own hops."""
    schema = draw.rng.choice(_OF_TWO)
    task = draw.rng.choice(tasks_of(schema))
    draw.craft_of_two(task, area, hops)


def _add_search(draw: Draw, area: Area, hops: int) -> None:
    """Add the goal to find something and look at it."""
    schema = draw.rng.choice(_FIND)
    task = draw.rng.choice(tasks_of(schema))
    where = draw.extend(area, hops - 1)
    target = draw.add_thing("mob" if schema == "find_animal" else "target", where, of=task.object)
    target.role = schema
    draw.add_hop(task, "look", target)


def _add_entry(draw: Draw, area: Area, hops: int) -> None:
    """Add the goal to get into an area."""
    draw.extend(area, hops)


def _add_change(draw: Draw, area: Area, hops: int) -> None:
    """Add the goal to place a block at a spot, or to hunt a mob."""
    kind = draw.rng.choice((*_SPOTS, "hunt"))
    task = draw.rng.choice(tasks_of(kind))
    where = draw.extend(area, hops - 1)
    if kind == "hunt":
        mob = draw.add_thing("mob", where, _find_drop(task.object), of=task.object)
        draw.add_hop(task, "gone", mob)
        return

    spot = draw.add_thing(_SPOTS[kind], where, of=task.object)
    chest_area = where if draw.rng.random() < 0.5 else area
    chest = draw.add_thing("chest", chest_area, task.object, 1 + draw.knobs.spare)
    draw.add_hop(task, "put", spot, chest.item)


def _find_drop(mob: str) -> str:
    """Return the item that a mob drops."""
    return next(item for item, kind in DROPPED.items() if kind == mob)
