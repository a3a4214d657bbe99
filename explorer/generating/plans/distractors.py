"""Add distractors to plans: levers and buttons without a wire, empty chests, and items that no hop needs."""

from __future__ import annotations

import random
from typing import Final

from explorer.generating.knobs import Knobs
from explorer.generating.plans.plan import Gate, Plan, Thing

_TOOLS: Final = (
    "wooden_hoe",
    "golden_axe",
    "iron_shovel",
    "stone_axe",
    "golden_hoe",
    "fishing_rod",
    "arrow",
    "clay_ball",
)
_ROOMS: Final = 3
"""Least number of rooms of a plan if the knob ``distance`` is 1; the minimum changes by 1 with each step of the knob.
"""


def add_distractors(rng: random.Random, plan: Plan, knobs: Knobs) -> None:
    """Add as many distractors to a plan as the knob ``distractors`` says; if the plan has few rooms, first add dead-end
    rooms.
    """
    missing_rooms = _ROOMS + knobs.distance - 1 - len(plan.areas)
    for _ in range(missing_rooms):
        parent = rng.choice(plan.areas)
        gate = Gate("", rng.choice(("open", "open", "stairs")))
        plan.add_area(parent, gate)

    wanted = {hop.item for hop in plan.hops}
    wanted.update(*plan.raws.values())
    idle = [tool for tool in _TOOLS if tool not in wanted]
    for _ in range(knobs.distractors):
        area = rng.choice(plan.areas)
        kind = rng.choice(("device", "chest", "lying", "chest"))
        if kind == "device":
            device = rng.choice(("lever", "stone_button"))
            plan.add_thing(Thing("device", area, block=device))
        elif kind == "chest":
            plan.add_thing(Thing("chest", area))
        else:
            plan.add_thing(Thing("lying", area, rng.choice(idle)))
