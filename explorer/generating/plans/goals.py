"""Draw plans: a goal, and the gates and keys that hide the goal.

A hop is a planned milestone; the last hop of a plan is its goal. A schema is a group of similar tasks.
"""

from __future__ import annotations

import random
from typing import Final

from explorer.generating.knobs import Knobs
from explorer.generating.plans.gadgets import Draw
from explorer.generating.plans.keys import DROPPED, tasks_of
from explorer.generating.plans.plan import Area, Plan, RejectedDraw, ThingKind
from explorer.generating.plans.shapes import Order, classify_shape, order_hops

_SEARCH_SCHEMAS: Final = (
    "find_block",
    "find_banner",
    "find_animal",
    "find_odd",
    "find_pair",
    "find_tallest",
    "find_flower",
)
_POSSESSION_SCHEMAS: Final = (
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
"""Schema -> kind of thing that marks the cell into which the agent puts a block."""
_CRAFT_SCHEMAS: Final = ("craft_gear", "craft_gear", "craft_furniture", "craft_bed", "craft_food", "craft_stone_tool")
"""Schemas of goals that need two hidden ingredients; a schema that is listed twice is drawn twice as often."""


def draw_plan(rng: random.Random, knobs: Knobs) -> tuple[Plan, Order]:
    """Draw a plan with the number of hops and the shape that the knobs ask for.

    Return the plan, and the order of its hops.

    Raises:
        RejectedDraw: the draw failed; another draw may succeed.
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
    """Add two branches of hops that meet, and the goal.

    In a fork, hops precede the branches. In a join, hops may follow them. In a diamond, hops precede and follow.
    """
    shape = draw.knobs.shape
    least_after = 1 if shape == "diamond" else 0
    hops_before = 0
    hops_after = 0
    # The two branches and the hop at which they meet take at least 3 hops.
    if shape != "join":
        hops_before = draw.rng.randint(1, hops - 3 - least_after)
    if shape != "fork":
        hops_after = draw.rng.randint(least_after, hops - hops_before - 3)

    start = draw.extend(draw.root, hops_before)
    if not hops_after and draw.rng.random() < 0.5:
        _add_craft_of_two(draw, start, hops - hops_before)
        return
    area = draw.merge(start, hops - hops_before - hops_after)
    if hops_after:
        add_goal = draw.rng.choice((_add_possession, _add_possession, _add_search, _add_entry))
        add_goal(draw, area, hops_after)


def _add_possession(draw: Draw, area: Area, hops: int) -> None:
    """Add hops whose last is the goal: to have an item."""
    schema = draw.rng.choice(_POSSESSION_SCHEMAS)
    # Not every schema has tasks that scenes may use.
    tasks = tasks_of(schema) or tasks_of("take_item")
    task = draw.rng.choice(tasks)
    draw.obtain(task.object, area, hops, schema=task.schema)


def _add_craft_of_two(draw: Draw, area: Area, hops: int) -> None:
    """Add hops whose last is the goal: to craft an item from two hidden ingredients, each behind its own hops."""
    schema = draw.rng.choice(_CRAFT_SCHEMAS)
    task = draw.rng.choice(tasks_of(schema))
    draw.craft_of_two(task, area, hops)


def _add_search(draw: Draw, area: Area, hops: int) -> None:
    """Add hops whose last is the goal: to find a thing and look at it."""
    schema = draw.rng.choice(_SEARCH_SCHEMAS)
    task = draw.rng.choice(tasks_of(schema))
    where = draw.extend(area, hops - 1)
    target = draw.add_thing("mob" if schema == "find_animal" else "target", where, of=task.object)
    target.role = schema
    draw.add_hop(task, "look", target)


def _add_entry(draw: Draw, area: Area, hops: int) -> None:
    """Add hops whose last is the goal: the hop for passing the gate of an area."""
    draw.extend(area, hops)


def _add_change(draw: Draw, area: Area, hops: int) -> None:
    """Add hops whose last is the goal: to put a block in a certain cell, or to hunt a mob."""
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
    """Return the item that a kind of mob drops."""
    return next(item for item, kind in DROPPED.items() if kind == mob)
