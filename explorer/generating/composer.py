"""Compose scenes from a stream of drafts: the first draft that can be certified is the scene of its seed and index."""

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

MOST_DRAWS: Final = 200
"""Most drafts of a stream; about 1 draft in 9 fails."""
_MOST_PLANS: Final = 400


@dataclass(frozen=True, slots=True)
class Rejected:
    """A draft that was rejected.

    Attributes:
        reason: reason under which it is counted: a stage, a colon, and what was wrong.
        gadgets: gadgets that it used, sorted.
    """

    reason: str
    gadgets: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Composed:
    """A scene and its proof.

    Attributes:
        codes: codes of the witness.
        rejected: earlier drafts of its stream.
    """

    seed: int
    index: int
    drafted: Drafted
    codes: tuple[int, ...]
    certificate: Certificate
    rejected: tuple[Rejected, ...]

    def loaded(self) -> Loaded:
        """Return the scene in the form that files hold."""
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
    """Return the certified scene of a seed, an index and knobs; nothing else affects it.

    Raises:
        GenerationError: none of :data:`MOST_DRAWS` drafts can be certified, or a knob is out of range.
    """
    settled = knobs.settle(seed, index)
    name = f"scene_{seed}_{index:05}"
    rejected: list[Rejected] = []
    for number in range(MOST_DRAWS):
        rng = random.Random(f"scene {seed} {index} {number}")  # noqa: S311
        plan, before = _draw_plan(rng, settled)
        gadgets = tuple(sorted(set(plan.gadgets)))
        try:
            drafted = draft_scene(rng, plan, before, settled, name)
            codes, certificate = _prove(drafted)
        except RejectedDraw as unfit:
            _LOG.debug("a draft of scene %d is rejected: %s", index, unfit)
            rejected.append(Rejected(str(unfit), gadgets))
        else:
            return Composed(seed, index, drafted, codes, certificate, tuple(rejected))

    reason = rejected[-1].reason
    raise GenerationError(f"no scene for seed {seed}, index {index} in {MOST_DRAWS} drafts; the last: {reason}")


def _draw_plan(rng: random.Random, knobs: Knobs) -> tuple[Plan, Order]:
    """Return the first plan that fits.

    Raises:
        GenerationError: none of :data:`_MOST_PLANS` does.
    """
    for _ in range(_MOST_PLANS):
        try:
            return draw_plan(rng, knobs)
        except RejectedDraw:
            continue
    raise GenerationError(f"no plan of {knobs.hops} hops as a {knobs.shape} in {_MOST_PLANS} draws")


def _prove(drafted: Drafted) -> tuple[tuple[int, ...], Certificate]:
    """Carry out the steps of a draft and certify it.

    Raises:
        RejectedDraw: a step fails, the certificate is refuted, or a first hop is in sight at the spawn.
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
        later = {edge.after for edge in drafted.graph.edges}
        first = {node.id for node in drafted.graph.nodes} - later
        if first.intersection(certificate.seen_at_start):
            raise RejectedDraw("spawn: the first hop is in sight")
    return carried.codes, certificate
