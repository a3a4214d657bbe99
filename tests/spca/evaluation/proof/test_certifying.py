"""Verdicts on real levels: witnesses are replayed, and what nothing solves is certified."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import pytest
from minigrid.envs.empty import EmptyEnv

from minigridenv import MiniGridEnv
from spca.contracts import LevelSpec
from spca.evaluation.playing.babyai_bot import play
from spca.evaluation.proof.certifying import Solvability, certify
from spca.evaluation.proof.obstacles import find_way
from spca.evaluation.proof.simulator import open_simulator
from spca.runs.curriculum import load
from tests.support.tiers import long

LEARNED = [task.env_id for task in load(Path(__file__).resolve().parents[4] / "merged_curriculum2.json").tasks()]
FEW = ("BabyAI-GoToImpUnlock-v0", "BabyAI-SynthS5R2-v0", "BabyAI-Unlock-v0", "MiniGrid-KeyCorridorS3R3-v0")
SOLVABLE = [
    "BabyAI-GoToObj-v0",
    "BabyAI-GoToSeqS5R2-v0",
    "BabyAI-KeyInBox-v0",
    "BabyAI-OpenDoorsOrderN4Debug-v0",
    "BabyAI-PickupDistDebug-v0",
    "BabyAI-PutNextS5N2Carrying-v0",
    "BabyAI-SynthSeq-v0",
    "BabyAI-UnlockToUnlock-v0",
    "MiniGrid-BlockedUnlockPickup-v0",
    "MiniGrid-DoorKey-8x8-v0",
    "MiniGrid-Dynamic-Obstacles-16x16-v0",
    "MiniGrid-Dynamic-Obstacles-Random-5x5-v0",
    "MiniGrid-Fetch-8x8-N3-v0",
    "MiniGrid-GoToDoor-6x6-v0",
    "MiniGrid-LavaCrossingS9N2-v0",
    "MiniGrid-MemoryS11-v0",
    "MiniGrid-ObstructedMaze-1Dlhb-v0",
    "MiniGrid-PutNear-8x8-N3-v0",
    "MiniGrid-RedBlueDoors-6x6-v0",
    "MiniGrid-Unlock-v0",
]


@pytest.mark.parametrize("env_id", SOLVABLE)
def test_a_level_that_can_be_solved_has_a_witness(env_id: str) -> None:
    verdict = certify(env_id, 1, MiniGridEnv)
    assert verdict.solvability is Solvability.SOLVABLE
    world = MiniGridEnv(env_id, 1)
    for code in verdict.witness:
        assert not world.over
        world.step(code)
    assert world.over
    assert world.reward > 0


@pytest.mark.parametrize("env_id", ["BabyAI-OpenDoorsOrderN2Debug-v0", "BabyAI-OpenDoorsOrderN4Debug-v0"])
def test_upstream_rules_make_strict_sequences_unsolvable(env_id: str) -> None:
    def upstream(level: LevelSpec | str, seed: int) -> MiniGridEnv:
        return MiniGridEnv(level, seed, upstream_rules=True)

    assert certify(env_id, 1, upstream, upstream_rules=True).solvability is Solvability.UNSOLVABLE


@pytest.mark.parametrize("env_id", [*FEW, *(long(env_id) for env_id in LEARNED if env_id not in FEW)])
def test_what_the_bot_solves_is_solvable_and_all_is_decided(env_id: str) -> None:
    for seed in range(3):
        verdict = certify(env_id, seed, MiniGridEnv)
        assert verdict.solvability is not Solvability.UNDECIDED
        assert verdict.solvability is Solvability.SOLVABLE or not play(env_id, seed, upstream_rules=False).solved


def test_a_key_that_is_far_from_its_near_door() -> None:
    assert certify("BabyAI-Unlock-v0", 1080, MiniGridEnv).solvability is Solvability.SOLVABLE


class Refusing(MiniGridEnv):
    """A world that does not accept the last primitive of a witness."""

    @property
    def reward(self) -> float:
        return 0.0


def test_a_witness_that_the_environment_does_not_accept_decides_nothing() -> None:
    verdict = certify("MiniGrid-Empty-5x5-v0", 1, Refusing)
    assert verdict.solvability is Solvability.UNDECIDED
    assert not verdict.witness


def test_a_level_that_cannot_be_built_is_undecided() -> None:
    verdict = certify("MiniGrid-WFC-MazeSimple-v0", 1, MiniGridEnv)
    assert verdict.solvability is Solvability.UNDECIDED
    assert "FileNotFoundError" in verdict.reason


def test_obstacles_that_move_and_too_few_steps() -> None:
    simulator = open_simulator("MiniGrid-Dynamic-Obstacles-5x5-v0", 1)
    simulator.max_steps = 4
    found = find_way(simulator, 20_000)
    assert (found.plan, found.exhausted) == (None, True)
    simulator = open_simulator("MiniGrid-Dynamic-Obstacles-5x5-v0", 1)
    assert not find_way(simulator, 2).exhausted


class Hooked(EmptyEnv):
    """An empty room that is judged by somebody else."""


def test_the_rules_of_somebody_else_are_undecided() -> None:
    gymnasium.register("MiniGrid-Hooked-v0", Hooked)
    try:
        verdict = certify("MiniGrid-Hooked-v0", 1, MiniGridEnv)
    finally:
        del gymnasium.registry["MiniGrid-Hooked-v0"]
    assert verdict.solvability is Solvability.UNDECIDED
    assert "rules are not known" in verdict.reason
