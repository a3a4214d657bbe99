"""Turn a plan into a scene: rooms, things, a spawn, milestones, a text, and steps that should win."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from explorer.generating.judging import graph, milestones
from explorer.generating.knobs import Knobs
from explorer.generating.places.deeds import Deeds
from explorer.generating.places.dressing import dress
from explorer.generating.places.furnishing import furnish
from explorer.generating.places.gates import build
from explorer.generating.places.rooms import lay_out
from explorer.generating.places.spawning import spawn
from explorer.generating.places.styles import looks
from explorer.generating.plans.distractors import distract
from explorer.generating.plans.plan import Plan, Unfit
from explorer.generating.plans.shapes import Order, order
from explorer.generating.texts import goal_text
from explorer.graph import Graph
from explorer.milestones import Milestone
from explorer.scene import Scene
from explorer.solver.steps import Step


@dataclass(frozen=True, slots=True, eq=False)
class Drafted:
    """A scene without proofs.

    Attributes:
        steps: abstract steps that should win.
        gadgets: gates and recipes, each once, sorted.
    """

    scene: Scene
    milestones: tuple[Milestone, ...]
    graph: Graph
    text: str
    steps: tuple[Step, ...]
    knobs: Knobs
    gadgets: tuple[str, ...]


def draft(rng: random.Random, plan: Plan, before: Order, knobs: Knobs, name: str) -> Drafted:
    """Return the scene of a plan.

    Raises:
        Unfit: the plan cannot be placed, or every text gives a hop away.
    """
    text = goal_text(rng, plan.goal, plan.hops[:-1])
    distract(rng, plan, knobs)
    try:
        unchanged = order(plan) == before
    except Unfit:
        unchanged = False
    if not unchanged:
        raise Unfit("distractors: they change the plan")
    layout = lay_out(rng, plan)
    styles = looks(rng, [area.look for area in plan.areas], dark=bool(knobs.dark))
    placed = furnish(rng, plan, layout, build(rng, layout, styles))
    dress(placed, styles)
    deeds = Deeds(plan, placed)
    pose = spawn(rng, plan, before, placed, knobs.occlusion)
    if set(deeds.hops) != set(plan.hops):
        raise Unfit("deeds: a hop is left out")
    return Drafted(
        replace(placed.draft.scene(name, pose), dark=bool(knobs.dark)),
        milestones(deeds.hops, placed, pose.cell),
        graph(deeds.hops, {hop: before[hop] for hop in deeds.hops}, plan),
        text,
        tuple(deeds.steps),
        knobs,
        tuple(sorted(set(plan.gadgets))),
    )
