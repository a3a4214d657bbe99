"""The proven facts about a scene, as in ``certificate.json``. They name no time and no machine."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Witness:
    """A winning sequence of steps, carried out in the world.

    Attributes:
        codes: the primitives, packed by :mod:`explorer.codes`.
        state_hash: hash of the last state (:mod:`explorer.worlds.state_hash`).
    """

    codes: str
    steps: int
    ticks: int
    state_hash: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What is proven of one milestone.

    Attributes:
        necessary: the goal cannot be reached without it.
        after: milestones without which it cannot be reached.
        at_step: the step of the witness at which it latches.
    """

    milestone_id: str
    necessary: bool
    after: tuple[str, ...]
    at_step: int


@dataclass(frozen=True, slots=True)
class ProvenEdge:
    """An edge of the graph, and whether the world enforces it."""

    before: str
    after: str
    enforced: bool


@dataclass(frozen=True, slots=True)
class Certificate:
    """The proofs of a scene.

    Attributes:
        rules: version of the rules used.
        fingerprint: sha256 of scene, milestones and graph, in hexadecimal digits.
        true_at_start: milestones that hold before the first step; empty in a sound scene.
        lower_bound: no plan takes fewer steps.
        max_steps: step limit of an episode.
        seen_at_start: milestones with something in view at the spawn.
        states: number of states that all closures visited together.
    """

    rules: str
    fingerprint: str
    milestones: tuple[Proof, ...]
    edges: tuple[ProvenEdge, ...]
    true_at_start: tuple[str, ...]
    witness: Witness
    lower_bound: int
    max_steps: int
    seen_at_start: tuple[str, ...]
    states: int
