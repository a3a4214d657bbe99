"""Drafts of scenes for tests of the generator."""

from __future__ import annotations

import random
from collections.abc import Iterator

from explorer.generating.drafting import Drafted, draft_scene
from explorer.generating.knobs import Knobs
from explorer.generating.plans.goals import draw_plan
from explorer.generating.plans.plan import Plan, RejectedDraw
from explorer.generating.plans.shapes import Order


def plan_of(seed: int, knobs: Knobs) -> tuple[random.Random, Plan, Order]:
    """Return the first plan of a stream, and the stream behind it."""
    rng = random.Random(f"test {seed}")
    while True:
        try:
            return rng, *draw_plan(rng, knobs)
        except RejectedDraw:
            continue


def drafts(seed: int, count: int) -> Iterator[Drafted]:
    """Yield drafts of 1 to 6 hops and all shapes."""
    for index in range(count):
        knobs = Knobs().settle(seed, index)
        for number in range(100):
            rng, plan, before = plan_of(seed * 1_000_000 + index * 1000 + number, knobs)
            try:
                yield draft_scene(rng, plan, before, knobs, f"draft_{index}")
                break
            except RejectedDraw:
                continue
