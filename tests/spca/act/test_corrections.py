"""The verifier's defect is real, and the correction mends that and nothing else."""

from __future__ import annotations

import copy
import random
from contextlib import closing
from typing import Any

import pytest

from minigridenv import MiniGridEnv
from spca.act.corrections import STRICT_SEQUENCE
from tests.support.tiers import few

SEQUENCES = [("BabyAI-OpenDoorsOrderN2Debug-v0", 1), ("BabyAI-OpenDoorsOrderN4Debug-v0", 1)]


def _state(sim: Any) -> tuple[object, ...]:
    doors = tuple(cell.is_open for cell in sim.grid.grid if cell is not None and cell.type == "door")
    flags = str(sim.instrs.a_done), str(sim.instrs.b_done)
    return tuple(map(int, sim.agent_pos)), int(sim.agent_dir), doors, flags


def _explore(sim: Any) -> tuple[list[int] | None, int]:
    """Breadth first over all that turning, moving and toggling can reach: a winning path or None, and the states."""
    sim.max_steps = 10**9
    frontier: list[tuple[Any, list[int]]] = [(sim, [])]
    seen = {_state(sim)}
    while frontier:
        following = []
        for state, path in frontier:
            for action in (0, 1, 2, 5):
                child = copy.deepcopy(state)
                _, reward, terminated, _, _ = child.step(action)
                if reward > 0:
                    return [*path, action], len(seen)
                if not terminated and _state(child) not in seen:
                    seen.add(_state(child))
                    following.append((child, [*path, action]))
        frontier = following
    return None, len(seen)


def _simulator(env_id: str, seed: int, *, upstream: bool) -> Any:
    world = MiniGridEnv(env_id, seed, upstream_rules=upstream)
    return world._sim


@pytest.mark.parametrize(("env_id", "seed"), few(1, SEQUENCES))
def test_upstream_cannot_be_won_by_any_sequence_of_actions(env_id: str, seed: int) -> None:
    won, states = _explore(_simulator(env_id, seed, upstream=True))
    assert won is None
    assert states > 60


# Shortest episodes that open the two doors in the order asked for.
IN_ORDER = [
    ("BabyAI-OpenDoorsOrderN2Debug-v0", 1, [0, 0, 2, 2, 2, 0, 2, 2, 5, 0, 2, 2, 2, 5]),
    ("BabyAI-OpenDoorsOrderN4Debug-v0", 1, [2, 2, 5, 0, 2, 2, 2, 0, 2, 2, 2, 5]),
]


@pytest.mark.parametrize(("env_id", "seed", "path"), IN_ORDER)
def test_corrected_the_doors_in_order_win(env_id: str, seed: int, path: list[int]) -> None:
    with closing(MiniGridEnv(env_id, seed)) as world:
        for code in path[:-1]:
            world.step(code)
            assert not world.over
        world.step(path[-1])
        assert world.over
        assert world.reward > 0
        assert world.corrections == {STRICT_SEQUENCE}
    with closing(MiniGridEnv(env_id, seed, upstream_rules=True)) as world:
        while not world.over:
            world.step(path[len(world.previous_actions)])
        assert len(world.previous_actions) < len(path)
        assert world.reward == 0


@pytest.mark.parametrize("seed", [1, 2, 3, 10, 11])
def test_strictness_remains_a_wrong_door_still_fails(seed: int) -> None:
    """Random walks: as long as the first door wanted was not opened, both judgements are the same."""
    rng = random.Random(seed)
    with (
        closing(MiniGridEnv("BabyAI-OpenDoorsOrderN4Debug-v0", seed)) as ours,
        closing(MiniGridEnv("BabyAI-OpenDoorsOrderN4Debug-v0", seed, upstream_rules=True)) as theirs,
    ):
        for _ in range(200):
            code = rng.choice((0, 1, 2, 2, 5))
            ours.step(code)
            theirs.step(code)
            if ours.corrections:
                assert theirs.over
                break
            assert (ours.over, ours.reward) == (theirs.over, theirs.reward)
            if ours.over:
                break


@pytest.mark.parametrize(
    "env_id", few(1, ["BabyAI-GoToSeqS5R2-v0", "BabyAI-MiniBossLevel-v0", "BabyAI-OpenRedBlueDoorsDebug-v0"])
)
def test_other_levels_are_judged_as_before(env_id: str) -> None:
    for seed in range(6):
        rng = random.Random(seed)
        with (
            closing(MiniGridEnv(env_id, seed)) as ours,
            closing(MiniGridEnv(env_id, seed, upstream_rules=True)) as theirs,
        ):
            while not ours.over and len(ours.previous_actions) < 120:
                code = rng.choice((0, 1, 2, 2, 2, 3, 4, 5))
                ours.step(code)
                theirs.step(code)
                assert (ours.over, ours.reward) == (theirs.over, theirs.reward)
            assert not ours.corrections
