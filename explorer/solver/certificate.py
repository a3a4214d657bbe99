"""Certify scenes: play the witness in the world, and prove by closures which milestones are necessary.

A witness is a list of primitives (actions) that achieves the goal. A closure contains everything that could happen. A
certificate contains no time and no name of a machine, so certifying a scene again gives exactly the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Final

import numpy as np

from explorer.certificate import Certificate, Proof, ProvenEdge, Witness
from explorer.codes import packed, unpacked
from explorer.errors import ActionError, RefutedError, SceneError
from explorer.findings import FaultKind, Finding
from explorer.graph import Graph
from explorer.milestones import AtLeast, Milestone, NearWithFacing, Rule, Tracker
from explorer.scene import RULES, Scene
from explorer.solver.bounds import lower_bound
from explorer.solver.closure import Arena
from explorer.solver.places import list_cells
from explorer.solver.proving import faults, prove
from explorer.worlds.state_hash import canonical_stacks, state_hash
from explorer.worlds.voxel import VoxelWorld

STEPS_A_WITNESS_STEP: Final = 6
SPARE_STEPS: Final = 60
"""Steps that an episode may take beyond 6 times the number of steps of the witness."""


def certify(
    scene: Scene,
    milestones: Sequence[Milestone],
    graph: Graph,
    codes: Sequence[int],
) -> Certificate:
    """Return the certificate of a sound scene.

    Other faults, which need neither a play nor closures, are found by :func:`explorer.audit.audit`.

    Args:
        milestones: all milestones; the last milestone is the goal.
        codes: codes of the primitives of a witness.

    Raises:
        RefutedError: a claim of the scene is false or cannot be proven; the error contains the findings.
        SceneError: the scene cannot be built.
    """
    arena = Arena(scene)
    proven = prove(arena, milestones)

    played = _play_witness(scene, milestones, codes)

    findings = [*_list_faults(played, milestones), *faults(proven, milestones, graph)]
    if findings:
        raise RefutedError(findings)
    names = [each.milestone_id for each in milestones]
    proofs = [Proof(name, True, proven.before(name), played.latched[name]) for name in names]
    edges = [ProvenEdge(edge.before, edge.after, enforced=True) for edge in graph.edges]
    return Certificate(
        rules=RULES,
        fingerprint=fingerprint(scene, milestones, graph),
        milestones=tuple(proofs),
        edges=tuple(edges),
        true_at_start=(),
        witness=Witness(packed(codes), len(codes), played.ticks, played.state_hash),
        lower_bound=lower_bound(arena, milestones, proven),
        max_steps=STEPS_A_WITNESS_STEP * len(codes) + SPARE_STEPS,
        seen_at_start=tuple(_list_seen_at_start(arena, milestones)),
        states=proven.states,
    )


def check(scene: Scene, milestones: Sequence[Milestone], graph: Graph, certificate: Certificate) -> tuple[Finding, ...]:
    """Return the faults of a certificate; the tuple is empty if the certificate is correct.

    Certify the scene again from the witness of the certificate, and compare the new certificate with the given one.

    Raises:
        SceneError: the scene cannot be built.
    """
    if certificate.rules != RULES:
        return (_report_altered(f"it is for rules {certificate.rules!a}, these are {RULES}: certify the scene again"),)
    if certificate.fingerprint != fingerprint(scene, milestones, graph):
        problem = "the fingerprint is that of another scene: restore the files or certify the scene again"
        return (_report_altered(problem),)

    try:
        again = certify(scene, milestones, graph, unpacked(certificate.witness.codes))
    except RefutedError as error:
        return error.findings
    except SceneError as error:
        return (_report_altered(f"the witness cannot be read: {error}"),)

    names = [each.name for each in fields(again)]
    differing = [name for name in names if getattr(again, name) != getattr(certificate, name)]
    if not differing:
        return ()
    return (_report_altered(f"{', '.join(differing)}: not what was proven, certify the scene again"),)


def fingerprint(scene: Scene, milestones: Sequence[Milestone], graph: Graph) -> str:
    """Return the sha256, in hexadecimal, of everything on which a certificate depends; the name of the scene is
    excluded.
    """
    content = {
        "rules": scene.rules,
        "shape": scene.blocks.shape,
        "spawn": [scene.spawn.cell, scene.spawn.facing, scene.spawn.pitch, scene.spawn.aim],
        "items": canonical_stacks(scene.items),
        "chests": canonical_stacks(scene.chests),
        "mobs": sorted((mob.name, mob.kind, mob.cell) for mob in scene.mobs),
        "wires": [asdict(wire) for wire in scene.wires],
        "inventory": sorted((name, count) for name, count in scene.inventory.items() if count),
        "dark": scene.dark,
        "milestones": [_describe_milestone(each) for each in milestones],
        "graph": [[asdict(node) for node in graph.nodes], [(edge.before, edge.after) for edge in graph.edges]],
    }

    digest = hashlib.sha256(json.dumps(content, separators=(",", ":"), sort_keys=True).encode("ascii"))
    digest.update(scene.blocks.astype("<u2", order="C").tobytes())
    return digest.hexdigest()


def _describe_milestone(milestone: Milestone) -> list[object]:
    """Return the task, id and rules of a milestone as JSON-compatible data."""
    rules = [[type(rule).__name__, _describe_rule(rule)] for rule in milestone.rules]
    return [milestone.task, milestone.milestone_id, rules]


def _describe_rule(rule: Rule) -> dict[str, object]:
    """Return the fields of a rule as JSON-compatible data.

    Every number becomes a float, because files do not distinguish 1 from 1.0.
    """
    described: dict[str, object] = {}
    for name, value in asdict(rule).items():
        described[name] = value if isinstance(value, str) else np.asarray(value, float).tolist()
    return described


def _report_altered(problem: str) -> Finding:
    return Finding(FaultKind.ALTERED_WITNESS, problem)


@dataclass(frozen=True, slots=True)
class _Played:
    """The outcome of playing a witness in the world.

    Attributes:
        latched: id of each achieved milestone -> step in which it was achieved; 0 if it was true at the start.
        ticks: total number of ticks.
        state_hash: hash of the state after the last step.
        problem: why the play ended before the last step, or "".
    """

    latched: Mapping[str, int]
    ticks: int
    state_hash: str
    problem: str


def _play_witness(scene: Scene, milestones: Sequence[Milestone], codes: Sequence[int]) -> _Played:
    """Play the primitives of a witness in the world, and return the outcome."""
    # Only rules of the kind AtLeast read what the agent has seen.
    needs_view = any(isinstance(rule, AtLeast) for each in milestones for rule in each.rules)
    world = VoxelWorld(observe=needs_view)
    tracker = Tracker(milestones, scene.spawn)
    world.reset(scene)

    ticks = 0
    problem = ""
    tracker.observe(world.state(), world.view().known if needs_view else None)

    for step, code in enumerate(codes, 1):
        try:
            ticks += world.step(code).ticks
        except ActionError as error:
            problem = f"step {step} of the witness: {error}"
            break
        tracker.observe(world.state(), world.view().known if needs_view else None)
    return _Played(dict(tracker.latched), ticks, state_hash(world.state()), problem)


def _list_faults(played: _Played, milestones: Sequence[Milestone]) -> Iterator[Finding]:
    """Yield the faults of the scene that playing the witness reveals."""
    for name, step in played.latched.items():
        if step == 0:
            yield Finding(
                FaultKind.TRUE_AT_START, "it holds before the first step: ask for what is not there yet", name
            )

    if played.problem:
        yield _report_altered(played.problem)
    for milestone in milestones:
        if milestone.milestone_id not in played.latched:
            yield Finding(
                FaultKind.ALTERED_WITNESS, "the steps of the witness do not achieve it", milestone.milestone_id
            )

    # Rules are relative to the spawn.
    goal = milestones[-1]
    for rule in goal.rules:
        if isinstance(rule, NearWithFacing) and math.hypot(*rule.target) <= rule.max_distance:
            yield Finding(FaultKind.NEAR_AT_SPAWN, "a turn on the spot finds it: move it away", goal.milestone_id)


def _list_seen_at_start(arena: Arena, milestones: Iterable[Milestone]) -> Iterator[str]:
    """Yield the id of each milestone whose rules refer to a cell that the agent sees before the first step."""
    known = VoxelWorld().reset(arena.scene).known
    for milestone in milestones:
        cells = (cell for rule in milestone.rules for cell in list_cells(arena, rule))
        if any(known[y, z, x] for x, y, z in cells):
            yield milestone.milestone_id
