"""Audit a scene: find every fault that can be found without playing the scene.

A finding says that something is wrong, or that a required property cannot be proven. A scene without findings may
still be impossible to win. Only a witness shows that a scene can be won (:mod:`explorer.solver.certificate`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from explorer.scene import Scene, WorldState
from explorer.solver.certificate import check
from explorer.solver.closure import Arena
from explorer.solver.proving import faults, prove
from explorer.solver.stock import bounds
from explorer.tasks.naming import named_in
from explorer.tasks.pool import pool
from explorer.worlds.storage import Storage

_TASK_VERB: Final = re.compile(r"^[a-z0-9]+_")
"""Pattern of the verb that begins the id of a task, such as ``craft_`` in ``craft_wooden_pickaxe``."""
_NEVER_HOLDS: Final = frozenset(
    {FaultKind.VACUOUS_COUNT, FaultKind.UNKNOWN_NAME, FaultKind.OUTSIDE_ARENA, FaultKind.IMPOSSIBLE_CRAFT}
)
"""Kinds of faults that imply that the rules of a milestone can never hold."""
_HOLDS_REGARDLESS: Final = frozenset({FaultKind.TRUE_AT_START, FaultKind.NEAR_AT_SPAWN, FaultKind.FIND_HOP_NOT_LAST})
"""Kinds of faults that imply that an agent can fulfil the rules of a milestone without passing any obstacle."""


def audit(loaded: Loaded) -> tuple[Finding, ...]:
    """Return every fault found in a scene, including the faults of its certificate.

    Raises:
        SceneError: the scene cannot be built.
    """
    findings = list(loaded.faults)
    if not loaded.published:
        findings += _find_malformed(loaded)
    start = Storage(loaded.scene).freeze(0)
    findings += _find_true_at_start(loaded, start)
    findings += _find_vacuous_counts(loaded, start)
    findings += _find_unenforced_looks(loaded)
    findings += _find_named_hops(loaded)

    if loaded.certificate is not None:
        findings += check(loaded.scene, loaded.milestones, loaded.graph, loaded.certificate)
    # If a certificate has no faults, its proofs make the closures unnecessary.
    if findings or loaded.certificate is None:
        findings += _find_refuted(loaded)

    # Of several findings with the same kind, milestone and field, the dict keeps the last at the position of the first.
    distinct = {(each.kind, each.milestone, each.field): each for each in _drop_consequences(findings)}
    return tuple(distinct.values())


def _drop_consequences(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings, except each finding that another fault of the same milestone explains."""
    kinds: dict[str, set[FaultKind]] = {each.milestone: set() for each in findings}
    for each in findings:
        kinds[each.milestone].add(each.kind)
    for each in findings:
        concerns_whole_scene = not each.milestone
        if concerns_whole_scene or kinds[each.milestone].isdisjoint(_list_causes(each.kind)):
            yield each


def _list_causes(kind: FaultKind) -> frozenset[FaultKind]:
    """Return the kinds of faults that explain a fault of the given kind in the same milestone."""
    match kind:
        case FaultKind.ALTERED_WITNESS:
            return frozenset(FaultKind) - {FaultKind.ALTERED_WITNESS, FaultKind.HOP_NAMED_IN_TEXT}
        case FaultKind.VACUOUS_COUNT:
            return frozenset({FaultKind.UNKNOWN_NAME, FaultKind.OUTSIDE_ARENA})
        case FaultKind.UNREACHABLE:
            return _NEVER_HOLDS
        case FaultKind.UNNECESSARY | FaultKind.UNORDERED:
            return _NEVER_HOLDS | _HOLDS_REGARDLESS
        case _:
            return frozenset()


