"""What is known for certain about a scene: the values in ``certificate.json``. No times, no machine in it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Witness:
    """Steps that win, carried out in the world.

    Attributes:
        codes: as :mod:`explorer.codes` packs them.
        state_hash: of the last state (:mod:`explorer.worlds.state_hash`).
    """

    codes: str
    steps: int
    ticks: int
    state_hash: str


@dataclass(frozen=True, slots=True)
class Proof:
    """Of one milestone.

    Attributes:
        necessary: the goal cannot be reached without it.
        after: milestones without which it cannot be reached.
        at_step: of the witness, at which it latches.
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
        rules: the version that it was proven by.
        fingerprint: of scene, milestones and graph, sha256 in hexadecimal digits.
        true_at_start: milestones that hold before the first step; none in a scene that is sound.
        lower_bound: steps that no plan can do with fewer.
        max_steps: of an episode.
        seen_at_start: milestones of which something is in sight at the spawn.
        states: that the closures have looked at, together.
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
