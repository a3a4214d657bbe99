"""What holds of a scene, whoever made it: every fault that can be told without playing, by its kind.

A fault is a proof that something is wrong, or that something which a scene has to be cannot be proven. What is not
refuted is not thereby won: only a witness shows that (:mod:`explorer.solver.certificate`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

import numpy as np

from explorer.errors import SceneError
from explorer.files import Loaded
from explorer.files.checking import KINDS, graph_problems, milestone_problems, scene_problems
from explorer.findings import FaultKind, Finding
from explorer.milestones import (
    AtLeast,
    AtMost,
    InventoryHas,
    Milestone,
    NearWithFacing,
    Rule,
    Tracker,
    bare,
    counted,
)
from explorer.rules.blocks import BLOCKS
from explorer.rules.mobs import mob_kind
from explorer.scene import Scene
from explorer.solver.certificate import check
from explorer.solver.closure import Arena
from explorer.solver.proving import faults, prove
from explorer.solver.stock import bounds
from explorer.tasks.naming import named_in
from explorer.tasks.pool import pool
from explorer.worlds.storage import Storage

_VERBLESS: Final = re.compile(r"^[a-z0-9]+_")
"""The verb of a task's id: ``craft_`` of ``craft_wooden_pickaxe``."""
_MEANINGLESS: Final = frozenset(
    {FaultKind.VACUOUS_COUNT, FaultKind.UNKNOWN_NAME, FaultKind.OUTSIDE_ARENA, FaultKind.IMPOSSIBLE_CRAFT}
)
"""Faults of rules that never hold."""
_UNENFORCED: Final = frozenset({FaultKind.TRUE_AT_START, FaultKind.NEAR_AT_SPAWN, FaultKind.FIND_HOP_NOT_LAST})
"""Faults of rules that hold whatever bars the way."""


def audit(loaded: Loaded) -> tuple[Finding, ...]:
    """Return all that is wrong with a scene, nothing if no fault was found. A certificate is checked.

    Raises:
        SceneError: the scene cannot be built.
    """
    told = [*loaded.faults, *([] if loaded.published else _malformed(loaded))]
    told += [*_at_start(loaded), *_looks(loaded), *_names(loaded)]
    if loaded.certificate is not None:
        told += check(loaded.scene, loaded.milestones, loaded.graph, loaded.certificate)
    if told or loaded.certificate is None:
        told += _proofs(loaded)
    return tuple({(each.kind, each.milestone, each.field): each for each in _causes(told)}.values())


