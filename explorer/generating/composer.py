"""Scenes from a stream of draws: the first draw whose every proof holds is the scene of its seed and index."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from explorer.certificate import Certificate
from explorer.errors import GenerationError
from explorer.generating.places.gates import build
from explorer.generating.places.deeds import Deeds
from explorer.generating.plans.distractors import distract
from explorer.generating.places.furnishing import furnish
from explorer.generating.plans.goals import draw_plan
from explorer.generating.judging import graph, milestones
from explorer.generating.knobs import Knobs
from explorer.generating.places.styles import looks
from explorer.generating.plans.plan import Plan, Unfit
from explorer.generating.places.rooms import lay_out
from explorer.generating.plans.shapes import Order, order
from explorer.generating.places.spawning import spawn
from explorer.generating.texts import goal_text
from explorer.graph import Graph
from explorer.milestones import Milestone
from explorer.scene import Scene
from explorer.solver.certificate import certify
from explorer.solver.steps import Step
from explorer.solver.witness import carry_out

MOST_DRAWS: Final = 200
_PLANS: Final = 400


@dataclass(frozen=True, slots=True)
class Rejected:
    """A draft that is no scene.

    Attributes:
        reason: as it is counted: its stage, a colon, and what was wrong.
        gadgets: that it used, sorted.
    """

    reason: str
    gadgets: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Drafted:
    """A scene of which nothing is proven.

    Attributes:
        steps: abstract ones that should win.
        gadgets: gates and recipes, each once, sorted.
    """

    scene: Scene
    milestones: tuple[Milestone, ...]
    graph: Graph
    text: str
    steps: tuple[Step, ...]
    knobs: Knobs
    gadgets: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """A scene and its proof.

    Attributes:
        codes: of the witness.
        rejected: the drafts before it in its stream.
    """

    drafted: Drafted
    codes: tuple[int, ...]
    certificate: Certificate
    rejected: tuple[Rejected, ...]


def compose(seed: int, index: int, knobs: Knobs) -> Composed:
    """Return the certified scene of a seed and an index; nothing else decides about it.

    Raises:
        GenerationError: none of :data:`MOST_DRAWS` draws is one.
    """
    settled = knobs.at(seed, index)
    rejected: list[Rejected] = []
    for number in range(MOST_DRAWS):
        rng = random.Random(f"scene {seed} {index} {number}")
        plan, before = _plan(rng, settled)
        gadgets = tuple(sorted(set(plan.gadgets)))
        try:
            drafted = draft(rng, plan, before, settled, f"scene_{seed}_{index:05}")
            codes, certificate = _prove(drafted)
        except Unfit as unfit:
            rejected.append(Rejected(str(unfit), gadgets))
        else:
            return Composed(drafted, codes, certificate, tuple(rejected))
    raise GenerationError(
        f"no scene for seed {seed}, index {index}, {settled}: the last draft failed, {rejected[-1].reason}"
    )


def _plan(rng: random.Random, knobs: Knobs) -> tuple[Plan, Order]:
    for _ in range(_PLANS):
        try:
            return draw_plan(rng, knobs)
        except Unfit:
            continue
    raise GenerationError(f"no plan in {_PLANS} draws for {knobs}")


def draft(rng: random.Random, plan: Plan, before: Order, knobs: Knobs, name: str) -> Drafted:
    """Return the scene of a plan.

    Raises:
        Unfit: it has no place, or its text gives a hop away.
    """
    text = goal_text(rng, plan.goal, plan.hops[:-1])
    distract(rng, plan, knobs)
    if order(plan) != before:
        raise Unfit("distractors: they change the plan")
    layout = lay_out(rng, plan)
    styles = looks(rng, [area.look for area in plan.areas])
    placed = furnish(rng, plan, layout, build(rng, layout, styles))
    deeds = Deeds(plan, placed)
    pose = spawn(rng, plan, before, placed, knobs.occlusion)
    if set(deeds.hops) != set(plan.hops):
        raise Unfit("deeds: a hop is left out")
    return Drafted(
        placed.draft.scene(name, pose),
        milestones(deeds.hops, placed, pose.cell),
        graph(deeds.hops, {hop: before[hop] for hop in deeds.hops}),
        text,
        tuple(deeds.steps),
        knobs,
        tuple(sorted(set(plan.gadgets))),
    )


def _prove(drafted: Drafted) -> tuple[tuple[int, ...], Certificate]:
    raise NotImplementedError
