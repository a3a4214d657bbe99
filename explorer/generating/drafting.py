"""Turn a plan into a scene: rooms, things, a spawn, milestones, a text, and steps that should achieve the goal.

A plan consists of areas behind gates, things, and hops (planned milestones). A distractor is a thing that no hop needs.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from explorer.generating.judging import make_graph, make_milestones
from explorer.generating.knobs import Knobs
from explorer.generating.places.deeds import Deeds
from explorer.generating.places.dressing import dress_rooms
from explorer.generating.places.furnishing import furnish_rooms
from explorer.generating.places.gates import build_rooms
from explorer.generating.places.rooms import lay_out
from explorer.generating.places.spawning import choose_spawn
from explorer.generating.places.styles import draw_looks
from explorer.generating.plans.distractors import add_distractors
from explorer.generating.plans.plan import Plan, RejectedDraw
from explorer.generating.plans.shapes import Order, order_hops
from explorer.generating.texts import goal_text
from explorer.graph import Graph
from explorer.milestones import Milestone
from explorer.scene import Scene
from explorer.solver.steps import Step


@dataclass(frozen=True, slots=True, eq=False)
class Drafted:
    """A scene whose claims are not proven yet.

    Attributes:
        text: the goal in words, for the agent.
        steps: abstract steps that should achieve the goal.
        gadgets: names of the gates and recipes in the plan, sorted, without repetitions.
    """

    scene: Scene
    milestones: tuple[Milestone, ...]
    graph: Graph
    text: str
    steps: tuple[Step, ...]
    knobs: Knobs
    gadgets: tuple[str, ...]


def draft_scene(rng: random.Random, plan: Plan, before: Order, knobs: Knobs, name: str) -> Drafted:
    """Add distractors to a plan, place its areas and things, and return the scene.

    Args:
        before: hop -> the hops that must come before it, in the plan without distractors.

    Raises:
        RejectedDraw: an area or thing finds no place, or distractors change the order of the hops. Also: every possible
            goal text names a hop other than the goal.
    """
    text = goal_text(rng, plan.goal, plan.hops[:-1])
    add_distractors(rng, plan, knobs)
    if not _has_order(plan, before):
        raise RejectedDraw("distractors: they change the plan")

    is_dark = bool(knobs.dark)
    layout = lay_out(rng, plan)
    looks = draw_looks(rng, [area.look for area in plan.areas], dark=is_dark)
    placed = furnish_rooms(rng, plan, layout, build_rooms(rng, layout, looks))
    dress_rooms(placed, looks)

    deeds = Deeds(plan, placed)
    spawn = choose_spawn(rng, plan, before, placed, knobs.occlusion)
    if set(deeds.hops) != set(plan.hops):
        raise RejectedDraw("deeds: a hop is left out")

    hops = deeds.hops
    return Drafted(
        scene=replace(placed.draft.scene(name, spawn), dark=is_dark),
        milestones=make_milestones(hops, placed, spawn.cell),
        graph=make_graph(hops, {hop: before[hop] for hop in hops}, plan),
        text=text,
        steps=tuple(deeds.steps),
        knobs=knobs,
        gadgets=tuple(sorted(set(plan.gadgets))),
    )


def _has_order(plan: Plan, before: Order) -> bool:
    """Return whether each hop of a plan needs exactly the hops that ``before`` lists for it."""
    try:
        return order_hops(plan) == before
    except RejectedDraw:
        return False