def examine(read: Callable[[], Loaded]) -> tuple[Loaded | None, tuple[Finding, ...]]:
    """Read and audit a scene.

    Args:
        read: function that reads the scene, as yielded by :func:`explorer.files.listing.places_at`.

    Returns:
        (scene, findings). The scene is None if a fault prevents the scene from being built.

    Raises:
        SceneError: the files themselves are malformed.
    """
    try:
        loaded = read()
    except SceneError as error:
        kind = KINDS.get(type(error))
        if kind is None:
            raise
        return None, (Finding(kind, error.problem, source=error.source, field=error.field),)
    return loaded, audit(loaded)


def _find_malformed(loaded: Loaded) -> Iterator[Finding]:
    """Yield the faults that the reader of files would refuse.

    The check is necessary because a scene made in memory has not passed the reader.
    """
    problems = [("", problem) for problem in scene_problems(loaded.scene)]
    problems += milestone_problems(loaded.milestones, loaded.scene)
    names = [each.milestone_id for each in loaded.milestones]
    problems += [("", problem) for problem in graph_problems(loaded.graph, names)]
    for milestone, problem in problems:
        if kind := KINDS.get(type(problem)):
            yield Finding(kind, problem.problem, milestone, loaded.source, problem.field)


def _find_true_at_start(loaded: Loaded, start: WorldState) -> Iterator[Finding]:
    """Yield a fault for each milestone that holds before the first step."""
    for name in Tracker(loaded.milestones, loaded.scene.spawn).observe(start):
        yield Finding(FaultKind.TRUE_AT_START, "it holds before the first step: ask for what is not there yet", name)


def _find_vacuous_counts(loaded: Loaded, start: WorldState) -> Iterator[Finding]:
    """Yield a fault for each vacuous rule.

    A rule is vacuous if it asks for at least 0, or if it asks for at most a number that is not exceeded at the start.
    """
    spawn = loaded.scene.spawn
    for milestone, rule in _list_rules(loaded.milestones):
        name = milestone.milestone_id
        match rule:
            case InventoryHas() | AtLeast() if rule.min_count < 1:
                yield Finding(FaultKind.VACUOUS_COUNT, "at least 0 always holds: ask for 1 or more", name)
            case AtMost():
                count = counted(rule, start, spawn)
                if count <= rule.max_count:
                    problem = f"at most {rule.max_count} of {bare(rule.object)}, and there are {count} to begin with"
                    yield Finding(FaultKind.VACUOUS_COUNT, f"{problem}: put more there", name)


def _find_unenforced_looks(loaded: Loaded) -> Iterator[Finding]:
    """Yield a fault for each target near the spawn, and for each hop that only asks to look at a target.

    The goal is allowed to ask only for a look, and gets no fault of the second kind.
    """
    for milestone, rule in _list_rules(loaded.milestones):
        if not isinstance(rule, NearWithFacing):
            continue
        distance = math.hypot(*rule.target)
        if distance <= rule.max_distance:
            problem = f"the target is {distance:.1f} from the spawn, within {rule.max_distance:g}"
            yield Finding(FaultKind.NEAR_AT_SPAWN, f"{problem}: move it away", milestone.milestone_id)
    for milestone in loaded.milestones[:-1]:
        if _is_mere_look(milestone):
            problem = "only the goal may be a mere look: an agent can walk past anything backwards"
            yield Finding(FaultKind.FIND_HOP_NOT_LAST, problem, milestone.milestone_id)


def _is_mere_look(milestone: Milestone) -> bool:
    """Return whether every rule of a milestone asks only to stand near a target and to face the target."""
    return all(isinstance(rule, NearWithFacing) for rule in milestone.rules)


def _list_rules(milestones: Iterable[Milestone]) -> Iterator[tuple[Milestone, Rule]]:
    return ((milestone, rule) for milestone in milestones for rule in milestone.rules)


