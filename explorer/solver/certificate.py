"""Certifies scenes: plays the witness in the world, and proves by closures what cannot be without what.

A certificate names no time and no machine, so that whoever makes it again gets the same one, byte for byte.
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
from explorer.scene import RULES, Cell, Scene, Stack
from explorer.solver.bounds import lower_bound
from explorer.solver.closure import Arena
from explorer.solver.places import about
from explorer.solver.proving import Proven, faults, prove
from explorer.worlds.state_hash import state_hash
from explorer.worlds.voxel import VoxelWorld

STEPS_A_WITNESS_STEP: Final = 6
SPARE_STEPS: Final = 60
"""An episode ends after 6 times the witness and 60 steps."""


def certify(
    scene: Scene,
    milestones: Sequence[Milestone],
    graph: Graph,
    codes: Sequence[int],
    proven: Proven | None = None,
) -> Certificate:
    """Return the certificate of a scene that is what it says.

    What can be told without playing and without closures, :func:`explorer.audit.audit` tells.

    Args:
        milestones: the goal is the last one.
        codes: of a witness.
        proven: of the same scene and milestones, if that is known already.

    Raises:
        RefutedError: something does not hold or cannot be proven; it carries the findings.
        SceneError: the scene cannot be built.
    """
    arena = Arena(scene)
    proven = proven or prove(arena, milestones)
    played = _play(scene, milestones, codes)
    findings = [*_faults_of_play(played, milestones), *faults(proven, milestones, graph)]
    if findings:
        raise RefutedError(findings)
    names = [each.milestone_id for each in milestones]
    return Certificate(
        rules=RULES,
        fingerprint=fingerprint(scene, milestones, graph),
        milestones=tuple(Proof(name, True, proven.before(name), played.latched[name]) for name in names),
        edges=tuple(ProvenEdge(edge.before, edge.after, enforced=True) for edge in graph.edges),
        true_at_start=(),
        witness=Witness(packed(codes), len(codes), played.ticks, played.state_hash),
        lower_bound=lower_bound(arena, milestones, proven),
        max_steps=STEPS_A_WITNESS_STEP * len(codes) + SPARE_STEPS,
        seen_at_start=tuple(_seen_at_start(arena, milestones)),
        states=proven.states,
    )


def check(scene: Scene, milestones: Sequence[Milestone], graph: Graph, certificate: Certificate) -> tuple[Finding, ...]:
    """Return what is wrong with a certificate: it is made again from its witness, and has to be the same.

    Raises:
        SceneError: the scene cannot be built.
    """
    if certificate.rules != RULES:
        return (_altered(f"it is of rules {certificate.rules!a}, these are {RULES}: certify the scene again"),)
    if certificate.fingerprint != fingerprint(scene, milestones, graph):
        return (_altered("the fingerprint is of another scene: restore the files or certify the scene again"),)
    try:
        again = certify(scene, milestones, graph, unpacked(certificate.witness.codes))
    except RefutedError as error:
        return error.findings
    except SceneError as error:
        return (_altered(f"the witness cannot be read: {error}"),)
    differ = [each.name for each in fields(again) if getattr(again, each.name) != getattr(certificate, each.name)]
    return (_altered(f"{', '.join(differ)}: not what the proofs say, certify the scene again"),) if differ else ()


def fingerprint(scene: Scene, milestones: Sequence[Milestone], graph: Graph) -> str:
    """Return the sha256 of all that a certificate is about, in hexadecimal: not the names of scenes."""
    said = {
        "rules": scene.rules,
        "shape": scene.blocks.shape,
        "spawn": [scene.spawn.cell, scene.spawn.facing, scene.spawn.pitch, scene.spawn.aim],
        "items": _stacks(scene.items),
        "chests": _stacks(scene.chests),
        "mobs": sorted((mob.name, mob.kind, mob.cell) for mob in scene.mobs),
        "wires": [asdict(wire) for wire in scene.wires],
        "inventory": sorted((name, count) for name, count in scene.inventory.items() if count),
        "dark": scene.dark,
        "milestones": [
            [each.task, each.milestone_id, [[type(rule).__name__, _numbers(rule)] for rule in each.rules]]
            for each in milestones
        ],
        "graph": [[asdict(node) for node in graph.nodes], [(edge.before, edge.after) for edge in graph.edges]],
    }
    digest = hashlib.sha256(json.dumps(said, separators=(",", ":"), sort_keys=True).encode("ascii"))
    digest.update(scene.blocks.astype("<u2", order="C").tobytes())
    return digest.hexdigest()


def _numbers(rule: Rule) -> dict[str, object]:
    """Return the fields of a rule, every number a float: files do not tell 1 from 1.0."""
    return {
        name: value if isinstance(value, str) else np.asarray(value, float).tolist()
        for name, value in asdict(rule).items()
    }


def _stacks(where: Mapping[Cell, tuple[Stack, ...]]) -> list[object]:
    return [[cell, [(stack.item, stack.count) for stack in where[cell]]] for cell in sorted(where) if where[cell]]


def _altered(problem: str) -> Finding:
    return Finding(FaultKind.ALTERED_WITNESS, problem)


@dataclass(frozen=True, slots=True)
class _Played:
    latched: Mapping[str, int]
    ticks: int
    state_hash: str
    problem: str


def _play(scene: Scene, milestones: Sequence[Milestone], codes: Sequence[int]) -> _Played:
    """Return what became of the steps of a witness."""
    looks = any(isinstance(rule, AtLeast) for each in milestones for rule in each.rules)
    world, tracker = VoxelWorld(observe=looks), Tracker(milestones, scene.spawn)
    world.reset(scene)
    ticks = 0
    problem = ""
    tracker.observe(world.state(), world.view().known if looks else None)
    for step, code in enumerate(codes, 1):
        try:
            ticks += world.step(code).ticks
        except ActionError as error:
            problem = f"step {step} of the witness: {error}"
            break
        tracker.observe(world.state(), world.view().known if looks else None)
    return _Played(dict(tracker.latched), ticks, state_hash(world.state()), problem)


def _faults_of_play(played: _Played, milestones: Sequence[Milestone]) -> Iterator[Finding]:
    for name, step in played.latched.items():
        if step == 0:
            yield Finding(
                FaultKind.TRUE_AT_START, "it holds before the first step: ask for what is not there yet", name
            )
    if played.problem:
        yield _altered(played.problem)
    for milestone in milestones:
        if milestone.milestone_id not in played.latched:
            yield Finding(
                FaultKind.ALTERED_WITNESS, "the steps of the witness do not achieve it", milestone.milestone_id
            )
    goal = milestones[-1]
    for rule in goal.rules:
        if isinstance(rule, NearWithFacing) and math.hypot(*rule.target) <= rule.max_distance:
            yield Finding(FaultKind.NEAR_AT_SPAWN, "a turn on the spot finds it: move it away", goal.milestone_id)


def _seen_at_start(arena: Arena, milestones: Iterable[Milestone]) -> Iterator[str]:
    """Yield milestones of which something is in sight before the first step."""
    known = VoxelWorld().reset(arena.scene).known
    for milestone in milestones:
        cells = (cell for rule in milestone.rules for cell in about(arena, rule))
        if any(known[y, z, x] for x, y, z in cells):
            yield milestone.milestone_id
