"""The proven facts about a scene, as written to ``certificate.json``.

The file contains neither times nor names of machines.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Witness:
    """A winning sequence of steps, carried out in the world.

    Attributes:
        codes: the primitives, packed by :mod:`explorer.codes`.
        steps: number of primitives.
        ticks: game ticks that all primitives take, 20 a second.
        state_hash: hash of the last state (:mod:`explorer.worlds.state_hash`).
    """

    codes: str
    steps: int
    ticks: int
    state_hash: str


@dataclass(frozen=True, slots=True)
class Proof:
    """The proven facts about one milestone.

    Attributes:
        necessary: whether the goal cannot be reached without this milestone.
        after: ids of the milestones without which this milestone cannot be reached.
        at_step: the step of the witness at which this milestone latches.
    """

    milestone_id: str
    necessary: bool
    after: tuple[str, ...]
    at_step: int


@dataclass(frozen=True, slots=True)
class ProvenEdge:
    """An edge of the graph of milestones.

    Attributes:
        before, after: ids of the two milestones.
        enforced: whether the world makes it impossible to achieve ``after`` without ``before``.
    """

    before: str
    after: str
    enforced: bool


@dataclass(frozen=True, slots=True)
class Certificate:
    """The proofs of a scene.

    Attributes:
        rules: version of the rules under which the scene was proven.
        fingerprint: SHA-256 of scene, milestones and graph, in hexadecimal digits.
        milestones: one proof per milestone, in the order of the milestones.
        true_at_start: ids of the milestones that hold before the first step; empty in a sound scene.
        lower_bound: lower bound of the number of steps of every plan that wins.
        max_steps: step limit of an episode.
        seen_at_start: ids of the milestones that have an object in view from the spawn.
        states: number of states that all closures (:mod:`explorer.solver.closure`) together visited.
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
