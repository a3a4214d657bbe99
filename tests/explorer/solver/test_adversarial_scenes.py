"""Scenes that seem to need a key and do not are refused; their honest twins are certified."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from explorer.certificate import Certificate
from explorer.errors import RefutedError
from explorer.findings import FaultKind
from explorer.graph import Edge, Graph, Node
from explorer.milestones import Tracker, inside_box
from explorer.rules.actions import Primitive
from explorer.solver.certificate import certify
from explorer.solver.witness import carry_out
from explorer.worlds.voxel import VoxelWorld
from tests.support.explorer.naive.tricks import TRICKS, Trick, handled, walled, with_handle
from tests.support.explorer.naive_closure import unconfirmed
from tests.support.explorer.scenes import Puzzle, inside
from tests.support.tiers import few

REASON = "nobody gets to the goal without the key, or so whoever made up this scene by hand believed it"

tricks = pytest.mark.parametrize("make", TRICKS, ids=lambda make: make.__name__)
some_tricks = pytest.mark.parametrize("make", few(6, TRICKS), ids=lambda make: make.__name__)


def certified(trick: Trick) -> Certificate:
    scene, milestones = trick.puzzle
    carried = carry_out(scene, trick.steps)
    assert not carried.reason, carried
    key, goal = (Node(each.milestone_id, each.task) for each in milestones)
    return certify(scene, milestones, Graph((key, goal), (Edge("key", "goal", REASON),)), carried.codes)


@cache
def honest(make: Callable[[bool], Trick]) -> tuple[Puzzle, Certificate]:
    """Return the twin of a trick, certified."""
    trick = make(False)
    return trick.puzzle, certified(trick)


@tricks
def test_a_trick_is_refused(make: Callable[[bool], Trick]) -> None:
    with pytest.raises(RefutedError) as caught:
        certified(make(True))
    assert [(each.kind, each.milestone) for each in caught.value.findings] == [(FaultKind.UNNECESSARY, "key")]


@some_tricks
def test_its_honest_twin_is_certified_and_confirmed(make: Callable[[bool], Trick]) -> None:
    puzzle, certificate = honest(make)
    assert unconfirmed(*puzzle, certificate) == []


@some_tricks
def test_the_naive_closure_sees_through_a_trick_as_well(make: Callable[[bool], Trick]) -> None:
    scene, milestones = make(True).puzzle
    assert unconfirmed(scene, milestones, honest(make)[1]) == ["goal without key"]


def test_nobody_gets_behind_a_door_by_dying_in_lava() -> None:
    build = with_handle(walled()).put("lava", (2, 1, 7), (2, 2, 7))
    (scene, (key, _)), steps = handled(build)
    goal = inside(build, "enter", "goal", (1, 1, 7), (7, 4, 12))
    certified(Trick(Puzzle(scene, (key, goal)), steps))
    world, tracker = VoxelWorld(observe=False), Tracker((key, goal), scene.spawn)
    world.reset(scene)
    for code in (Primitive.RIGHT, Primitive.RIGHT, *(Primitive.FORWARD,) * 5):
        world.step(code)
        assert tracker.observe(world.state()) == ()
    assert world.state().over == "lava"
    assert inside_box(world.state().pose, goal.rules[0], scene.spawn)  # type: ignore[arg-type]  # it is one
