"""Verdicts on real levels: witnesses are replayed, and what nothing solves is certified."""

from __future__ import annotations

import pytest

from minigridenv import MiniGridEnv
from spca.evaluation.proof.certifying import Solvability, certify

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


@pytest.mark.parametrize("seed", [6, 14, 777])
def test_a_key_behind_its_own_door_is_certified(seed: int) -> None:
    verdict = certify("BabyAI-GoToImpUnlock-v0", seed, MiniGridEnv)
    assert verdict.solvability is Solvability.UNSOLVABLE
    assert not verdict.witness


@pytest.mark.parametrize("env_id", ["BabyAI-OpenDoorsOrderN2Debug-v0", "BabyAI-OpenDoorsOrderN4Debug-v0"])
def test_upstream_rules_make_strict_sequences_unsolvable(env_id: str) -> None:
    def upstream(env_id: str, seed: int) -> MiniGridEnv:
        return MiniGridEnv(env_id, seed, upstream_rules=True)

    assert certify(env_id, 1, upstream, upstream_rules=True).solvability is Solvability.UNSOLVABLE
