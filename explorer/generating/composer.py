"""Compose scenes: draw drafts until one draft can be certified.

The random numbers for the drafts depend only on a seed and an index. A draft is a scene without a proof. A hop is a
milestone of the scene. The witness is a list of primitives (actions of the agent) that achieves the goal.
"""

from __future__ import annotations

import logging
import random
from dataclasses import asdict, dataclass
from typing import Final

from explorer.certificate import Certificate
from explorer.errors import GenerationError, RefutedError
from explorer.files import Loaded
from explorer.generating.drafting import Drafted, draft_scene
from explorer.generating.knobs import Knobs
from explorer.generating.plans.goals import draw_plan
from explorer.generating.plans.plan import Plan, RejectedDraw
from explorer.generating.plans.shapes import Order
from explorer.solver.certificate import certify
from explorer.solver.witness import carry_out

_LOG: Final = logging.getLogger(__name__)

MAX_DRAWS: Final = 200
"""Greatest number of drafts for one scene; about 1 draft in 9 fails."""
_MAX_PLANS: Final = 400
"""Greatest number of plans drawn for one draft."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A draft that was rejected.

    Attributes:
        reason: ``stage: problem``, where the stage rejected the draft; statistics count rejected drafts by this text.
        gadgets: names of the gates and recipes that the draft used, sorted.
    """

    reason: str
    gadgets: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """A scene and its proof.

    Attributes:
        codes: codes of the primitives that the witness carries out.
        rejected: the drafts that were drawn from the same seed and index before this scene, and were rejected.
    """

    seed: int
    index: int
    drafted: Drafted
    codes: tuple[int, ...]
    certificate: Certificate
    rejected: tuple[Rejected, ...]

    def loaded(self) -> Loaded:
        """Return the scene with its milestones, graph, text, certificate and metadata, in the form that files are
        written from.
        """
        drafted = self.drafted
        knobs = drafted.knobs
        metadata = {
            "scene_description": f"{knobs.hops} hops as a {knobs.shape}",
            "design_notes": ", ".join(drafted.gadgets),
            "knobs": asdict(knobs),
            "seed": self.seed,
            "index": self.index,
        }
        return Loaded(drafted.scene, drafted.milestones, drafted.graph, drafted.text, self.certificate, metadata)


def compose(seed: int, index: int, knobs: Knobs) -> Composed:
    """Return the certified scene for a seed, an index and knobs; the scene depends on nothing else.

    Raises:
        GenerationError: all :data:`MAX_DRAWS` drafts are rejected, or no plan has the requested shape.
    """
    settled = knobs.settle(seed, index)
    name = f"scene_{seed}_{index:05}"
    rejected: list[Rejected] = []
    for number in range(MAX_DRAWS):
        rng = random.Random(f"scene {seed} {index} {number}")  # noqa: S311
        plan, order = _draw_plan(rng, settled)
        gadgets = tuple(sorted(set(plan.gadgets)))
        try:
            drafted = draft_scene(rng, plan, order, settled, name)
            codes, certificate = _prove(drafted)
        except RejectedDraw as rejection:
            _LOG.debug("a draft of scene %d is rejected: %s", index, rejection)
            rejected.append(Rejected(str(rejection), gadgets))
        else:
            return Composed(seed, index, drafted, codes, certificate, tuple(rejected))

    reason = rejected[-1].reason
    raise GenerationError(f"no scene for seed {seed}, index {index} in {MAX_DRAWS} drafts; the last: {reason}")


def _draw_plan(rng: random.Random, knobs: Knobs) -> tuple[Plan, Order]:
    """Draw plans until a plan fits the knobs; return this plan and the order of its hops.

    Raises:
        GenerationError: all :data:`_MAX_PLANS` plans fail to fit.
    """
    for _ in range(_MAX_PLANS):
        try:
            return draw_plan(rng, knobs)
        except RejectedDraw:
            continue
    raise GenerationError(f"no plan of {knobs.hops} hops as a {knobs.shape} in {_MAX_PLANS} draws")


def _prove(drafted: Drafted) -> tuple[tuple[int, ...], Certificate]:
    """Carry out the steps of a draft and certify the draft; return the codes of the witness and the certificate.

    Raises:
        RejectedDraw: a step fails, or the certificate is refuted. With the knob ``occlusion``, also: at the spawn, the
            agent sees something of a hop that needs no other hop.
    """
    carried = carry_out(drafted.scene, drafted.steps)
    if carried.failed is not None:
        step = drafted.steps[carried.failed]
        raise RejectedDraw(f"witness: {type(step).__name__} failed")
    try:
        certificate = certify(drafted.scene, drafted.milestones, drafted.graph, carried.codes)
    except RefutedError as error:
        raise RejectedDraw(f"certificate: {error.findings[0].kind}") from error

    if drafted.knobs.occlusion:
        later_hops = {edge.after for edge in drafted.graph.edges}
        first_hops = {node.id for node in drafted.graph.nodes} - later_hops
        if first_hops.intersection(certificate.seen_at_start):
            raise RejectedDraw("spawn: the first hop is in sight")
    return carried.codes, certificate
