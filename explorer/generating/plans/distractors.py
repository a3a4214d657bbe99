"""Distractors: levers without a wire, empty chests, tools that nothing needs."""

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
"""Rooms of a small plan at distance 1."""


def distract(rng: random.Random, plan: Plan, knobs: Knobs) -> None:
    """Add distractors to a plan, as many as its knob says, and dead-end rooms if the plan is small."""
    for _ in range(_ROOMS + knobs.distance - 1 - len(plan.areas)):
        plan.add_area(rng.choice(plan.areas), Gate("", rng.choice(("open", "open", "stairs"))))
    wanted = {hop.item for hop in plan.hops} | {raw for raws in plan.raws.values() for raw in raws}
    idle = [tool for tool in _TOOLS if tool not in wanted]
    for _ in range(knobs.distractors):
        area = rng.choice(plan.areas)
        kind = rng.choice(("device", "chest", "lying", "chest"))
        if kind == "device":
            plan.add_thing(Thing("device", area, block=rng.choice(("lever", "stone_button"))))
        elif kind == "chest":
            plan.add_thing(Thing("chest", area))
        else:
            plan.add_thing(Thing("lying", area, rng.choice(idle)))
