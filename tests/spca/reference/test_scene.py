"""Reading the snapshot block of a prompt."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spca.errors import BadAnswerError
from spca.prompts.formatting import format_state
from spca.reference.mission import Description
from spca.reference.scene import Thing, read_scene
from tests.support.bodies.grid import planner_state
from tests.support.spca.doubles import SNAPSHOT, change_snapshot


def test_a_scene_is_what_the_snapshot_shows() -> None:
    grid = (
        ("unseen", "unseen", "unseen", "unseen"),
        ("unseen", "key red", "door red locked", "agent"),
        ("unseen", "empty", "key red", "lava"),
    )
    snapshot = change_snapshot(inventory="ball grey", visible_grid=grid)
    scene = read_scene(json.loads(format_state(planner_state(snapshot))))
    first, door, second = scene.things
    assert (first, second) == (Thing("key", "red", "", 0, 0), Thing("key", "red", "", 1, 1))
    assert door == Thing("door", "red", "locked", 0, 1)
    assert (scene.mission, scene.held, scene.lava) == (SNAPSHOT.mission, ("ball", "grey"), True)
    assert scene.find_locked_doors() == (door,)
    assert scene.fitting(Description("key", "red")) == (first, second)
    assert scene.holds(Description("ball", None))
    assert not scene.is_blocked(door)  # by its own key


def test_no_lava_and_an_empty_hand() -> None:
    scene = read_scene(planner_state(SNAPSHOT))
    assert (scene.held, scene.lava) == (None, False)


@pytest.mark.parametrize(
    "broken",
    [
        {"known_objects": [{"name": "key red", "row": 0, "column": 0}]},
        {"known_objects": {"key red": [[0]]}},
        {"known_objects": {"key": [[0, 0]]}},
        {"known_objects": {"key red": [["a", "b"]]}},
        {"inventory": "key"},
        {"map": None},
    ],
)
def test_a_snapshot_of_another_form_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(BadAnswerError, match="the snapshot of the prompt cannot be read"):
        read_scene(planner_state(SNAPSHOT) | broken)