def _find_named_hops(loaded: Loaded) -> Iterator[Finding]:
    """Yield a fault for each hop, except the goal, that is named in the task text."""
    for milestone in loaded.milestones[:-1]:
        goal = loaded.milestones[-1]
        if name := _find_named_word(milestone, goal, loaded.text):
            problem = f"the text names {name!a}, which the agent should discover: state only the goal"
            yield Finding(FaultKind.HOP_NAMED_IN_TEXT, problem, milestone.milestone_id)


def _find_named_word(milestone: Milestone, goal: Milestone, text: str) -> str:
    """Return the first word in a text that names a hop, or "" if the text does not name the hop.

    If the task of the hop is not in the pool, the text may contain words that the hop shares with the goal.
    """
    known_task = pool().get(milestone.task)
    if known_task is not None:
        return named_in(text, known_task.schema, known_task.object)
    for name in sorted(_list_objects(milestone)):
        word = re.escape(name)
        is_shared_with_goal = any(re.search(rf"\b{word}\b", goal_object) for goal_object in _list_objects(goal))
        is_in_text = re.search(rf"\b{word}(s|es)?\b", text.lower()) is not None
        if is_in_text and not is_shared_with_goal:
            return name
    return ""


def _list_objects(milestone: Milestone) -> set[str]:
    """Return the objects of a milestone's task and rules, in plain words."""
    names = {_TASK_VERB.sub("", milestone.task)}
    for rule in milestone.rules:
        if isinstance(rule, InventoryHas):
            names.add(bare(rule.item))
        elif isinstance(rule, AtLeast | AtMost):
            names.add(bare(rule.object))
    return {name.replace("_", " ").lower() for name in names}


def _find_refuted(loaded: Loaded) -> Iterator[Finding]:
    """Yield the faults that the closures (:mod:`explorer.solver.closure`) prove.

    If a milestone is unreachable because the scene cannot provide an item, the fault names that item.
    """
    by_id = {each.milestone_id: each for each in loaded.milestones}
    proven = prove(Arena(loaded.scene), loaded.milestones)
    for finding in faults(proven, loaded.milestones, loaded.graph):
        if finding.kind is FaultKind.UNREACHABLE:
            yield _find_lacking_item(by_id[finding.milestone], loaded.scene) or finding
        else:
            yield finding


def _find_lacking_item(milestone: Milestone, scene: Scene) -> Finding | None:
    """Return a fault for the first required item of which the scene cannot provide enough.

    The result is None if the scene can provide enough of every required item.
    """
    for rule in milestone.rules:
        if not isinstance(rule, InventoryHas):
            continue
        name = bare(rule.item)
        most = _bound_items(scene).get(name, 0)
        if most < rule.min_count:
            problem = f"{rule.min_count} of {name}: at most {most} can be found, dug, hunted or made here"
            return Finding(FaultKind.IMPOSSIBLE_CRAFT, problem, milestone.milestone_id)
    return None


def _bound_items(scene: Scene) -> dict[str, int]:
    """Return item -> upper bound of the number that an agent could own if all obstacles were absent.

    Each round adds the blocks that can be dug with the items of the previous rounds. The rounds end when no block is
    added.
    """
    gained: Counter[str] = Counter(scene.inventory)
    for stack in chain(*scene.items.values(), *scene.chests.values()):
        gained[stack.item] += stack.count
    for mob in scene.mobs:
        drop = mob_kind(mob.kind).drop
        gained[drop.item] += drop.count

    codes, counts = np.unique(scene.blocks, return_counts=True)
    blocks = [(BLOCKS[code], count) for code, count in zip(codes.tolist(), counts.tolist(), strict=True)]
    has_table = any(block.kind == "table" for block, _ in blocks)
    undug = [(block, count) for block, count in blocks if block.breakable and block.drop]
    while True:
        most = bounds(gained, has_table, caps={})
        dug = [(block, count) for block, count in undug if not block.tools or block.tools & most.keys()]
        if not dug:
            return most
        undug = [each for each in undug if each not in dug]
        for block, count in dug:
            gained[str(block.drop)] += count
