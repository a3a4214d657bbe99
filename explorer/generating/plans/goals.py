"""Draw the goal of a plan, and then what hides it."""

from __future__ import annotations

import random
from typing import Final

from explorer.generating.knobs import Knobs
from explorer.generating.plans.gadgets import Draw
from explorer.generating.plans.keys import DROPPED, tasks_of
from explorer.generating.plans.plan import Area, Plan, ThingKind, Unfit
from explorer.generating.plans.shapes import Order, order, shape

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
        Unfit: this draw leads to no plan.
    """
    draw = Draw(rng, knobs)
    hops = knobs.hops
    if knobs.shape == "chain":
        rng.choice((_have, _have, _find, _enter, _other))(draw, draw.root, hops)
    else:
        _branched(draw, hops)
    plan = draw.plan
    if len(plan.hops) != hops:
        raise Unfit("plan: hops miscounted")
    before = order(plan)
    if shape(before) != knobs.shape:
        raise Unfit("plan: another shape")
    return plan, before


def _branched(draw: Draw, hops: int) -> None:
    shape = draw.knobs.shape
    first = 0 if shape == "join" else draw.rng.randint(1, hops - 3 - (shape == "diamond"))
    last = 0 if shape == "fork" else draw.rng.randint(int(shape == "diamond"), hops - first - 3)
    start = draw.extend(draw.root, first)
    if not last and draw.rng.random() < 0.5:
        _made_of_two(draw, start, hops - first)
        return
    area = draw.merge(start, hops - first - last)
    if last:
        draw.rng.choice((_have, _have, _find, _enter))(draw, area, last)


def _have(draw: Draw, area: Area, hops: int) -> None:
    schema = draw.rng.choice(_HAVE)
    task = draw.rng.choice(tasks_of(schema) or tasks_of("take_item"))
    draw.obtain(task.object, area, hops, schema=task.schema)


def _made_of_two(draw: Draw, area: Area, hops: int) -> None:
    """Craft something from two ingredients, each behind its own hops."""
    draw.craft_of_two(draw.rng.choice(tasks_of(draw.rng.choice(_OF_TWO))), area, hops)


def _find(draw: Draw, area: Area, hops: int) -> None:
    schema = draw.rng.choice(_FIND)
    task = draw.rng.choice(tasks_of(schema))
    where = draw.extend(area, hops - 1)
    target = draw.thing("mob" if schema == "find_animal" else "target", where, of=task.object)
    target.role = schema
    draw.hop(task, "look", target)


def _enter(draw: Draw, area: Area, hops: int) -> None:
    draw.extend(area, hops)


def _other(draw: Draw, area: Area, hops: int) -> None:
    """Place a block at a spot, or hunt a mob."""
    kind = draw.rng.choice((*_SPOTS, "hunt"))
    task = draw.rng.choice(tasks_of(kind))
    if kind == "hunt":
        mob = draw.thing("mob", draw.extend(area, hops - 1), _drop(task.object), of=task.object)
        draw.hop(task, "gone", mob)
        return
    place = _SPOTS[kind]
    where = draw.extend(area, hops - 1)
    spot = draw.thing(place, where, of=task.object)
    chest = draw.thing("chest", where if draw.rng.random() < 0.5 else area, task.object, 1 + draw.knobs.spare)
    draw.hop(task, "put", spot, chest.item)


def _drop(mob: str) -> str:
    return next(item for item, kind in DROPPED.items() if kind == mob)
