"""What the gates of the explorer do to the scenes of some indices, and what is wrong with them."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from explorer.agents.random_agent import RandomAgent
from explorer.agents.solver_agent import SolverAgent
from explorer.cli.certify import judge_scene
from explorer.codes import unpacked
from explorer.errors import ExplorerError
from explorer.evaluation.episode import play
from explorer.files import Loaded
from explorer.files.listing import places_at
from explorer.findings import FaultKind
from explorer.generating.composer import compose
from explorer.generating.knobs import Knobs
from explorer.milestones import Tracker
from explorer.rules.actions import Primitive
from explorer.solver.closure import NOTHING, Arena, closure
from explorer.solver.forbid import restraint
from explorer.worlds.voxel import VoxelWorld
from tests.soak.journal import Figures
from tests.support.explorer import naive_closure
from tests.support.explorer.opinions import faults
from tests.support.explorer.opinions.attacker import Attacker
from tests.support.explorer.opinions.exhaustive import Search
from tests.support.explorer.opinions.ground_truth import Truth
from tests.support.explorer.twins import KINDS, compare_views, furnish, make_twins, walk_codes

Gate = Callable[[int, int, int], Figures]
ATTACK_TICKS: Final = 200_000
TRACES: Final = 50
"""Adversarial traces of a scene, half of them with mistakes in its witness, half at random."""
LONGEST_TRACE: Final = 300
TWIN_STEPS: Final = 120
SMALL: Final = 800
"""States of a scene that is searched to the end."""


def certified(seed: int, index: int, **knobs: int) -> Loaded:
    """Return the scene of an index."""
    return compose(seed, index, Knobs(**knobs)).loaded()  # type: ignore[arg-type]


def scenes(seed: int, first: int, size: int) -> Figures:
    """Scenes as ``generate`` makes them: a naive closure agrees with each proof, and no body leaves the closure."""
    made: Figures = {"count": 0, "wrong": [], "hops": [], "branched": 0, "tasks": [], "gadgets": [], "ticks": 0}
    for index in range(first, first + size):
        composed = compose(seed, index, Knobs())
        loaded, drafted = composed.loaded(), composed.drafted
        made["count"] += 1
        made["hops"].append(loaded.hops)
        made["branched"] += drafted.knobs.shape != "chain"
        made["tasks"] += sorted({each.task for each in loaded.milestones})
        made["gadgets"].append(drafted.gadgets)
        made["wrong"] += [f"scene {seed} {index}: {each}" for each in disagreements(loaded)]
        made["wrong"] += [f"scene {seed} {index}: {each}" for each in escapes(loaded, index)]
        made["ticks"] += ATTACK_TICKS
    return made


def escapes(loaded: Loaded, seed: int) -> Iterator[str]:
    """Yield what a body gets to that no closure holds, with every milestone kept open in turn and with none."""
    arena = Arena(loaded.scene)
    ways = [(each, restraint(arena, each)) for each in loaded.milestones[:-1]]
    kept = [(None, NOTHING), *((each, way) for each, way in ways if way is not None)]
    for number, (milestone, way) in enumerate(kept):
        attacker = Attacker(arena, closure(arena, way), seed + number, milestone)
        attacker.run(-(-ATTACK_TICKS // len(kept)))
        name = milestone.milestone_id if milestone else "nothing"
        yield from (f"{name} kept open: {each}" for each in sorted(attacker.escapes))


def disagreements(loaded: Loaded) -> Iterator[str]:
    """Yield what the certificate claims and the naive closure does not confirm."""
    assert loaded.certificate is not None
    goal = loaded.graph.goal.id
    if len(naive_closure.possible(loaded.scene, loaded.milestones)) < loaded.hops:
        yield "naive closure: not every milestone is possible"
    after = {proof.milestone_id: proof.after for proof in loaded.certificate.milestones}
    for milestone in loaded.milestones:
        name = milestone.milestone_id
        if name == goal:
            continue
        possible = naive_closure.possible(loaded.scene, loaded.milestones, milestone)
        if goal in possible:
            yield f"naive closure: the goal without {name}"
        yield from (f"naive closure: {each} before {name}" for each in sorted(possible) if name in after[each])


def small(seed: int, first: int, size: int) -> Figures:
    """Small scenes: playing everything but placements finds no way round a milestone and nothing outside a closure."""
    made: Figures = {"count": 0, "wrong": [], "complete": 0, "searches": 0, "states": 0}
    for index in range(first, first + size):
        loaded = certified(seed, index, hops=2, distance=0, distractors=0)
        assert loaded.certificate is not None
        made["count"] += 1
        arena, goal, complete = Arena(loaded.scene), loaded.graph.goal.id, True
        for milestone in (None, *loaded.milestones[:-1]):
            if not complete:
                break
            found = Search(loaded.scene, loaded.milestones, milestone, placing=False).run(SMALL)
            kept = restraint(arena, milestone) if milestone else NOTHING
            reached = closure(arena, kept or NOTHING)
            complete &= found.complete
            made["searches"] += 1
            made["states"] += found.states
            where = f"small scene {seed} {index}, {milestone.milestone_id if milestone else 'nothing'} kept open"
            outside = [(x, y, z) for x, y, z in found.cells if not reached.cells[y, z, x]]
            made["wrong"] += [f"{where}: at {cell}" for cell in outside]
            if goal in found.achieved and (milestone or found.achieved[goal] < loaded.certificate.lower_bound):
                made["wrong"].append(f"{where}: the goal after {found.achieved[goal]} steps")
        made["complete"] += complete
    return made


def faulty(seed: int, first: int, size: int) -> Figures:
    """Every kind of fault, planted in scenes: ``certify`` refuses each and names the kind."""
    made: Figures = {"count": 0, "wrong": [], "named_first": 0}
    for index in range(first, first + size):
        loaded = certified(seed, index, hops=2 + index % 5)
        for kind in FaultKind:
            rng = random.Random(f"{seed} {index} {kind}")
            made["count"] += 1
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch) / "scene"
                faults.plant(kind, loaded, rng, folder)
                ((source, read),) = places_at([folder])
                verdict = judge_scene(source, read)
            kinds = [finding.kind for finding in verdict.findings]
            made["named_first"] += kinds[:1] == [kind]
            if verdict.certified or kind not in kinds:
                told = verdict.error or ", ".join(kinds) or "nothing"
                made["wrong"].append(f"{kind} in scene {seed} {index}: certify tells {told}")
    return made


def traces(seed: int, first: int, size: int) -> Figures:
    """Witnesses and adversarial traces: the evaluator says what is true, and a goal never comes without its hops."""
    made: Figures = {"count": 0, "wrong": [], "steps": 0, "latches": 0, "goals": 0}
    for index in range(first, first + size):
        loaded = certified(seed, index)
        assert loaded.certificate is not None
        witness = unpacked(loaded.certificate.witness.codes)
        rng = random.Random(f"traces {seed} {index}")
        for number in range(TRACES + 1):
            codes = witness if number == 0 else _trace(rng, witness, number)
            latched, truth, steps = _followed(loaded, codes)
            made["count"] += 1
            made["steps"] += steps
            made["latches"] += len(latched)
            made["goals"] += loaded.graph.goal.id in latched
            where = f"scene {seed} {index}, trace {number}"
            if latched != truth:
                made["wrong"].append(f"{where}: the evaluator says {latched}, the truth is {truth}")
            if number == 0 and len(latched) < loaded.hops:
                made["wrong"].append(f"{where}: the witness does not win")
            if loaded.graph.goal.id in latched and len(latched) < loaded.hops:
                made["wrong"].append(f"{where}: the goal without {loaded.hops - len(latched)} hops")
    return made


def _trace(rng: random.Random, witness: Sequence[int], number: int) -> list[int]:
    """Return a witness with mistakes in it, or steps at random from some point of it on."""
    codes = list(witness)
    if number % 2:
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(codes))
            span = rng.randint(1, max(1, len(codes) // 4))
            match rng.randrange(4):
                case 0:
                    del codes[at : at + span]
                case 1:
                    codes[at:at] = codes[max(0, at - span) : at]
                case 2:
                    codes[at : at + span] = reversed(codes[at : at + span])
                case 3:
                    codes[at] = rng.choice([each for each in Primitive if each != Primitive.DONE])
            codes = codes or [Primitive.WAIT]
        return codes[:LONGEST_TRACE]
    codes = codes[: rng.randint(0, len(codes))]
    while len(codes) < min(LONGEST_TRACE, len(witness) + 50):
        codes.append(rng.choice([*witness, *(each for each in Primitive if each != Primitive.DONE)]))
    return codes[:LONGEST_TRACE]


def _followed(loaded: Loaded, codes: Sequence[int]) -> tuple[dict[str, int], dict[str, int], int]:
    """Return what latches by the evaluator and in truth until the goal does, and how many steps that took."""
    world, tracker = VoxelWorld(), Tracker(loaded.milestones, loaded.scene.spawn)
    truth = Truth(loaded.scene, loaded.milestones)
    view = world.reset(loaded.scene)
    state = world.state()
    tracker.observe(state, view.known)
    truth.add(state, view.known)
    steps = 0
    for code in codes:
        if state.over or loaded.graph.goal.id in tracker.latched:
            break
        world.step(code)
        steps += 1
        state, known = world.state(), world.view().known
        tracker.observe(state, known)
        truth.add(state, known)
    return dict(tracker.latched), truth.latched(), steps


def agents(seed: int, first: int, size: int) -> Figures:
    """A random agent and the solver, on as many scenes of each hop count."""
    made: Figures = {"count": 0, "wrong": [], "episodes": []}
    world = VoxelWorld()
    for index in range(first, first + size):
        loaded = certified(seed, index)
        assert loaded.certificate is not None
        solver = SolverAgent(unpacked(loaded.certificate.witness.codes))
        for name, agent in (("random", RandomAgent()), ("solver", solver)):
            made["count"] += 1
            try:
                episode = play(world, loaded, agent, name, seed=seed)
            except ExplorerError as error:
                made["wrong"].append(f"{name} in scene {seed} {index}: {error}")
                continue
            made["episodes"].append([name, loaded.hops, episode.solved, len(episode.latched)])
            if episode.certificate_refuted:
                made["wrong"].append(f"{name} refutes the certificate of scene {seed} {index}")
    return made


def twins(seed: int, first: int, size: int) -> Figures:
    """Edits of scenes where nobody has looked: every field of every view stays the same until the edit is noticed."""
    made: Figures = {"count": 0, "wrong": [], "kinds": [], "steps": 0, "noticed": 0, "switched": 0, "out_of_sight": 0}
    for index in range(first, first + size):
        number, at = divmod(index, len(KINDS))
        kind = tuple(KINDS)[at]
        loaded = edited_scene(seed, number)
        assert loaded.certificate is not None
        rng = random.Random(f"twins {seed} {index}")
        scene, begin = furnish(loaded.scene)
        codes = walk_codes(rng, begin, unpacked(loaded.certificate.witness.codes), TWIN_STEPS)
        compared = compare_views(make_twins(kind, scene, codes, rng), codes)
        made["count"] += 1
        made["kinds"].append(kind)
        made["steps"] += compared.steps
        made["noticed"] += compared.noticed
        made["switched"] += compared.switched
        made["out_of_sight"] += compared.out_of_sight
        if compared.differ:
            made["wrong"].append(f"{kind} in scene {seed} {number}: {compared.differ}")
    return made


@lru_cache(maxsize=2)
def edited_scene(seed: int, number: int) -> Loaded:
    """Return a scene for :func:`twins`; every fourth is dark."""
    return certified(seed, number, dark=int(number % 4 == 3))


GATES: Final[dict[str, Gate]] = {
    "scenes": scenes,
    "small": small,
    "faults": faulty,
    "traces": traces,
    "agents": agents,
    "twins": twins,
}
