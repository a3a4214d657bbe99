"""The released scenes: their witnesses play as the certificates say, and no view on the way tells what was not seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.agents.solver_agent import SolverAgent
from explorer.codes import unpacked
from explorer.evaluation.episode import play
from explorer.files import Loaded
from explorer.files.listing import scene_at, scenes_at
from explorer.released import SETS
from explorer.rules.blocks import BLOCKS
from explorer.worlds.state_hash import state_hash
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.twins import STOCK

_TABLES = np.array([block.kind == "table" for block in BLOCKS])
CHATTY = ("test:22", "test:75")
"""Scenes whose views once told all that :func:`tales` finds: the first three kinds, and a table."""


def tales(loaded: Loaded, codes: tuple[int, ...]) -> Iterator[str]:
    """Yield what views tell that is out of sight, or is not so, while a witness is played."""
    world = VoxelWorld()
    known = world.reset(replace(loaded.scene, inventory={**loaded.scene.inventory, **STOCK})).known
    for code in codes:
        if world.state().over:
            break
        world.step(code)
        view = world.view()
        for change in view.last.changes:
            if change.kind == "timer":
                yield "timer"
            if change.kind == "block" and change.cell is not None:
                x, y, z = change.cell
                if view.known[y, z, x] == 0:
                    yield "never seen"
                elif known[y, z, x] and view.known[y, z, x] != change.code:
                    yield "contradicts"
        if any(offer.table and offer.craftable for offer in view.recipes) and not _TABLES[view.known].any():
            yield "table"
        known = view.known


def check_witness(loaded: Loaded) -> None:
    assert loaded.certificate is not None
    witness = loaded.certificate.witness
    codes = unpacked(witness.codes)
    assert not set(tales(loaded, codes)), loaded.source
    world = VoxelWorld(observe=False)
    world.reset(loaded.scene)
    ticks = sum(world.step(code).ticks for code in codes)
    assert (len(codes), ticks, state_hash(world.state())) == (witness.steps, witness.ticks, witness.state_hash)
    episode = play(VoxelWorld(), loaded, SolverAgent(codes), "solver")
    latched = {proof.milestone_id: proof.at_step for proof in loaded.certificate.milestones}
    assert (episode.ended, episode.latched, episode.certificate_refuted) == ("goal", latched, False), loaded.source


@pytest.mark.parametrize("name", CHATTY)
def test_a_witness_wins_and_no_view_tells_what_is_out_of_sight(name: str) -> None:
    check_witness(scene_at(Path(name)))


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SETS)
def test_all_released_witnesses_win_and_no_view_tells_what_is_out_of_sight(name: str) -> None:
    for loaded in scenes_at([Path(name)]):
        check_witness(loaded)
