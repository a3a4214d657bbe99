"""The state's hash: another value of any field is another hash."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from explorer.scene import Mob, Pose, Stack, WorldState
from explorer.worlds.state_hash import state_hash

BLOCKS = np.ones((2, 3, 4), np.uint16)
STATE = WorldState(
    pose=Pose((1, 1, 1)),
    blocks=BLOCKS,
    items={(1, 1, 1): (Stack("emerald"),)},
    chests={},
    mobs=(Mob("cow_1", "cow", (2, 1, 1)),),
    inventory={"lever": 1, "stick": 2},
    held="lever",
    placed=frozenset({(0, 0, 0)}),
    timers={"door_1": 3},
    step=4,
    over="",
)
OTHERS: dict[str, list[Any]] = {
    "pose": [Pose((1, 1, 2)), Pose((1, 1, 1), 1), Pose((1, 1, 1), 0, 1), Pose((1, 1, 1), aim=(0, 0, 1))],
    "blocks": [BLOCKS * 2, BLOCKS.reshape(2, 4, 3)],
    "items": [{}, {(1, 1, 2): (Stack("emerald"),)}, {(1, 1, 1): (Stack("emerald", 2),)}],
    "chests": [{(1, 1, 1): (Stack("emerald"),)}],
    "mobs": [(), (Mob("cow_1", "cow", (2, 1, 2)),), (Mob("cow_1", "pig", (2, 1, 1)),)],
    "inventory": [{}, {"lever": 2, "stick": 2}, {"lever": 1}],
    "held": [None, "stick"],
    "placed": [frozenset(), frozenset({(0, 0, 1)})],
    "timers": [{}, {"door_1": 2}, {"door_2": 3}],
    "step": [5],
    "over": ["lava"],
}


def test_every_field_counts() -> None:
    assert set(OTHERS) == {each.name for each in fields(WorldState)}
    hashes = [state_hash(replace(STATE, **{name: value})) for name, values in OTHERS.items() for value in values]
    assert len({state_hash(STATE), *hashes}) == 1 + len(hashes)


@pytest.mark.parametrize(
    "same",
    [
        {"blocks": np.asfortranarray(BLOCKS)},
        {"inventory": {"stick": 2, "lever": 1, "torch": 0}},
        {"chests": {(0, 0, 0): ()}},
        {"blocks": BLOCKS.astype(">u2")},
    ],
)
def test_what_means_the_same_has_the_same_hash(same: dict[str, object]) -> None:
    assert state_hash(replace(STATE, **same)) == state_hash(STATE)  # type: ignore[arg-type]


def test_it_is_the_same_on_every_machine() -> None:
    assert state_hash(STATE) == "ccea7b3b858cc93839dafc8276ec6becaf2c7e4ce58c16815f75443115c92e3c"