def _causes(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Leave out what only follows from another fault of the same milestone."""
    findings = list(findings)
    kinds: dict[str, set[FaultKind]] = {each.milestone: set() for each in findings}
    for each in findings:
        kinds[each.milestone].add(each.kind)
    return (each for each in findings if not each.milestone or kinds[each.milestone].isdisjoint(_follows(each.kind)))


def _follows(kind: FaultKind) -> frozenset[FaultKind]:
    """Return from which faults of a milestone a fault of that kind follows."""
    match kind:
        case FaultKind.ALTERED_WITNESS:
            return frozenset(FaultKind) - {FaultKind.ALTERED_WITNESS, FaultKind.HOP_NAMED_IN_TEXT}
        case FaultKind.VACUOUS_COUNT:
            return frozenset({FaultKind.UNKNOWN_NAME, FaultKind.OUTSIDE_ARENA})
        case FaultKind.UNREACHABLE:
            return _MEANINGLESS
        case FaultKind.UNNECESSARY | FaultKind.UNORDERED:
            return _MEANINGLESS | _UNENFORCED
        case _:
            return frozenset()


def examine(read: Callable[[], Loaded]) -> tuple[Loaded | None, tuple[Finding, ...]]:
    """Return a scene that is to be read, None if a fault keeps it from being made, and all that is wrong with it.

    Args:
        read: as :func:`explorer.files.listing.places_at` gives it.

    Raises:
        SceneError: the files are malformed rather than the scene.
    """
    try:
        loaded = read()
    except SceneError as error:
        kind = KINDS.get(type(error))
        if kind is None:
            raise
        return None, (Finding(kind, error.problem, source=error.source, field=error.field),)
    return loaded, audit(loaded)


def _malformed(loaded: Loaded) -> Iterator[Finding]:
    """Say what reading would refuse, of a scene that was never written."""
    problems = [("", problem) for problem in scene_problems(loaded.scene)]
    problems += milestone_problems(loaded.milestones, loaded.scene)
    problems += [
        ("", problem) for problem in graph_problems(loaded.graph, [each.milestone_id for each in loaded.milestones])
    ]
    for milestone, problem in problems:
        if kind := KINDS.get(type(problem)):
            yield Finding(kind, problem.problem, milestone, loaded.source, problem.field)


def _at_start(loaded: Loaded) -> Iterator[Finding]:
    """Say which milestones hold before the first step, and which counts can never be crossed."""
    state, spawn = Storage(loaded.scene).frozen(0), loaded.scene.spawn
    for name in Tracker(loaded.milestones, spawn).observe(state):
        yield Finding(FaultKind.TRUE_AT_START, "it holds before the first step: ask for what is not there yet", name)
    for milestone, rule in _rules(loaded.milestones):
        name = milestone.milestone_id
        match rule:
            case InventoryHas() | AtLeast() if rule.min_count < 1:
                yield Finding(FaultKind.VACUOUS_COUNT, "at least 0 always holds: ask for 1 or more", name)
            case AtMost():
                count = counted(rule, state, spawn)
                if count <= rule.max_count:
                    problem = f"at most {rule.max_count} of {bare(rule.object)}, and there are {count} to begin with"
                    yield Finding(FaultKind.VACUOUS_COUNT, f"{problem}: put more there", name)


def _looks(loaded: Loaded) -> Iterator[Finding]:
    """Say which targets are near the spawn, and which hops before the goal are mere looks."""
    for milestone, rule in _rules(loaded.milestones):
        if isinstance(rule, NearWithFacing) and math.hypot(*rule.target) <= rule.max_distance:
            problem = f"the target is {math.hypot(*rule.target):.1f} from the spawn, within {rule.max_distance:g}"
            yield Finding(FaultKind.NEAR_AT_SPAWN, f"{problem}: move it away", milestone.milestone_id)
    for milestone in loaded.milestones[:-1]:
        if _mere_look(milestone):
            problem = "only the goal can be a look: one can walk past anything backwards"
            yield Finding(FaultKind.FIND_HOP_NOT_LAST, problem, milestone.milestone_id)


def _mere_look(milestone: Milestone) -> bool:
    return all(isinstance(rule, NearWithFacing) for rule in milestone.rules)


def _rules(milestones: Iterable[Milestone]) -> Iterator[tuple[Milestone, Rule]]:
    return ((milestone, rule) for milestone in milestones for rule in milestone.rules)


def _names(loaded: Loaded) -> Iterator[Finding]:
    """Say which hops before the goal the text names."""
    for milestone in loaded.milestones[:-1]:
        if name := _named(milestone, loaded.milestones[-1], loaded.text):
            problem = f"the text says {name!a}, which is to be found out: tell the goal alone"
            yield Finding(FaultKind.HOP_NAMED_IN_TEXT, problem, milestone.milestone_id)


def _named(milestone: Milestone, goal: Milestone, text: str) -> str:
    """Return the word of a hop that a text names; of tasks that are not ours, what the goal is about may be named."""
    known = pool().get(milestone.task)
    if known is not None:
        return named_in(text, known.schema, known.object)
    for name in sorted(_objects(milestone)):
        about_goal = any(re.search(rf"\b{re.escape(name)}\b", other) for other in _objects(goal))
        if not about_goal and re.search(rf"\b{re.escape(name)}(s|es)?\b", text.lower()):
            return name
    return ""


def _objects(milestone: Milestone) -> set[str]:
    """Return what a milestone is about, in words."""
    names = {_VERBLESS.sub("", milestone.task)}
    for rule in milestone.rules:
        if isinstance(rule, InventoryHas):
            names.add(bare(rule.item))
        elif isinstance(rule, AtLeast | AtMost):
            names.add(bare(rule.object))
    return {name.replace("_", " ").lower() for name in names}


def _proofs(loaded: Loaded) -> Iterator[Finding]:
    """Say what closures refute; of an item that cannot be reached, whether anything could ever give it."""
    asked = {each.milestone_id: each for each in loaded.milestones}
    proven = prove(Arena(loaded.scene), loaded.milestones)
    for finding in faults(proven, loaded.milestones, loaded.graph):
        unreachable = finding.kind is FaultKind.UNREACHABLE
        yield (_impossible(asked[finding.milestone], loaded.scene) if unreachable else None) or finding


def _impossible(milestone: Milestone, scene: Scene) -> Finding | None:
    for rule in milestone.rules:
        if isinstance(rule, InventoryHas):
            had = _most(scene).get(bare(rule.item), 0)
            if had < rule.min_count:
                problem = f"{rule.min_count} of {bare(rule.item)}: at most {had} can be found, dug, hunted or made here"
                return Finding(FaultKind.IMPOSSIBLE_CRAFT, problem, milestone.milestone_id)
    return None


def _most(scene: Scene) -> dict[str, int]:
    """Return the most of each item that the scene could give if nothing barred the way."""
    gained: Counter[str] = Counter(scene.inventory)
    drops = [mob_kind(mob.kind).drop for mob in scene.mobs]
    for stack in (*chain(*scene.items.values(), *scene.chests.values()), *drops):
        gained[stack.item] += stack.count
    codes, counts = np.unique(scene.blocks, return_counts=True)
    blocks = [(BLOCKS[code], count) for code, count in zip(codes.tolist(), counts.tolist(), strict=True)]
    left = [(block, count) for block, count in blocks if block.breakable and block.drop]
    while True:
        table = any(block.kind == "table" for block, _ in blocks) or "crafting_table" in bounds(
            gained, table=False, caps={}
        )
        most = bounds(gained, table, caps={})
        dug = [(block, count) for block, count in left if not block.tools or block.tools & most.keys()]
        if not dug:
            return most
        left = [each for each in left if each not in dug]
        for block, count in dug:
            gained[str(block.drop)] += count
